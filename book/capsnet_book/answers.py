"""Checks for exercises that no catalogue of bugs covers.

A function is compared with the right one, or an answer is tested by its properties.
"""

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
    """Compare a function's results with a reference's.

    Args:
        function: the reader's.
        reference: the right function; it returns a tensor or a number.
        examples: at least one; each is a tuple of arguments for both.

    Returns:
        A `Report`, with the number that differs most in the first example that differs.

    Raises:
        ValueError: no examples.
    """
    if not examples:
        raise ValueError("expected at least one example, a tuple of arguments; got none")
    name = getattr(function, "__name__", "the function")
    call = f"{name}({', '.join(_kind(argument) for argument in examples[0])})"

    def compare(subject: Subject) -> list[Finding]:
        for example in examples:
            expected = torch.as_tensor(reference(*example)).detach().double()
            result = _numbers(subject(*example), expected)
            if not _is_close(result, expected).all():
                return [_furthest(example, expected, result)]
        return []

    count = "1 example" if len(examples) == 1 else f"{len(examples)} examples"
    agrees = f"It agrees with the right one on {count}."
    return examine(name, lambda: compare(Subject(function, call)), agrees)


def _numbers(output: Any, expected: Tensor) -> Tensor:
    """Return an output as float64; raise `NotWritten`, or `Trouble` for another kind or shape."""
    if output is ... or (isinstance(output, tuple) and ... in output):
        raise NotWritten
    if not isinstance(output, (Tensor, int, float)) or torch.as_tensor(output).is_complex():
        kind = "a tensor" if expected.dim() else "a number"
        raise Trouble(f"It returns {output!r}; expected {kind}.")
    result = torch.as_tensor(output).detach().double()
    if result.shape != expected.shape:
        raise Trouble(
            f"It returns the shape {list(result.shape)}; expected {list(expected.shape)}."
        )
    return result


def _is_close(result: Tensor, expected: Tensor) -> Tensor:
    """Return where numbers differ by no more than the tolerance; nan is never close."""
    return (result - expected).abs() <= _TOLERANCE * (1 + expected.abs())


def check_answer(answer: Any, test: Callable[[Any], Any], name: str = "answer") -> Report:
    """Test an answer by its properties.

    Args:
        answer: the reader's: a number, a tensor, a function for the test to call; ``...`` is "not
            written yet".
        test: returns None or True if the answer is right; a sentence on the mistake, or False, if
            not; and ``...`` where it meets a blank, in the results of the answer for instance.
        name: of the answer in the report, if it has none of its own.
    """
    name = getattr(answer, "__name__", name)
    tried = _TriedAnswer(answer)
    try:
        verdict = ... if answer is ... else called(lambda: test(tried.observed()), "in this test")
    except Trouble as trouble:
        text = f"{_naming(answer)} cannot be tested. {tried.explanation(trouble)}"
        return examine(name, lambda: [Finding(None, text)])
    except NotWritten:
        verdict = ...
    if verdict is ...:
        return Report(False, checked=name, written=False)
    is_sentence = isinstance(verdict, str)
    if verdict is None or (not is_sentence and bool(verdict)):
        return Report(True, checked=name)
    text = verdict if is_sentence else f"{_naming(answer)} is not it."
    if tried.returned_none():
        text = _NO_RETURN
    return examine(name, lambda: [Finding(None, text)])


class _TriedAnswer:
    """An answer in a test, with the last result that it returned there.

    Attributes:
        returned: the last result of a function or class; of another answer the answer itself.
        running: whether the answer is being called.
    """

    def __init__(self, answer: Any) -> None:
        self.answer = answer
        self.returned = answer
        self.running = False

    def observed(self) -> Any:
        """Return the answer for the test; a function, or a module that it returns, is observed."""
        if not self._is_function():
            return self.answer

        @wraps(self.answer, updated=())
        def observed_answer(*arguments: Any, **options: Any) -> Any:
            self._start()
            output = self._note(self.answer(*arguments, **options))
            if isinstance(output, nn.Module):
                output.register_forward_pre_hook(lambda module, inputs: self._start())
                output.register_forward_hook(lambda module, inputs, output: self._note(output))
            return output

        return observed_answer

    def explanation(self, trouble: Trouble) -> str:
        """Return what failed: the answer itself, or the test because of the answer's value."""
        if self.running or trouble.__cause__ is None:
            return str(trouble)
        if self.returned_none():
            return _NO_RETURN
        if self._is_function():
            value = f"It returns {_description(self.returned)}"
        else:
            value = f"It is {_description(self.answer)}"
        return f"{value}, and the test can do nothing with that ({trouble.__cause__})."

    def returned_none(self) -> bool:
        """Return True if the last call returned None: right where a test asks for that alone."""
        return callable(self.answer) and self.returned is None

    def _is_function(self) -> bool:
        """Return True for a function or a class, False for a module and other values."""
        return callable(self.answer) and not isinstance(self.answer, nn.Module)

    def _start(self) -> None:
        self.running = True

    def _note(self, output: Any) -> Any:
        self.running = False
        self.returned = output
        return output


def _description(value: Any) -> str:
    """Describe a value in a few words."""
    if isinstance(value, Tensor):
        return f"a tensor of shape {list(value.shape)}"
    if isinstance(value, nn.Module):
        return f"a module, {type(value).__name__}"
    return shortened(value)


def _furthest(example: tuple[Any, ...], expected: Tensor, result: Tensor) -> Finding:
    """Return a finding on the number of a result that is furthest off."""
    worst = (result - expected).abs().nan_to_num(torch.inf).argmax()
    index = tuple(int(i) for i in torch.unravel_index(worst, expected.shape))
    place = f"[{', '.join(map(str, index))}]" if index else ""
    can_be_written = example and not any(isinstance(argument, Tensor) for argument in example)
    which = f"for {', '.join(map(str, example))}" if can_be_written else "furthest off"
    text = (
        f"The output{place} {which}: expected {rounded(expected[index])}, "
        f"came {rounded(result[index])}."
    )
    differences = (_sorted(expected) - _sorted(result)).abs()
    if expected.dim() and not differences.gt(_TOLERANCE).any():
        text += " The numbers are right, their places are not."
    if 0 < expected.dim() <= 2 and expected.numel() <= 24:
        text += f" The whole output: expected {rounded(expected)}, came {rounded(result)}."
    return Finding(None, text)


def _sorted(numbers: Tensor) -> Tensor:
    return numbers.flatten().sort().values


def _kind(argument: Any) -> str:
    """Return how an argument is named in a call."""
    return "tensor" if isinstance(argument, Tensor) else type(argument).__name__


def _naming(answer: Any) -> str:
    """Return how a report names an answer."""
    if isinstance(answer, Tensor):
        return rounded(answer) if answer.numel() <= 8 else "The answer"
    if isinstance(answer, nn.Module):
        return "The answer"
    return getattr(answer, "__name__", repr(answer)[:60])
