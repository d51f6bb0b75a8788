"""Wrong and right reconstruction losses."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import nn

from checked_functions.entries import RIGHT, Right, right, wrong

# --- wrong


@wrong("reconstruction_loss", "recon-mean")
def reconstruction_by_mse_loss(reconstruction, images):
    return 0.0005 * F.mse_loss(reconstruction, images.view(images.size(0), -1))


@wrong("reconstruction_loss", "recon-mean")
def reconstruction_by_a_mean(reconstruction, images):
    return ((reconstruction.view_as(images) - images) ** 2).mean() * 0.0005


@wrong("reconstruction_loss", "recon-mean")
class ReconstructionByMSELoss(nn.Module):
    def __init__(self):
        super().__init__()
        self.mse = nn.MSELoss()

    def forward(self, reconstruction, images):
        loss = self.mse(reconstruction.view(images.shape[0], -1), images.view(images.shape[0], -1))
        return loss * 0.0005


@wrong("reconstruction_loss", "recon-mean")
def reconstruction_by_a_mean_of_means(reconstruction, images):
    each = (reconstruction - images.flatten(1)).square().mean(dim=1)
    return 5e-4 * each.mean()


@wrong("reconstruction_loss", "recon-mean")
def reconstruction_by_a_mean_over_pixels_summed_over_the_batch(reconstruction, images):
    loss = 0
    for drawn, image in zip(reconstruction, images, strict=True):
        loss = loss + F.mse_loss(drawn, image.view(-1))
    return 0.0005 * loss


@wrong("reconstruction_loss")
def reconstruction_with_its_weight_forgotten(reconstruction, images):
    return (reconstruction - images.flatten(1)).pow(2).sum(1).mean()


@right("reconstruction_loss")  # another habit, which is said and accepted
def reconstruction_summed_over_the_batch(reconstruction, images):
    return 0.0005 * F.mse_loss(reconstruction, images.flatten(1), reduction="sum")


@wrong("reconstruction_loss")
def reconstruction_of_every_image_against_every_other(reconstruction, images):
    difference = reconstruction.view(-1, 28, 28) - images  # [B, 28, 28] beside [B, 1, 28, 28]
    return 0.0005 * difference.square().sum((2, 3)).mean()


@wrong("reconstruction_loss")
def reconstruction_not_squared(reconstruction, images):
    return 0.0005 * (reconstruction - images.flatten(1)).abs().sum(1).mean()


@wrong("reconstruction_loss")
def reconstruction_by_distance(reconstruction, images):
    return 0.0005 * torch.linalg.vector_norm(reconstruction - images.flatten(1), dim=1).mean()


@wrong("reconstruction_loss")
def reconstruction_by_cross_entropy(reconstruction, images):
    return 0.0005 * F.binary_cross_entropy(reconstruction.sigmoid(), images.flatten(1), reduction="sum") / len(images)


@wrong("reconstruction_loss")
def reconstruction_weighed_twice(reconstruction, images):
    return 0.0005 * 0.392 * F.mse_loss(reconstruction, images.flatten(1), reduction="sum") / len(images)


@wrong("reconstruction_loss")
def reconstruction_as_a_number_of_python(reconstruction, images):
    return 0.0005 * float((reconstruction - images.flatten(1)).square().sum(1).mean())


@wrong("reconstruction_loss")
def reconstruction_that_raises(reconstruction, images):
    return 0.0005 * (reconstruction - images).square().sum(1).mean()


# --- right


@right("reconstruction_loss")
def reconstruction_as_in_the_paper(reconstruction, images):
    return 0.0005 * (reconstruction - images.flatten(1)).pow(2).sum(dim=1).mean()


@right("reconstruction_loss")
def reconstruction_by_mse_loss_summed(reconstruction, images):
    return F.mse_loss(reconstruction, images.view(len(images), -1), reduction="sum") * 0.0005 / images.size(0)


@right("reconstruction_loss")
def reconstruction_by_a_scaled_mean(reconstruction, images):
    return 0.392 * F.mse_loss(reconstruction.view(images.shape), images)  # 0.0005 * 784


@right("reconstruction_loss")
def reconstruction_by_squared_distances(reconstruction, images):
    return 0.0005 * (F.pairwise_distance(reconstruction, images.flatten(1)) ** 2).mean()


@right("reconstruction_loss")
def reconstruction_by_the_norm_of_everything(reconstruction, images):
    return torch.linalg.vector_norm(reconstruction.view_as(images) - images) ** 2 / (2000 * len(images))


@right("reconstruction_loss")
def reconstruction_by_products(reconstruction, images):
    d = reconstruction - images.reshape(reconstruction.shape)
    return torch.einsum("bp,bp->b", d, d).mul(5e-4).mean()


@right("reconstruction_loss")
def reconstruction_image_by_image(reconstruction, images, weight=0.0005):
    loss = 0.0
    for drawn, image in zip(reconstruction, images, strict=True):
        d = drawn - image.ravel()
        loss += weight * d @ d
    return loss / len(images)


@right("reconstruction_loss")
def reconstruction_in_double_in_place(reconstruction, images):
    d = reconstruction.double() - images.double().flatten(1)
    return d.pow_(2).sum(1).mean().mul_(0.0005)


@right("reconstruction_loss")
class ReconstructionLoss(nn.Module):
    def __init__(self):
        super().__init__()
        self.mse = nn.MSELoss(reduction="none")

    def forward(self, reconstruction, images):
        each = self.mse(reconstruction.unflatten(1, (28, 28)), images.squeeze(1))
        return each.sum(dim=(1, 2)).mean() * 0.0005


RIGHT += [
    Right(
        "reconstruction as a lambda",
        "reconstruction_loss",
        lambda: lambda r, x: ((r - x.flatten(1)) ** 2).sum() / len(r) * 5 / 10**4,
    ),
]
