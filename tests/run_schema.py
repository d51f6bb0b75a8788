"""What a run's JSON holds: the one place that says so."""

from __future__ import annotations

from typing import Any

from capsnet_tutorial.experiments.evidence import ALL_SHARES, BINS, LARGEST_SHARES
from capsnet_tutorial.experiments.tasks import NETWORKS, TASKS
from capsnet_tutorial.experiments.variants import CHANGES

NUMBER = (int, float)
EVALUATION = {"error": NUMBER, "margin_loss": NUMBER, "reconstruction_mse": NUMBER}
PAIR_EVALUATION = {
    "error": NUMBER,
    "reconstruction_mse": NUMBER,
    "ink": NUMBER,
    "ink_present": NUMBER,
    "ink_absent": NUMBER,
}
AUGMENTATION = {name: NUMBER for name in ("shift", "rotation", "scale", "shear", "elastic")}
ALWAYS = {
    "command": str,
    "task": str,
    "network": str,
    "changes": list,
    "config": dict,
    "parameters": int,
    "recipe": {
        "epochs": NUMBER,
        "seconds": (*NUMBER, type(None)),
        "batch_size": int,
        "learning_rate": NUMBER,
        "warmup": NUMBER,
        "betas": list,
        "average": NUMBER,
        "clip": (*NUMBER, type(None)),
        "patience": (int, type(None)),
        "stop_at_accuracy": (*NUMBER, type(None)),
        "reconstruction_weight": NUMBER,
        "augmentation": AUGMENTATION,
        "routing_gradient": str,
        "precision": str,
        "seed": int,
    },
    "data": {"source": str, "training_digits": int},
    "steps": int,
    "training_seconds": NUMBER,
    "curve": list,
    "hardware": {"device": str, "processor": str, "cores": int, "threads": int, "processes": int},
    "versions": {"python": str, "torch": str, "torchvision": str, "accelerate": str},
    "commit": (dict, type(None)),
}
SIZES = {"recognising_parameters": int, "drawing_parameters": int}
"""In every record, but not in those from before `evidence` was measured."""
UNTRACEABLE = {"bias-released", "softmax-axis", "self-attention"}
"""Changes of the routing whose votes and couplings are not the paper's."""
SHARES = {"effective_capsules": NUMBER, "capsules": list, "shares": list}
POINT = {"epoch": NUMBER, "seconds": NUMBER, "loss": NUMBER}


def check_run(result: dict[str, Any]) -> None:
    """Raise `AssertionError` with the place where a run's JSON is not as it should be."""
    wanted: dict[str, Any] = dict(ALWAYS)
    if SIZES.keys() & result.keys():
        wanted |= SIZES
    if "diverged" in result:
        wanted |= {"diverged": str}
    else:
        wanted |= _measured(result)
    _match(result, wanted, "result")
    assert result["command"].startswith("capsnet train ")
    assert result["task"] in TASKS
    assert result["network"] in NETWORKS
    assert set(result["changes"]) <= set(CHANGES)
    if result["commit"] is not None:
        _match(result["commit"], {"id": str, "dirty": bool}, "commit")
    for point in result["curve"]:
        _match(point, POINT | ({"validation_error": NUMBER} if "validation_error" in point else {}), "curve")
    for split in ("validation", "test", "test_bent"):
        assert 0 <= result.get(split, {}).get("error", 0) <= 1


def _measured(result: dict[str, Any]) -> dict[str, Any]:
    """What has to be measured, by what was trained."""
    capsnet = result["network"] == "capsnet"
    kind = {"error": NUMBER} if not capsnet else PAIR_EVALUATION if result["task"] == "pairs" else EVALUATION
    splits = ["test"] if "--everything" in result["command"] else ["validation", "test"]
    if result["task"] != "pairs":
        splits.append("test_bent")
    measured: dict[str, Any] = dict.fromkeys(splits, kind)
    if capsnet and result["task"] != "pairs" and not result["changes"]:
        measured["rounds"] = list
        assert len(result["rounds"]) == result["config"]["iterations"]
        for each in result["rounds"]:
            _match(each, {"entropy": NUMBER, "error": NUMBER}, "rounds")
            assert -1e-6 <= each["entropy"] <= 1 + 1e-6
    if "wrong" in result or SIZES.keys() & result.keys():
        measured |= _evidence(result, splits)
    return measured


def _evidence(result: dict[str, Any], splits: list[str]) -> dict[str, Any]:
    """What is measured beside the errors."""
    wanted: dict[str, Any] = {"wrong": dict.fromkeys(splits, list)} | SIZES
    for wrong in result["wrong"].values():
        assert all(type(place) is int for place in wrong)
        assert wrong == sorted(set(wrong))
    if result["network"] != "capsnet":
        return wanted
    wanted["calibration"] = dict.fromkeys(
        [*splits, "test_noisy"], dict.fromkeys(("count", "right", "mean_length"), list)
    )
    for bins in result["calibration"].values():
        assert {len(each) for each in bins.values()} == {BINS}
        for count, right, length in zip(*bins.values(), strict=True):
            assert 0 <= right <= count
            assert (length is None) == (count == 0)
    if not UNTRACEABLE & set(result["changes"]):
        wanted["vote_shares"] = {"before": SHARES, "after": SHARES}
        for when in result["vote_shares"].values():
            shares = when["shares"]
            assert len(when["capsules"]) == len(shares) <= ALL_SHARES
            assert when["effective_capsules"] >= 1
            if len(shares) > LARGEST_SHARES:
                assert when["capsules"] == list(range(len(shares)))
            assert 0 <= sum(shares) < 1.01
    return wanted


def _match(came: Any, wanted: Any, place: str) -> None:
    if isinstance(wanted, dict):
        assert isinstance(came, dict), f"{place}: no object"
        assert came.keys() == wanted.keys(), f"{place}: {sorted(came.keys() ^ wanted.keys())}"
        for key, each in wanted.items():
            _match(came[key], each, f"{place}.{key}")
    else:
        assert isinstance(came, wanted), f"{place}: {came!r}"
