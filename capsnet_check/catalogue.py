"""The catalogue of mistakes that public capsule networks make."""

from __future__ import annotations

from typing import NamedTuple


class Bug(NamedTuple):
    """An entry of the catalogue."""

    title: str
    """The fault, in a sentence."""
    advice: str
    """The cause to look for, and the remedy."""
    paper: str
    """The place in the paper, and what it says."""


BUGS: dict[str, Bug] = {
    "softmax-axis": Bug(
        title="The softmax of the couplings runs over the wrong axis.",
        advice=(
            "Each capsule below shares itself out among the capsules above: for every i, the c_ij"
            " sum to 1 over j. If it no longer learns once the axis is right, look at the start: "
            "W drawn with standard deviation 1 saturates the squash; 0.01 to 0.1 trains."
        ),
        paper="Equation 3: c_ij = exp(b_ij) / Σ_k exp(b_ik), k over the layer above.",
    ),
    "margin-not-squared": Bug(
        title="The margins are not squared.",
        advice="max(0, m⁺ − ‖v‖) and max(0, ‖v‖ − m⁻) are squared, each by itself.",
        paper="Equation 4: L_k = T_k max(0, m⁺ − ‖v_k‖)² + λ (1 − T_k) max(0, ‖v_k‖ − m⁻)².",
    ),
    "recon-mean": Bug(
        title="The reconstruction loss is a mean over the pixels: 784 times too weak.",
        advice=(
            "Sum the squared differences over an image's pixels, and only then average over the "
            "images. 0.0005 was chosen for the sum."
        ),
        paper="Section 4.1: the sum of squared differences, scaled down by 0.0005.",
    ),
    "mask-prediction": Bug(
        title="The decoder is masked by the prediction although the label is known.",
        advice=(
            "In training keep the capsule of the true label, whichever is longest; only without "
            "labels keep the longest. Otherwise every misread digit teaches the wrong capsule to "
            "draw it."
        ),
        paper=(
            "Section 4.1: during training, all but the activity vector of the correct digit "
            "capsule are masked out."
        ),
    ),
    "capsule-view": Bug(
        title="A capsule mixes numbers from several places of the image.",
        advice=(
            "`.view(B, -1, dim)` on [B, C, H, W] takes neighbours along W. Split the channels "
            "first, [B, types, dim, H, W], then move dim to the end."
        ),
        paper=(
            "Section 4: each primary capsule has 8 convolutional units, which look at one and the"
            " same place."
        ),
    ),
    "squash-nan": Bug(
        title="The zero vector becomes nan, or its gradient does.",
        advice=(
            "0/0 where the length is divided by, or the square root's infinite slope at 0. The "
            "floor belongs under the root: (s * s).sum(-1, "
            "keepdim=True).clamp_min(eps**2).sqrt(). A floor added after the root, or a "
            "torch.where afterwards, mends the value and not the gradient."
        ),
        paper="Equation 1; at s = 0 its limit is 0.",
    ),
    "squash-axis": Bug(
        title="Squash measures the length along the wrong axis.",
        advice=(
            "The length is that of one capsule: along its own numbers, the last axis. With a "
            "trailing axis of size 1, dim=-1 squashes every number by itself."
        ),
        paper="Equation 1: v_j = ‖s_j‖² / (1 + ‖s_j‖²) · s_j / ‖s_j‖, for each capsule j.",
    ),
    "batch-agreement": Bug(
        title="The images of a batch share their routing.",
        advice=(
            "b belongs to one image: its shape is [B, I, J], and nothing in routing is averaged "
            "or summed over the batch."
        ),
        paper="Procedure 1 routes one image: b_ij is 0 at its start.",
    ),
    "stale-logits": Bug(
        title="The routing logits survive from call to call.",
        advice=(
            "Start with b = 0 in every call; b is neither a parameter nor an attribute that is "
            "written to."
        ),
        paper="Procedure 1, line 2: for all i and j, b_ij is set to 0.",
    ),
    "lengths-softmax": Bug(
        title="A softmax is applied to the lengths before the margin loss.",
        advice="The lengths are scores already, one for each class; they need not sum to 1.",
        paper="Equation 4 takes ‖v_k‖ itself.",
    ),
    "no-update-rounds": Bug(
        title="The logits are not updated, or in one round too few.",
        advice=(
            "With r rounds, the agreement is added to b r − 1 times: once between any two rounds."
        ),
        paper="Procedure 1, line 7: b_ij becomes b_ij + û_j|i · v_j, in every round.",
    ),
}
"""Entries by their id."""
