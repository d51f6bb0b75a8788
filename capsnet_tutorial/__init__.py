"""A tested capsule network: "Dynamic Routing Between Capsules" in PyTorch.

The book in this repository builds it step by step; this module holds the finished pieces.
"""

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
from capsnet_tutorial.train import Recipe, evaluate, fit
from capsnet_tutorial.weights import load_pretrained, load_weights, save_weights
