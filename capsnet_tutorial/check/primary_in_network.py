"""The primary capsules inside a network: from its last convolutions to the layer that owns W."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from torch import Tensor, nn

from capsnet_tutorial.check.axes import gathered, tensors_in
from capsnet_tutorial.check.isolate import Call, CapsuleLayer


def primary_function(
    network: nn.Module, run: Callable[[int], Any], calls: Sequence[Call], layer: CapsuleLayer
) -> tuple[Callable[[Tensor, int], Tensor], tuple[int, int, int]] | None:
    """(features [B, C, H, W], dim) -> u [B, I, dim] of a network, and (C, H, W): its last convolutions' output is
    replaced by the features."""
    u_numbers = layer.sizes["I"] * layer.sizes["D_in"] * layer.batch
    convolutions = [call for call in calls if isinstance(call.module, nn.Conv2d)]
    last: list[Call] = []
    for call in reversed(convolutions):
        last.insert(0, call)
        if sum(each.output.numel() for each in last) >= u_numbers:
            break
    if not last or sum(each.output.numel() for each in last) != u_numbers or layer.weight is None:
        return None
    height, width = last[0].output.shape[2:]
    channels = [each.output.shape[1] for each in last]

    def primary(features: Tensor, dim: int) -> Tensor:
        count = len(features)
        padded = features if count == layer.batch else features.repeat(layer.batch // count + 1, 1, 1, 1)[: layer.batch]
        pieces = padded.split(channels, dim=1)
        caught: list[Tensor] = []

        def stop(module: nn.Module, arguments: tuple[Any, ...]) -> None:
            caught.append(tensors_in(arguments[:1])[0])
            raise _Reached

        hook = layer.module.register_forward_pre_hook(stop)
        for call in convolutions:  # the features below do not matter, and cost time
            call.module.forward = lambda x, call=call: call.output  # type: ignore[method-assign]
        for call, piece in zip(last, pieces, strict=True):
            call.module.forward = lambda x, piece=piece: piece.clone()  # type: ignore[method-assign]
        try:
            run(layer.batch)
        except _Reached:
            pass
        finally:
            hook.remove()
            for call in convolutions:
                del call.module.forward
        sizes = {"B": layer.batch, "I": layer.sizes["I"], "D_in": dim}
        return gathered(caught[0], layer.input_axes, sizes, ("B", "I", "D_in"))[:count]

    return primary, (sum(channels), int(height), int(width))


class _Reached(Exception):
    """The layer of capsules was reached."""
