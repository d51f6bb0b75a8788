"""CostCalculator: its formulas against PyTorch's own counters and real tensors, and what the Python side refuses."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
import torch
from capsnet_book.experiments.records import stored
from capsnet_book.widgets import CostCalculator
from capsnet_book.widgets.cost_calculator import SIZES
from torch.utils.flop_counter import FlopCounterMode

from capsnet_tutorial import CapsNet, CapsNetConfig, fast, prediction_vectors, route

MODULES = ("cost_calculator.js",)
NAMES = {"types": "primary_types", "inDim": "primary_dim", "outCapsules": "classes", "outDim": "class_dim",
         "rounds": "iterations"}  # fmt: skip
PAPER = {"preset": "paper", "batch": 1, "types": 32, "inDim": 8, "outCapsules": 10, "outDim": 16, "rounds": 3}
SMALL = PAPER | {"preset": "small", "batch": 3, "types": 8}
CASES = [
    PAPER | {"bytes": 4},
    SMALL | {"bytes": 4},
    SMALL | {"bytes": 2, "types": 5, "inDim": 6, "outCapsules": 7, "outDim": 12, "rounds": 1},
    SMALL | {"bytes": 2, "types": 3, "inDim": 4, "outCapsules": 20, "outDim": 8, "rounds": 5},
]


@pytest.fixture
def came(run_node, tmp_path):
    """What the JavaScript says, case by case."""
    file = tmp_path / "cases.json"
    file.write_text(json.dumps(CASES))
    return run_node("cost_calculator.mjs", file, modules=MODULES)


def network(case):
    sizes = {ours: case[theirs] for theirs, ours in NAMES.items()}
    return CapsNet(replace(CapsNetConfig.preset(case["preset"]), **sizes))


def flops(run):
    with torch.no_grad(), FlopCounterMode(display=False) as counter:
        run()
    return counter.get_total_flops()


def test_parameters_and_operations_are_those_of_the_network(came):
    for case, cost in zip(CASES, came["costs"], strict=True):
        model = network(case)
        images = torch.rand(case["batch"], 1, 28, 28)
        stages = cost["stages"]
        mine = [stages[name] for name in ("convolutions", "without", "decoder")]
        assert sum(stage["parameters"] for stage in mine) == sum(each.numel() for each in model.parameters())
        assert cost["inCapsules"] == model.config.primary_capsules
        labels = torch.zeros(case["batch"], dtype=torch.long)
        assert sum(stage["flops"] for stage in mine) == flops(lambda: model(images, labels))  # noqa: B023
        capsules = torch.randn(case["batch"], cost["inCapsules"], case["inDim"])
        assert stages["without"]["flops"] == flops(lambda: model.routed(capsules))  # noqa: B023
        assert stages["decoder"]["parameters"] == sum(each.numel() for each in model.decoder.parameters())


def test_routing_with_predictions_is_counted_as_pytorch_counts_and_moves_real_tensors(came):
    for case, cost in zip(CASES, came["costs"], strict=True):
        dtype = torch.float32 if case["bytes"] == 4 else torch.bfloat16
        u = torch.randn(case["batch"], cost["inCapsules"], case["inDim"], dtype=dtype)
        weight = network(case).routed.weight.detach().to(dtype)
        with_u_hat = cost["stages"]["withUHat"]
        rounds = case["rounds"]
        assert with_u_hat["flops"] == flops(lambda: route(prediction_vectors(u, weight), rounds))  # noqa: B023
        u_hat = prediction_vectors(u, weight)
        v, trace = route(u_hat, rounds, return_trace=True)
        assert cost["uHat"] == u_hat.nbytes
        product = u_hat.nbytes + trace.c[0].to(dtype).nbytes + v.nbytes
        assert with_u_hat["bytes"] == u.nbytes + weight.nbytes + u_hat.nbytes + (2 * rounds - 1) * product


def test_the_buffer_is_the_one_that_routing_without_predictions_makes(came):
    for case, cost in zip(CASES, came["costs"], strict=True):
        u = torch.zeros(case["batch"], case["inDim"], cost["inCapsules"])
        weight = torch.zeros(case["outCapsules"], case["outDim"], case["inDim"] * cost["inCapsules"])
        _, buffer = next(iter(fast._turns(u, weight)))
        assert cost["buffer"] == (buffer.nbytes if case["rounds"] > 1 else 0)
        products = 2 * case["rounds"] - 1
        s, c = torch.zeros(case["outCapsules"], case["batch"], case["outDim"]), torch.zeros(len(weight), *u[:, 0].shape)
        moved = products * (u.nbytes + weight.nbytes + s.nbytes) + (products - 1) * c.nbytes
        assert cost["stages"]["without"]["bytes"] == moved


def test_the_least_time_is_the_longer_of_the_two(came):
    arithmetic, memory = came["times"]
    assert arithmetic == {"seconds": pytest.approx(0.06), "limit": "arithmetic"}
    assert memory == {"seconds": pytest.approx(0.05), "limit": "memory"}


def test_it_starts_with_the_papers_network_on_the_machine_that_was_measured():
    widget, peak = CostCalculator(), stored("speed")["machine"]["peak"]
    config = CapsNetConfig.paper()
    sizes = (widget.primary_types, widget.in_dim, widget.out_capsules, widget.out_dim, widget.iterations)
    assert sizes == tuple(getattr(config, name) for name in NAMES.values())
    assert (widget.peak, widget.bandwidth) == (peak["float32_gigaflops_a_second"], peak["gigabytes_a_second"])
    assert widget.half_peak == peak["bfloat16_gigaflops_a_second"]
    assert CostCalculator("small").primary_types == CapsNetConfig.small().primary_types
    assert repr(CostCalculator("small")) == "CostCalculator('small')"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"preset": "large"}, "a preset, one of paper, small; got 'large'"),
        ({"number_bytes": 8}, "2 or 4; got 8"),
        *(({name: most + 1}, f"expected {name} from") for name, (_, most) in SIZES.items()),
        ({"types": 4}, "expected batch, primary_types, .*; got types"),
        ({"batch": 0}, "batch from 1 to 1024; got 0"),
    ],
)  # fmt: skip
def test_other_settings_are_refused_in_words(arguments, words):
    with pytest.raises(ValueError, match=words):
        CostCalculator(**arguments)


def test_state_reaches_python_and_nonsense_does_not():
    widget = CostCalculator()
    widget.set_state({"batch": 64, "number_bytes": 2, "peak": 1000.5})
    assert (widget.batch, widget.number_bytes, widget.peak) == (64, 2, 1000.5)
    with pytest.raises(ValueError, match="bandwidth from 0.1"):
        widget.bandwidth = 0.0
