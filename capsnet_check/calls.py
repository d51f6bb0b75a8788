"""Calls of a function under examination: a result, or a sentence that says what went wrong."""

from __future__ import annotations

import inspect
import linecache
import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any

import torch
from torch import Tensor

from capsnet_check.wording import described, shortened

CHANGED = (
    "It changes its argument in place, so code that reads the argument afterwards finds other "
    "numbers. Work on a copy."
)
_CPU = torch.device("cpu")
_HERE = Path(__file__).parent
_TORCH = Path(torch.__file__).parent
_OURS = ("capsnet_check", "capsnet_book", "capsnet_tutorial", "torch")
"""Packages whose lines are not the reader's."""


class Trouble(Exception):
    """A function cannot be called, or returns what cannot be used; the message is a sentence."""


class NotWritten(Exception):
    """The exercise still has its blank."""


class Subject:
    """A function under examination.

    Args:
        function: the reader's.
        signature: the way to call it, such as "squash(s)".

    Raises:
        Trouble: it is not callable, or not with these arguments.
        NotWritten: it is `...`.
    """

    def __init__(self, function: Any, signature: str) -> None:
        self.function = function
        self.wrote = False
        """Whether a call has written into its arguments."""
        expected = f"a function or a module that is called as {signature}"
        name = getattr(function, "__name__", type(function).__name__)
        if function is ...:
            raise NotWritten
        if inspect.isclass(function):
            raise Trouble(
                f"expected {expected}; got the class {name} itself: give an instance, {name}()"
            )
        if not callable(function):
            raise Trouble(f"expected {expected}; got {shortened(function)}")
        arguments = signature.partition("(")[2].rstrip(")")
        if not accepts(function, len(arguments.split(", ")) if arguments else 0):
            given = ", ".join(parameters_of(function))
            raise Trouble(f"expected {expected}; got {name}({given})")

    def __call__(self, *arguments: Any) -> Any:
        """Return what the function returns for copies of the arguments: it may write into them."""
        # A function that draws random numbers shall not look like one that remembers its calls.
        torch.default_generator.manual_seed(0)
        copies = copied(arguments)
        out = called(lambda: self.function(*copies), f"for {described(arguments)}")
        if not is_same(arguments, copies):
            self.wrote = True
        return out

    def tensor(self, shape: Sequence[int], *arguments: Any) -> Tensor:
        """Return the output in float64; raise `Trouble` unless it has numbers of this shape."""
        return as_numbers(self(*arguments), shape, described(arguments))

    def gradient(self, shape: Sequence[int], *arguments: Any) -> tuple[Tensor, Tensor]:
        """Return (output, gradient of its sum by the first argument), both in float64."""
        leaf = arguments[0].detach().requires_grad_()
        out = self(leaf, *arguments[1:])
        value = as_numbers(out, shape, described(arguments), finite=False)
        gradient = None
        if out.requires_grad:
            try:
                (gradient,) = torch.autograd.grad(out.sum(), leaf, allow_unused=True)
            except RuntimeError as error:
                text = CHANGED if self.wrote else f"Its gradient cannot be computed: {error}"
                raise Trouble(text) from error
        if gradient is None:
            raise Trouble(
                "Its output carries no gradient back to its input, so nothing below it could learn "
                "(.detach(), .item(), .data, numpy and no_grad cut it)."
            )
        return value, gradient.double()


def copied(value: Any) -> Any:
    """Return a copy of a tensor, or of a list or tuple with all that it holds; else the value."""
    if isinstance(value, Tensor):
        return value.clone()
    if type(value) in (list, tuple):
        return type(value)(copied(item) for item in value)
    return value


def is_same(value: Any, copy: Any) -> bool:
    """Return True if a copy, made by `copied`, still holds the same numbers; nan equals nan."""
    if isinstance(value, Tensor):
        if value.shape != copy.shape:
            return False
        return bool(((value == copy) | (value.isnan() & copy.isnan())).all())
    if type(value) in (list, tuple):
        return len(value) == len(copy) and all(map(is_same, value, copy))
    return value is copy or type(value) not in (int, float, str) or value == copy


def called(call: Callable[[], Any], given: str) -> Any:
    """Return what the call returns.

    Args:
        call: a call of the reader's code.
        given: the arguments, in words, for the sentence.

    Raises:
        Trouble: it raises; with the line of the reader's code.
        NotWritten: it raises a bare NotImplementedError.
    """
    try:
        with on_the_cpu():
            return call()
    except (Trouble, NotWritten, KeyboardInterrupt):
        raise
    except BaseException as error:  # SystemExit is one of the code's errors, too
        if isinstance(error, NotImplementedError) and not str(error):
            raise NotWritten from None
        raise Trouble(_sentence(error, given)) from error


def _sentence(error: BaseException, given: str) -> str:
    """Return what was raised, the line of the reader's code, and a hint for two usual errors."""
    message = textwrap.shorten(str(error), 300, placeholder=" …").rstrip(".")
    name = type(error).__name__
    text = f"It raises {name} {given}: {message}." if message else f"It raises {name} {given}."
    line = _last_line_of_theirs(error.__traceback__)
    if line:
        text += f" The line: {line}"
    if "shape" in message and "invalid" in message:
        text += " (Is a size written in that should come from the input?)"
    elif "must match the size" in message:
        text += (
            " (Compare the shapes axis by axis. Is an axis of size 1 missing, as keepdim=True, "
            "unsqueeze or None make it? Or are labels not yet one-hot, images not yet flattened?)"
        )
    return text


def _last_line_of_theirs(trace: TracebackType | None) -> str:
    """Return the innermost line of the reader's code in a traceback; empty if there is none."""
    line = ""
    while trace is not None:
        frame = trace.tb_frame
        module = frame.f_globals.get("__name__", "")
        if module.partition(".")[0] not in _OURS:
            line = linecache.getline(frame.f_code.co_filename, trace.tb_lineno).strip()
        trace = trace.tb_next
    return line


def is_theirs(path: str) -> bool:
    """Return True for a file of code that is neither torch's nor the checker's."""
    return Path(path).parent != _HERE and _TORCH not in Path(path).parents


@contextmanager
def on_the_cpu() -> Iterator[None]:
    """Let new tensors be made on the CPU; afterwards the default device is what it was."""
    before = _default_device()
    if before != _CPU:
        torch.set_default_device(None)
    try:
        yield
    finally:
        if _default_device() != before:
            torch.set_default_device(None if before == _CPU else before)


def _default_device() -> torch.device | None:
    """Return the default device; None where it is one that this machine does not have."""
    try:
        return torch.get_default_device()
    except (RuntimeError, AssertionError):
        return None


def as_numbers(out: Any, shape: Sequence[int], given: str, *, finite: bool = True) -> Tensor:
    """Return an output in float64, on the CPU.

    Raises:
        Trouble: it is no tensor of numbers of this shape, or not finite where it has to be.
        NotWritten: it is `...`.
    """
    expected = f"a tensor of shape {list(shape)}" if shape else "a scalar"
    _expect_a_tensor(out, expected, given, scalar=not shape)
    if not out.is_floating_point():
        raise Trouble(f"It returns numbers of type {out.dtype}; expected floating point.")
    if not shape and out.numel() == 1:
        out = out.reshape(())
    if list(out.shape) != list(shape):
        output = f"a tensor of shape {list(out.shape)}"
        raise Trouble(f"It returns {output} for {given}; expected {expected}.")
    value = out.detach().cpu().double()
    if finite and not value.isfinite().all():
        first = float(value[~value.isfinite()].flatten()[0])
        raise Trouble(
            f"It returns {first:g} for {given}, ordinary numbers; expected finite numbers."
        )
    return value


def _expect_a_tensor(out: Any, expected: str, given: str, *, scalar: bool) -> None:
    if out is ...:
        raise NotWritten
    if out is None:
        raise Trouble(f"It returns None for {given}; expected {expected}. Is the `return` missing?")
    if scalar and isinstance(out, (int, float)):
        raise Trouble(
            f"It returns the Python number {out:g}; expected a tensor, {expected}, so that a "
            "gradient can flow (.item() and float() cut it)."
        )
    if not isinstance(out, Tensor):
        raise Trouble(f"It returns {shortened(out)} for {given}; expected {expected}.")


def parameters_of(function: Any) -> Mapping[str, inspect.Parameter]:
    """Return the parameters of a function or module by name; any number where that is unknown."""
    if isinstance(function, torch.nn.Module):
        function = function.forward  # a module's own are (*args, **kwargs)
    try:
        return inspect.signature(function).parameters
    except (TypeError, ValueError):  # a built-in without a signature
        return {"args": inspect.Parameter("args", inspect.Parameter.VAR_POSITIONAL)}


def accepts(function: Any, count: int, *names: str) -> bool:
    """Return True if a function takes so many positional arguments, or that is unknown.

    Args:
        function: the function or module.
        count: of the positional arguments.
        names: of arguments that are given by name as well.
    """
    signature = inspect.Signature([*parameters_of(function).values()])
    try:
        signature.bind(*range(count), **dict.fromkeys(names))
    except TypeError:
        return False
    return True
