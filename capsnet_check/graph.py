"""The dataflow graph of a run that was recorded whole."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from torch import Tensor, nn

from capsnet_check.target import Target
from capsnet_check.trace import Operation, Trace, tensors_in


class Graph:
    """Which operations of a run compute what, told by the memory of their tensors.

    Args:
        out: the output of the run.
        operations: all of the run.
        target: what was run.
        thing: the copy that was run.
    """

    def __init__(
        self, out: Any, operations: Sequence[Operation], target: Target, thing: Any
    ) -> None:
        self.target = target
        self.operations = operations
        self.out = tensors_in(out)
        self.parameters: dict[int, str] = {}
        """The names of its parameters, by their memory."""
        if isinstance(thing, nn.Module):
            self.parameters = {memory(tensor): name for name, tensor in thing.named_parameters()}
        self.by_tensor: dict[int, Operation] = {}
        for operation in operations:
            for tensor in operation.outputs:
                self.by_tensor[id(tensor)] = operation
        self.of_images = self.derived([target.given])
        """Memory of all that depends on the images."""
        self.needed = self.on_the_way(self.out)
        """Operations that the output is computed by."""
        self.returned = self.on_the_way(self.out, id)
        """The same, by the tensors themselves: without copies beside the way."""

    @classmethod
    def of(cls, target: Target) -> Graph:
        """Return the graph of a run of a fresh copy."""
        trace = Trace()
        thing = target.fresh()
        out = target.run(trace, thing=thing)
        return cls(out, trace.operations, target, thing)

    def derived(self, tensors: Iterable[Tensor], start: int = 0) -> set[int]:
        """Return the memory of everything that is computed from these tensors."""
        memories = {memory(tensor) for tensor in tensors}
        for operation in self.operations:
            if operation.index < start or _takes_only_the_shape(operation):
                continue
            if any(memory(tensor) in memories for tensor in operation.inputs):
                memories |= {memory(tensor) for tensor in operation.outputs}
        return memories

    def on_the_way(
        self, tensors: Iterable[Tensor], identity: Callable[[Tensor], int] | None = None
    ) -> set[int]:
        """Return the indices of the operations that these tensors are computed by.

        Args:
            tensors: of the run.
            identity: which tensors count as the same; None: those of the same memory.
        """
        identity = identity or memory
        wanted = {identity(tensor) for tensor in tensors}
        indices = set()
        for operation in reversed(self.operations):
            if any(identity(tensor) in wanted for tensor in operation.outputs):
                wanted |= {identity(tensor) for tensor in operation.inputs}
                indices.add(operation.index)
        return indices

    def parameters_of(self, operation: Operation) -> list[str]:
        """Return the names of the parameters that an operation's output is computed from."""
        wanted = {memory(tensor) for tensor in operation.inputs}
        for earlier in reversed(self.operations):
            if earlier.index >= operation.index or _takes_only_the_shape(earlier):
                continue
            if any(memory(tensor) in wanted for tensor in earlier.outputs):
                wanted |= {memory(tensor) for tensor in earlier.inputs}
        return [name for place, name in self.parameters.items() if place in wanted]

    def producer(self, tensor: Tensor) -> Operation | None:
        """Return the operation that computed these numbers, before they were only moved about."""
        operation = self.by_tensor.get(id(tensor))
        while operation:
            source = source_if_moved(operation)
            if source is None or id(source) not in self.by_tensor:
                break
            operation = self.by_tensor[id(source)]
        return operation

    def moved(self, operation: Operation) -> set[int]:
        """Return the memory of an operation's outputs, and of the same numbers moved about."""
        memories = {memory(tensor) for tensor in operation.outputs}
        for later in self.after(operation.index):
            takes_them = len(later.inputs) == 1 and memory(later.inputs[0]) in memories
            if takes_them and source_if_moved(later) is not None:
                memories |= {memory(tensor) for tensor in later.outputs}
        return memories

    def results(self, first: Operation) -> Iterator[Operation]:
        """Yield an operation, and those after it whose numbers are computed from its own."""
        derived = self.derived(first.outputs, first.index)
        for operation in (first, *self.after(first.index)):
            if memory(operation.output) in derived and operation.output.is_floating_point():
                yield operation

    def after(self, index: int) -> Iterator[Operation]:
        """Yield the operations after this one."""
        return (operation for operation in self.operations if operation.index > index)


def _takes_only_the_shape(operation: Operation) -> bool:
    return operation.name.startswith("new_") or operation.name.endswith("_like")


def source_if_moved(operation: Operation) -> Tensor | None:
    """Return the input of an operation that gives the same numbers in other places, or None."""
    if len(operation.inputs) != 1 or len(operation.outputs) != 1:
        return None
    source = operation.inputs[0]
    before, after = source.detach(), operation.output.detach()
    if source is operation.output:
        return None
    if before.numel() != after.numel() or not after.is_floating_point():
        return None
    if memory(before) == memory(after):
        return source
    same_numbers = before.flatten().sort().values.equal(after.to(before).flatten().sort().values)
    return source if same_numbers else None


def memory(tensor: Tensor) -> int:
    """Return which memory a tensor's numbers lie in: a view shares it."""
    try:
        return tensor.untyped_storage().data_ptr() or -id(tensor)
    except NotImplementedError:  # a tensor within torch.func.vmap
        return -id(tensor)
