"""The operations of a network as they run: what each takes and gives, and the line of code that it stands in."""

from __future__ import annotations

import copy
import linecache
import math
import sys
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import permutations
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

from capsnet_check.calls import Trouble, is_theirs
from capsnet_tutorial.layers import RoutedCapsules

_theirs = lru_cache(is_theirs)
Instead = Mapping[int, Tensor] | None  # what operations give instead, by their numbers


@dataclass(frozen=True, eq=False)
class Operation:
    """One call of a function of torch."""

    index: int
    """Its number in the run; the same in another run of the same code."""
    name: str
    inputs: list[Tensor]
    outputs: list[Tensor]
    place: tuple[str, int]
    """File and line of the code that is examined."""

    @property
    def line(self) -> str:
        path, number = self.place
        return (
            f"{Path(path).name}, line {number}: {linecache.getline(path, number).strip()}"
            if number
            else ""
        )


class Reached(BaseException):
    """The operation after which nothing is of interest was reached."""


class Trace(TorchFunctionMode):
    """A recorder of operations, which puts other numbers in the place of what some of them give.

    There a machine has no GPU: `.cuda()` and `device="cuda"` do nothing.

    Args:
        instead: what the operations of these numbers give instead.
        keep: the operations to record; None: all.
        stop: the operation after which to raise `Reached`.
    """

    ends = math.inf
    """When an operation is refused, by the clock `time.monotonic`."""

    def __init__(
        self, instead: Instead = None, keep: Collection[int] | None = None, stop: int | None = None
    ) -> None:
        super().__init__()
        self.instead, self.keep, self.stop, self.count = instead or {}, keep, stop, 0
        self.operations: list[Operation] = []

    def __torch_function__(
        self, func: Callable[..., Any], types: Any, args: tuple[Any, ...] = (), kwargs: Any = None
    ) -> Any:
        if time.monotonic() > self.ends:
            raise Trouble("It took too long, and was not examined to the end (seconds=…).")
        kwargs = {
            key: value
            for key, value in (kwargs or {}).items()
            if key != "device" or not _is_cuda(value)
        }
        if func is Tensor.cuda:
            return args[0]
        if func is Tensor.to:
            args = tuple(value for value in args if not _is_cuda(value))
            if len(args) == 1 and not kwargs:
                return args[0]
        index, self.count = self.count, self.count + 1
        out = self.instead[index] if index in self.instead else func(*args, **kwargs)
        if self.keep is None or index in self.keep:
            outputs = tensors_in(out) or (
                tensors_in(args[:1]) if func is Tensor.__setitem__ else []
            )
            if outputs:
                given = tensors_in((args, kwargs))
                self.operations.append(Operation(index, func.__name__, given, outputs, _place()))
        if index == self.stop:
            raise Reached
        return out


def _is_cuda(value: Any) -> bool:
    return str(value).startswith("cuda") if isinstance(value, (str, torch.device)) else False


def _place() -> tuple[str, int]:
    frame: Any = sys._getframe(2)
    while frame and not _theirs(frame.f_code.co_filename):
        frame = frame.f_back
    return (frame.f_code.co_filename, frame.f_lineno) if frame else ("", 0)


def tensors_in(value: Any) -> list[Tensor]:
    """Every tensor in tuples, lists, mappings and objects."""
    if isinstance(value, Tensor):
        return [value]
    if isinstance(value, Mapping):
        value = list(value.values())
    elif not isinstance(value, (tuple, list)):
        plain = (
            hasattr(value, "__dict__")
            and not callable(value)
            and not isinstance(value, torch.Generator)
        )
        value = list(vars(value).values()) if plain else []
    return [tensor for part in value for tensor in tensors_in(part)]


class Target(NamedTuple):
    """A network or a layer, and how to call it."""

    thing: Any
    call: Callable[[Any], Any]
    """Calls a copy of the thing."""
    given: Tensor
    """The images, or u."""
    ends: float = math.inf
    """Of `Trace`."""

    def fresh(self) -> Any:
        """A copy on the CPU, in eval mode; the thing itself where it cannot be copied."""
        if not isinstance(self.thing, nn.Module):
            return self.thing
        try:
            made = copy.deepcopy(self.thing).cpu().eval()
        except Exception:  # an attribute that cannot be copied: a tensor with a graph
            return self.thing.eval()
        for module in made.modules():  # ours computes without û, which is what is looked for
            if isinstance(module, RoutedCapsules) and module.routes_as_paper:
                module.routing = partial(module.routing)
        return made

    def run(self, trace: Trace | None = None, *, grad: bool = False, thing: Any = None) -> Any:
        """What a fresh copy returns, or this one."""
        thing, trace = self.fresh() if thing is None else thing, trace or Trace(keep=())
        trace.ends = self.ends
        torch.default_generator.manual_seed(0)
        compiles = "torch._dynamo" in sys.modules and hasattr(
            torch.compiler, "set_stance"
        )  # else nothing was compiled
        with (
            torch.compiler.set_stance("force_eager") if compiles else nullcontext(),
            torch.set_grad_enabled(grad),
            trace,
        ):
            try:
                return self.call(thing)
            except Reached:
                return None


class Graph:
    """What became of what in a run that was recorded whole."""

    def __init__(self, out: Any, operations: Sequence[Operation], target: Target) -> None:
        self.target, self.operations, self.out = target, operations, tensors_in(out)
        self.by_tensor = {
            id(tensor): operation for operation in operations for tensor in operation.outputs
        }
        self.of_images = self.derived([target.given])
        self.needed, self.returned = self.on_the_way(self.out), self.on_the_way(self.out, id)

    def derived(self, tensors: Iterable[Tensor], start: int = 0) -> set[int]:
        """The memory of everything that is computed from these tensors."""
        found = {memory(tensor) for tensor in tensors}
        for operation in self.operations:
            made = operation.name.startswith("new_") or operation.name.endswith(
                "_like"
            )  # of its shape alone
            if (
                operation.index >= start
                and not made
                and any(memory(each) in found for each in operation.inputs)
            ):
                found |= {memory(each) for each in operation.outputs}
        return found

    def on_the_way(
        self, tensors: Iterable[Tensor], which: Callable[[Tensor], int] = lambda x: memory(x)
    ) -> set[int]:
        """The operations that these tensors are computed by, of the same memory or, by ``id``, themselves."""
        wanted, found = {which(tensor) for tensor in tensors}, set()
        for operation in reversed(self.operations):
            if any(which(each) in wanted for each in operation.outputs):
                wanted |= {which(each) for each in operation.inputs}
                found.add(operation.index)
        return found

    def maker(self, tensor: Tensor) -> Operation | None:
        """The operation that computed these numbers, before they were only moved about."""
        operation = self.by_tensor.get(id(tensor))
        while (
            operation
            and (moved := only_moved(operation)) is not None
            and id(moved) in self.by_tensor
        ):
            operation = self.by_tensor[id(moved)]
        return operation

    def moved(self, operation: Operation) -> set[int]:
        """The memory of what an operation gave, moved about or not."""
        found = {memory(each) for each in operation.outputs}
        for each in self.after(operation.index):
            if (
                len(each.inputs) == 1
                and memory(each.inputs[0]) in found
                and only_moved(each) is not None
            ):
                found |= {memory(out) for out in each.outputs}
        return found

    def after(self, index: int) -> Iterator[Operation]:
        return (each for each in self.operations if each.index > index)


def only_moved(operation: Operation) -> Tensor | None:
    """The input of an operation that gives the same numbers in other places."""
    if len(operation.inputs) != 1 or len(operation.outputs) != 1:
        return None
    source, out = operation.inputs[0].detach(), operation.outputs[0].detach()
    if (
        operation.inputs[0] is operation.outputs[0]
        or source.numel() != out.numel()
        or not out.is_floating_point()
    ):
        return None
    if memory(source) == memory(out) or source.flatten().sort().values.equal(
        out.to(source).flatten().sort().values
    ):
        return operation.inputs[0]
    return None


def memory(tensor: Tensor) -> int:
    """Which memory a tensor's numbers lie in: a view shares it."""
    return tensor.untyped_storage().data_ptr() or -id(tensor)


# --- axes, told by their sizes: which symbol stands on which axis of a tensor that nobody has described

Axes = tuple[tuple[str, ...], ...]
"""For each axis of a tensor the symbols in it: () for an axis of size 1, ("J", "D") for two in one."""


def axes_of(shape: Sequence[int], sizes: Mapping[str, int]) -> list[Axes]:
    """Every way to read a shape as these symbols; neighbours may share an axis, and axes of size 1 are none.

    The ways with the fewest shared axes come first.
    """
    ways: dict[Axes, None] = {}
    for order in permutations(sizes):
        groups, k = [], 0
        for size in shape:
            group: tuple[str, ...] = ()
            while math.prod(sizes[symbol] for symbol in group) < size and k < len(order):
                group, k = (*group, order[k]), k + 1
            groups.append(group)
        whole = all(
            math.prod(sizes[s] for s in group) == size
            for group, size in zip(groups, shape, strict=True)
        )
        if whole and k == len(order):
            ways[tuple(groups)] = None
    return sorted(ways, key=lambda axes: sum(len(group) > 1 for group in axes))


def spread(tensor: Tensor, symbols: str, axes: Axes) -> Tensor:
    """A tensor with these axes, "BIJD", laid out as a network has them."""
    flat = [symbol for group in axes for symbol in group]
    sizes = dict(zip(symbols, tensor.shape, strict=True))
    shape = [math.prod(sizes[symbol] for symbol in group) for group in axes]
    return tensor.permute([symbols.index(symbol) for symbol in flat]).reshape(shape)


def gathered(tensor: Tensor, axes: Axes, sizes: Mapping[str, int], symbols: str) -> Tensor:
    """The reverse of `spread`."""
    flat = [symbol for group in axes for symbol in group]
    return tensor.reshape([sizes[symbol] for symbol in flat]).permute(
        [flat.index(symbol) for symbol in symbols]
    )
