"""The Sphinx extension, function by function; `browser/test_build.py` builds whole books."""

from __future__ import annotations

import logging
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from _ext.notebook import read_notebook, source
from _ext.notebooks.captions import add_captions, caption_of
from _ext.notebooks.guesses import is_answered, with_control
from _ext.notebooks.hues import colour_words, coloured
from _ext.notebooks.stage import insert_stage
from _ext.pages.cell_summary import summary
from _ext.pages.emblems import EMBLEMS
from _ext.pages.folds import NameCaptions
from _ext.pages.reading_time import chapters_by_part
from _ext.pages.results import substitutions
from _ext.pages.sharing import FRONT_PICTURE, description_of, picture_of, shortened, tags
from _ext.pages.tables import restacked
from _ext.widgets.places import live_widget
from _ext.widgets.strip import chapter_name
from docutils import nodes
from docutils.utils import new_document

from tools.translation.catalogues import stored_catalogue, translations

ROOT = Path(__file__).resolve().parents[1]
STATIC = ROOT / "book" / "_static"
BASE = "https://owner.github.io/name/"


def markdown(source: str, **metadata: Any) -> dict[str, Any]:
    """Return a Markdown cell."""
    return {"cell_type": "markdown", "id": "cell", "metadata": metadata, "source": source}


def page(name: str) -> Any:
    """Return a page for those steps that ask for its name alone."""
    return SimpleNamespace(name=name)


# --- notebooks


def test_words_are_coloured_in_any_case_and_code_and_headings_are_not() -> None:
    text = "# A Bar\n\nThe Bar, a bar and `bar`; a barrel."
    span = '<span style="color: var(--caps-accent); font-weight: 600">{}</span>'
    expected = f"# A Bar\n\nThe {span.format('Bar')}, a {span.format('bar')} and `bar`; a barrel."
    assert coloured(text, {"bar": "accent"}) == expected
    assert coloured(text, {"Bar": "accent"}) == expected, "a hue may begin with a capital"


def test_formulas_are_coloured_as_they_are_written() -> None:
    text = coloured("both $s$ and $S$", {"$s$": "agree"})
    assert text.count("<span") == 1
    assert ">$s$<" in text


def test_two_words_of_one_colour_are_a_warning(caplog: pytest.LogCaptureFixture) -> None:
    logging.getLogger("sphinx").propagate = True
    notebook = {"cells": [markdown("x", hues={"bar": "accent", "stem": "accent"})]}
    colour_words(notebook, page("book/chapters/06-routing"))
    assert "two things have one colour" in caplog.text


def test_a_guess_is_asked_below_the_last_paragraph_that_asks() -> None:
    text = with_control("Guess.\n\nWhat do you predict?\n\nThen run it.", "<p>")
    assert text == "Guess.\n\nWhat do you predict?\n\n```{raw} html\n<p>\n```\n\nThen run it."


def test_in_chinese_a_guess_is_asked_below_its_question(monkeypatch: pytest.MonkeyPatch) -> None:
    words = translations(stored_catalogue("extensions"))
    monkeypatch.setattr("_ext.notebooks.guesses._", lambda word: words.get(word, word))
    for question in ("> **先猜一猜**\n>\n> 有多少？", "> **预测：**有多少？"):
        text = with_control(f"{question}\n\n看下面的网络。", "<p>")
        assert text.startswith(f"{question}\n\n```{{raw}}")


@pytest.mark.parametrize(
    ("sentence", "answered"),
    [("There are 72 of them.", True), ("There are 720 of them.", False), ("1.72", False)],
)
def test_a_guess_of_a_number_needs_the_number_on_the_page(sentence: str, answered: bool) -> None:
    guesses = {"q": {"from": 0, "to": 100, "answer": 72}}
    assert is_answered("q", guesses, {"cells": [markdown(sentence)]}) == answered
    assert not is_answered("another", guesses, {"cells": [markdown("72")]})


def plotted(alternative: str, *tags: str) -> dict[str, Any]:
    """Return a code cell with a figure."""
    metadata = {"mystnb": {"image": {"alt": alternative}}, "tags": list(tags)}
    outputs = [{"data": {"image/png": ""}}]
    return {"cell_type": "code", "id": "f", "metadata": metadata, "source": "", "outputs": outputs}


def test_a_figure_without_a_caption_gets_its_description() -> None:
    cells = [
        plotted("A < B."),
        markdown("Text."),
        plotted("Told below."),
        markdown("*Its* own *caption.*"),
        plotted("Its own."),
        markdown("*A caption, with **bold** words.*\n\nText."),
        plotted("Removed.", "remove-cell"),
    ]
    captions = [
        source(cell)
        for cell in add_captions({"cells": cells}, page("book/x"))["cells"]
        if "caption" in cell["id"]
    ]
    assert len(captions) == 2
    assert ">A &lt; B.</p>" in captions[0]
    assert ">Told below.</p>" in captions[1]


def test_a_long_caption_ends_with_a_sentence() -> None:
    first, second = "It falls from 0.5 to 0.1.", f"{'long ' * 60}end."
    assert caption_of(f"{first} {second}") == first
    assert caption_of(f"{first} And more.") == f"{first} And more."
    assert caption_of("先降。再升。") == "先降。再升。"


def test_the_stage_stands_where_the_notebook_has_the_glass_network_and_nowhere_else() -> None:
    title, text = markdown("# Title"), markdown("Text")
    drawing = markdown("Glass()")
    notebooks_alone = drawing | {"metadata": {"tags": ["remove-cell"]}}
    name = page("book/chapters/06-routing")
    drawn = insert_stage({"cells": [title, text, drawing]}, name)
    undrawn = insert_stage({"cells": [title, text, notebooks_alone]}, name)
    elsewhere = insert_stage({"cells": [title, text]}, page("book/results"))
    assert [cell["id"] for cell in drawn["cells"]] == ["cell", "cell", "glass"]
    assert [cell["id"] for cell in undrawn["cells"]] == ["cell", "cell", "cell"]
    assert [cell["id"] for cell in elsewhere["cells"]] == ["cell", "cell"]


def test_a_notebook_is_parsed_once_until_it_changes(tmp_path: Path) -> None:
    file = tmp_path / "a.ipynb"
    file.write_text('{"cells": []}', encoding="utf-8")
    first = read_notebook(file)
    assert read_notebook(file) is first
    file.write_text('{"cells": [1]}', encoding="utf-8")
    assert read_notebook(file) == {"cells": [1]}


# --- pages


def code_of(names: str) -> str:
    """Return names of one letter as HTML, with commas between."""
    return ", ".join(f"<code>{name}</code>" for name in names)


@pytest.mark.parametrize(
    ("code", "line"),
    [
        ("# Squash & more\nx = 1", "Squash &amp; more"),
        ("def squash(s):\n    ...", "defines <code>squash</code>"),
        ('def squash(s):\n    """Shorten s."""', "defines <code>squash</code>: Shorten s."),
        ("a, b = 1, 2\n_ = a", "computes <code>a</code>, <code>b</code>"),
        ("a = b = c = d = e = f = 0", f"computes {code_of('abcde')}, …"),
        ("figures.plot(x)", "calls <code>figures.plot</code>"),
        ("print(x)", "prints what follows"),
        ("%pip install x\nfit(x)", "calls <code>fit</code>"),
        ("x = ", "yours to write"),
    ],
)
def test_a_folded_cell_says_what_it_does(code: str, line: str) -> None:
    assert summary(code) == line


def table(columns: int, cell: str) -> str:
    """Return an HTML table of one row."""
    names = "".join(f"<th>name {number}</th>" for number in range(columns))
    cells = f"<td>{cell}</td>" * columns
    head = f'<table class="table"><thead><tr>{names}</tr></thead>'
    return f"{head}<tbody><tr>{cells}</tr></tbody></table>"


def test_only_a_table_that_no_phone_has_room_for_is_restacked() -> None:
    assert restacked(table(2, "1" * 80)) == table(2, "1" * 80)
    assert restacked(table(3, "12")) == table(3, "12")
    assert restacked(table(7, "12")) == table(7, "12")  # a name is broken before its number
    wide = restacked(table(3, "1" * 20))
    assert 'class="restacks table"' in wide
    assert wide.count('<td data-column="name ') == 3
    assert 'class="restacks full-width table"' in restacked(table(6, "1" * 20))


def test_every_chapter_has_a_drawing() -> None:
    chapters = [path for part in chapters_by_part(ROOT).values() for path in part]
    names = [chapter_name(f"book/chapters/{path.stem}") for path in chapters]
    assert [name for name in names if name not in EMBLEMS] == []


def test_the_numbers_of_every_run_can_be_named() -> None:
    assert substitutions(ROOT / "results")["small_parameters"] == "454,992"


# --- what a shared link says


def document(*children: nodes.Node) -> nodes.document:
    """Return a page with a paragraph and these nodes."""
    page = new_document("page")
    page += nodes.paragraph("", "A short one.")
    page += nodes.paragraph("", "A paragraph that is long enough to say what the page is about.")
    page += children
    return page


def figure(name: str) -> nodes.raw:
    """Return a figure as notebooks/figures.py writes it."""
    html = (
        f'<picture class="two-forms"><img src="../../_static/figures/{name}.png" alt=""></picture>'
    )
    return nodes.raw("", html, format="html")


def widget(name: str) -> live_widget:
    """Return the place of a widget."""
    return live_widget("", name=name, look=name)


@pytest.mark.parametrize(
    ("page", "children", "picture"),
    [
        ("book/chapters/04-squash", [widget("SquashVector")], "_static/cards/04-squash.png"),
        ("book/solutions/04-squash", [figure("a1")], "_static/figures/a1.png"),
        ("book/results", [figure("a1"), widget("PullVotes")], "_static/stills/PullVotes.webp"),
        ("book/results", [widget("NoStill"), figure("a1")], "_static/figures/a1.png"),
        ("book/cite", [], FRONT_PICTURE),
    ],
    ids=["chapter", "solution", "widget", "figure", "neither"],
)
def test_a_shared_page_shows_its_own_picture(
    page: str, children: list[nodes.Node], picture: str
) -> None:
    assert picture_of(page, document(*children), STATIC) == picture


def test_every_chapter_has_a_card_and_no_two_look_alike() -> None:
    cards = [
        STATIC / "cards" / f"{path.stem}.png" for path in (ROOT / "book/chapters").glob("*.ipynb")
    ]
    assert len({card.read_bytes() for card in cards}) == len(cards)


def test_a_shared_page_says_what_it_is_about() -> None:
    description = description_of(document())
    elements = tags("A & B", description, "_static/a.png", BASE)
    assert f'<meta name="description" content="{description}">' in elements
    assert '<meta property="og:title" content="A &amp; B">' in elements
    assert f'<meta property="og:image" content="{BASE}_static/a.png">' in elements
    assert "long enough" in description


def test_a_shared_page_without_an_address_has_no_picture() -> None:
    assert "og:image" not in "".join(tags("A", "About it.", "_static/a.png"))


def test_a_long_description_ends_at_a_word() -> None:
    assert shortened("word " * 40) == "word " * 31 + "word …"
    assert shortened("word") == "word"


def captioned(output: nodes.Element, caption: str) -> list[nodes.Node]:
    """Return a cell that shows something, and the paragraph in italics below it."""
    cell = nodes.container("", output)
    return [cell, nodes.paragraph("", "", nodes.emphasis("", caption))]


def test_a_captioned_table_is_no_figure() -> None:
    document = new_document("page")
    document.settings.env = SimpleNamespace(docname="book/chapters/18-does-routing-matter")
    document += captioned(nodes.image(), "A first figure.")
    document += captioned(nodes.table(), "A table.")
    document += captioned(nodes.image(), "A second figure.")
    NameCaptions(document).run()
    names = [name.astext() for name in document.findall(nodes.raw)]
    assert [name.split("</b>")[0].split(">")[1] for name in names] == [
        "Figure 18.1",
        "Table 18.1",
        "Figure 18.2",
    ]
    assert not list(document.findall(nodes.emphasis)), "captions in two styles"
