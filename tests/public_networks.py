"""Right capsule networks as public repositories write them, from memory of their style.

`PUBLIC` lists their makers; a name says how û, the routing, or the outputs are written. All are
small, and none has a mistake: a ✗ for any of them is a false alarm.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import torch
from right_networks import (
    DIM,
    TYPES,
    AboveFirst,
    Lengths,
    Network,
    NumbersIfGiven,
    Primary,
    Right,
    Routed,
    last,
    squash,
)
from torch import Tensor, nn
from torch.nn import functional as F
from torch.utils.checkpoint import checkpoint

I, J, D = TYPES * 2 * 2, 10, 8

# --- layers


class Priors(nn.Module):
    """Votes [J, B, I, 1, D], logits as large, -1 for "no routing": one class for both layers."""

    def __init__(self, capsules: int, nodes: int) -> None:
        super().__init__()
        self.num_route_nodes, self.num_iterations = nodes, 3
        if nodes == -1:
            kernels = (nn.Conv2d(8, TYPES, 5, stride=3) for _ in range(capsules))
            self.capsules = nn.ModuleList(kernels)
        else:
            self.route_weights = nn.Parameter(0.3 * torch.randn(capsules, nodes, DIM, D))

    def forward(self, x: Tensor) -> Tensor:
        if self.num_route_nodes == -1:
            numbers = [capsule(x).view(x.size(0), -1, 1) for capsule in self.capsules]
            return squash(torch.cat(numbers, dim=-1))
        priors = x[None, :, :, None, :] @ self.route_weights[:, None, :, :, :]
        logits = torch.zeros(*priors.size())
        for i in range(self.num_iterations):
            probs = F.softmax(logits, dim=0)
            outputs = squash((probs * priors).sum(dim=2, keepdim=True))
            if i != self.num_iterations - 1:
                delta_logits = (priors * outputs).sum(dim=-1, keepdim=True)
                logits = logits + delta_logits
        return outputs.squeeze(3).squeeze(2).transpose(0, 1)


class DenseCapsules(nn.Module):
    """W [J, I, D_out, D_in]; the gradient flows through the last of the routings alone."""

    def __init__(self, routings: int = 3) -> None:
        super().__init__()
        self.routings = routings
        self.weight = nn.Parameter(0.3 * torch.randn(J, I, D, DIM))

    def forward(self, x: Tensor) -> Tensor:
        x_hat = torch.squeeze(torch.matmul(self.weight, x[:, None, :, :, None]), dim=-1)
        x_hat_detached = x_hat.detach()
        b = torch.zeros(x.size(0), J, I)
        for i in range(self.routings):
            c = F.softmax(b, dim=1)
            if i == self.routings - 1:
                outputs = squash(torch.sum(c[:, :, :, None] * x_hat, dim=-2, keepdim=True))
            else:
                outputs = squash(torch.sum(c[:, :, :, None] * x_hat_detached, dim=-2, keepdim=True))
                b = b + torch.sum(outputs * x_hat_detached, dim=-1)
        return torch.squeeze(outputs, dim=-2)


class StackedColumns(nn.Module):
    """W [1, I, J, D_out, D_in] for each image, capsules stacked J times, all as columns."""

    def __init__(self) -> None:
        super().__init__()
        self.W = nn.Parameter(0.3 * torch.randn(1, I, J, D, DIM))

    def forward(self, x: Tensor) -> Tensor:
        batch_size = x.size(0)
        x = torch.stack([x] * J, dim=2).unsqueeze(4)
        W = torch.cat([self.W] * batch_size, dim=0)
        u_hat = torch.matmul(W, x)
        b_ij = torch.zeros(batch_size, I, J, 1)
        num_iterations = 3
        for iteration in range(num_iterations):
            c_ij = F.softmax(b_ij, dim=2).unsqueeze(4)
            s_j = (c_ij * u_hat).sum(dim=1, keepdim=True)
            v_j = squash(s_j, dim=3)
            if iteration < num_iterations - 1:
                a_ij = torch.matmul(u_hat.transpose(3, 4), torch.cat([v_j] * I, dim=1))
                b_ij = b_ij + a_ij.squeeze(4)
        return v_j.squeeze(1)


class AgreementRouting(nn.Module):
    """Logits that are learned, the log priors of the paper; a first step before the loop."""

    def __init__(self, iterations: int, spread: float) -> None:
        super().__init__()
        self.n_iterations = iterations
        self.b = nn.Parameter(spread * torch.randn(I, J))

    def forward(self, u_predict: Tensor) -> Tensor:
        c = F.softmax(self.b, dim=1)
        v = squash((c.unsqueeze(2) * u_predict).sum(dim=1))
        b_batch = self.b.expand(u_predict.shape[:3])
        for _ in range(self.n_iterations - 1):
            b_batch = b_batch + (u_predict * v.unsqueeze(1)).sum(-1)
            c = F.softmax(b_batch.reshape(-1, J), dim=1).view(-1, I, J, 1)
            v = squash((c * u_predict).sum(dim=1))
        return v


class WithRoutingModule(nn.Module):
    """W [I, D_in, J·D_out] of two axes; the routing is a module of its own."""

    def __init__(self, routing: nn.Module) -> None:
        super().__init__()
        self.weights = nn.Parameter(0.3 * torch.randn(I, DIM, J * D))
        self.routing_module = routing

    def forward(self, u: Tensor) -> Tensor:
        u_predict = u.unsqueeze(2).matmul(self.weights).view(u.size(0), I, J, D)
        return self.routing_module(u_predict)


class TiledWithBias(nn.Module):
    """W tiled over the batch, a bias of 0 on s in every round, rounds before the last detached."""

    def __init__(self) -> None:
        super().__init__()
        self.W = nn.Parameter(0.3 * torch.randn(1, I, J * D, DIM, 1))
        self.biases = nn.Parameter(torch.zeros(1, 1, J, D, 1))

    def forward(self, u: Tensor) -> Tensor:
        tiled = u[:, :, None, :, None].repeat(1, 1, J * D, 1, 1)
        u_hat = (self.W * tiled).sum(dim=3, keepdim=True).view(-1, I, J, D, 1)
        stopped = u_hat.detach()
        b = torch.zeros(len(u), I, J, 1, 1)
        for r in range(3):
            c = b.softmax(dim=2)
            if r == 2:
                s = (c * u_hat).sum(dim=1, keepdim=True) + self.biases
                return squash(s, dim=-2).squeeze(1).squeeze(3)
            s = (c * stopped).sum(dim=1, keepdim=True) + self.biases
            v = squash(s, dim=-2).tile(1, I, 1, 1, 1)
            b = b + (stopped * v).sum(dim=3, keepdim=True)
        raise AssertionError


class LogitsInPlace(Routed):
    """Logits are added to in place, in a tensor that every round shares."""

    def forward(self, u: Tensor) -> Tensor:
        u_hat = self.votes(u)
        b = u_hat.new_zeros(u_hat.shape[:3])
        softmax = nn.Softmax(dim=-1)
        for r in range(self.rounds):
            c = softmax(b)
            s = torch.einsum("bij,bijd->bjd", c, u_hat)
            v = squash(s)
            if r + 1 < self.rounds:
                b += torch.einsum("bjd,bijd->bij", v, u_hat)
        return v


class ByProducts(Routed):
    """Sums as products of matrices, [B, J, 1, I] times [B, J, I, D]."""

    def forward(self, u: Tensor) -> Tensor:
        u_hat = self.votes(u).transpose(1, 2).contiguous()
        b = torch.zeros(*u_hat.shape[:3], 1)
        for _ in range(self.rounds):
            c = F.softmax(b, dim=1)
            v = squash(c.transpose(2, 3) @ u_hat)
            b = b + u_hat @ v.transpose(2, 3)
        return v.squeeze(2)


class ByBatchProducts(Routed):
    """All batches of capsules above in one axis, by bmm and baddbmm."""

    def forward(self, u: Tensor) -> Tensor:
        u_hat = self.votes(u).transpose(1, 2)
        count, above, below, dim = u_hat.shape
        votes = u_hat.reshape(count * above, below, dim)
        b = votes.new_zeros(count * above, below, 1)
        for _ in range(self.rounds):
            c = b.view(count, above, below).softmax(1).view(count * above, 1, below)
            v = squash(torch.bmm(c, votes))
            b = torch.baddbmm(b, votes, v.mT)
        return v.view(count, above, dim)


class NormalisedSquash(Routed):
    """The squash of F.normalize and a norm."""

    def forward(self, u: Tensor) -> Tensor:
        u_hat = self.votes(u)
        b = torch.zeros(u_hat.shape[:3])
        for _ in range(self.rounds):
            s = (F.log_softmax(b, dim=-1).exp().unsqueeze(-1) * u_hat).sum(dim=-3)
            norm = torch.linalg.vector_norm(s, dim=-1, keepdim=True)
            v = norm**2 / (1 + norm**2) * F.normalize(s, dim=-1)
            b = b + (u_hat * v.unsqueeze(1)).sum(3)
        return v


class ClassByClass(Routed):
    """v is put together from the classes, in a list."""

    def forward(self, u: Tensor) -> Tensor:
        u_hat = self.votes(u)
        b = torch.zeros(u_hat.shape[:3])
        for _ in range(self.rounds):
            c = b.softmax(2)
            sums = [(c[:, :, j, None] * u_hat[:, :, j]).sum(1) for j in range(u_hat.shape[2])]
            v = torch.stack([squash(s) for s in sums], dim=1)
            b = b + (u_hat * v.unsqueeze(1)).sum(3)
        return v


class ImageByImage(Routed):
    """One image after the other."""

    def forward(self, u: Tensor) -> Tensor:
        return torch.stack([self.routed(votes) for votes in self.votes(u)])

    def routed(self, votes: Tensor) -> Tensor:
        b = torch.zeros(votes.shape[:2])
        for _ in range(self.rounds):
            v = squash((b.softmax(1).unsqueeze(2) * votes).sum(0))
            b = b + (votes * v).sum(2)
        return v


class SharedByPlaces(nn.Module):
    """One W for a type of capsules, wherever they are: votes [B, types, places, J, D]."""

    def __init__(self, *, in_two_steps: bool) -> None:
        super().__init__()
        self.W = nn.Parameter(0.3 * torch.randn(TYPES, J, DIM, D))
        self.in_two_steps = in_two_steps

    def couplings(self, b: Tensor) -> Tensor:
        return b.softmax(3)

    def forward(self, u: Tensor) -> Tensor:
        u_hat = torch.einsum("btpd,tjde->btpje", u.unflatten(1, (TYPES, -1)), self.W)
        b = torch.zeros(u_hat.shape[:4])
        for _ in range(3):
            weighted = self.couplings(b).unsqueeze(4) * u_hat
            s = weighted.sum(1).sum(1) if self.in_two_steps else weighted.sum((1, 2))
            v = squash(s)
            b = b + (u_hat * v[:, None, None]).sum(4)
        return v


class CheckpointedLayer(Routed):
    """Activations are computed again for the gradient, by torch.utils.checkpoint."""

    def __init__(self, *sizes: int, use_reentrant: bool) -> None:
        super().__init__(*sizes)
        self.use_reentrant = use_reentrant

    def forward(self, u: Tensor) -> Tensor:
        return checkpoint(super().forward, u, use_reentrant=self.use_reentrant)


class LinearForEach(Routed):
    """W as a Linear for each of the capsules below, with a bias on û."""

    def __init__(self, *sizes: int) -> None:
        super().__init__(*sizes)
        below, dim, above, dim_above = sizes
        del self.W
        linears = (nn.Linear(dim, above * dim_above) for _ in range(below))
        self.linears = nn.ModuleList(linears)
        self.sizes = above, dim_above

    def votes(self, u: Tensor) -> Tensor:
        votes = [linear(u[:, i]) for i, linear in enumerate(self.linears)]
        return torch.stack(votes, dim=1).unflatten(2, self.sizes)


class UntilStill(Routed):
    """Rounds that stop when the couplings stand still, which three do not reach."""

    def forward(self, u: Tensor) -> Tensor:
        u_hat = self.votes(u)
        b = torch.zeros(u_hat.shape[:3])
        round_number = 0
        while round_number < self.rounds:
            c = b.softmax(2)
            v = squash((c.unsqueeze(3) * u_hat).sum(1))
            change = (u_hat * v.unsqueeze(1)).sum(3)
            if bool(change.abs().max() < 1e-9):
                break
            b = b + change
            round_number += 1
        return v


class Vmapped(ImageByImage):
    """The routing of one image, mapped over the batch."""

    def forward(self, u: Tensor) -> Tensor:
        return torch.func.vmap(self.routed)(self.votes(u))


@torch.jit.script
def scripted_squash(s: Tensor) -> Tensor:
    square = (s * s).sum(-1, keepdim=True)
    return square / (1 + square) * s / (square + 1e-9).sqrt()


class Scripted(Routed):
    """Its squash is TorchScript."""

    def forward(self, u: Tensor) -> Tensor:
        u_hat = self.votes(u)
        b = torch.zeros(u_hat.shape[:3])
        for _ in range(self.rounds):
            v = scripted_squash((b.softmax(2).unsqueeze(3) * u_hat).sum(1))
            b = b + (u_hat * v.unsqueeze(1)).sum(3)
        return v


@torch.compile(backend="eager")
def compiled_route(u_hat: Tensor) -> Tensor:
    b = torch.zeros(u_hat.shape[:3])
    for _ in range(3):
        v = squash((b.softmax(2).unsqueeze(3) * u_hat).sum(1))
        b = b + (u_hat * v.unsqueeze(1)).sum(3)
    return v


class Compiled(Routed):
    """Its routing is a function that is compiled."""

    def forward(self, u: Tensor) -> Tensor:
        return compiled_route(self.votes(u))


class WithoutGradient(Routed):
    """All rounds but the last are under no_grad."""

    def forward(self, u: Tensor) -> Tensor:
        u_hat = self.votes(u)
        b = torch.zeros(u_hat.shape[:3])
        with torch.no_grad():
            for _ in range(self.rounds - 1):
                v = squash((b.softmax(2).unsqueeze(3) * u_hat).sum(1))
                b = b + (u_hat * v.unsqueeze(1)).sum(3)
        return squash((b.softmax(2).unsqueeze(3) * u_hat).sum(1))


class GroupedVotes(Routed):
    """One W for a type of capsules, as a convolution in groups."""

    def __init__(self, *sizes: int) -> None:
        super().__init__(*sizes)
        del self.W
        self.conv = nn.Conv1d(TYPES * DIM, TYPES * J * D, 1, groups=TYPES)

    def votes(self, u: Tensor) -> Tensor:
        maps = u.unflatten(1, (TYPES, -1)).permute(0, 1, 3, 2).flatten(1, 2)
        votes = self.conv(maps).unflatten(1, (TYPES, J, D))
        return votes.permute(0, 1, 4, 2, 3).flatten(1, 2)


class Numbered(Routed):
    """Numbers whose names have "iter", "round" or "r" in them, and are of something else."""

    def __init__(self, *sizes: int) -> None:
        super().__init__(*sizes)
        self.criterion_id, self.max_iterations, self.background = 5, 100, 7


# --- trunks


class ByUnits(nn.Module):
    """Eight convolutions, one for each number of a capsule, stacked."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(1, 8, 9, stride=2)
        self.units = nn.ModuleList([nn.Conv2d(8, TYPES, 5, stride=3) for _ in range(DIM)])

    def forward(self, images: Tensor) -> Tensor:
        maps = F.relu(self.conv(images), inplace=True)
        stacked = torch.stack([unit(maps) for unit in self.units], dim=1)
        return squash(stacked.view(len(images), DIM, -1).transpose(1, 2))


class BlockTrunk(nn.Module):
    """A residual trunk with batch norm, squeeze and excitation, learned scales and gates."""

    def __init__(self) -> None:
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(1, 8, 5, stride=2), nn.BatchNorm2d(8), nn.SiLU())
        self.block = nn.Sequential(nn.Conv2d(8, 8, 3, padding=1), nn.BatchNorm2d(8), nn.GELU())
        self.excite = nn.Sequential(nn.Linear(8, 4), nn.ReLU(), nn.Linear(4, 8), nn.Sigmoid())
        self.gate = nn.Parameter(torch.randn(8, 1, 1))
        self.log_scale = nn.Parameter(0.1 * torch.randn(8, 1, 1))
        self.conv = nn.Conv2d(8, TYPES * DIM, 3, stride=2)

    def forward(self, images: Tensor) -> Tensor:
        x = self.stem(images)
        x = F.max_pool2d(x * self.gate.sigmoid(), 2)
        x = x + self.block(x) * self.excite(x.mean((2, 3)))[:, :, None, None]
        maps = self.conv(x * self.log_scale.exp())
        return squash(maps.unflatten(1, (TYPES, DIM)).permute(0, 1, 3, 4, 2).flatten(1, 3))


class AttentionTrunk(nn.Module):
    """Patches that attend to each other, and a learned query that pools a mixture of layers."""

    def __init__(self) -> None:
        super().__init__()
        self.patches = nn.Conv2d(1, 16, 7, stride=7)
        self.attention = nn.MultiheadAttention(16, 2, batch_first=True)
        self.mixture = nn.Parameter(torch.randn(2))

    def forward(self, images: Tensor) -> Tensor:
        tokens = self.patches(images).flatten(2).mT
        attended = self.attention(tokens, tokens, tokens)[0]
        layers = torch.stack([tokens, attended], dim=1)
        mixed = (layers * self.mixture.softmax(0)[:, None, None]).sum(1)
        return squash(mixed[:, :, :DIM])


# --- whole networks


class Reconstruction(NamedTuple):
    probs: Tensor
    image: Tensor


@dataclass
class Output:
    capsules: Tensor
    lengths: Tensor
    image: Tensor


class FromEye(Network):
    """Labels by rows of an identity matrix; a decoder of transposed convolutions."""

    def __init__(self, layer: nn.Module) -> None:
        super().__init__(layer)
        self.dense = nn.Linear(J * D, 4 * 7 * 7)
        self.up = nn.Sequential(
            nn.ConvTranspose2d(4, 4, 2, stride=2), nn.ReLU(), nn.ConvTranspose2d(4, 1, 2, stride=2)
        )

    def forward(self, images: Tensor, y: Tensor | None = None) -> Any:
        v = self.capsules(images)
        lengths = (v**2).sum(dim=-1) ** 0.5
        if y is None:
            y = lengths.max(dim=1).indices
        masked = v * torch.eye(J).index_select(0, y)[:, :, None]
        grown = self.dense(masked.flatten(1)).relu().view(-1, 4, 7, 7)
        return Reconstruction(lengths, self.up(grown).sigmoid())


class ChosenCapsule(Network):
    """The decoder takes the chosen capsule alone; a dataclass comes back."""

    def __init__(self, layer: nn.Module) -> None:
        super().__init__(layer)
        self.decoder = nn.Sequential(nn.Linear(D, 16), nn.ReLU(), nn.Linear(16, 784), nn.Sigmoid())

    def forward(self, images: Tensor, *, labels: Tensor | None = None) -> Any:
        return self.answered(images, labels)

    def answered(self, images: Tensor, labels: Tensor | None) -> Output:
        v = self.capsules(images)
        lengths = v.norm(dim=2)
        classes = lengths.argmax(1) if labels is None else labels
        capsules = v[torch.arange(len(v)), classes]
        return Output(v, lengths, self.decoder(capsules).view_as(images))


class ChosenByPosition(ChosenCapsule):
    def forward(self, images: Tensor, labels: Tensor | None = None) -> Any:
        return self.answered(images, labels)


class ChosenByOptions(ChosenCapsule):
    """Whoever reads its signature cannot know the name of the labels."""

    def forward(self, images: Tensor, **options: Any) -> Any:
        return self.answered(images, options.get("labels"))


class OneHotByName(FromEye):
    def forward(self, images: Tensor, *, training: bool = False, y_true: Tensor) -> Any:
        return super().forward(images, y_true.argmax(1))


class WithLoss(FromEye):
    """The loss is computed in the network, where labels are given."""

    def forward(self, images: Tensor, y: Tensor | None = None) -> Any:
        lengths, image = super().forward(images, y)
        if y is None:
            return lengths, image
        present = F.one_hot(y, J)
        margins = present * F.relu(0.9 - lengths) ** 2
        margins = margins + 0.5 * (1 - present) * F.relu(lengths - 0.1) ** 2
        return margins.sum(1).mean(), lengths, image


class NormalisedInside(Network):
    """Images are normalised inside, drawings come from all capsules: no mask at all."""

    def forward(self, images: Tensor) -> Any:
        return self.capsules((images - 0.1307) / 0.3081)


class UpsideDown(Network):
    """The upper layer is made first, and has other rounds than the lower one."""

    def __init__(self) -> None:
        super().__init__(Routed(I, DIM, J, D, rounds=3), Routed(I, DIM, I, DIM, rounds=1))

    def forward(self, images: Tensor) -> Any:
        above, below = self.layers
        return above(below(self.primary(images)))


class SharesAfterTraining(Network):
    """In training the lengths, afterwards their softmax as probabilities."""

    def forward(self, images: Tensor) -> Any:
        lengths = self.capsules(images).norm(dim=2)
        return lengths if self.training else lengths.softmax(1)


class LengthsAndShares(Network):
    """The lengths, and each as a part of their sum."""

    def forward(self, images: Tensor) -> Any:
        lengths = self.capsules(images).norm(dim=2)
        return lengths, lengths / lengths.sum(1, keepdim=True)


class WithSoftmaxHead(Network):
    """A linear classifier with a softmax reads the primary capsules as well."""

    def __init__(self, layer: nn.Module) -> None:
        super().__init__(layer)
        self.head = nn.Linear(I * DIM, J)

    def forward(self, images: Tensor) -> Any:
        u = self.primary(images)
        return self.layers[0](u).norm(dim=2), self.head(u.flatten(1)).softmax(1)


class LengthsAndPrediction(Network):
    """Capsules, lengths, the predicted class, and that one-hot."""

    def forward(self, images: Tensor) -> Any:
        v = self.capsules(images)
        prediction = v.norm(dim=2).argmax(1)
        return v, v.norm(dim=2), prediction, F.one_hot(prediction, J).float()


class Remembering(Network):
    """It keeps its last capsules, with their graph, so that it cannot be copied."""

    def __init__(self, layer: nn.Module) -> None:
        super().__init__(layer)
        self(torch.rand(2, 1, 28, 28))

    def forward(self, images: Tensor) -> Any:
        self.last_capsules = self.capsules(images)
        return self.last_capsules.norm(dim=2)


class DrawsInTraining(NumbersIfGiven):
    def forward(self, images: Tensor, labels: Tensor | None = None) -> Any:
        lengths, image = super().forward(images, labels)
        return (lengths, image) if self.training else lengths


class DrawsIfGiven(NumbersIfGiven):
    def forward(self, images: Tensor, labels: Tensor | None = None) -> Any:
        lengths, image = super().forward(images, labels)
        return lengths if labels is None else (lengths, image)


class LabelsOrScale(NumbersIfGiven):
    """A third argument, which has a default."""

    def forward(self, images: Tensor, labels: Tensor | None = None, scale: float = 1.0) -> Any:
        return super().forward(scale * images, labels)


class OnePair(NumbersIfGiven):
    """Images and labels are one argument."""

    def forward(self, batch: Any) -> Any:
        images, labels = batch
        return super().forward(images, labels)


class InHalfPrecision(Network):
    """Computed in bfloat16, where it may be."""

    def forward(self, images: Tensor) -> Any:
        with torch.autocast("cpu", dtype=torch.bfloat16):
            return self.capsules(images)


class FullyConnected(Network):
    """Primary capsules by a linear layer."""

    def __init__(self, layer: nn.Module) -> None:
        super().__init__(layer, primary=nn.Linear(784, I * DIM))

    def capsules(self, images: Tensor) -> Tensor:
        u = self.primary(images.flatten(1)).unflatten(1, (I, DIM))
        return self.layers[0](squash(u))


class Sized(nn.Module):
    """For images of other sizes, and other numbers of classes."""

    def __init__(self, channels: int, height: int, width: int, classes: int) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(channels, 8, 7, stride=2)
        self.conv2 = nn.Conv2d(8, TYPES * DIM, 5, stride=3)
        maps = self.conv2(self.conv1(torch.zeros(1, channels, height, width)))
        self.layer = Routed(maps[0].numel() // DIM, DIM, classes, D)

    def forward(self, images: Tensor) -> Any:
        maps = self.conv2(self.conv1(images).relu())
        u = squash(maps.unflatten(1, (TYPES, DIM)).permute(0, 1, 3, 4, 2).flatten(1, 3))
        return self.layer(u).norm(dim=2)


class TwoBranches(Network):
    """Two routings side by side, of two trunks, and one above both."""

    def __init__(self) -> None:
        super().__init__(Routed(I, DIM, 6, DIM), Routed(I, DIM, 6, DIM), Routed(12, DIM, J, D))
        self.other_primary = Primary()

    def forward(self, images: Tensor) -> Any:
        left, right, above = self.layers
        both = torch.cat([left(self.primary(images)), right(self.other_primary(images))], dim=1)
        return above(both).norm(dim=2)


def _weight_norm() -> Network:
    layer = last()
    nn.utils.parametrizations.weight_norm(layer, "W")
    return Network(layer)


def _above_first_twice() -> Network:
    return Network(AboveFirst(I, DIM, I, DIM), AboveFirst(I, DIM, J, D))


def _sized(*image: int, classes: int) -> Right:
    name = f"images of {image}, {classes} classes"
    return Right(name, lambda: Sized(*image, classes), image=image, classes=classes)


def _checkpointed(*, use_reentrant: bool) -> Network:
    return Network(CheckpointedLayer(I, DIM, J, D, use_reentrant=use_reentrant))


def _shared(*, in_two_steps: bool) -> Network:
    return Network(SharedByPlaces(in_two_steps=in_two_steps))


def _first_and_last(spread: float, iterations: int = 3) -> Network:
    return Network(WithRoutingModule(AgreementRouting(iterations, spread)))


def _priors() -> nn.Module:
    conv = nn.Sequential(nn.Conv2d(1, 8, 9, stride=2), nn.ReLU())
    return Network(Priors(J, I), primary=nn.Sequential(conv, Priors(DIM, -1)))


PUBLIC = [
    Right("one class for both layers, -1 nodes below", _priors),
    Right("dense capsules, rounds detached", lambda: Lengths(DenseCapsules())),
    Right("dense capsules and an identity matrix", lambda: FromEye(DenseCapsules())),
    Right("stacked columns", lambda: Network(StackedColumns())),
    Right("learned logits of 0", lambda: _first_and_last(0.0)),
    Right("learned logits, faint", lambda: _first_and_last(0.05)),
    Right("learned logits", lambda: _first_and_last(1.0)),
    Right("learned logits, two rounds", lambda: _first_and_last(1.0, 2)),
    Right("a bias of 0, tiled", lambda: Network(TiledWithBias())),
    Right("logits in place", lambda: Network(LogitsInPlace(I, DIM, J, D))),
    Right("sums as products", lambda: Network(ByProducts(I, DIM, J, D))),
    Right("bmm and baddbmm", lambda: Network(ByBatchProducts(I, DIM, J, D))),
    Right("F.normalize, exp of log_softmax", lambda: Network(NormalisedSquash(I, DIM, J, D))),
    Right("class by class", lambda: Network(ClassByClass(I, DIM, J, D)), 3),
    Right("image by image", lambda: Network(ImageByImage(I, DIM, J, D)), 3),
    Right("W shared by places", lambda: _shared(in_two_steps=False)),
    Right("W shared by places, two sums", lambda: _shared(in_two_steps=True)),
    Right("checkpointed", lambda: _checkpointed(use_reentrant=False), 3),
    Right("checkpointed, reentrant", lambda: _checkpointed(use_reentrant=True), 3),
    Right("a Linear with bias each", lambda: Network(LinearForEach(I, DIM, J, D))),
    Right("rounds in a while", lambda: Network(UntilStill(I, DIM, J, D)), 3),
    Right("a convolution for each number", lambda: Network(last(), primary=ByUnits())),
    Right("gates and scales in the trunk", lambda: Lengths(last(), primary=BlockTrunk())),
    Right("attention in the trunk", lambda: Lengths(last(), primary=AttentionTrunk()), 3),
    Right("the chosen capsule, labels by name", lambda: ChosenCapsule(DenseCapsules())),
    Right("the chosen capsule, options", lambda: ChosenByOptions(DenseCapsules()), 3),
    Right("one-hot labels by name", lambda: OneHotByName(DenseCapsules())),
    Right("the chosen capsule", lambda: ChosenByPosition(DenseCapsules())),
    Right("the loss inside", lambda: WithLoss(DenseCapsules())),
    Right("normalised inside", lambda: NormalisedInside(DenseCapsules())),
    Right("two branches", TwoBranches),
    Right("vmap", lambda: Network(Vmapped(I, DIM, J, D)), 3),
    Right("a scripted squash", lambda: Network(Scripted(I, DIM, J, D)), 3),
    Right("a compiled routing", lambda: Network(Compiled(I, DIM, J, D))),
    Right("rounds under no_grad", lambda: Network(WithoutGradient(I, DIM, J, D))),
    Right("votes by a grouped convolution", lambda: Network(GroupedVotes(I, DIM, J, D))),
    Right("numbers of something else", lambda: Network(Numbered(I, DIM, J, D))),
    Right("the upper layer first", UpsideDown),
    Right("capsules above first, two layers", _above_first_twice),
    Right("W with a weight norm", _weight_norm),
    Right("shares after training", lambda: SharesAfterTraining(last())),
    Right("lengths and shares", lambda: LengthsAndShares(last())),
    Right("a softmax head", lambda: WithSoftmaxHead(last())),
    Right("a prediction, one-hot", lambda: LengthsAndPrediction(last())),
    Right("capsules that are kept", lambda: Remembering(last())),
    Right("draws in training", lambda: DrawsInTraining(last(), classes=J)),
    Right("draws where labels are", lambda: DrawsIfGiven(last(), classes=J)),
    Right("a third argument", lambda: LabelsOrScale(last(), classes=J)),
    Right("images and labels as a pair", lambda: OnePair(last(), classes=J), 2),
    Right("float64", lambda: NumbersIfGiven(last(), classes=J).double()),
    Right("bfloat16 by autocast", lambda: InHalfPrecision(last()), 3),
    Right("bfloat16", lambda: Network(last()).bfloat16(), 2),
    Right("no convolution", lambda: FullyConnected(last()), 3),
    _sized(3, 32, 32, classes=43),
    _sized(1, 20, 28, classes=10),
    _sized(3, 64, 40, classes=2),
    _sized(2, 48, 48, classes=5),
    _sized(1, 96, 96, classes=2),
]
