"""Calls of a function under examination: whatever it does becomes a result or a sentence."""

from __future__ import annotations

import inspect
import linecache
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from capsnet_tutorial.check.report import Finding, Report, judged

_HERE, _TORCH = Path(__file__).parent, Path(torch.__file__).parent


class Trouble(Exception):
    """What is wrong with a function, in a sentence."""


class NotWritten(Exception):
    """The exercise still has its blank."""


class Subject:
    """A function under examination.

    Args:
        function: what the reader wrote.
        signature: how it is called, such as "squash(s)".

    Raises:
        Trouble: it is not callable, or not with these arguments.
        NotWritten: it is `...`.
    """

    def __init__(self, function: Any, signature: str) -> None:
        self.function = function
        self.seed = 0  # a function that draws random numbers shall not look like one that remembers
        wanted = f"expected a function or a module that is called as {signature}"
        if function is ...:
            raise NotWritten
        if inspect.isclass(function):
            raise Trouble(
                f"{wanted}; got the class {function.__name__} itself: give an instance, {function.__name__}()"
            )
        if not callable(function):
            raise Trouble(f"{wanted}; got {shortened(function)}")
        name = getattr(function, "__name__", type(function).__name__)
        arguments = signature.partition("(")[2].rstrip(")")
        if not accepts(function, len(arguments.split(", ")) if arguments else 0):
            raise Trouble(f"{wanted}; got {name}{_without_types(inspect.signature(_target(function)))}")

    def __call__(self, *arguments: Any, grad: bool = False) -> Any:
        """What the function returns for copies of the arguments.

        With ``grad``, a pair: (output, gradient of its sum by the first argument, or None).
        """
        leaves = list(arguments)
        leaves[:1] = [arguments[0].detach().requires_grad_()] if grad else leaves[:1]

        def call() -> Any:
            torch.default_generator.manual_seed(self.seed)
            # A copy that is no leaf: the function may write into it.
            out = self.function(*(leaf.clone() if isinstance(leaf, Tensor) else leaf for leaf in leaves))
            if not grad or not isinstance(out, Tensor):
                return out
            if not out.requires_grad:
                return out, None
            return out, torch.autograd.grad(out.sum(), leaves[0], allow_unused=True)[0]

        of_labels = any(isinstance(each, Tensor) and not each.is_floating_point() for each in arguments)
        return called(call, f"for {_described(leaves)}", of_labels=of_labels)

    def tensor(self, shape: Sequence[int], *arguments: Any) -> Tensor:
        """The output, in float64: a tensor of numbers of this shape, or `Trouble`."""
        return numbers(self(*arguments), shape, _described(arguments))

    def gradient(self, shape: Sequence[int], *arguments: Any) -> tuple[Tensor, Tensor]:
        """(output, gradient of its sum by the first argument), both float64."""
        result = self(*arguments, grad=True)
        out, gradient = result if isinstance(result, tuple) and len(result) == 2 else (result, None)
        value = numbers(out, shape, _described(arguments), finite=False)
        if gradient is None:
            raise Trouble(
                "Its output carries no gradient back to its input, so nothing below it could learn "
                "(.detach(), .item(), .data, numpy and no_grad cut it)."
            )
        return value, gradient.detach().double()


def examined(
    checked: str,
    signature: str,
    function: Any,
    agrees: str,
    examine: Callable[[Subject], Iterable[Finding]],
    *,
    strict: bool = False,
) -> Report:
    """The report of an examination; what it found before a call failed is kept.

    The reader's random numbers go on as if nothing had been called. `strict` as in `judged`.
    """
    findings: list[Finding] = []
    with torch.random.fork_rng(devices=[]), torch.enable_grad():
        try:
            for finding in examine(Subject(function, signature)):
                findings.append(finding)
        except NotWritten:
            return Report(False, checked=checked, written=False)
        except Trouble as trouble:
            findings.append(Finding(None, str(trouble), failed_call=True))
    return judged(checked, findings, agrees, strict=strict, examined=(checked,))


def numbers(out: Any, shape: Sequence[int], given: str, *, finite: bool = True) -> Tensor:
    """The output in float64, or a sentence on why it is not a tensor of numbers of this shape."""
    wanted = "a scalar" if not shape else f"a tensor of shape {list(shape)}"
    if out is ...:
        raise NotWritten
    if out is None:
        raise Trouble(f"It returns None for {given}; expected {wanted}. Is the `return` missing?")
    if isinstance(out, (int, float)) and not shape:
        raise Trouble(
            f"It returns the Python number {out:g}; expected a tensor, {wanted}, so that a gradient can flow "
            "(.item() and float() cut it)."
        )
    if not isinstance(out, Tensor):
        raise Trouble(f"It returns {shortened(out)} for {given}; expected {wanted}.")
    if not out.is_floating_point():
        raise Trouble(f"It returns numbers of type {out.dtype}; expected floating point.")
    if not shape and out.numel() == 1:
        out = out.reshape(())
    if list(out.shape) != list(shape):
        raise Trouble(f"It returns a tensor of shape {list(out.shape)} for {given}; expected {wanted}.")
    value = out.detach().cpu().double()
    if finite and not value.isfinite().all():
        first = float(value[~value.isfinite()].flatten()[0])
        raise Trouble(f"It returns {first:g} for {given}, ordinary numbers; expected finite numbers.")
    return value


def accepts(function: Any, count: int) -> bool:
    """Whether a function can be called with so many arguments; True where that cannot be known."""
    try:
        inspect.signature(_target(function)).bind(*range(count))
    except TypeError:
        return False
    except ValueError:  # a built-in without a signature
        return True
    return True


def _target(function: Any) -> Any:
    """What has the signature: a module's own is (*args, **kwargs)."""
    return function.forward if isinstance(function, torch.nn.Module) else function


def called(call: Callable[[], Any], given: str, *, of_labels: bool = False) -> Any:
    """What the call returns; `Trouble` if it raises.

    Args:
        of_labels: whether labels were among the arguments: then a wrong shape is more likely theirs than a lost axis.
    """
    try:
        return call()
    except (Trouble, NotWritten, KeyboardInterrupt):
        raise
    except BaseException as error:
        if isinstance(error, NotImplementedError) and not str(error):
            raise NotWritten from None
        raise Trouble(_sentence(error, given, of_labels)) from error


def _sentence(error: BaseException, given: str, of_labels: bool) -> str:
    """An exception, with the line of the reader's code it came from."""
    message = " ".join(str(error).split())
    text = f"It raises {type(error).__name__} {given}" + (f": {message[:300].rstrip('.')}." if message else ".")
    line, trace = "", error.__traceback__
    while trace is not None:
        path = trace.tb_frame.f_code.co_filename
        if is_theirs(path):
            line = linecache.getline(path, trace.tb_lineno).strip() or line
        trace = trace.tb_next
    if line:
        text += f" The line: {line}"
    if not of_labels and ("must match the size" in message or ("shape" in message and "invalid" in message)):
        text += " (Is a keepdim=True missing, or an axis in another place?)"
    return text


def is_theirs(path: str) -> bool:
    """Whether a file of code is neither torch's nor ours."""
    return Path(path).parent != _HERE and _TORCH not in Path(path).parents


def shortened(value: Any) -> str:
    """A value in a few words."""
    if isinstance(value, (tuple, list)):
        return f"a {type(value).__name__} of {len(value)}"
    text = repr(value)
    return f"{type(value).__name__} {text if len(text) <= 40 else text[:37] + '...'}"


def _described(arguments: Sequence[Any]) -> str:
    return ", ".join(f"a tensor of shape {list(x.shape)}" if isinstance(x, Tensor) else repr(x) for x in arguments)


def _without_types(signature: inspect.Signature) -> str:
    plain = [each.replace(annotation=inspect.Parameter.empty) for each in signature.parameters.values()]
    return str(signature.replace(parameters=plain, return_annotation=inspect.Signature.empty))
