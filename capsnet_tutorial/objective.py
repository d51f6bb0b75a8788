"""What training minimises."""

from __future__ import annotations

from collections.abc import Callable

from torch import Tensor

from capsnet_tutorial import functional
from capsnet_tutorial.model import CapsNetOutput

Loss = Callable[..., Tensor]


def paper_objective(
    reconstruction_weight: float = functional.RECONSTRUCTION_WEIGHT,
    margin_loss: Loss = functional.margin_loss,
    reconstruction_loss: Loss = functional.reconstruction_loss,
) -> Callable[..., Tensor]:
    """Margin loss plus the weighted reconstruction loss, of a `CapsNetOutput`; at weight 0, margin loss alone.

    Args:
        reconstruction_weight: what the reconstruction loss is multiplied by.
        margin_loss: (lengths [B, J], targets) -> scalar. Equation 4.
        reconstruction_loss: (reconstruction [B, P], images) -> scalar, not weighted yet. Section 4.1.
    """

    def objective(output: CapsNetOutput, images: Tensor, targets: Tensor) -> Tensor:
        margin = margin_loss(output.lengths, targets)
        if not reconstruction_weight:
            return margin
        return margin + reconstruction_weight * reconstruction_loss(output.reconstruction, images)

    return objective
