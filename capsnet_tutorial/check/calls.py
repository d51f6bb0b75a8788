"""Calling a function that nobody has read: whatever it does becomes a result or a sentence."""

from __future__ import annotations

import inspect
import linecache
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from capsnet_tutorial.check.bridge import bridged


class Trouble(Exception):
    """What is wrong with a function, in a sentence."""


class NotWritten(Exception):
    """The exercise still has its blank."""


class Subject:
    """A function under examination.

    Args:
        function: what the reader wrote.
        called: how it is called, such as "squash(s)".

    Raises:
        Trouble: it is not callable, or not with these arguments.
        NotWritten: it is `...`.
    """

    def __init__(self, function: Any, called: str) -> None:
        self.function = bridged(function)
        self.has_gradient = getattr(self.function, "framework", "") != "numpy"
        self.called = called
        self.dtype = torch.float32
        self.seed = 0  # a function that draws random numbers shall not look like one that remembers
        wanted = f"expected a function or a module that is called as {called}"
        if function is ...:
            raise NotWritten
        if inspect.isclass(function):
            raise Trouble(
                f"{wanted}; got the class {function.__name__} itself: give an instance, {function.__name__}()"
            )
        if not callable(function):
            raise Trouble(f"{wanted}; got {shortened(function)}")
        self.name = getattr(function, "__name__", type(function).__name__)
        arguments = called.partition("(")[2].rstrip(")")
        if not accepts(function, len(arguments.split(", ")) if arguments else 0):
            raise Trouble(f"{wanted}; got {self.name}{_without_types(inspect.signature(_target(function)))}")

    def __call__(self, *arguments: Any, grad: bool = False) -> Any:
        """What the function returns for copies of the arguments.

        With ``grad``, the result of the first tensor's gradient of the sum of the output instead: a pair
        (output, gradient or None).
        """
        leaves = [self._input(each, grad and k == 0) for k, each in enumerate(arguments)]

        def call() -> Any:
            torch.default_generator.manual_seed(self.seed)
            # A copy that is no leaf: the function may write into it.
            given = [each.clone() if isinstance(each, Tensor) else each for each in leaves]
            out = self.function(*given)
            if not grad or not isinstance(out, Tensor):
                return out
            if not out.requires_grad:
                return out, None
            return out, torch.autograd.grad(out.sum(), leaves[0], allow_unused=True)[0]

        described = ", ".join(_described(each) for each in leaves)
        of_labels = any(isinstance(each, Tensor) and not each.is_floating_point() for each in arguments)
        return called(call, f"for {described}", of_labels=of_labels)

    def tensor(self, shape: Sequence[int], *arguments: Any) -> Tensor:
        """The output, in float64: a tensor of numbers of this shape, or `Trouble`."""
        try:
            out = self(*arguments)
        except Trouble:
            if self.dtype is torch.float64:
                raise
            self.dtype = torch.float64  # some write their constants in double precision
            try:
                out = self(*arguments)
            except Trouble:
                self.dtype = torch.float32
                raise self._trouble_in_float32(arguments) from None
        return numbers(out, shape, ", ".join(_described(self._input(each, False)) for each in arguments))

    def gradient(self, shape: Sequence[int], *arguments: Any) -> tuple[Tensor, Tensor]:
        """(output, gradient of its sum by the first argument), both float64."""
        result = self(*arguments, grad=True)
        out, gradient = result if isinstance(result, tuple) and len(result) == 2 else (result, None)
        described = ", ".join(_described(self._input(each, False)) for each in arguments)
        value = numbers(out, shape, described, finite=False)
        if gradient is None:
            raise Trouble(
                "Its output carries no gradient back to its input, so nothing below it could learn "
                "(.detach(), .item(), .data, numpy and no_grad cut it)."
            )
        return value, gradient.detach().double()

    def _trouble_in_float32(self, arguments: Sequence[Any]) -> Trouble:
        try:
            self(*arguments)
        except Trouble as trouble:
            return trouble
        return Trouble("It fails and works by turns on one and the same input.")

    def _input(self, argument: Any, grad: bool) -> Any:
        if not isinstance(argument, Tensor) or not argument.is_floating_point():
            return argument
        return argument.detach().to(self.dtype).requires_grad_(grad)


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
        raise Trouble(f"It returns {_first_not_finite(value)} for {given}, ordinary numbers; expected finite numbers.")
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
        raise Trouble(_told(error, given, of_labels)) from error


def _told(error: BaseException, given: str, of_labels: bool) -> str:
    """An exception as a sentence, with the line of the reader's code it came from."""
    message = " ".join(str(error).split())
    text = f"It raises {type(error).__name__} {given}" + (f": {message[:300].rstrip('.')}." if message else ".")
    line = _line_of(error)
    if line:
        text += f" The line: {line}"
    if not of_labels and ("must match the size" in message or ("shape" in message and "invalid" in message)):
        text += " (Is a keepdim=True missing, or an axis in another place?)"
    return text


def _line_of(error: BaseException) -> str:
    """The last line that is not torch's or ours."""
    found, trace = "", error.__traceback__
    while trace is not None:
        path = trace.tb_frame.f_code.co_filename
        if Path(path).parent != Path(__file__).parent and "/torch/" not in path.replace("\\", "/"):
            found = linecache.getline(path, trace.tb_lineno).strip() or found
        trace = trace.tb_next
    return found


def _described(argument: Any) -> str:
    return f"a tensor of shape {list(argument.shape)}" if isinstance(argument, Tensor) else repr(argument)


def shortened(value: Any) -> str:
    """A value in a few words."""
    if isinstance(value, (tuple, list)):
        return f"a {type(value).__name__} of {len(value)}"
    text = repr(value)
    return f"{type(value).__name__} {text if len(text) <= 40 else text[:37] + '...'}"


def _without_types(signature: inspect.Signature) -> str:
    plain = [each.replace(annotation=inspect.Parameter.empty) for each in signature.parameters.values()]
    return str(signature.replace(parameters=plain, return_annotation=inspect.Signature.empty))


def _first_not_finite(value: Tensor) -> str:
    return f"{float(value[~value.isfinite()].flatten()[0]):g}"
