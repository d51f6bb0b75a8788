"""What training minimises."""

from __future__ import annotations

from collections.abc import Callable

from torch import Tensor

from capsnet_tutorial import functional
from capsnet_tutorial.model import CapsNetOutput

Loss = Callable[..., Tensor]


def paper_objective(
    reconstruction_weight: float = functional.RECONSTRUCTION_WEIGHT,
    margin_loss: Loss | None = None,
    reconstruction_loss: Loss | None = None,
) -> Callable[..., Tensor]:
    """Margin loss plus the weighted reconstruction loss, of a `CapsNetOutput`; at weight 0, margin loss alone.

    Args:
        reconstruction_weight: what the reconstruction loss is multiplied by.
        margin_loss: (lengths [B, J], targets) -> scalar; without one, equation 4's.
        reconstruction_loss: (reconstruction [B, P], images) -> scalar, not weighted yet; without one, section 4.1's.
    """
    margin_loss = margin_loss or functional.margin_loss
    reconstruction_loss = reconstruction_loss or functional.reconstruction_loss

    def objective(output: CapsNetOutput, images: Tensor, targets: Tensor) -> Tensor:
        margin = margin_loss(output.lengths, targets)
        if not reconstruction_weight:
            return margin
        return margin + reconstruction_weight * reconstruction_loss(output.reconstruction, images)

    return objective
