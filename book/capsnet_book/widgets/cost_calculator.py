"""What a capsule network costs, by its sizes: parameters, arithmetic, memory, and the least time on a machine."""

from __future__ import annotations

from typing import Any

import anywidget
import traitlets

from capsnet_book.widgets import _parts

PRESETS = ("paper", "small")

SIZES = {
    "batch": (1, 1024),
    "primary_types": (1, 64),
    "in_dim": (2, 32),
    "out_capsules": (1, 100),
    "out_dim": (2, 64),
    "iterations": (1, 10),
}
BOUNDS = {
    **SIZES,
    "peak": (0.1, 1e7),
    "half_peak": (0.1, 1e7),
    "bandwidth": (0.1, 1e5),
}
"""The least and the most that a size or a speed may be."""


class CostCalculator(anywidget.AnyWidget):
    """Sizes by sliders; out come parameters, operations, bytes with û and without, and the least time they take.

    The convolutions are those of the preset; each type of primary capsule is a grid of 6 × 6 capsules in the paper's
    network and of 3 × 3 in the small one.

    Args:
        preset: "paper" or "small".
        sizes: batch, primary_types, in_dim, out_capsules, out_dim, iterations, instead of the preset's own.
        number_bytes: 4 for float32, 2 for bfloat16.
        machine: what it does in a second, as ``machine.peak`` of results/speed.json says it; None: just that.

    Attributes:
        peak: GFLOP/s with float32.
        half_peak: GFLOP/s with bfloat16.
        bandwidth: GB/s.

    Raises:
        ValueError: a number out of range, another preset.
    """

    _esm = _parts.module("cost_calculator.js")
    _css = _parts.stylesheet("cost_calculator.css")

    preset = traitlets.Unicode("paper").tag(sync=True)
    batch = traitlets.Int(128).tag(sync=True)
    primary_types = traitlets.Int(32).tag(sync=True)
    in_dim = traitlets.Int(8).tag(sync=True)
    out_capsules = traitlets.Int(10).tag(sync=True)
    out_dim = traitlets.Int(16).tag(sync=True)
    iterations = traitlets.Int(3).tag(sync=True)
    number_bytes = traitlets.Int(4).tag(sync=True)
    peak = traitlets.Float().tag(sync=True)
    half_peak = traitlets.Float().tag(sync=True)
    bandwidth = traitlets.Float().tag(sync=True)

    def __init__(
        self, preset: str = "paper", *, number_bytes: int = 4, machine: dict[str, float] | None = None, **sizes: int
    ) -> None:
        if unknown := sizes.keys() - SIZES.keys():
            raise ValueError(f"expected {', '.join(SIZES)}; got {', '.join(sorted(unknown))}")
        if machine is None:
            from capsnet_book.experiments.records import stored  # here, because it brings torch along

            machine = stored("speed")["machine"]["peak"]
        own = {"primary_types": 8} if preset == "small" else {}
        super().__init__(
            preset=preset,
            number_bytes=number_bytes,
            peak=machine["float32_gigaflops_a_second"],
            half_peak=machine["bfloat16_gigaflops_a_second"],
            bandwidth=machine["gigabytes_a_second"],
            **own | sizes,
        )

    @traitlets.validate("preset")
    def _preset_is_known(self, proposal: dict[str, Any]) -> str:
        if proposal["value"] not in PRESETS:
            raise ValueError(f"expected a preset, one of {', '.join(PRESETS)}; got {proposal['value']!r}")
        return proposal["value"]

    @traitlets.validate("number_bytes")
    def _two_bytes_or_four(self, proposal: dict[str, Any]) -> int:
        if proposal["value"] not in (2, 4):
            raise ValueError(f"expected number_bytes of 2 or 4; got {proposal['value']}")
        return proposal["value"]

    @traitlets.validate(*BOUNDS)
    def _within_bounds(self, proposal: dict[str, Any]) -> float:
        return _parts.within(BOUNDS, proposal)

    def __repr__(self) -> str:
        return f"CostCalculator({self.preset!r})"
