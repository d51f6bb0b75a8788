"""What a network returned, told apart by names and shapes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from capsnet_tutorial.check.axes import first_tensor, gathered, tensors_in
from capsnet_tutorial.check.calls import Trouble
from capsnet_tutorial.check.isolate import CapsuleLayer
from capsnet_tutorial.check.runner import Runner, repeated


@dataclass
class Outputs:
    """What a network returned, by what it is."""

    capsules: Tensor | None
    lengths: Tensor | None
    """As returned, [B, J]; or those of the capsules."""
    returned_lengths: Tensor | None
    reconstruction: Tensor | None


def outputs_of(
    runner: Runner, layer: CapsuleLayer | None, classes: int | None, arguments: Sequence[Tensor], grad: bool
) -> Outputs:
    caught: list[Any] = []
    hook = layer.module.register_forward_hook(lambda *each: caught.append(each[-1])) if layer else None
    try:
        out = runner.run(*arguments, grad=grad)
    finally:
        if hook is not None:
            hook.remove()
    if out is None or out is ...:
        raise Trouble("It returns nothing; expected capsules [B, J, D] or lengths [B, J].")
    images = arguments[0] if arguments else repeated(runner.images, runner.batch)
    found = sorted_outputs(out, images, classes)
    if layer is not None and caught and len(images) == runner.batch:
        v = first_tensor(caught[0], len(images) * layer.sizes["J"] * layer.sizes["D_out"])
        if v is not None:
            sizes = {**layer.sizes, "B": len(images)}
            found.capsules = gathered(v, layer.output_axes, sizes, ("B", "J", "D_out"))
    if found.lengths is None and found.capsules is not None:
        found.lengths = torch.linalg.vector_norm(found.capsules, dim=-1)
    return found


def sorted_outputs(out: Any, images: Tensor, classes: int | None) -> Outputs:
    """What a network returned, first apart by names and shapes."""
    found = Outputs(None, None, None, None)
    names = ("capsules", "lengths", "reconstruction")
    named = out if isinstance(out, Mapping) else {key: getattr(out, key, None) for key in names}
    for key in names:
        if isinstance(named.get(key), Tensor):
            setattr(found, key, named[key])
    batch, pixels = len(images), images[0].numel()
    for each in tensors_in(out):
        if not each.is_floating_point() or each.dim() < 1:
            continue
        real = [size for size in each.shape if size != 1]
        if each.shape[0] == batch and each.numel() == batch * pixels:
            found.reconstruction = each if found.reconstruction is None else found.reconstruction
        elif batch > 1 and (not real or batch not in real):
            continue
        elif each.shape[0] == batch and each[0].numel() == classes and not _is_one_hot(each.reshape(batch, -1)):
            found.lengths = each.reshape(batch, -1) if found.lengths is None else found.lengths
        elif each.shape[0] == batch and len([size for size in each.shape[1:] if size != 1]) == 2:
            if found.capsules is None:
                sizes = [size for size in each.shape[1:] if size != 1]
                found.capsules = each.reshape(batch, *sizes)
                if classes in sizes and sizes[0] != classes:
                    found.capsules = found.capsules.transpose(1, 2)
        elif each.shape[0] == batch and each.dim() == 2 and each.shape[1] > 1 and classes is None:
            found.lengths = each if found.lengths is None else found.lengths
    found.returned_lengths = found.lengths
    if found.lengths is None and found.capsules is not None:
        found.lengths = torch.linalg.vector_norm(found.capsules, dim=-1)
    return found


def _is_one_hot(tensor: Tensor) -> bool:
    return bool(((tensor == 0) | (tensor == 1)).all()) and bool((tensor.sum(1) == 1).all())
