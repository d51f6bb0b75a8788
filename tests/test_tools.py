"""What maintainers and CI run: the sample is made from MNIST, reading times are counted."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from _ext.notebook import read_notebook
from _ext.pages.reading_time import Length, length, words_of

from tests.conftest import mnist_folder
from tools.make_sample import TARGET, make_sample

CHAPTERS = Path(__file__).resolve().parents[1] / "book" / "chapters"


def test_the_sample_is_made_from_mnist(mnist: Path, tmp_path: Path) -> None:
    file = tmp_path / "digits.npz"
    make_sample(mnist, file)
    with np.load(file) as made, np.load(TARGET) as bundled:
        for name in ("images", "labels"):
            assert made[name].dtype == bundled[name].dtype
            assert np.array_equal(made[name], bundled[name])


def test_words_are_what_a_reader_reads() -> None:
    text = "One $x + y$ and [a link](https://a.place/b) – 胶囊网络\n<details>not this</details>"
    assert words_of(text) == ["One", "formula", "and", "[a", "link]", "word", "word"]


def test_folded_cells_do_not_count() -> None:
    cells = [
        {"cell_type": "markdown", "metadata": {}, "source": ["two ", "words"]},
        {"cell_type": "code", "metadata": {}, "source": "a = 1\n\nb = 2"},
        {"cell_type": "code", "metadata": {"tags": ["hide-input"]}, "source": "c = 3"},
    ]
    assert length({"cells": cells}) == Length(words=2, lines=2)
    assert Length(words=200, lines=12).minutes == 2


def test_capsules_that_turn_are_built_in_a_quarter_of_an_hour() -> None:
    """Its evidence stands in Results: the chapter had grown to twice the time."""
    chapter = read_notebook(CHAPTERS / "19-capsules-that-turn.ipynb")
    assert length(chapter).minutes <= 15


def test_where_mnist_is_required_its_tests_are_not_skipped() -> None:
    assert mnist_folder({"CAPSNET_DATA": "a", "CAPSNET_REQUIRE_MNIST": "1"}) == Path("a")
    with pytest.raises(pytest.fail.Exception, match="needs MNIST"):
        mnist_folder({"CAPSNET_REQUIRE_MNIST": "1"})
    with pytest.raises(pytest.skip.Exception, match="needs MNIST"):
        mnist_folder({})
