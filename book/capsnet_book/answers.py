"""Checks for exercises that no catalogue covers: a function beside the right one, and an answer by its properties."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import torch
from torch import Tensor, nn

from capsnet_check.calls import NotWritten, Subject, Trouble, called
from capsnet_check.examination import examine
from capsnet_check.report import Finding, Report
from capsnet_check.wording import rounded, shortened

_TOLERANCE = 1e-4
_NO_RETURN = "It returns None. Is its `return` missing?"


def check_function(
    function: Any, reference: Callable[..., Any], *examples: tuple[Any, ...]
) -> Report:
    """Does a function return what another returns?

    Args:
        function: what the reader wrote.
        reference: the right function; it returns a tensor or a number.
        examples: at least one; each is a tuple of arguments for both.

    Returns:
        A `Report`, with the first number that differs.

    Raises:
        ValueError: no examples.
    """
    if not examples:
        raise ValueError("expected at least one example, a tuple of arguments; got none")
    name = getattr(function, "__name__", "the function")
    called = f"{name}({', '.join(_kind(each) for each in examples[0])})"

    def steps(subject: Subject) -> list[Finding]:
        for example in examples:
            expected = torch.as_tensor(reference(*example)).detach().double()
            out = subject(*example)
            if out is ... or (isinstance(out, tuple) and ... in out):
                raise NotWritten
            if not isinstance(out, (Tensor, int, float)) or torch.as_tensor(out).is_complex():
                raise Trouble(
                    f"It returns {out!r}; expected {'a tensor' if expected.dim() else 'a number'}."
                )
            came = torch.as_tensor(out).detach().double()
            if came.shape != expected.shape:
                raise Trouble(
                    f"It returns the shape {list(came.shape)}; expected {list(expected.shape)}."
                )
            far = ~((came - expected).abs() <= _TOLERANCE * (1 + expected.abs()))
            if far.any():
                return [_furthest(example, expected, came)]
        return []

    agrees = (
        "It agrees with the right one on 1 example."
        if len(examples) == 1
        else (f"It agrees with the right one on {len(examples)} examples.")
    )
    return examine(name, lambda: steps(Subject(function, called)), agrees)


def check_answer(answer: Any, test: Callable[[Any], Any], name: str = "answer") -> Report:
    """Is an answer right, by a test that knows what the answer must be like?

    Args:
        answer: the reader's: a number, a tensor, a function for the test to call; ``...`` is "not written yet".
        test: returns None or True if the answer is right; a sentence that says what is wrong, or False, if not; and
            ``...`` where it finds a blank, in what the answer returns for instance.
        name: what the report calls the answer, where it has no name of its own.
    """
    name = getattr(answer, "__name__", name)
    given = _Answer(answer)
    try:
        verdict = ... if answer is ... else called(lambda: test(given.noting()), "in this test")
    except Trouble as trouble:
        text = f"{_said(answer)} cannot be tested. {given.told(trouble)}"
        return examine(name, lambda: [Finding(None, text)])
    except NotWritten:
        verdict = ...
    if verdict is ...:
        return Report(False, checked=name, written=False)
    if verdict is None or (not isinstance(verdict, str) and bool(verdict)):
        return Report(True, checked=name)
    text = verdict if isinstance(verdict, str) else f"{_said(answer)} is not it."
    return examine(name, lambda: [Finding(None, _NO_RETURN if given.came_to_nothing() else text)])


class _Answer:
    """An answer in a test: if it is a function or a class, what it returns there is noted."""

    def __init__(self, answer: Any) -> None:
        self.answer = answer
        self.returned = answer
        self.running = False

    def noting(self) -> Any:
        """The answer, for the test; what a function returns, or the module that it returns computes, is noted."""
        if not callable(self.answer) or isinstance(self.answer, nn.Module):
            return self.answer

        @wraps(self.answer, updated=())
        def noting(*arguments: Any, **options: Any) -> Any:
            self._start()
            out = self._note(self.answer(*arguments, **options))
            if isinstance(out, nn.Module):
                out.register_forward_pre_hook(lambda module, given: self._start())
                out.register_forward_hook(lambda module, given, out: self._note(out))
            return out

        return noting

    def told(self, trouble: Trouble) -> str:
        """What went wrong: the answer itself, or the test because of what the answer is or returns."""
        if self.running or trouble.__cause__ is None:
            return str(trouble)
        if self.came_to_nothing():
            return _NO_RETURN
        a_function = callable(self.answer) and not isinstance(self.answer, nn.Module)
        came = f"It returns {_what(self.returned)}" if a_function else f"It is {_what(self.answer)}"
        return f"{came}, and the test can do nothing with that ({trouble.__cause__})."

    def came_to_nothing(self) -> bool:
        """Did the last call return None? Right where a test asks for it; else a `return` is missing."""
        return callable(self.answer) and self.returned is None

    def _start(self) -> None:
        self.running = True

    def _note(self, out: Any) -> Any:
        self.running, self.returned = False, out
        return out


def _what(value: Any) -> str:
    if isinstance(value, Tensor):
        return f"a tensor of shape {list(value.shape)}"
    return f"a module, {type(value).__name__}" if isinstance(value, nn.Module) else shortened(value)


def _furthest(example: tuple[Any, ...], expected: Tensor, came: Tensor) -> Finding:
    worst = (came - expected).abs().nan_to_num(torch.inf).argmax()
    where = tuple(int(each) for each in torch.unravel_index(worst, expected.shape))
    place = f"[{', '.join(map(str, where))}]" if where else ""
    told = example and not any(isinstance(each, Tensor) for each in example)
    given = f"for {', '.join(map(str, example))}" if told else "furthest off"
    text = f"The output{place} {given}: expected {rounded(expected[where])}, came {rounded(came[where])}."
    if expected.dim() and not (_sorted(expected) - _sorted(came)).abs().gt(_TOLERANCE).any():
        text += " The numbers are right, their places are not."
    if 0 < expected.dim() <= 2 and expected.numel() <= 24:
        text += f" The whole output: expected {rounded(expected)}, came {rounded(came)}."
    return Finding(None, text)


def _sorted(numbers: Tensor) -> Tensor:
    return numbers.flatten().sort().values


def _kind(argument: Any) -> str:
    return "tensor" if isinstance(argument, Tensor) else type(argument).__name__


def _said(answer: Any) -> str:
    if isinstance(answer, Tensor):
        return rounded(answer) if answer.numel() <= 8 else "The answer"
    if isinstance(answer, nn.Module):
        return "The answer"
    return getattr(answer, "__name__", repr(answer)[:60])
