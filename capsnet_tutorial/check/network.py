"""A whole network, or a layer, as people write it: its routing, its primary capsules, its losses, and what it shows."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import combinations
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from capsnet_tutorial.check.calls import NotWritten, Trouble, accepts, called
from capsnet_tutorial.check.losses import check_margin_loss, check_reconstruction_loss
from capsnet_tutorial.check.primary_capsules import examine_within
from capsnet_tutorial.check.report import Example, Finding, Report, judged
from capsnet_tutorial.check.sites import Site, Verdict, declared_rounds, sites_in
from capsnet_tutorial.check.sites import judged as judged_site
from capsnet_tutorial.check.trace import Graph, Target, Trace, tensors_in
from capsnet_tutorial.errors import expect

_BATCH = 3
_LABEL = re.compile(r"label|target|truth|^y$|_y$|one_?hot|class", re.IGNORECASE)
_WAYS = ("numbers", "one-hot", "one-hot of whole numbers", "attribute", "attribute one-hot", "none")


@dataclass
class _Found:
    """What is known so far."""

    findings: list[Finding] = field(default_factory=list)
    examined: list[str] = field(default_factory=list)
    unexamined: list[str] = field(default_factory=list)
    absent: list[str] = field(default_factory=list)

    def report(self, checked: str, agrees: str = "") -> Report:
        """A mistake stands in it once, first seen first; nothing is right whose routing was not examined."""
        first = {finding.bug: finding for finding in reversed(self.findings) if finding.bug}
        kept = [finding for finding in self.findings if not finding.bug or first[finding.bug] is finding]
        return judged(
            checked,
            kept,
            agrees,
            examined=tuple(self.examined),
            unexamined=tuple(self.unexamined),
            absent=tuple(self.absent),
            needed="routing",
        )


def check_model(network: Any, images: Tensor, labels: Tensor) -> Report:
    """Check a capsule network that somebody else wrote, as it is: no adapter.

    Args:
        network: ``network(images [B, C, H, W])`` or ``network(images, labels)``, a module or a function, with labels
            as class numbers, one-hot or an attribute, and any size of batch: returns the class capsules, their
            lengths, a reconstruction, or several of these in any container. A copy is examined in eval mode.
        images: [B, C, H, W], at least two.
        labels: class numbers [B].

    Returns:
        One `Report`. The routing and the primary capsules are found by the operations as they run, and examined by
        themselves; what the network as a whole shows: squash-axis (lengths above 1), lengths-softmax (they sum to 1),
        batch-agreement (an image's output depends on its neighbours), stale-logits (a second call differs),
        squash-nan, mask-prediction (the label changes nothing, or there is none). It has passed only if the routing
        was examined, and it lists what was not.

    Raises:
        ValueError: images or labels of another shape; a network of torch.jit, whose operations cannot be seen.
    """
    network = _plain(network)
    fits = isinstance(images, Tensor) and images.dim() == 4 and len(images) >= 2
    came = f"shape {list(images.shape)}" if isinstance(images, Tensor) else type(images).__name__
    expect(fits, "at least two images [B, C, H, W]", came)
    fits = isinstance(labels, Tensor) and labels.shape == images.shape[:1] and not labels.is_floating_point()
    came = f"{labels.dtype} {list(labels.shape)}" if isinstance(labels, Tensor) else type(labels).__name__
    expect(fits, f"{len(images)} whole numbers as labels", came)
    found = _Found()
    with torch.random.fork_rng(devices=[]):
        try:
            _examine(network, images, labels, found)
        except NotWritten:
            return Report(False, checked="network", written=False)
        except Trouble as trouble:
            found.findings.append(Finding(None, str(trouble), failed_call=True))
    return found.report("network")


def check_layer(layer: Any, u: Tensor | None = None) -> Report:
    """Does this layer route by agreement, Procedure 1? No adapter: W may live anywhere in it.

    Args:
        layer: a module, or a function, that turns u, [B, I, D_in] or the same numbers in another layout, into v.
        u: an example of its input, of at least two images, where the sizes of its parameters do not tell.

    Returns:
        A `Report`; bugs as `check_routing` knows them. It has passed only if the routing was found.

    Raises:
        ValueError: a layer of torch.jit, whose operations cannot be seen.
    """
    layer, found = _plain(layer), _Found()
    with torch.random.fork_rng(devices=[]):
        try:
            target = _with_input(layer, u)
            verdicts = _routing(target, None, declared_rounds(target), found)
            if _remembers(target, None):
                found.findings.append(
                    Finding("stale-logits", "A second call with the same input gives another result.")
                )
        except NotWritten:
            return Report(False, checked="layer", written=False)
        except Trouble as trouble:
            found.findings.append(Finding(None, str(trouble), failed_call=True))
            return found.report("layer")
    sizes = [
        f"{v.reading.sizes['I']} capsules below, {v.reading.sizes['J']} above, {v.rounds} rounds" for _, v in verdicts
    ]
    return found.report("layer", f"It is Procedure 1, image by image; {'; '.join(sizes)}." if sizes else "")


def _plain(thing: Any) -> Any:
    """What torch.compile was given.

    Raises:
        ValueError: it is of torch.jit.
    """
    thing = getattr(thing, "_orig_mod", getattr(thing, "_torchdynamo_orig_callable", thing))
    modules = list(thing.modules()) if isinstance(thing, nn.Module) else [thing]
    traced = any(isinstance(each, (torch.jit.ScriptModule, torch.jit.ScriptFunction)) for each in modules)
    wanted = "code that Python runs: give the module that torch.jit was given"
    expect(not traced, wanted, f"{type(thing).__name__}, whose operations cannot be seen")
    return thing


# --- how it is called


class _Caller(NamedTuple):
    """How a network takes labels, and how many images."""

    way: str
    batch: int
    classes: int

    def __call__(self, network: Any, images: Tensor, labels: Tensor) -> Any:
        if self.way == "none":
            return network(images.clone())
        given = labels
        if "one-hot" in self.way:
            given = F.one_hot(labels, self.classes)
            given = given if "whole" in self.way else given.float()
        if self.way.startswith("attribute"):
            for module, name in _label_attributes(network)[:1]:
                setattr(module, name, given)
            return network(images.clone())
        return network(images.clone(), given)


def _caller(network: Any, images: Tensor, labels: Tensor) -> _Caller:
    """The first way of calling it that works.

    Raises:
        Trouble: none does.
    """
    ways = [way for way in _WAYS if accepts(network, 2 if way in _WAYS[:3] else 1)]
    if not _label_attributes(network):
        ways = [way for way in ways if not way.startswith("attribute")]
    if not callable(network) or not ways:
        raise Trouble(f"Expected a network(images) or network(images, labels); got {type(network).__name__}.")
    first: Trouble | None = None
    for batch in dict.fromkeys((min(_BATCH, len(images)), *_batches(network), len(images))):
        for way in ways:
            caller = _Caller(way, batch, max(10, int(labels.max()) + 1))
            target = _Shown(network, caller, repeated(images, batch), repeated(labels, batch), None, None).target()
            try:
                called(target.run, f"for images of shape {list(target.given.shape)}", of_labels=way != "none")
            except Trouble as trouble:
                first = first or trouble
            else:
                return caller
    assert first is not None
    raise first


def repeated(tensor: Tensor, count: int) -> Tensor:
    """So many of the first rows, from the start again where there are too few."""
    return tensor[torch.arange(count) % len(tensor)]


def _label_attributes(network: Any) -> list[tuple[Any, str]]:
    modules = network.modules() if isinstance(network, nn.Module) else ()
    return [
        (module, name)
        for module in modules
        for name, value in vars(module).items()
        if _LABEL.search(name) and (value is None or isinstance(value, Tensor))
    ]


def _batches(network: Any) -> list[int]:
    """Sizes of a batch that are written into a network."""
    modules = network.modules() if isinstance(network, nn.Module) else ()
    found = [value for each in modules for name, value in vars(each).items() if re.search("batch", name, re.I)]
    return [value for value in found if isinstance(value, int) and not isinstance(value, bool) and 2 <= value <= 512]


def _with_input(layer: Any, u: Tensor | None) -> Target:
    """The layer with u, as it is given or in a layout that the sizes of its parameters and attributes allow.

    Raises:
        Trouble: none runs.
    """
    first: Trouble | None = None
    for example in _examples(layer) if u is None else [u]:
        target = Target(layer, partial(_called_with, example), example)
        try:
            out = called(target.run, f"for u of shape {list(example.shape)}")
        except Trouble as trouble:
            first = first or trouble
            continue
        if any(each.numel() % len(example) == 0 and each.numel() > len(example) for each in tensors_in(out)):
            return target
    hint = "" if u is not None else " Give an example of its input: check_layer(layer, u)."
    raise Trouble(f"Its routing was not found: it gives no capsules for any u that was tried. {first or ''}{hint}")


def _called_with(u: Tensor, layer: Any) -> Any:
    return layer(u.clone())


def _examples(layer: Any) -> Iterator[Tensor]:
    """u in the layouts that the sizes of parameters and attributes allow; the usual layout first, of all sizes."""
    modules = list(layer.modules()) if isinstance(layer, nn.Module) else []
    sizes = {size for each in (layer.parameters() if modules else ()) for size in each.shape}
    sizes |= {value for module in modules for value in vars(module).values() if isinstance(value, int)}
    for layout in ("BID", "BDI", "BID1", "BI1D", "BI1D1", "B1ID"):
        for capsules, depth in combinations(sorted(sizes - {0, 1}, reverse=True), 2):
            shape = [{"B": _BATCH, "I": capsules, "D": depth, "1": 1}[axis] for axis in layout]
            yield torch.randn(shape, generator=torch.Generator().manual_seed(0))


# --- what is in it


def _examine(network: Any, images: Tensor, labels: Tensor, found: _Found) -> None:
    if network is ...:
        raise NotWritten
    caller = _caller(network, images, labels)
    shown = _Shown(network, caller, repeated(images, caller.batch), repeated(labels, caller.batch), None, None)
    target = shown.target()
    classes = _classes(target.run(), caller.batch, int(labels.max()) + 1)
    verdicts = _routing(target, classes, declared_rounds(target), found, primary=True)
    _losses(network, found)
    _behaviour(shown._replace(classes=classes, routed=verdicts[-1] if verdicts else None), found)


def _classes(out: Any, batch: int, at_least: int) -> int | None:
    """How many classes there are, by an output of two axes."""
    for each in tensors_in(out):
        shape = [size for size in each.shape if size != 1]
        if len(shape) == 2 and shape[0] == batch and at_least <= shape[1] <= 100:
            return shape[1]
    return 10 if at_least <= 10 else None


def _routing(
    target: Target, classes: int | None, declared: int | None, found: _Found, *, primary: bool = False
) -> list[tuple[Site, Verdict]]:
    """Every routing that is found, judged; and the primary capsules of the first."""
    trace = Trace()
    out = target.run(trace)
    graph = Graph(trace.operations, target.given, out)
    verdicts = []
    for site in sites_in(target, graph, classes):
        findings, verdict = judged_site(target, site, declared)
        found.findings += findings
        verdicts.append((site, verdict))
    if verdicts:
        found.examined += ["routing", "squash"]
    else:
        found.unexamined.append("routing (no couplings were seen that share out predictions)")
    if primary and verdicts:
        known = examine_within(target, graph, verdicts[0][0], verdicts[0][1].reading.sizes)
        if isinstance(known, str):
            found.unexamined.append(f"primary capsules ({known})")
        else:
            # What explains the routing no better than "it differs" may be a layer that squashes its input itself.
            explained = verdicts[0][1].deviations is not None
            found.findings += [each for each in known if each.bug or explained]
            found.examined.append("primary capsules")
    elif primary:
        found.unexamined.append("primary capsules (their layer was not found)")
    return verdicts


def _losses(network: Any, found: _Found) -> None:
    """Its own losses of two arguments, methods or parts: those of more are said not to be examined."""
    checks = {"margin loss": check_margin_loss, "reconstruction loss": check_reconstruction_loss}
    own = dict(_own_losses(network)) if isinstance(network, nn.Module) else {}
    for piece, check in checks.items():
        named = {name: each for name, each in own.items() if bool(re.search("recon|decod", name)) == (piece[0] == "r")}
        reports = {name: check(loss) for name, loss in named.items() if accepts(loss, 2)}
        clear = {
            name: report
            for name, report in reports.items()
            if not any(each.failed_call or each.topic in ("unexplained", "weight") for each in report.findings)
        }
        for name, report in clear.items():
            found.findings += [replace(each, text=f"`{name}`. {each.text}") for each in report.findings]
        unclear = ", ".join(f"`{name}`" for name in named if name not in clear)
        if unclear:
            found.unexamined.append(f"{piece} ({unclear} could not be called as one)")
        elif clear:
            found.examined.append(piece)
        else:
            found.absent.append(piece)


def _own_losses(network: nn.Module) -> Iterator[tuple[str, Any]]:
    for path, module in network.named_modules():
        if type(module).__module__.startswith("torch."):
            continue
        if path and re.search("loss", f"{path} {type(module).__name__}", re.I):
            yield path, module
        for name in dir(type(module)):
            if re.search("loss", name, re.I) and not hasattr(nn.Module, name) and callable(getattr(module, name)):
                yield f"{path}.{name}".lstrip("."), getattr(module, name)


# --- what it shows


class _Outputs(NamedTuple):
    """What a network returned, told apart by names and shapes."""

    lengths: Tensor | None
    """[B, J]; those of the capsules, where it returns none."""
    returned: bool
    """Whether lengths were among them."""
    reconstruction: Tensor | None


class _Shown(NamedTuple):
    """A network as it is called, and with capsules so long that something shows."""

    network: Any
    caller: _Caller
    images: Tensor
    labels: Tensor
    classes: int | None
    routed: tuple[Site, Verdict] | None

    def target(self, images: Tensor | None = None, labels: Tensor | None = None) -> Target:
        images = self.images if images is None else images
        labels = repeated(self.labels, len(images)) if labels is None else labels
        return Target(self.network, lambda thing: self.caller(thing, images, labels), images)

    def trace(self) -> Trace:
        """One that puts long predictions in the place of û."""
        if self.routed is None:
            return Trace(keep=())
        site, verdict = self.routed
        return Trace({site.made.index: lambda compute: verdict.given}, keep=())

    def __call__(self, target: Target, *, long: bool = False, grad: bool = False, thing: Any = None) -> _Outputs:
        given, of_labels = f"for images of shape {list(target.given.shape)}", self.caller.way != "none"
        trace = self.trace() if long else None
        out = called(lambda: target.run(trace, grad=grad, thing=thing), given, of_labels=of_labels)
        if out is None:
            raise Trouble("It returns nothing; expected capsules [B, J, D] or lengths [B, J].")
        return _told_apart(out, target.given, self.classes)


def _told_apart(out: Any, images: Tensor, classes: int | None) -> _Outputs:
    names = out if isinstance(out, dict) else {key: getattr(out, key, None) for key in ("lengths", "reconstruction")}
    lengths, reconstruction = names.get("lengths"), names.get("reconstruction")
    capsules, batch = None, len(images)
    for each in tensors_in(out):
        if not each.is_floating_point() or not each.dim():
            continue
        shape = [size for size in each.shape[1:] if size != 1]
        if each.numel() == images.numel() and each.shape[0] == batch:
            reconstruction = each if reconstruction is None else reconstruction
        elif each.shape[0] == batch and len(shape) == 1 and shape[0] in (classes, shape[0] if classes is None else 0):
            hot = ((each == 0) | (each == 1)).all()
            lengths = each.reshape(batch, -1) if lengths is None and not hot else lengths
        elif each.shape[0] == batch and len(shape) == 2 and capsules is None:
            capsules = each.reshape(batch, *shape)
            capsules = capsules.mT if classes == shape[1] and shape[0] != classes else capsules
        elif batch == 1 and each.numel() == classes and lengths is None:
            lengths = each.reshape(1, -1)
    returned = lengths is not None
    if lengths is None and capsules is not None:
        lengths = torch.linalg.vector_norm(capsules, dim=-1)
    return _Outputs(lengths, returned, reconstruction)


def _behaviour(shown: _Shown, found: _Found) -> None:
    """What holds for any capsule network, seen from outside."""
    first = shown(shown.target())
    if first.lengths is None:
        raise Trouble("Expected capsules [B, J, D] or lengths [B, J] among what the network returns; got neither.")
    if not first.lengths.isfinite().all():
        raise Trouble("Its lengths for these images are not finite numbers.")
    found.findings += _lengths(first)
    found.examined.append("second call")
    if _remembers(shown.target(), None) or _remembers(shown.target(), shown.trace):
        found.findings.append(Finding("stale-logits", "A second call with the same images gives another result."))
        found.unexamined.append("batch (a second call gives something else anyway)")
    else:
        found.findings += _neighbours(shown, first)
        found.examined.append("batch")
    if first.reconstruction is None:
        found.absent.append("reconstruction")
    else:
        found.findings += _mask(shown)
        found.examined.append("mask")
    found.findings += _empty_image(shown)


def _lengths(found: _Outputs) -> list[Finding]:
    lengths = found.lengths
    assert lengths is not None
    if lengths.max() > 1 + 1e-3:
        text = f"A class capsule is {float(lengths.max()):.3f} long; no squashed vector is longer than 1."
        return [Finding("squash-axis", text)]
    if found.returned and lengths.shape[1] > 1 and ((lengths.sum(dim=1) - 1).abs() < 1e-4).all():
        return [Finding("lengths-softmax", "The lengths of every image sum to 1.")]
    return []


def _remembers(target: Target, trace: Callable[[], Trace] | None) -> bool:
    """Whether one and the same copy gives something else when it is called again."""
    thing = target.fresh()
    first, second = (tensors_in(target.run(trace() if trace else None, thing=thing)) for _ in range(2))
    return any(not _same(one, other) for one, other in zip(first, second, strict=False))


def _neighbours(shown: _Shown, first: _Outputs) -> Iterator[Finding]:
    """Whether an image's lengths depend on the others."""
    images, text = shown.images, "An image's lengths depend on the images beside it."
    swapped = shown(shown.target(torch.cat([images[:1], images[1:].flip(-1) * 0.5])))
    assert first.lengths is not None and swapped.lengths is not None
    if not _same(first.lengths[:1], swapped.lengths[:1]):
        example = Example("the first image beside others", "lengths", first.lengths[0], swapped.lengths[0])
        yield Finding("batch-agreement", text, example)
        return
    try:
        alone = shown(shown.target(images[:1])).lengths
    except Trouble as trouble:
        yield Finding(None, f"It takes no batch of one image. {trouble}", convention=True)
        return
    if alone is None or alone.shape != first.lengths[:1].shape:
        yield Finding(None, "With a batch of one image its output has other axes.", convention=True)
    elif not _same(alone, first.lengths[:1]):
        yield Finding("batch-agreement", text)


def _mask(shown: _Shown) -> list[Finding]:
    """Whether it redraws the same whatever the labels."""
    if shown.caller.way == "none":
        text = "It reconstructs and is given no label: it can only mask by its prediction."
        return [Finding("mask-prediction", text)]
    first = shown(shown.target(), long=True)
    assert first.lengths is not None and first.reconstruction is not None
    for step in (1, 3):
        labels = (shown.labels + step) % first.lengths.shape[1]
        other = shown(shown.target(labels=labels), long=True).reconstruction
        if other is None or not torch.equal(other, first.reconstruction):
            return []
    return [Finding("mask-prediction", "With other labels it reconstructs the very same.")]


def _empty_image(shown: _Shown) -> list[Finding]:
    """What an image without ink does to the gradients of a module."""
    network = shown.network
    if not isinstance(network, nn.Module) or not any(each.requires_grad for each in network.parameters()):
        return []
    target = shown.target(torch.zeros_like(shown.images))
    thing = target.fresh()
    lengths = shown(target, grad=True, thing=thing).lengths
    if lengths is None:
        return []
    if not lengths.isfinite().all():
        return [Finding("squash-nan", "An empty image gives nan.")]
    weights = [each for each in thing.parameters() if each.requires_grad]
    if not lengths.requires_grad:
        return [Finding(None, "No gradient flows from its lengths to its weights.")]
    gradients = torch.autograd.grad(lengths.sum(), weights, allow_unused=True)
    if not all(each is None or each.isfinite().all() for each in gradients):
        return [Finding("squash-nan", "An empty image gives a gradient of nan.")]
    return []


def _same(one: Tensor, other: Tensor) -> bool:
    if one.shape != other.shape:
        return False
    one, other = one.double(), other.double()
    largest = float(one.nan_to_num().abs().max()) if one.numel() else 0.0
    return bool(torch.allclose(one, other, rtol=1e-3, atol=1e-4 * largest, equal_nan=True))
