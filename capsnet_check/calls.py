"""Calls of a function under examination: whatever it does becomes a result or a sentence."""

from __future__ import annotations

import inspect
import linecache
import textwrap
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import Tensor

from capsnet_check.catalogue import BUGS
from capsnet_check.report import Finding, Report, described, rounded

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
        self.wrote = False
        wanted = f"expected a function or a module that is called as {signature}"
        name = getattr(function, "__name__", type(function).__name__)
        if function is ...:
            raise NotWritten
        if inspect.isclass(function):
            raise Trouble(f"{wanted}; got the class {name} itself: give an instance, {name}()")
        if not callable(function):
            raise Trouble(f"{wanted}; got {shortened(function)}")
        arguments = signature.partition("(")[2].rstrip(")")
        if not accepts(function, len(arguments.split(", ")) if arguments else 0):
            raise Trouble(f"{wanted}; got {name}({', '.join(arguments_of(function))})")

    def __call__(self, *arguments: Any) -> Any:
        """What the function returns for copies of the arguments: it may write into them."""
        torch.default_generator.manual_seed(
            0
        )  # one that draws random numbers shall not look like one that remembers
        copies = [each.clone() if isinstance(each, Tensor) else each for each in arguments]
        out = called(lambda: self.function(*copies), f"for {described(arguments)}")
        pairs = zip(arguments, copies, strict=True)
        self.wrote |= any(
            isinstance(each, Tensor) and not torch.equal(each, copy) for each, copy in pairs
        )
        return out

    def tensor(self, shape: Sequence[int], *arguments: Any) -> Tensor:
        """The output, in float64: a tensor of numbers of this shape, or `Trouble`."""
        return numbers(self(*arguments), shape, described(arguments))

    def gradient(self, shape: Sequence[int], *arguments: Any) -> tuple[Tensor, Tensor]:
        """(output, gradient of its sum by the first argument), both float64."""
        leaf = arguments[0].detach().requires_grad_()
        out = self(leaf, *arguments[1:])
        value = numbers(out, shape, described(arguments), finite=False)
        gradient = None
        if out.requires_grad:
            try:
                (gradient,) = torch.autograd.grad(out.sum(), leaf, allow_unused=True)
            except RuntimeError as error:
                raise Trouble(
                    WROTE if self.wrote else f"Its gradient cannot be computed: {error}"
                ) from error
        if gradient is None:
            raise Trouble(
                "Its output carries no gradient back to its input, so nothing below it could learn "
                "(.detach(), .item(), .data, numpy and no_grad cut it)."
            )
        return value, gradient.double()


WROTE = "It writes into the tensor that it is given: whoever reads that afterwards finds other numbers. Work on a copy."


class Looked(NamedTuple):
    """Something that was looked at, or was not."""

    at: str
    why_not: str = ""


def examined(
    checked: str,
    examine: Callable[[], Iterable[Finding | Looked]],
    agrees: str = "",
    *,
    strict: bool = False,
    needed: str = "",
) -> Report:
    """The report of an examination, known bugs first and each once; what it found before a call failed is kept.

    It is right where nothing was found but conventions. That it agrees is said only where nothing was found: a
    convention may be the very thing that it does not do. The reader's random numbers go on as if nothing was called.

    Args:
        checked: what is examined.
        examine: gives what it finds, and what it has looked at.
        agrees: what is said if it is right.
        strict: a convention is a fault as any other.
        needed: what must have been looked at if it is to be right; empty: nothing more.
    """
    found: list[Finding | Looked] = []
    with torch.random.fork_rng(devices=[]), torch.enable_grad():
        try:
            for each in examine():
                found.append(each)
        except NotWritten:
            return Report(False, checked=checked, written=False)
        except Trouble as trouble:
            found.append(Finding(None, str(trouble), failed_call=True))
    looked = [each for each in found if isinstance(each, Looked)]
    seen = [each.at for each in looked if not each.why_not] or [checked] * (not needed)
    unseen = [f"{each.at} ({each.why_not})" for each in looked if each.why_not]
    order = [*BUGS, None]
    findings = sorted(
        (each for each in found if isinstance(each, Finding)),
        key=lambda each: order.index(each.bug),
    )
    bugs = tuple(dict.fromkeys(each.bug for each in findings if each.bug))
    first = [
        k
        for k, each in enumerate(findings)
        if not each.bug or each.bug not in {x.bug for x in findings[:k]}
    ]
    findings = [
        replace(findings[k], convention=findings[k].convention and not strict) for k in first
    ]
    passed = all(each.convention for each in findings) and any(
        each.startswith(needed) for each in seen
    )
    agrees = "" if findings else agrees
    return Report(
        passed,
        bugs,
        checked,
        tuple(findings),
        agrees,
        examined=tuple(seen),
        unexamined=tuple(unseen),
    )


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
        raise Trouble(
            f"It returns a tensor of shape {list(out.shape)} for {given}; expected {wanted}."
        )
    value = out.detach().cpu().double()
    if finite and not value.isfinite().all():
        first = float(value[~value.isfinite()].flatten()[0])
        raise Trouble(
            f"It returns {first:g} for {given}, ordinary numbers; expected finite numbers."
        )
    return value


def arguments_of(function: Any) -> Mapping[str, inspect.Parameter]:
    """The arguments of a function or module, by name; any number where that cannot be known."""
    try:  # a module's own are (*args, **kwargs)
        return inspect.signature(
            function.forward if isinstance(function, torch.nn.Module) else function
        ).parameters
    except (TypeError, ValueError):  # a built-in without a signature
        return {"args": inspect.Parameter("args", inspect.Parameter.VAR_POSITIONAL)}


def nan_at_zero(
    subject: Subject, shape: Sequence[int], zeros: Tensor, *more: Any, name: str
) -> list[Finding]:
    """What the zero vector becomes, and its gradient."""
    value, gradient = subject.gradient(shape, zeros, *more)
    if not value.isfinite().all():
        return [Finding("squash-nan", f"{name} = 0 in, nan out.")]
    if not gradient.isfinite().all():
        return [Finding("squash-nan", f"The value at {name} = 0 is a number; the gradient is not.")]
    if value.abs().max() > 1e-3:
        came = value.flatten()[value.abs().argmax()]
        return [Finding(None, f"For {name} = 0 it returns {rounded(came)}; expected 0.")]
    return []


def accepts(function: Any, count: int) -> bool:
    """Whether a function can be called with so many arguments; True where that cannot be known."""
    try:
        inspect.Signature([*arguments_of(function).values()]).bind(*range(count))
    except TypeError:
        return False
    return True


def called(call: Callable[[], Any], given: str) -> Any:
    """What the call returns; `Trouble`, with the line of the reader's code, if it raises."""
    try:
        return call()
    except (Trouble, NotWritten, KeyboardInterrupt):
        raise
    except BaseException as error:
        if isinstance(error, NotImplementedError) and not str(error):
            raise NotWritten from None
        message = textwrap.shorten(str(error), 300, placeholder=" …").rstrip(".")
        text = f"It raises {type(error).__name__} {given}" + (f": {message}." if message else ".")
        line, trace = "", error.__traceback__
        while trace is not None:
            path = trace.tb_frame.f_code.co_filename
            if is_theirs(path):
                line = linecache.getline(path, trace.tb_lineno).strip()
            trace = trace.tb_next
        if line:
            text += f" The line: {line}"
        if "shape" in message and "invalid" in message:
            text += " (Is a size written in that should come from the input?)"
        elif "must match the size" in message:
            text += " (Compare the shapes axis by axis. Is an axis of size 1 missing, as keepdim=True, unsqueeze or "
            text += "None make it? Or are labels not yet one-hot, images not yet flattened?)"
        raise Trouble(text) from error


def is_theirs(path: str) -> bool:
    """Whether a file of code is neither torch's nor ours."""
    return Path(path).parent != _HERE and _TORCH not in Path(path).parents


def shortened(value: Any) -> str:
    """A value in a few words."""
    if isinstance(value, (tuple, list)):
        return f"a {type(value).__name__} of {len(value)}"
    text = repr(value)
    return f"{type(value).__name__} {text if len(text) <= 40 else text[:37] + '...'}"
