import torch
import torch.nn.functional as F
from torch import nn


def squash(s):
    length = s.square().sum(-1, keepdim=True).clamp_min(1e-16).sqrt()
    return s / (length + 1 / length)  # same direction, length below 1


class PrimaryCapsules(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(64, 8 * 8, 5, stride=2)

    def forward(self, x):
        x = self.conv(x).view(-1, 8, 8, 3, 3)  # [B, types, dim, 3, 3]
        x = x.permute(0, 1, 3, 4, 2)  # a capsule's numbers to the end
        return squash(x.reshape(-1, 72, 8))  # u [B, 72, 8]


class RoutedCapsules(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(0.1 * torch.randn(72, 10, 8, 16))

    def forward(self, u, rounds=3):
        u_hat = torch.einsum("bid,ijde->bije", u, self.weight)
        b = u_hat.new_zeros(u_hat.shape[:3])  # [B, I, J]
        for _ in range(rounds):
            c = b.softmax(dim=2)  # over j
            v = squash(torch.einsum("bij,bije->bje", c, u_hat))
            b = b + torch.einsum("bije,bje->bij", u_hat, v)
        return v  # [B, 10, 16]


class CapsNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 64, 9, stride=2)
        self.primary, self.routed = PrimaryCapsules(), RoutedCapsules()
        draw = [nn.Linear(160, 128), nn.ReLU(), nn.Linear(128, 256)]
        draw += [nn.ReLU(), nn.Linear(256, 784), nn.Sigmoid()]
        self.decoder = nn.Sequential(*draw)

    def forward(self, images, labels=None):
        x = self.conv(images).relu()  # [B, 64, 10, 10]
        v = self.routed(self.primary(x))  # [B, 10, 16]
        lengths = v.norm(dim=2)  # [B, 10]; PyTorch's is safe at 0
        if labels is None:
            labels = lengths.argmax(dim=1)  # the longest
        kept = v * F.one_hot(labels, 10)[:, :, None]  # the mask
        return v, lengths, self.decoder(kept.flatten(1))  # [B, 784]


def capsnet_loss(output, images, labels):
    _, lengths, drawn = output
    T = F.one_hot(labels, 10)  # [B, 10]
    present = T * (0.9 - lengths).relu() ** 2
    absent = 0.5 * (1 - T) * (lengths - 0.1).relu() ** 2
    margin = (present + absent).sum(dim=1).mean()
    wrong = (drawn - images.flatten(1)) ** 2  # [B, 784]
    return margin + 0.0005 * wrong.sum(dim=1).mean()


def train_one_epoch(network, optimizer, images, labels):
    for chosen in torch.randperm(len(images)).split(32):  # shuffle
        x, y = images[chosen], labels[chosen]  # a batch of 32
        right, down = torch.randint(-2, 3, (2,)).tolist()  # pixels
        x = F.pad(x, (right, -right, down, -down))  # shifted
        output = network(x, y)  # forward; the labels go to the mask
        loss = capsnet_loss(output, x, y)
        optimizer.zero_grad()  # forget the gradient of the last step
        loss.backward()  # compute that of this one
        optimizer.step()  # and move every weight a little
    return loss.item()  # of the last batch


def accuracy(network, images, labels):
    with torch.no_grad():
        answers = network(images)[1].argmax(dim=1)  # the longest
    return (answers == labels).float().mean().item()
