"""book/my_capsnet.py: it has the module's numbers and the cells of chapter 9, and runs alone."""

import runpy
import sys
from pathlib import Path

import nbformat
import pytest
import torch
from capsnet_book.answers import check_answer
from capsnet_book.widgets import BendCapsule
from safetensors.torch import load, save_file
from torchvision.io import read_image

from capsnet_tutorial import (
    CapsNet,
    CapsNetConfig,
    digits,
    load_pretrained,
    load_weights,
    margin_loss,
    reconstruction_loss,
    save_weights,
)
from capsnet_tutorial.data import Digits
from capsnet_tutorial.train import Recipe, evaluate, fit

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


def test_it_is_short_and_importing_it_needs_torch_alone():
    text = FILE.read_text(encoding="utf-8")
    imported = [
        line.split()[1] for line in text.splitlines() if line.startswith(("import", "from"))
    ]
    assert {name.partition(".")[0] for name in imported} == {"torch"}


def test_the_chapter_shows_the_file_up_to_what_makes_it_run_alone():
    cells = nbformat.read(BOOK / "chapters" / "09-training.ipynb", as_version=4).cells
    shown = [cell.source for cell in cells if "one-page" in cell.metadata.get("tags", [])]
    assert FILE.read_text(encoding="utf-8").startswith("\n\n\n".join(shown) + "\n\n\ndef load(")


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
            loss = margin_loss(out.lengths, labels) + 0.0005 * reconstruction_loss(
                out.reconstruction, images
            )
        loss.backward()
        losses.append(loss)
    torch.testing.assert_close(*losses)
    for mine, theirs in zip(networks[0](images), networks[1](images), strict=True):
        torch.testing.assert_close(mine, theirs)
    for mine, theirs in zip(networks[0].parameters(), networks[1].parameters(), strict=True):
        torch.testing.assert_close(mine.grad, theirs.grad, atol=1e-6, rtol=1e-3)


def test_with_the_papers_sizes_it_is_the_papers_network(page):
    own, module = page["CapsNet"](page["PAPER"]), CapsNet(CapsNetConfig.paper())
    own_shapes = {name: weight.shape for name, weight in own.state_dict().items()}
    assert own_shapes == {name: weight.shape for name, weight in module.state_dict().items()}
    assert sum(weight.numel() for weight in own.parameters()) == 8_215_568
    assert own(torch.rand(2, 1, 28, 28))[1].shape == (2, 10)


def test_started_alone_it_trains_tells_how_many_it_reads_and_draws_bent_digits(
    tmp_path, monkeypatch, capsys
):
    train, test = digits("train", source="sample"), digits("test", source="sample")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["my_capsnet.py", "--epochs", "1"])
    threads = torch.get_num_threads()
    main = runpy.run_path(str(FILE))["main"]
    few = {
        True: (train.images[:160], train.labels[:160]),
        False: (test.images[:100], test.labels[:100]),
    }
    monkeypatch.setitem(main.__globals__, "load", lambda train: few[train])
    try:
        main()
    finally:
        torch.set_num_threads(threads)
    assert "of 100 test digits are read" in capsys.readouterr().out
    assert read_image("bent.png").shape == (
        3,
        302,
        302,
    )  # 10 by 10 pictures of 28, two pixels between


SLIPS = {
    "one round": ("rounds=3", "rounds=1"),
    "agreement summed over the images": (
        '"bije,bje->bij", u_hat, v)',
        '"bije,bje->bij", u_hat, v).sum(0, keepdim=True)',
    ),
    "softmax over i": ("b.softmax(dim=2)", "b.softmax(dim=1)"),
    "a mask that ignores the labels": ("if labels is None:", "if True:"),
    "a ReLU too many": ("self.conv(x)  # [B, types", "self.conv(x).relu()  # [B, types"),
    "places mixed": ("x = x.permute(0, 1, 3, 4, 2)", "x = x"),
}


def page_with(right: str, wrong: str) -> dict:
    """What the page defines, with a line of it written otherwise."""
    text, space = (
        FILE.read_text(encoding="utf-8"),
        {"__name__": "a reader's page", "load_pretrained": load_pretrained},
    )
    assert right in text
    exec(text.replace(right, wrong), space)
    torch.manual_seed(0)
    return space


@pytest.mark.parametrize("slip", [None, *SLIPS])
def test_the_chapters_check_of_the_whole_page_sees_every_slip(slip):
    space = page_with(*SLIPS.get(slip, ("", "")))
    test = digits("test", source="sample")
    space.update(five=test.images[4:9], labels=test.labels)
    for cell in nbformat.read(BOOK / "chapters" / "09-training.ipynb", as_version=4).cells:
        if cell.source.startswith(("def first_difference", "def gives_the_books_answers")):
            exec(cell.source, space)
    report = check_answer(space["CapsNet"], space["gives_the_books_answers"])
    assert bool(report) == (slip is None), report


@pytest.mark.parametrize("rounds", [1, 2, 5, 10])
def test_its_rounds_are_saved_whichever_they_are(rounds, tmp_path):
    own = page_with("rounds=3", f"rounds={rounds}")["CapsNet"]().train()
    for number, precision in enumerate(
        (torch.float64, torch.float16)
    ):  # of its weights when it is saved
        save_weights(own.to(precision), tmp_path / f"{number}", torch.float32)
        again = load_weights(tmp_path / f"{number}")
        assert again.config.iterations == rounds and own.training
    images = torch.rand(2, 1, 28, 28)
    torch.testing.assert_close(again(images).capsules, own.float()(images)[0])


@pytest.mark.parametrize("slip", ["softmax over i", "a ReLU too many", "places mixed"])
def test_a_page_that_answers_otherwise_is_not_saved_as_if_it_did_not(slip, tmp_path):
    with pytest.raises(
        ValueError, match="answers as a CapsNet .* 1 to 10 rounds; got lengths that are .* off"
    ):
        save_weights(page_with(*SLIPS[slip])["CapsNet"](), tmp_path / "weights")


def test_the_packages_tools_take_it(page, tmp_path):
    few = Digits(torch.rand(32, 1, 28, 28), torch.arange(32) % 10, "noise")
    torch.manual_seed(0)
    own = page["CapsNet"]()
    trained, history = fit(own, few, Recipe(epochs=1, batch_size=8), validation=few, progress=False)
    assert history.step == 4
    save_weights(trained, tmp_path / "saved.safetensors", torch.float32)
    save_file(trained.state_dict(), tmp_path / "tensors.safetensors")
    for name in ("saved", "tensors"):
        network = load_weights(tmp_path / f"{name}.safetensors")
        assert evaluate(network, few) == pytest.approx(evaluate(trained, few), abs=1e-4)
    for widget in (BendCapsule(trained), BendCapsule(model=trained)):
        shown = load(widget.network.weights)
        assert all(
            torch.equal(shown[name], tensor.half()) for name, tensor in trained.state_dict().items()
        )
    with pytest.raises(ValueError, match="expected a CapsNet, or .*; got Linear"):
        save_weights(torch.nn.Linear(2, 3), tmp_path / "none.safetensors")
    with pytest.raises(ValueError, match="expected a network that returns capsules, lengths"):
        evaluate(torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(784, 2)), few)
