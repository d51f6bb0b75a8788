import torch
import torch.nn.functional as F
from torch import nn


def squash(s):
    squared = s.square().sum(-1, keepdim=True).clamp_min(1e-16)
    return squared / (1 + squared) * s / squared.sqrt()


class PrimaryCapsules(nn.Module):
    def __init__(self, maps=64, types=8, kernel=5):
        super().__init__()
        self.conv = nn.Conv2d(maps, types * 8, kernel, stride=2)

    def forward(self, x):
        x = self.conv(x)  # [B, types·8, H, W]
        B, channels, H, W = x.shape
        x = x.view(B, channels // 8, 8, H, W)  # [B, types, 8, H, W]
        x = x.permute(0, 1, 3, 4, 2)  # a capsule's numbers to the end
        return squash(x.reshape(B, -1, 8))  # u [B, I, 8]


class RoutedCapsules(nn.Module):
    def __init__(self, I=72):
        super().__init__()
        self.weight = nn.Parameter(0.1 * torch.randn(I, 10, 8, 16))

    def forward(self, u, rounds=3):
        u_hat = torch.einsum("bid,ijde->bije", u, self.weight)
        b = u_hat.new_zeros(u_hat.shape[:3])  # [B, I, J]
        for _ in range(rounds):
            c = b.softmax(dim=2)  # over j
            v = squash(torch.einsum("bij,bije->bje", c, u_hat))
            b = b + torch.einsum("bije,bje->bij", u_hat, v)
        return v  # [B, 10, 16]


#       maps, stride; types, kernel; I; the decoder's hidden layers
SMALL = 64, 2, 8, 5, 72, 128, 256
PAPER = 256, 1, 32, 9, 1152, 512, 1024


class CapsNet(nn.Module):
    def __init__(self, sizes=SMALL):
        super().__init__()
        maps, stride, types, kernel, I, first, second = sizes
        self.conv = nn.Conv2d(1, maps, 9, stride)
        self.primary = PrimaryCapsules(maps, types, kernel)
        self.routed = RoutedCapsules(I)
        self.decoder = nn.Sequential(
            nn.Linear(10 * 16, first),
            nn.ReLU(),
            nn.Linear(first, second),
            nn.ReLU(),
            nn.Linear(second, 28 * 28),
            nn.Sigmoid(),
        )

    def forward(self, images, labels=None):
        x = self.conv(images).relu()  # [B, maps, H, W]
        v = self.routed(self.primary(x))  # [B, 10, 16]
        lengths = v.norm(dim=2)  # [B, 10]
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


def one_step(network, optimizer, images, labels):
    output = network(images, labels)  # the labels go to the mask
    loss = capsnet_loss(output, images, labels)
    optimizer.zero_grad()  # forget the gradient of the last step
    loss.backward()  # compute that of this one
    optimizer.step()  # and move every weight a little
    return loss.item()


def train_one_epoch(network, optimizer, images, labels):
    for chosen in torch.randperm(len(images)).split(16):  # shuffle
        x, y = images[chosen], labels[chosen]  # a batch of 16
        right, down = torch.randint(-1, 2, (2,)).tolist()  # a pixel
        x = F.pad(x, (right, -right, down, -down))  # shifted
        loss = one_step(network, optimizer, x, y)
    return loss  # of the last batch


def accuracy(network, images, labels):
    right = 0
    for x, y in zip(images.split(500), labels.split(500), strict=True):
        with torch.no_grad():
            answers = network(x)[1].argmax(dim=1)  # the longest
        right += (answers == y).sum().item()
    return right / len(images)


def load(train):
    """Return MNIST's images and labels; offline, the sample of the book's package."""
    from torchvision.datasets import MNIST

    try:
        data = MNIST("data", train, download=True)
        return data.data[:, None] / 255, data.targets
    except RuntimeError:  # no download is possible
        from capsnet_tutorial import digits

        print("without MNIST, from the sample")
        return digits("train" if train else "test", source="sample")[:2]


@torch.no_grad()
def bend_digits(network, images, labels):
    """Return a row for each digit: the image, and nine reconstructions as one number moves.

    Of the sixteen numbers it is the one that changes the reconstruction most. [100, 1, 28, 28]
    """
    v = network(images[:2000])[0]  # [N, 10, 16]
    steps = torch.linspace(-0.4, 0.4, 9, device=v.device)
    rows = []
    for k in range(10):
        first = (labels[: len(v)] == k).nonzero()[0, 0]
        capsules = torch.zeros(17, 10, 16, device=v.device)
        capsules[:, k] = v[first, k]
        capsules[1:, k] += 0.1 * torch.eye(16, device=v.device)  # one number raised a little
        drawn = network.decoder(capsules.flatten(1))  # [17, 784]
        strongest = (drawn[1:] - drawn[0]).abs().sum(dim=1).argmax()
        capsules[:9, k] = v[first, k]
        capsules[:9, k, strongest] += steps
        drawn = network.decoder(capsules[:9].flatten(1)).view(9, 1, 28, 28)
        rows += [images[first : first + 1], drawn]
    return 1 - torch.cat(rows)  # ink is dark


def faster_threads(step):
    """Return how many threads to use: all of PyTorch's if a step is 1.5 times as fast, or 1."""
    import time

    def seconds_with(threads):
        torch.set_num_threads(threads)
        step()  # the first is slower
        start = time.perf_counter()
        step()
        return time.perf_counter() - start

    threads = torch.get_num_threads()
    if 1.5 * seconds_with(threads) < seconds_with(1):
        return threads
    return 1  # a small gain is a loss beside other work


def main():
    import argparse

    from torchvision.utils import save_image

    parser = argparse.ArgumentParser(
        description="Train a capsule network, test it, and draw bent digits."
    )
    parser.add_argument("--paper", action="store_true", help="the paper's sizes: for a GPU")
    parser.add_argument("--epochs", type=int, default=15, help="of 4,000 digits each (default: 15)")
    parser.add_argument(
        "--threads", type=int, help="of the processor (default: tries which number is faster)"
    )
    options = parser.parse_args()
    device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.manual_seed(0)
    images, labels = (tensor.to(device) for tensor in load(train=True))
    test = [tensor.to(device) for tensor in load(train=False)]
    network = CapsNet(PAPER if options.paper else SMALL).to(device)
    batch = images[:16]
    torch.set_num_threads(
        options.threads or faster_threads(lambda: network(batch)[2].sum().backward())
    )
    optimizer = torch.optim.Adam(network.parameters(), lr=0.001 if options.paper else 0.006)
    decay = torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.85)
    for epoch in range(1, options.epochs + 1):
        some = torch.randperm(len(images))[:4000]
        loss = train_one_epoch(network, optimizer, images[some], labels[some])
        decay.step()
        print(f"epoch {epoch:2} of {options.epochs}: loss {loss:.2f}", flush=True)
    print(f"{accuracy(network, *test):.1%} of {len(test[0]):,} test digits are read")
    save_image(bend_digits(network, *test), "bent.png", nrow=10)
    print("bent.png: ten digits, each bent by one of its sixteen numbers")


if __name__ == "__main__":
    main()
