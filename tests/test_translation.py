"""The Chinese edition: messages are found and put back, and translations keep what must be the same."""

from __future__ import annotations

import json

import pytest
import translation
from capsnet_book.words import translated
from translation import (
    MARKDOWN,
    entries,
    messages,
    pages,
    problems,
    ready,
    rewritten_markdown,
    shape,
    terms,
)

PAGE = """# The `title`

A paragraph
of two lines.

* one
  and two
> said
> twice

| a head | $x$ |
|:--|:--|
| a cell | 1 |

```python
code = "stays"
```

```{glossary}
capsule
  A small group.
```

<details><summary>A hint</summary>

Inside.

</details>
"""


def test_each_block_is_a_message() -> None:
    met: list[tuple[str, str]] = []
    rewritten_markdown(PAGE, lambda kind, text: met.append((kind, text)))
    assert sorted(met) == [
        ("heading", "The `title`"),
        ("paragraph", "A paragraph of two lines."),
        ("paragraph", "A small group."),
        ("paragraph", "Inside."),
        ("paragraph", "one and two"),
        ("paragraph", "said twice"),
        ("row", "| a cell | 1 |"),
        ("row", "| a head | $x$ |"),
        ("summary", "A hint"),
        ("term", "capsule"),
    ]


def test_translations_stand_where_the_english_stood() -> None:
    known = {
        "A paragraph of two lines.": "两行。",
        "one and two": "一和二",
        "said twice": "说了两遍",
        "A hint": "提示",
    }
    written = rewritten_markdown(PAGE, lambda kind, text: known.get(text))
    for line in (
        "两行。",
        "* 一和二",
        "> 说了两遍",
        "<details><summary>提示</summary>",
        '  <span class="untranslated" lang="en">A small group.</span>',
    ):
        assert f"\n{line}\n" in written


def test_a_page_in_its_own_words_is_the_same_page() -> None:
    for path in pages().values():
        if path.suffix == ".ipynb":
            text = path.read_text(encoding="utf-8")
            again = json.loads(translation.rewritten(text, path.suffix, lambda kind, words: words))
            for one, other in zip(json.loads(text)["cells"], again["cells"], strict=True):
                sources = ["".join(cell["source"]) for cell in (one, other)]
                if one["cell_type"] == "markdown":
                    before, after = (
                        " ".join(MARKDOWN.render(source).split()) for source in sources
                    )
                    assert before == after
                else:
                    assert one == other


def test_numbers_take_their_places() -> None:
    known = {"# of # right": "#2 个中对 #1 个", "a long label": "长标签", "✓ #: right": "✓ #：正确"}
    assert translated("497 of 500 right", known) == "500 个中对 497 个"
    assert translated(" a long\nlabel", known) == " 长标签"
    assert translated("✓ squash: right", known) == "✓ squash：正确"
    assert translated("unknown 1", known) == "unknown 1"


@pytest.mark.parametrize(
    "chinese",
    ["`route` 与公式", "`routes` 与 $x$", "`route` 与 $x$，**重要。**的", "[`route`](b.md) 与 $x$"],
    ids=["formula lost", "code changed", "emphasis that does not close", "a link too many"],
)
def test_what_must_be_the_same_is_compared(chinese: str) -> None:
    english = "`route` and $x$, **what matters.** Here"
    assert shape(english) == shape("`route` 与 $x$，**重要**。")
    assert shape(english) != shape(chinese)


def test_translations_hold() -> None:
    """`python tools/translation.py check` says the same."""
    assert [
        each for name in ("interface", "words", *pages()) for each in problems(name, terms())
    ] == []


@pytest.mark.nightly
def test_nothing_is_left_in_english() -> None:
    """`python tools/translation.py list --all` says what."""
    left = {
        name: [
            m.id for m in entries(messages(name)) if m.id not in ready(translation.catalogue(name))
        ]
        for name in ("interface", "words", *pages())
        if name not in translation.ENGLISH_PAGES
    }
    assert not any(left.values()), left
    assert not translation.outdated()
