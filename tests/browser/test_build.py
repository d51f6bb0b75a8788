"""The build refuses a page whose widget would be dead, and says what to do."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from html import unescape
from pathlib import Path

import pytest
from _ext.widgets.models import stored_models

from .conftest import ROOT, build

pytestmark = pytest.mark.slow

NOTEBOOK = "book/chapters/01-try-it.ipynb"
WITH_GLASS = "book/chapters/02-why-capsules.ipynb"  # no page of the small book: it lends its digits


@pytest.fixture
def small_book(tmp_path: Path) -> Path:
    """A book of two pages, the front page and the first chapter, to be damaged."""
    source = tmp_path / "source"
    for folder in (
        "book/_ext",
        "book/_static",
        "capsnet_tutorial/assets/weights",
        "book/capsnet_book",
    ):
        shutil.copytree(
            ROOT / folder, source / folder, ignore=shutil.ignore_patterns("__pycache__")
        )
    (source / "book" / "chapters").mkdir()
    for file in ("_config.yml", "pyproject.toml", "book/references.bib", WITH_GLASS):
        shutil.copy(ROOT / file, source / file)
    notebook = json.loads((ROOT / NOTEBOOK).read_text(encoding="utf-8"))
    notebook["cells"] = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    notebook["cells"].insert(
        0, {"cell_type": "markdown", "id": "title", "metadata": {}, "source": ["# A chapter"]}
    )
    write(source, notebook)
    front(source, "chapters/01-try-it.ipynb BendCapsule")
    (source / "_toc.yml").write_text(
        "format: jb-book\nroot: book/index\nchapters:\n- file: book/chapters/01-try-it\n"
    )
    return source


def front(source: Path, *directives: str) -> None:
    """Write a front page with these `live-widget` directives."""
    fences = "".join(f"\n```{{live-widget}} {arguments}\n```\n" for arguments in directives)
    (source / "book/index.md").write_text(f"# A book\n{fences}")


def read(source: Path) -> dict:
    """Return the chapter's notebook."""
    return json.loads((source / NOTEBOOK).read_text(encoding="utf-8"))


def write(source: Path, notebook: dict) -> None:
    """Write the chapter's notebook."""
    (source / NOTEBOOK).write_text(json.dumps(notebook), encoding="utf-8")


def built(source: Path) -> tuple[subprocess.CompletedProcess[str], str]:
    """Build; return the process, and all that it printed in one line."""
    result = build(source, source)
    return result, " ".join((result.stdout + result.stderr).split())


def test_a_sound_book_builds_and_a_refreshed_notebook_refreshes_the_front_page(
    small_book: Path,
) -> None:
    result, output = built(small_book)
    assert result.returncode == 0, output
    page = small_book / "_build/html/book/index.html"
    assert "another widget" not in page.read_text(encoding="utf-8")

    notebook = read(small_book)
    for model in stored_models(notebook).values():
        if model["state"]["_anywidget_id"].endswith("BendCapsule"):
            model["state"]["names"] = {"4": ["another widget </script>"]}
    write(small_book, notebook)
    result, output = built(small_book)
    assert result.returncode == 0, output
    text = page.read_text(encoding="utf-8")
    assert "another widget" in text
    assert "another widget </script>" not in text, (
        "a widget's text must not end the script that holds it"
    )


def test_what_finds_no_widget_fails(small_book: Path) -> None:
    """All on one page: a build goes on to the end and names them all."""
    sliders = "chapters/01-try-it.ipynb BendCapsule"
    wrong = {
        "chapters/99-gone.ipynb BendCapsule": "cannot read the notebook book/chapters/99-",
        "chapters/01-try-it.ipynb Gone": "book/chapters/01-try-it.ipynb shows no Gone",
        f"{sliders}\n:set: gone=1": "BendCapsule stores no trait gone",
        f"{sliders}\n```\n\n[Click](#try-Gone?index=7)\n\n```": "the page shows no Gone",
        f"{sliders}\n```\n\n[Click](#try-BendCapsule?offset=1)\n\n```": "stores no trait offset",
    }
    front(small_book, *wrong)
    result, output = built(small_book)
    assert result.returncode != 0
    warnings = output.split("WARNING: ")[1:]  # each of which alone fails a build
    assert [
        message for message in wrong.values() if not any(message in warning for warning in warnings)
    ] == []


def prompt(source: Path, address: str) -> None:
    """Write a front page with a widget in a state of its own, and a prompt for it."""
    front(source, "chapters/01-try-it.ipynb BendCapsule\n:set: index=3")
    page = source / "book/index.md"
    page.write_text(
        page.read_text(encoding="utf-8") + f"\n[Another digit]({address}) bends as well.\n"
    )


def test_a_prompt_leads_to_its_widget_and_carries_values(small_book: Path) -> None:
    prompt(small_book, "#try-BendCapsule?index=7&offsets.2=0.25")
    result, output = built(small_book)
    assert result.returncode == 0, output
    page = (small_book / "_build/html/book/index.html").read_text(encoding="utf-8")
    link = re.search(
        r'<a class="live-prompt" href="#(\w+)" data-values="([^"]+)">Another digit</a>', page
    )
    assert link and f'<figure class="live-widget full-width" id="{link[1]}"' in page
    assert json.loads(unescape(link[2])) == {"index": 7, "offsets.2": 0.25}
    assert '"index": 3' in page, "the option :set: of the directive"


# An extension that ends the process after the first page is written, while a file `stop` is there.
STOPPER = """
import os
from pathlib import Path

pages = []


def stop(app, page, template, context, doctree):
    pages.append(page)
    if len(pages) > 1 and Path(app.srcdir, "stop").exists():
        os._exit(9)


def setup(app):
    app.connect("html-page-context", stop)
"""


def test_after_an_interrupted_build_the_search_finds_every_page(small_book: Path) -> None:
    (small_book / "book/stopper.py").write_text(STOPPER, encoding="utf-8")
    config = small_book / "_config.yml"
    text = config.read_text(encoding="utf-8")
    config.write_text(text.replace("      - _ext\n", "      - _ext\n      - stopper\n"))
    (small_book / "stop").touch()
    result, output = built(small_book)
    assert result.returncode == 9, output

    (small_book / "stop").unlink()
    result, output = built(small_book)
    assert result.returncode == 0, output
    index = (small_book / "_build/html/searchindex.js").read_text(encoding="utf-8")
    assert '"book/index"' in index
    assert '"book/chapters/01-try-it"' in index


def test_a_build_that_warned_warns_again(small_book: Path) -> None:
    front(small_book, "chapters/01-try-it.ipynb Gone")
    for _ in range(2):
        result, output = built(small_book)
        assert result.returncode != 0
        assert "shows no Gone" in output
