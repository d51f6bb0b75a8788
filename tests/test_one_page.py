"""The network on one page, book/my_capsnet.py: the module's numbers, and the very cells of the chapter on training."""

import runpy
from pathlib import Path

import nbformat
import pytest
import torch

from capsnet_tutorial import CapsNet, CapsNetConfig, margin_loss, reconstruction_loss

BOOK = Path(__file__).resolve().parent.parent / "book"
FILE = BOOK / "my_capsnet.py"


@pytest.fixture(scope="module")
def page():
    return runpy.run_path(str(FILE))


@pytest.fixture(scope="module")
def networks(page):
    torch.manual_seed(0)
    module = CapsNet(CapsNetConfig.small())
    own = page["CapsNet"]()
    own.load_state_dict(module.state_dict())
    return own, module


def test_it_is_one_page_and_needs_torch_alone():
    text = FILE.read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 90
    imported = [line.split()[1] for line in text.splitlines() if line.startswith(("import", "from"))]
    assert {name.partition(".")[0] for name in imported} == {"torch"}


def test_the_chapter_shows_the_file():
    cells = nbformat.read(BOOK / "chapters" / "09-training.ipynb", as_version=4).cells
    shown = [cell.source for cell in cells if "one-page" in cell.metadata.get("tags", [])]
    assert "\n\n\n".join(shown) + "\n" == FILE.read_text(encoding="utf-8")


@pytest.mark.parametrize("labelled", [True, False])
def test_the_same_weights_give_the_modules_outputs_losses_and_gradients(page, networks, labelled):
    images, labels = torch.rand(6, 1, 28, 28), torch.arange(6)
    losses = []
    for network in networks:
        network.zero_grad()
        out = network(images, labels if labelled else None)
        if network is networks[0]:
            loss = page["capsnet_loss"](out, images, labels)
        else:
            loss = margin_loss(out.lengths, labels) + 0.0005 * reconstruction_loss(out.reconstruction, images)
        loss.backward()
        losses.append(loss)
    torch.testing.assert_close(*losses)
    for mine, theirs in zip(networks[0](images), networks[1](images), strict=True):
        torch.testing.assert_close(mine, theirs)
    for mine, theirs in zip(networks[0].parameters(), networks[1].parameters(), strict=True):
        torch.testing.assert_close(mine.grad, theirs.grad, atol=1e-6, rtol=1e-3)


def test_an_epoch_learns_its_digits_and_a_zero_image_has_a_gradient(page):
    torch.manual_seed(0)
    network = page["CapsNet"]()
    images, labels = torch.rand(32, 1, 28, 28), torch.arange(32) % 10
    images[0] = 0
    optimizer = torch.optim.Adam(network.parameters(), lr=0.002)
    losses = [page["train_one_epoch"](network, optimizer, images, labels) for _ in range(8)]
    assert losses[-1] < losses[0] < 2
    assert all(bool(weight.grad.isfinite().all()) for weight in network.parameters())
    answers = network(images)[1].argmax(dim=1)
    assert page["accuracy"](network, images, labels) == pytest.approx(float((answers == labels).float().mean()))
