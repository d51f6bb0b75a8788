"""A capsule network that is right, tested and fast: "Dynamic Routing Between Capsules" in PyTorch.

The book in this repository builds it step by step; this module holds the finished pieces.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from capsnet_tutorial.check import (
        Report,
        check_answer,
        check_function,
        check_layer,
        check_margin_loss,
        check_mask,
        check_model,
        check_primary_capsules,
        check_reconstruction_loss,
        check_routing,
        check_squash,
    )
    from capsnet_tutorial.data import Digits, digits
    from capsnet_tutorial.functional import (
        RoutingTrace,
        capsule_lengths,
        margin_loss,
        mask_capsules,
        prediction_vectors,
        reconstruction_loss,
        route,
        squash,
    )
    from capsnet_tutorial.layers import Decoder, PrimaryCapsules, RoutedCapsules
    from capsnet_tutorial.model import CapsNet, CapsNetConfig, CapsNetOutput, Parts
    from capsnet_tutorial.weights import load_pretrained, load_weights, save_weights

_MODULES = {
    "check": (
        "Report",
        "check_answer",
        "check_function",
        "check_layer",
        "check_margin_loss",
        "check_mask",
        "check_model",
        "check_primary_capsules",
        "check_reconstruction_loss",
        "check_routing",
        "check_squash",
    ),
    "data": ("Digits", "digits"),
    "functional": (
        "RoutingTrace",
        "capsule_lengths",
        "margin_loss",
        "mask_capsules",
        "prediction_vectors",
        "reconstruction_loss",
        "route",
        "squash",
    ),
    "layers": ("Decoder", "PrimaryCapsules", "RoutedCapsules"),
    "model": ("CapsNet", "CapsNetConfig", "CapsNetOutput", "Parts"),
    "weights": ("load_pretrained", "load_weights", "save_weights"),
}
_MODULE_OF = {name: module for module, names in _MODULES.items() for name in names}

__all__ = sorted(_MODULE_OF)


def __getattr__(name: str) -> Any:
    """Import a public name when it is first asked for: the book builds without torch, and a widget needs none."""
    if name not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_MODULE_OF[name]}"), name)


def __dir__() -> list[str]:
    return [*globals(), *__all__]
