"""`capsnet train --images`, `predict`, `evaluate --images`: from a folder of pictures to names."""

from __future__ import annotations

import json
from pathlib import Path

import networks
import numpy as np
import pytest
import torch
from PIL import Image

from capsnet_tutorial.cli import main
from capsnet_tutorial.images import bent_drawings, read_folder, read_picture, split_held_out
from capsnet_tutorial.train import Recipe
from capsnet_tutorial.weights import load_weights, save_weights

SHORT = ["--epochs", "1", "--threads", "1", "--size", "20x24"]
COLOURS = {"green": (20, 200, 40), "red": (220, 30, 20)}


def write_picture(path: Path, colour: tuple[int, ...], size: tuple[int, int] = (40, 30)) -> Path:
    """Write a picture with a disc of this colour, (width, height), red, green, blue."""
    path.parent.mkdir(parents=True, exist_ok=True)
    x, y = np.meshgrid(np.arange(size[0]), np.arange(size[1]))
    pixels = np.zeros((size[1], size[0], len(colour)), dtype=np.uint8)
    pixels[(x - size[0] / 2) ** 2 + (y - size[1] / 2) ** 2 < 100] = colour
    Image.fromarray(pixels).save(path)
    return path


@pytest.fixture(scope="module")
def pictures(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Ten pictures of each of two classes."""
    folder = tmp_path_factory.mktemp("pictures")
    for name, colour in COLOURS.items():
        for k in range(10):
            write_picture(folder / name / f"{k}.png", colour, (40 + k, 30))
    return folder


@pytest.fixture(scope="module")
def run(pictures: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a short run."""
    folder = tmp_path_factory.mktemp("run")
    assert main(["train", "--images", str(pictures), *SHORT, "--output", str(folder)]) == 0
    return folder


# --- the command


def test_a_training_on_pictures_keeps_sizes_names_and_errors(run):
    network = load_weights(run / "weights.safetensors")
    assert network.class_names == ("green", "red")
    assert network.config.image_shape == (3, 20, 24)
    assert network.config.classes == 2
    record = json.loads((run / "result.json").read_text(encoding="utf-8"))
    assert record["data"]["classes"] == ["green", "red"]
    assert record["data"]["training_images"] == 16
    assert record["recipe"]["batch_size"] == 2  # eight batches of sixteen pictures
    assert 0 <= record["held_out"]["error"] <= 1
    with Image.open(run / "bent.png") as picture:
        # A row for each class: the picture and seven drawings, three times as large, with frames.
        assert picture.size == (8 * (3 * 24 + 4) + 4, 2 * (3 * 20 + 4) + 4)


@pytest.fixture
def recipes(monkeypatch: pytest.MonkeyPatch) -> list[Recipe]:
    """Recipes of the trainings that begin; each is interrupted at once."""
    recipes = []

    def noted(network, data, recipe, *rest, **options):
        recipes.append(recipe)
        raise KeyboardInterrupt

    monkeypatch.setattr("capsnet_tutorial.cli.train_and_save", noted)
    return recipes


def test_small_sets_get_some_hundred_steps_unless_told_otherwise(pictures, recipes):
    command = ["train", "--images", str(pictures), "--size", "20"]
    for options in ([], ["--batch-size", "4"], ["--epochs", "3"], ["--seconds", "9"]):
        assert main([*command, *options]) == 130
    sizes = [(recipe.batch_size, recipe.epochs) for recipe in recipes]
    assert sizes == [(2, 50), (4, 100), (2, 3), (2, 10)]
    assert recipes[3].seconds == 9


@pytest.mark.parametrize(
    ("options", "rate"),
    [
        ([], 0.0025),  # batches of 2, a sixteenth of 32: a quarter of 0.01
        (["--batch-size", "8"], 0.005),
        (["--batch-size", "64"], 0.01),
        (["--learning-rate", "0.02"], 0.02),
    ],
)
def test_small_batches_get_a_lower_rate_unless_told_otherwise(pictures, options, rate, recipes):
    assert main(["train", "--images", str(pictures), "--size", "20", *options]) == 130
    assert recipes[0].learning_rate == pytest.approx(rate)


def test_a_run_goes_on_with_the_same_pictures_only(run, pictures, tmp_path, capsys):
    command = [*SHORT, "--resume", "--output", str(run)]
    assert main(["train", "--images", str(pictures), *command]) == 0
    other = tmp_path / "other"
    for name in COLOURS:
        for k in range(10):
            write_picture(other / name / f"{k}.png", (90, 90, 200))
    assert main(["train", "--images", str(other), *command]) == 2
    assert "a checkpoint of a run with the pictures" in capsys.readouterr().err


def test_predict_names_pictures_with_lengths(tmp_path, capsys):
    network = networks.learner()
    network.class_names = tuple("abcdefghij")
    with torch.no_grad():
        network.routed.weight.mul_(0.5)
    save_weights(network, tmp_path / "weights.safetensors")
    file = str(write_picture(tmp_path / "a picture.png", (255, 255, 255)))
    assert main(["predict", str(tmp_path), file, file]) == 0
    first, second = capsys.readouterr().out.splitlines()
    assert first == second
    image = read_picture(file, (28, 28), channels=1)
    lengths = load_weights(tmp_path / "weights.safetensors")(image[None]).lengths[0]
    order = lengths.argsort(descending=True).tolist()
    named = [f"{'abcdefghij'[k]} {lengths[k]:.2f}" for k in order]
    assert first == f"{file}: {', '.join(named[:3])}"
    middle = lengths[order[4:6]].mean().item()
    assert main(["predict", str(tmp_path), file, "--threshold", str(middle)]) == 0
    assert capsys.readouterr().out == f"{file}: {', '.join(named[:5])}\n"
    assert main(["predict", str(tmp_path), file, "--threshold", "1"]) == 0
    assert capsys.readouterr().out == f"{file}: none of the classes; the longest is {named[0]}\n"


def test_evaluate_measures_on_another_folder(run, pictures, tmp_path, capsys):
    assert main(["evaluate", str(run), "--images", str(pictures)]) == 0
    result = json.loads(capsys.readouterr().out)
    assert result["images"] == 20 and 0 <= result["error"] <= 1
    for name in ("blue", "red"):
        write_picture(tmp_path / name / "1.png", (0, 0, 255))
    assert main(["evaluate", str(run), "--images", str(tmp_path)]) == 2
    assert "weights.safetensors, green, red; got blue, red" in capsys.readouterr().err


# --- what is no folder of pictures, no picture, no network with names


def refusal(capsys: pytest.CaptureFixture[str], *command: object) -> str:
    """Return the one line in which the command refuses something."""
    assert main([str(argument) for argument in command]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    return line


def test_a_folder_without_classes_is_refused(tmp_path, capsys):
    train = ("train", "--output", tmp_path / "run", "--images")
    assert "got no such folder" in refusal(capsys, *train, tmp_path / "none")
    (tmp_path / "empty").mkdir()
    assert "at least two class folders" in refusal(capsys, *train, tmp_path / "empty")
    write_picture(tmp_path / "one" / "cat" / "1.png", (1, 2, 3))
    assert "got cat" in refusal(capsys, *train, tmp_path / "one")
    (tmp_path / "one" / "dog").mkdir()
    assert "no valid file for the classes dog" in refusal(capsys, *train, tmp_path / "one")
    write_picture(tmp_path / "one" / "dog" / "1.png", (1, 2, 3))
    wanted = "at least two pictures of each class"
    assert wanted in refusal(capsys, *train, tmp_path / "one")
    for split in ("train", "test"):
        write_picture(tmp_path / "parts" / split / "cat" / "1.png", (1, 2, 3))
    assert "name one of " in refusal(capsys, *train, tmp_path / "parts")
    assert not (tmp_path / "run").exists()


def test_a_file_that_is_no_picture_is_refused(run, tmp_path, capsys):
    (tmp_path / "text.png").write_text("no picture")
    assert f"a picture in {tmp_path / 'text.png'}; got" in refusal(
        capsys, "predict", run, tmp_path / "text.png"
    )
    assert "a picture in none.png; got" in refusal(capsys, "predict", run, "none.png")


def test_weights_without_names_are_refused(tmp_path, capsys):
    file = write_picture(tmp_path / "1.png", (1, 2, 3))
    assert "the names of the classes in small" in refusal(capsys, "predict", "small", file)


@pytest.mark.parametrize("size", ["0", "a", "3x", "1x2x3", "-4"])
def test_a_size_is_one_or_two_numbers(size, capsys):
    with pytest.raises(SystemExit):
        main(["train", f"--size={size}"])
    assert "a size such as 32 or 24x48 is wanted" in capsys.readouterr().err


# --- pictures


def test_a_picture_is_resized_and_from_0_to_1(tmp_path):
    file = write_picture(tmp_path / "1.png", (255, 51, 0), (60, 40))
    image = read_picture(file, (20, 30))
    assert list(image.shape) == [3, 20, 30]
    assert image[:, 10, 15].tolist() == pytest.approx([1, 0.2, 0])
    assert image[:, 0, 0].tolist() == [0, 0, 0]
    grey = read_picture(file, (20, 30), channels=1)
    assert grey[0, 10, 15] == pytest.approx(0.299 + 0.2 * 0.587, abs=0.01)


def test_what_is_transparent_is_black(tmp_path):
    Image.new("RGBA", (8, 8), (255, 255, 255, 0)).save(tmp_path / "1.png")
    assert read_picture(tmp_path / "1.png", (8, 8)).max() == 0


def test_sixteen_bits_are_not_clipped(tmp_path):
    Image.fromarray(np.full((8, 8), 32768, dtype=np.uint16)).save(tmp_path / "1.png")
    assert read_picture(tmp_path / "1.png", (8, 8)).mean() == pytest.approx(0.5, abs=0.01)


def test_a_photo_is_turned_as_the_camera_was_held(tmp_path):
    picture = Image.fromarray(np.tile(np.arange(0, 256, 16, dtype=np.uint8), (16, 1)))
    exif = Image.Exif()
    exif[274] = 6  # a quarter turn clockwise
    picture.save(tmp_path / "1.png", exif=exif)
    image = read_picture(tmp_path / "1.png", (16, 16))
    assert image[0, 0].max() < image[0, -1].min()  # it ran to the right, and now runs down


def test_grey_pictures_have_one_channel_unless_asked_otherwise(tmp_path):
    for name, grey in (("dark", 50), ("light", 200)):
        write_picture(tmp_path / name / "1.png", (grey, grey, grey))
    pictures, names = read_folder(tmp_path, (16, 16))
    assert names == ("dark", "light")
    assert list(pictures.images.shape) == [2, 1, 16, 16]
    assert pictures.labels.tolist() == [0, 1]
    pictures, _ = read_folder(tmp_path, (16, 16), channels=3)
    assert list(pictures.images.shape) == [2, 3, 16, 16]


def test_a_share_of_every_class_is_held_out_and_nothing_is_lost(pictures):
    data, _ = read_folder(pictures, (16, 16))
    training, held_out = split_held_out(data, 0.2, seed=1)
    assert held_out.labels.bincount().tolist() == [2, 2]
    assert training.labels.bincount().tolist() == [8, 8]
    joined = torch.cat([training.images, held_out.images]).flatten(1).sum(dim=1)
    assert joined.sort().values.equal(data.images.flatten(1).sum(dim=1).sort().values)
    _, again = split_held_out(data, 0.2, seed=1)
    assert again.images.equal(held_out.images)


def test_a_bent_drawing_is_that_of_the_longest_capsule_with_one_number_changed():
    network = networks.tiny().float().eval()
    images = torch.rand(3, 1, 9, 9)
    drawings = bent_drawings(network, images)
    assert list(drawings.shape) == [3, 8, 1, 9, 9]
    assert drawings[:, 0].equal(images)
    output = network(images)
    straight = output.reconstruction.view(3, 1, 9, 9)
    torch.testing.assert_close(drawings[:, 4], straight)
    label = int(output.lengths[0].argmax())
    masked = torch.zeros(5, 4, 5)  # five numbers to bend, of four classes
    masked[:, label] = output.capsules[0, label] + 0.25 * torch.eye(5)
    ends = network.decode(masked).view(5, 1, 9, 9)
    assert any(torch.allclose(drawings[0, 7], end, atol=1e-6) for end in ends)
