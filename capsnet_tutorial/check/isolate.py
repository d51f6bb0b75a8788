"""The routing and the primary capsules inside a network that nobody has read: found by the numbers that pass through.

A layer of capsules takes u, I·D_in numbers an image, gives v, J·D_out numbers, and owns W of as many numbers as their
product. Its routing is isolated from W with u = the e-th unit vector for image e and W[i, j, e] = û_ij of image e.
"""

from __future__ import annotations

import copy
import inspect
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Any

import torch
from torch import Tensor, nn

from capsnet_tutorial.check.axes import Axes, axes_of, first_tensor, gathered, pairs, real_axes, spread, tensors_in
from capsnet_tutorial.check.no_gpu import without_cuda

_ROUNDS = re.compile(r"iter|round|routing|num_rout|^r$|steps", re.IGNORECASE)


class CannotFind(Exception):
    """Why the layer of capsules was not found, in a sentence."""


@dataclass(frozen=True)
class Call:
    """One call of a module inside a network: its arguments and its output."""

    module: nn.Module
    arguments: tuple[Any, ...]
    keywords: dict[str, Any]
    output: Any


@dataclass(frozen=True)
class CapsuleLayer:
    """A module that turns u (or û, where `weight` is None) into v, and where its axes lie."""

    module: nn.Module
    weight: str | None
    sizes: dict[str, int]
    input_axes: Axes
    weight_axes: Axes
    output_axes: Axes
    batch: int
    rest: tuple[Any, ...] = ()
    keywords: dict[str, Any] = field(default_factory=dict)
    rounds: tuple[nn.Module | None, str] | None = None
    """The attribute of a module, or the argument of `forward` (None), that holds the number of rounds."""
    forgetful: bool = True
    """False where a call changes the next: each call then runs on a copy."""

    def __call__(self, u_hat: Tensor, iterations: int | None = None) -> Tensor:
        """v [B, J, D_out] of û [B, I', J, D_out], each of the I' capsules below repeated until there are I."""
        batch, below = u_hat.shape[:2]
        u_hat = u_hat.repeat_interleave(self.sizes["I"] // below, 1)
        layer = self if self.forgetful else self._copied()
        keywords = dict(layer.keywords)
        with layer._with_rounds(iterations, keywords):
            if layer.weight is None:
                given = spread(u_hat, ("B", "I", "J", "D_out"), layer.input_axes)
                out = layer.module(given, *layer.rest, **keywords)
            else:
                depth = layer.sizes["D_in"]
                unit = torch.eye(depth, dtype=u_hat.dtype)[torch.arange(batch) % depth]
                u = unit[:, None].expand(-1, layer.sizes["I"], -1).contiguous()
                weight = u_hat.new_zeros(*u_hat.shape[1:3], depth, u_hat.shape[3])
                filled = torch.stack([u_hat[k] if k < batch else weight[:, :, 0] for k in range(depth)], dim=2)
                changed = {layer.weight: spread(filled, ("I", "J", "D_in", "D_out"), layer.weight_axes)}
                given = spread(u, ("B", "I", "D_in"), layer.input_axes)
                out = torch.func.functional_call(layer.module, changed, (given, *layer.rest), keywords)
        out = first_tensor(out, batch * self.sizes["J"] * self.sizes["D_out"])
        if out is None:
            raise CannotFind("its output has another size for other input")
        return gathered(out, self.output_axes, {**self.sizes, "B": batch}, ("B", "J", "D_out"))

    def _copied(self) -> CapsuleLayer:
        holder = copy.deepcopy((self.module, self.rounds))
        return replace(self, module=holder[0], rounds=holder[1], forgetful=True)

    @contextmanager
    def _with_rounds(self, iterations: int | None, keywords: dict[str, Any]) -> Iterator[None]:
        if iterations is None or self.rounds is None:
            yield
            return
        module, name = self.rounds
        if module is None:
            keywords[name] = iterations
            yield
            return
        before = getattr(module, name)
        setattr(module, name, iterations)
        try:
            yield
        finally:
            setattr(module, name, before)


# --- a whole network


def calls_in(network: nn.Module, run: Callable[[], Any]) -> list[Call]:
    """Every call of a module while `run` runs the network."""
    calls: list[Call] = []

    def record(module: nn.Module, arguments: Any, keywords: Any, output: Any) -> None:
        calls.append(Call(module, arguments, keywords, output))

    hooks = [each.register_forward_hook(record, with_kwargs=True) for each in network.modules()]
    try:
        run()
    finally:
        for hook in hooks:
            hook.remove()
    return calls


def layers_in(calls: Sequence[Call], batch: int, classes: int | None, weight: str | None = None) -> list[CapsuleLayer]:
    """The layers of capsules among the calls, each with every reading of its axes; the innermost module first."""
    found: list[tuple[int, CapsuleLayer]] = []
    for call in calls:
        given = tensors_in(call.arguments[:1])
        if not given or given[0].numel() % batch:
            continue
        below, size = given[0].numel() // batch, len(list(call.module.modules()))
        for out in tensors_in(call.output):
            if out.numel() % batch or not out.is_floating_point():
                continue
            for name, parameter in call.module.named_parameters():
                fits = parameter.numel() == below * (out.numel() // batch) and real_axes(parameter.shape) >= 3
                if fits and (weight is None or name.endswith(weight)):
                    ways = _readings(given[0], parameter, out, batch, classes)
                    rest, keywords = call.arguments[1:], call.keywords
                    found += [(size, CapsuleLayer(call.module, name, *way, batch, rest, keywords)) for way in ways]
    found += [(1000, each) for each in _routings_in(calls, batch, classes)]
    return [layer for _, layer in sorted(found, key=lambda pair: pair[0])]


def _routings_in(calls: Sequence[Call], batch: int, classes: int | None) -> Iterator[CapsuleLayer]:
    """Modules that take û: the numbers of v times those of the capsules below."""
    votes = [
        (tensors_in(call.arguments[:1])[0], call.output, name, parameter)
        for call in calls
        if tensors_in(call.arguments[:1])
        for name, parameter in call.module.named_parameters(recurse=False)
        if real_axes(parameter.shape) >= 3
    ]
    for u, u_hat, _, parameter in votes:
        for given in tensors_in(u_hat):
            for call in calls:
                inputs = tensors_in(call.arguments[:1])
                if not inputs or inputs[0].numel() != given.numel() or real_axes(inputs[0].shape) < 4:
                    continue
                for out in tensors_in(call.output):
                    if parameter.numel() * batch * batch != u.numel() * out.numel():
                        continue
                    for sizes, _, _, output_axes in _readings(u, parameter, out, batch, classes):
                        wanted = {"B": batch, "I": sizes["I"], "J": sizes["J"], "D_out": sizes["D_out"]}
                        for axes in axes_of(inputs[0].shape, wanted):
                            yield CapsuleLayer(
                                call.module, None, sizes, axes, (), output_axes, batch, call.arguments[1:]
                            )


def _readings(
    u: Tensor, weight: Tensor, v: Tensor, batch: int, classes: int | None
) -> list[tuple[dict[str, int], Axes, Axes, Axes]]:
    """(sizes, axes of u, of W, of v), for every way to read the three shapes; those with as many classes first."""
    below, above = pairs(u, batch), pairs(v, batch)
    found = []
    for capsules, depth in below:
        for first, second in above:
            for number, dim in ((first, second), (second, first)):
                sizes = {"I": capsules, "J": number, "D_in": depth, "D_out": dim}
                for u_axes in axes_of(u.shape, {"B": batch, "I": capsules, "D_in": depth}):
                    for w_axes in axes_of(weight.shape, sizes):
                        for v_axes in axes_of(v.shape, {"B": batch, "J": number, "D_out": dim}):
                            found.append((sizes, u_axes, w_axes, v_axes))
    if classes is not None:
        found = [each for each in found if each[0]["J"] == classes] or found
    unmerged = lambda axes: sum(len(group) > 1 for group in axes)  # noqa: E731
    found.sort(key=lambda each: (unmerged(each[2]), "".join(s for g in each[2] for s in g).find("D_outJ") >= 0))
    return found[:8]


# --- a layer alone


def layer_alone(
    layer: nn.Module, weight: str | None = None, axes: Mapping[str, str] | None = None, batch: int = 3
) -> list[CapsuleLayer]:
    """A layer's readings, found by calling it with u in the layouts that the sizes of its W allow.

    Args:
        axes: the order of the symbols of "u", "weight" and "v", such as {"weight": "J I D_out D_in"}.

    Raises:
        CannotFind: no parameter fits, or no layout of u runs.
    """
    named = [(name, each) for name, each in layer.named_parameters() if real_axes(each.shape) >= 3]
    named = [pair for pair in named if weight is None or pair[0] == weight]
    if not named:
        raise CannotFind("no parameter has three axes or more" + (f" and the name {weight}" if weight else ""))
    name, parameter = max(named, key=lambda pair: pair[1].numel())
    sizes = sorted({size for size in parameter.shape if size != 1}, reverse=True)
    if weight_order := (axes or {}).get("weight", "").split():
        by_symbol = dict(zip(weight_order, [size for size in parameter.shape if size != 1], strict=True))
        sizes = [by_symbol["I"], by_symbol["D_in"]]
    capsules, trouble = sizes[0], ""
    layouts = ("B I D", "B D I", "B I D 1", "B I 1 D", "B I 1 D 1", "B 1 I D")
    # The usual layout with every depth first: what broadcasts by accident may take I² numbers.
    for layout, depth, rest in product(layouts, sizes[1:], ((), (3,))):
        u = torch.randn([{"B": batch, "I": capsules, "D": depth, "1": 1}[axis] for axis in layout.split()])
        with torch.no_grad(), without_cuda():
            try:
                out = layer(u, *rest)
            except Exception as problem:
                trouble = trouble or f"{type(problem).__name__}: {problem}"
                continue
        call = Call(layer, (u, *rest), {}, out)
        found = [each for each in layers_in([call], batch, None, name) if as_told(each, axes)]
        if found:
            return found
    raise CannotFind(f"it runs with no u of {capsules} capsules ({trouble[:200]})")


def as_told(layer: CapsuleLayer, axes: Mapping[str, str] | None) -> bool:
    """Whether a reading has the axes that are named, such as {"weight": "J I D_out D_in"}."""
    places = {"u": layer.input_axes, "weight": layer.weight_axes, "v": layer.output_axes}
    return all([s for g in places[name] for s in g] == order.split() for name, order in (axes or {}).items())


def with_rounds(layer: CapsuleLayer, name: str | None = None) -> CapsuleLayer:
    """The layer with the attribute or argument that holds its number of rounds, if one changes the output.

    Args:
        name: which, where it is known.
    """
    below = next(n for n in range(min(16, layer.sizes["I"]), 0, -1) if layer.sizes["I"] % n == 0)
    u_hat = torch.randn(layer.batch, below, layer.sizes["J"], layer.sizes["D_out"]) * (
        2 / below / (layer.sizes["I"] / below) ** 0.5
    )
    candidates: list[tuple[nn.Module | None, str]] = []
    for parameter in list(inspect.signature(layer.module.forward).parameters.values())[1:]:
        if parameter.name == name or (isinstance(parameter.default, int) and not isinstance(parameter.default, bool)):
            candidates.append((None, parameter.name))
    for module in layer.module.modules():
        if type(module).__module__.startswith("torch."):
            continue
        for key, value in vars(module).items():
            if key == name or (isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= 10):
                candidates.append((module, key))
    candidates.sort(key=lambda pair: not (pair[1] == name or _ROUNDS.search(pair[1])))
    for candidate in candidates:
        tried, outs = replace(layer, rounds=candidate, forgetful=False), []
        if candidate[0] is None and layer.rest:
            tried = replace(tried, rest=())
        with torch.no_grad(), suppress(Exception):
            for count in (2, 3, 6):
                outs.append(tried(3 * u_hat, count))
        if len(outs) == 3 and not torch.allclose(outs[0], outs[2], rtol=1e-3, atol=1e-6):
            return replace(tried, forgetful=layer.forgetful)
    return layer
