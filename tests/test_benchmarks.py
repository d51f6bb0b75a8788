"""The benchmarks measure what they say, of layers that compute the same; and the stored numbers bear the claims."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch
from capsnet_book.experiments.records import write_json
from networks import noise

from benchmarks import __main__ as command
from benchmarks import growth, layer, machine, measure, network
from benchmarks.baselines import BASELINES, rounds_by_einsum
from benchmarks.tables import table
from capsnet_tutorial.fast import route_capsules
from capsnet_tutorial.model import CapsNet, CapsNetConfig, Parts

STORED = Path(__file__).resolve().parent.parent / "results" / "speed.json"
TINY = layer.Sizes(batch=4, in_capsules=12, in_dim=3, out_capsules=5, out_dim=6)


@pytest.mark.parametrize("name", BASELINES)
@pytest.mark.parametrize("iterations", [1, 3])
def test_a_baseline_computes_what_ours_computes(name, iterations):
    inputs = noise(3, 7, 4).requires_grad_(), noise(7, 5, 4, 6, seed=1).requires_grad_()
    direction = noise(3, 5, 6, seed=2)
    ours, theirs = route_capsules(*inputs, iterations), BASELINES[name](*inputs, iterations)
    torch.testing.assert_close(ours, theirs, rtol=1e-6, atol=1e-7)
    for a, b in zip(*(torch.autograd.grad(v, inputs, direction) for v in (ours, theirs)), strict=True):
        torch.testing.assert_close(a, b, rtol=1e-5, atol=1e-6)


def test_the_textbooks_network_is_the_same_network():
    networks = []
    for parts in (Parts(), Parts(routing=rounds_by_einsum)):
        torch.manual_seed(0)
        networks.append(CapsNet(CapsNetConfig.small(), parts))
    images, labels = torch.rand(2, 1, 28, 28), torch.tensor([3, 7])
    for ours, theirs in zip(*(each(images, labels) for each in networks), strict=True):
        torch.testing.assert_close(ours, theirs, rtol=1e-5, atol=1e-6)
    assert [p.shape for p in networks[0].parameters()] == [p.shape for p in networks[1].parameters()]


def test_functions_take_turns():
    calls = []
    seconds = measure.take_turns({"a": lambda: calls.append("a"), "b": lambda: calls.append("b")}, turns=3)
    assert calls == ["a", "b"] * 4  # the first turn warms up
    assert [len(each) for each in seconds.values()] == [3, 3]


def test_a_ratio_is_the_median_of_the_turns_ratios(monkeypatch):
    taken = {"reference": [4.0, 6.0, 8.0], "own": [1.0, 2.0, 8.0]}
    monkeypatch.setattr(measure, "take_turns", lambda functions, turns: {name: taken[name] for name in functions})
    rows = measure.against("slow", {"slow": lambda: 0, "fast": lambda: 0}, turns=3)
    assert rows["fast"] == {"ms": 2000, "times_as_fast": 3, "from": 1, "to": 4}
    assert rows["slow"] == {"ms": 6000, "times_as_fast": 1, "from": 1, "to": 1}


def test_peak_memory_is_what_stands_at_once():
    def run():
        a = torch.ones(250_000)  # 1 MB
        b = torch.ones(500_000)  # 2 MB
        del a, b
        torch.ones(250_000)

    assert 3.0e6 <= measure.peak_bytes(run) < 3.01e6


def test_work_counts_products_and_traffic_but_no_views():
    a, b = torch.ones(10, 20), torch.ones(20, 30)
    assert measure.work(lambda: a @ b) == (2 * 10 * 20 * 30, 4 * (200 + 600 + 300))
    assert measure.work(lambda: a.t().view(20, 10)) == (0, 0)


def test_an_exponent_is_the_power_that_the_costs_follow():
    assert growth.exponent((1, 2, 4, 8), [3.0, 12.0, 48.0, 192.0]) == 2
    with pytest.raises(ValueError, match="above 0"):
        growth.exponent((1, 2), [0.0, 1.0])


@pytest.mark.parametrize("axis", growth.AXES)
def test_a_sweep_spans_a_factor_of_16_and_finds_exponents(axis, monkeypatch):
    assert growth.AXES[axis][-1] >= 16 * growth.AXES[axis][0]
    monkeypatch.setattr(growth, "BASE", TINY)
    monkeypatch.setitem(growth.AXES, axis, growth.AXES[axis][:2])
    found = growth.sweep(axis, turns=1)
    for row in found["layers"].values():
        assert all(len(row[name]) == 2 for name in growth.MEASURES)
        assert set(row["exponents"]) == set(growth.MEASURES)


def test_a_layer_that_computes_something_else_is_not_timed():
    layers = layer.chosen_layers(["einsum"]) | {"wrong": lambda u, weight, n: 1.01 * route_capsules(u, weight, n)}
    with pytest.raises(ValueError, match="wrong to compute what einsum computes"):
        layer.compare(layers, TINY, turns=1)


def test_routing_in_float32_keeps_what_bfloat16_would_lose():
    found = layer.half_precision(layer.Sizes(batch=8, in_capsules=72))
    assert found["float32 inside"] < 1e-5
    assert found["float32 inside"] < found["float32 inside, v handed back as bfloat16"] < found["bfloat16 throughout"]


@pytest.mark.parametrize("make", [network.training_step, network.recognition])
def test_every_variant_of_the_network_runs(make):
    rows = network.compare(make, network.VARIANTS, CapsNetConfig.small(), batch=4, turns=1)
    assert list(rows) == list(network.VARIANTS)
    assert all(row["ms"] > 0 and row["megabytes"] > 0 for row in rows.values())


@pytest.mark.parametrize(
    ("arguments", "expected", "came"),
    [
        (["--baselines", "dgl"], "baselines among einsum, tiling, messages", "dgl"),
        (["--turns", "-1"], "turns", "-1"),
        (["--only", "everything"], "parts among layer, half_precision, network", "everything"),
        (["--threads", "0"], "threads", "0"),
        (["--quick", "--output", "nowhere/speed.json"], "folder nowhere", "no such folder"),
        pytest.param(
            ["--device", "cuda"],
            "CUDA device",
            "none",
            marks=pytest.mark.skipif(torch.cuda.is_available(), reason="has one"),
        ),
    ],
)
def test_what_cannot_be_measured_is_told(arguments, expected, came, capsys):
    assert command.main(arguments) == 2
    said = capsys.readouterr().err
    assert expected in said
    assert came in said


def test_too_little_memory_is_told_before_anything_runs(monkeypatch, capsys):
    monkeypatch.setattr(machine.os, "sysconf", lambda name: 1000, raising=False)
    monkeypatch.setattr(machine.os, "sysconf_names", {"SC_AVPHYS_PAGES": 1}, raising=False)
    monkeypatch.setattr(machine, "describe", lambda *_: pytest.fail("ran all the same"))
    assert command.main([]) == 2
    assert "12 GB of free memory" in capsys.readouterr().err


def test_a_part_measured_again_leaves_the_others_if_the_machine_is_the_same(tmp_path, monkeypatch, capsys):
    output = tmp_path / "speed.json"
    here = {"device": "cpu", "name": "a", "cores": 2, "threads": 2, "versions": {}, "peak": {"x": 1}}
    monkeypatch.setattr(machine, "describe", lambda device: here)
    monkeypatch.setattr(command, "SECTIONS", {"half_precision": lambda _: {"new": 1}, "layer": lambda _: {"new": 2}})
    write_json(output, {"command": "", "machine": here, "layer": "old", "half_precision": "old"})
    assert command.main(["--only", "half_precision", "--output", str(output)]) == 0
    found = json.loads(output.read_text())
    assert (found["layer"], found["half_precision"]) == ("old", {"new": 1})

    monkeypatch.setattr(machine, "describe", lambda device: here | {"name": "b"})
    assert command.main(["--only", "half_precision", "--output", str(output)]) == 2
    assert "name of the other parts in speed.json, a; got b" in capsys.readouterr().err
    assert json.loads(output.read_text()) == found


@pytest.mark.parametrize("size", [0, -3, 1.5, True])
def test_sizes_that_make_no_sense_are_refused(size):
    with pytest.raises(ValueError, match=f"in_capsules.*{size}"):
        layer.Sizes(in_capsules=size)


def test_a_table_lines_up_and_leaves_gaps_where_a_row_has_nothing():
    lines = table("Title", {"a": {"ms": 1.5}, "long": {"ms": 1000, "gigaflops": 2}}).splitlines()
    assert lines[1:] == [
        "Title",
        "         ms  gigaflops",
        "a       1.5           ",
        "long  1,000          2",
    ]


def test_the_stored_numbers_bear_the_claims():
    """4 times as fast with the last round's gradient, 2 with all, at a quarter and two thirds of the memory."""
    found = json.loads(STORED.read_text(encoding="utf-8"))
    assert found["layer"]["sizes"] == vars(layer.Sizes())
    for allocator in ("allocator as it comes", "freed memory kept"):
        rows = found["layer"][allocator]
        assert rows["last round"]["times_as_fast"] >= 4
        assert rows["all rounds"]["times_as_fast"] >= 2
        assert rows["last round"]["share_of_memory"] <= 1 / 4
        assert rows["all rounds"]["share_of_memory"] <= 2 / 3
