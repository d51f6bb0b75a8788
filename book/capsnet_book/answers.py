"""Checks for exercises that no catalogue of bugs covers.

A function is compared with the right one, or an answer is tested by its properties.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from capsnet_check.calls import CHANGED, NotWritten, Subject, Trouble, called, copied, is_same
from capsnet_check.examination import examine
from capsnet_check.recognition import RELATIONS, factor_words, fitting_relation
from capsnet_check.report import Finding, Report
from capsnet_check.wording import rounded, shortened

Pair = tuple[Tensor, Tensor]
"""A result and the expected one, float64, of one shape."""

_TOLERANCE = 1e-4
_FEWEST = 3
"""Numbers from which a relation is said: fewer may have it by chance."""
_MOST_COLUMNS = 4
"""Of a table whose columns mean different things."""
_NO_RETURN = "It returns None. Is its `return` missing?"


OF_TENSORS: dict[str, Callable[[Tensor], Tensor]] = {
    "It is a softmax of what is expected.": lambda expected: expected.softmax(dim=-1),
    "Along the first axis all are equal: they are the mean of what is expected.": (
        lambda expected: expected.mean(dim=0, keepdim=True).expand_as(expected)
    ),
    "Along the first axis all are equal: they are the first of what is expected.": (
        lambda expected: expected[:1].expand_as(expected)
    ),
}
"""What wrong tensors often are, seen from the right ones, beside `RELATIONS` of each number."""


def check_function(
    function: Any,
    reference: Callable[..., Any],
    *examples: tuple[Any, ...],
    slips: Mapping[str, Callable[..., Any]] | None = None,
) -> Report:
    """Compare a function's results with a reference's. It gets copies, and may not change them.

    Args:
        function: the reader's.
        reference: the right function; it returns a tensor or a number.
        examples: at least one; each is a tuple of arguments for both.
        slips: wrong variants of the reference that people write, by the sentence that names each.

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
        pairs = _pairs(subject, reference, examples)
        if subject.wrote:
            return [Finding(None, CHANGED)]
        wrong = [k for k, pair in enumerate(pairs) if not _is_close(*pair)]
        if not wrong:
            return []
        slip = _matching_slip(slips or {}, examples, [result for result, _ in pairs])
        return [slip or _furthest(examples[wrong[0]], pairs, wrong[0])]

    count = "1 example" if len(examples) == 1 else f"{len(examples)} examples"
    agrees = f"It agrees with the right one on {count}."
    return examine(name, lambda: compare(Subject(function, call)), agrees)


def _pairs(
    subject: Subject, reference: Callable[..., Any], examples: tuple[tuple[Any, ...], ...]
) -> list[Pair]:
    """Return result and expected result of each example, to the first that fails after a wrong one.

    Raises:
        Trouble: an example fails, and all before it are right.
    """
    pairs: list[Pair] = []
    for example in examples:
        expected = _in_float64(reference(*copied(example)))
        try:
            result = _numbers(subject(*example), expected)
        except Trouble:
            if all(_is_close(*pair) for pair in pairs):
                raise
            break
        pairs.append((result, expected))
        if subject.wrote:
            break
    return pairs


def _matching_slip(
    slips: Mapping[str, Callable[..., Any]],
    examples: tuple[tuple[Any, ...], ...],
    results: list[Tensor],
) -> Finding | None:
    """Return the finding of the first slip that gives these results, of the first examples."""
    for sentence, slip in slips.items():
        pairs = zip(examples, results, strict=False)
        if all(_agrees(slip, example, result) for example, result in pairs):
            return Finding(None, sentence)
    return None


def _agrees(slip: Callable[..., Any], example: tuple[Any, ...], result: Tensor) -> bool:
    """Return True if a wrong variant gives this result for an example."""
    output = _in_float64(slip(*copied(example)))
    return output.shape == result.shape and _is_close(result, output)


def _in_float64(output: Any) -> Tensor:
    return torch.as_tensor(output).detach().double()


def _numbers(output: Any, expected: Tensor) -> Tensor:
    """Return an output as float64; raise `NotWritten`, or `Trouble` for another kind or shape."""
    if output is ... or (isinstance(output, tuple) and ... in output):
        raise NotWritten
    if output is None:
        raise Trouble(_NO_RETURN)
    kinds = (Tensor,) if expected.dim() else (Tensor, int, float, np.number)
    if not isinstance(output, kinds) or torch.as_tensor(output).is_complex():
        kind = "a tensor" if expected.dim() else "a number"
        value = _description(output)
        raise Trouble(f"It returns {value}; expected {kind}.{_remedy(output)}")
    result = _in_float64(output)
    if result.shape != expected.shape:
        raise Trouble(
            f"It returns the shape {list(result.shape)}; expected {list(expected.shape)}."
        )
    return result


def _is_close(result: Tensor, expected: Tensor) -> bool:
    """Return True if all numbers differ by no more than the tolerance; nan is never close."""
    return bool(((result - expected).abs() <= _TOLERANCE * (1 + expected.abs())).all())


def check_answer(answer: Any, test: Callable[[Any], Any], name: str = "answer") -> Report:
    """Test an answer by its properties.

    A function gets copies of what the test hands it, and may not change them; the test gets
    float32 where it returns float64, so that NumPy's habits are no mistake.

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
        text = tried.explanation(trouble)
        if text != CHANGED:
            text = f"{_naming(answer)} cannot be tested. {text}"
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
        has_returned: whether a function, or a module, returned anything but None so far.
        running: whether the answer, or a module of it, is being called: what is raised is its own.
    """

    def __init__(self, answer: Any) -> None:
        self.answer = answer
        self.returned = answer
        self.has_returned = False
        self.running = False

    def observed(self) -> Any:
        """Return the answer for the test; a function, or a module that it returns, is observed."""
        if not self._is_function():
            return _in_float32(self.answer)

        @wraps(self.answer, updated=())
        def observed_answer(*arguments: Any, **options: Any) -> Any:
            given = (*arguments, *options.values())
            copies = copied(given)
            named = dict(zip(options, copies[len(arguments) :], strict=True))
            self.running = True
            output = called(lambda: self.answer(*copies[: len(arguments)], **named), "in this test")
            self.running = False
            if not is_same(given, copies):
                raise Trouble(CHANGED)
            if isinstance(output, nn.Module):
                self._observe(output)
            self.returned = output
            self.has_returned |= not (output is None or isinstance(output, nn.Module))
            return _in_float32(output)

        return observed_answer

    def _observe(self, module: nn.Module) -> None:
        """Look at a module's calls: it gets copies, and may not change them."""
        originals: list[Any] = []

        def before(module: nn.Module, inputs: Any) -> Any:
            self.running = True
            originals.append(inputs)
            return copied(inputs)

        def after(module: nn.Module, inputs: Any, output: Any) -> Any:
            self.running = False
            if not is_same(originals.pop(), inputs):
                raise Trouble(CHANGED)
            self.returned = output
            self.has_returned |= output is not None
            return _in_float32(output)

        module.register_forward_pre_hook(before)
        module.register_forward_hook(after)

    def explanation(self, trouble: Trouble) -> str:
        """Return what failed: the answer itself, or the test because of the answer's value."""
        is_module = isinstance(self.answer, nn.Module)
        if self.running or trouble.__cause__ is None or is_module:
            return str(trouble)
        if self.returned_none():
            return _NO_RETURN
        description = _description(self.returned)
        text = f"It returns {description}" if self._is_function() else f"It is {description}"
        remedy = _remedy(self.returned)
        if remedy:
            return f"{text}; expected a tensor.{remedy}"
        if _is_whole(self.returned) and "did not match" in str(trouble.__cause__):
            return f"{text} of whole numbers; expected floating point."
        return f"{text}, and the test can do nothing with that ({trouble.__cause__})."

    def returned_none(self) -> bool:
        """Return True if all calls returned None: some of them may do so on purpose."""
        return callable(self.answer) and self.returned is None and not self.has_returned

    def _is_function(self) -> bool:
        """Return True for a function or a class, False for a module and other values."""
        return callable(self.answer) and not isinstance(self.answer, nn.Module)


def _in_float32(value: Any) -> Any:
    """Return float64 as float32, in which the book's tests compare."""
    if isinstance(value, Tensor) and value.dtype == torch.float64:
        return value.float()
    return value


def _remedy(value: Any) -> str:
    """Return the line that makes a tensor of a value that is none; empty if that is unknown."""
    if isinstance(value, np.ndarray):
        return " `torch.from_numpy(…)` makes one."
    if isinstance(value, (list, tuple)) and value:
        stacks = all(isinstance(item, Tensor) and item.dim() for item in value)
        return f" `torch.{'stack' if stacks else 'tensor'}(…)` makes one."
    if isinstance(value, (int, float)):
        return " `torch.tensor(…)` makes one."
    return ""


def _is_whole(value: Any) -> bool:
    """Return True for a tensor of integers, or of True and False."""
    return isinstance(value, Tensor) and not (value.is_floating_point() or value.is_complex())


def _description(value: Any) -> str:
    """Describe a value in a few words."""
    if isinstance(value, np.ndarray):
        return f"a NumPy array of shape {list(value.shape)}"
    if isinstance(value, Tensor):
        return f"a tensor of shape {list(value.shape)}"
    if isinstance(value, nn.Module):
        return f"a module, {type(value).__name__}"
    return shortened(value)


def _furthest(example: tuple[Any, ...], pairs: list[Pair], place: int) -> Finding:
    """Return a finding on the number that is furthest off in one of the pairs.

    Args:
        example: the arguments.
        pairs: result and expected result of all examples.
        place: of the example's pair.
    """
    result, expected = pairs[place]
    worst = (result - expected).abs().nan_to_num(torch.inf).argmax()
    index = tuple(int(i) for i in torch.unravel_index(worst, expected.shape))
    where = f"[{', '.join(map(str, index))}]" if index else ""
    can_be_written = example and not any(isinstance(argument, Tensor) for argument in example)
    which = f"for {', '.join(map(str, example))}" if can_be_written else "furthest off"
    text = (
        f"The output{where} {which}: expected {rounded(expected[index])}, "
        f"came {rounded(result[index])}."
    )
    if result.isnan().any() and not expected.isnan().any():
        text += " What gives nan is 0/0, or 0 times the logarithm of 0."
    text += _relation_words(pairs)
    differences = (_sorted(expected) - _sorted(result)).abs()
    if expected.dim() and differences.le(_TOLERANCE).all():  # nan is not
        text += " The numbers are right, their places are not."
    if 0 < expected.dim() <= 2 and expected.numel() <= 24:
        text += f" The whole output: expected {rounded(expected)}, came {rounded(result)}."
    return Finding(None, text)


def _relation_words(pairs: list[Pair]) -> str:
    """Return what wrong results have to do with the right ones, in words; empty if unknown."""
    columns = _wrong_columns(pairs)
    words = ""
    if columns:
        pairs = [(result[:, columns], expected[:, columns]) for result, expected in pairs]
        words = f" Only the numbers at [:, {', '.join(map(str, columns))}] are wrong."
    factor = factor_words(pairs)
    if factor:
        return words + factor
    if sum(expected.numel() for _, expected in pairs) < _FEWEST:
        return words
    are_tensors = pairs[0][1].dim() > 0
    relations = RELATIONS | OF_TENSORS if are_tensors else RELATIONS
    relation = fitting_relation(pairs, relations, _is_close)
    if relation:
        return words + relation
    results = [result for result, _ in pairs]
    if not are_tensors and all(torch.equal(result, results[0]) for result in results):
        return f"{words} It returns the same for every example."
    return words


def _wrong_columns(pairs: list[Pair]) -> list[int]:
    """Return the columns of a table in which a number is wrong; none if all are, or no table is."""
    if any(expected.dim() != 2 for _, expected in pairs):
        return []
    count = pairs[0][1].shape[1]
    wrong = [
        column
        for column in range(count)
        if not all(_is_close(result[:, column], expected[:, column]) for result, expected in pairs)
    ]
    return wrong if len(wrong) < count <= _MOST_COLUMNS else []


def _sorted(numbers: Tensor) -> Tensor:
    return numbers.flatten().sort().values


def _kind(argument: Any) -> str:
    """Return the name of an argument in a call."""
    return "tensor" if isinstance(argument, Tensor) else type(argument).__name__


def _naming(answer: Any) -> str:
    """Return how a report names an answer."""
    if isinstance(answer, Tensor):
        return rounded(answer) if answer.numel() <= 8 else "The answer"
    if isinstance(answer, nn.Module):
        return "The answer"
    return getattr(answer, "__name__", repr(answer)[:60])
