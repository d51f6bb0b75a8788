"""The Chinese edition: messages are found and put back, and translations are checked."""

from __future__ import annotations

import ast
import json
import re

import pytest
from babel.messages.catalog import Message
from capsnet_book import words
from capsnet_book.tables import spoken
from capsnet_book.words import Sentences, catalogue_path, read_catalogue, translated

from capsnet_check.catalogue import BUGS
from capsnet_check.deviations import DEVIATIONS
from capsnet_check.report import Coverage, Finding, Report
from tools.translation import checks, tree
from tools.translation.catalogues import entries, stored_catalogue, translations
from tools.translation.current import current_catalogue
from tools.translation.drawing import outdated
from tools.translation.messages import MARKDOWN, rewritten, rewritten_markdown
from tools.translation.paths import LANGUAGE, WORDS, catalogue_names, pages
from tools.translation.scripts import messages_in
from tools.translation.sharing import share
from tools.translation.sources import report_sentences, sentences_in
from tools.translation.unwrapped import unwrapped, unwrapped_texts

HAN = re.compile(r"[\u4e00-\u9fff]")
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
    messages: list[tuple[str, str]] = []
    rewritten_markdown(PAGE, lambda kind, text: messages.append((kind, text)))
    assert sorted(messages) == [
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
    dictionary = {
        "A paragraph of two lines.": "两行。",
        "one and two": "一和二",
        "said twice": "说了两遍",
        "A hint": "提示",
    }
    written = rewritten_markdown(PAGE, lambda kind, text: dictionary.get(text))
    expected_lines = (
        "两行。",
        "* 一和二",
        "> 说了两遍",
        "<details><summary>提示</summary>",
        '  <span class="untranslated" lang="en">A small group.</span>',
    )
    for line in expected_lines:
        assert f"\n{line}\n" in written


NOTEBOOK_PAGES = [path for path in pages().values() if path.suffix == ".ipynb"]


@pytest.mark.parametrize("path", NOTEBOOK_PAGES, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_a_page_in_its_own_words_is_the_same_page(path) -> None:
    text = path.read_text(encoding="utf-8")
    written = json.loads(rewritten(text, path.suffix, lambda kind, english: english))
    for before, after in zip(json.loads(text)["cells"], written["cells"], strict=True):
        if before["cell_type"] == "markdown":
            assert rendered(before) == rendered(after)
        else:
            assert before == after


def rendered(cell: dict) -> str:
    """Return a Markdown cell as HTML, with single spaces."""
    return " ".join(MARKDOWN.render("".join(cell["source"])).split())


def test_what_stands_below_a_table_of_an_output_is_a_message() -> None:
    messages: list[str] = []
    markdown = "| a head | p |\n| -- | -: |\n| a cell | 0.1 |\n\nA note on them."
    cell = {"cell_type": "code", "source": [], "metadata": {}}
    output = {"output_type": "display_data", "data": {"text/markdown": [markdown]}}
    notebook = {"cells": [cell | {"outputs": [output]}], "metadata": {}}
    rewritten(json.dumps(notebook), ".ipynb", lambda _, english: messages.append(english))
    assert messages == ["a head", "a cell", "A note on them."]


def test_numbers_take_their_places() -> None:
    dictionary = {
        "# of # right": "#2 个中对 #1 个",
        "a long label": "长标签",
        "✓ #: right": "✓ #：正确",
    }
    assert translated("497 of 500 right", dictionary) == "500 个中对 497 个"
    assert translated(" a long\nlabel", dictionary) == " 长标签"
    assert translated("✓ squash: right", dictionary) == "✓ squash：正确"
    assert translated("unknown 1", dictionary) == "unknown 1"


# --- sentences of scripts

WIDGET = r"""
const names = [t`nose`, t`mouth`];
words.textContent = t`It reads a ${digit}: ${digit > 4 ? t`one of \`five\`` : "five"} are
  ${Math.max(right / 2, 1)} right.`;
const other = `no ${sentence}`;
"""
SHOWN = [
    'words.textContent = "eight";',
    'words.textContent = isEight ? "eight" : t`nine`;',
    'element("button", {}, "Reset");',
    'element("p", { "aria-label": `Digit ${digit}` });',
    'picture.setAttribute("aria-label", "Digits");',
    'pushButton("reset", "Reset", reset);',
    'const remark = "Press the eight";',
    "const size = `${format(length)} long`;",
    'const names = labels.join(" and ");',
    "say(t`It reads ${count === 1 ? `one` : count}.`);",
]
NOT_SHOWN = """
words.textContent = t`Press the eight`;
words.textContent = name === "eight" ? t`Eight` : `${number}`;
const part = document.querySelector("figure.glass a");
const node = element("p", { class: "one two", style: "top: 1px", "aria-label": t`Digits` }, "–");
element.className = "one two";
const options = [{ code: "for image in images:", mended: "return image or None" }];
throw new Error("a number is missing");
"""


def test_the_messages_of_a_script_have_numbers_for_values() -> None:
    assert list(messages_in(WIDGET)) == [
        "nose",
        "mouth",
        "It reads a {0}: {1} are {2} right.",
        "one of `five`",
    ]


@pytest.mark.parametrize("line", SHOWN)
def test_a_text_that_is_shown_stands_behind_the_tag(line: str) -> None:
    assert len(list(unwrapped_texts(line))) == 1


def test_what_is_no_text_needs_no_tag() -> None:
    assert list(unwrapped_texts(NOT_SHOWN)) == []


def test_scripts_show_nothing_that_has_no_translation() -> None:
    """`python -m tools.translation check interface` says the same."""
    assert list(unwrapped()) == []


# --- sentences of reports

SCRIPT = '''
def answer(value, count):
    """Say what is wrong."""
    if count < 2:
        raise ValueError("expected at least two numbers")
    yield Coverage("mask")
    return f"It returns {value} for {count}. " "Is that so?"
'''
SENTENCES = Sentences(
    {
        "It returns {} for {}; expected {}.": "对 {2}，它返回{1}；应为{3}。",
        "a tensor of shape {}": "形状为 {} 的张量",
        "The line: {}": "出错的一行：{}",
        "mask": "掩码",
        "no labels": "没有标签",
        "The numbers are right.": "数都对。",
    }
)


def test_sentences_of_a_program_are_found_and_errors_are_not() -> None:
    expected = ["It returns {} for {}. Is that so?", "mask"]
    assert sorted(sentences_in(ast.parse(SCRIPT))) == expected


@pytest.mark.parametrize(
    ("english", "chinese"),
    [
        ("The numbers are right. The line: f(x)", "数都对。出错的一行：f(x)"),
        (
            "It returns None for a tensor of shape [2, 3]; expected [2].",
            "对形状为 [2, 3] 的张量，它返回 None；应为 [2]。",
        ),
        (
            "It returns 1 for a tensor of shape [2], a tensor of shape [3]; expected 2.",
            "对形状为 [2] 的张量、形状为 [3] 的张量，它返回 1；应为 2。",
        ),
        ("mask (no labels); losses", "掩码（没有标签）; losses"),
        ("mask (no labels)", "掩码（没有标签）"),
        ("squash · The numbers are right.", "squash · 数都对。"),
        ("It is unknown.", "It is unknown."),
    ],
)
def test_a_sentence_with_values_is_translated_by_its_form(english: str, chinese: str) -> None:
    assert SENTENCES.translated(english) == chinese


def test_each_sentence_of_a_report_has_a_translation() -> None:
    """`python -m tools.translation update words` takes in a new one."""
    dictionary = translations(stored_catalogue(WORDS))
    assert [text for _, text in report_sentences() if text not in dictionary] == []


def test_the_book_reads_its_catalogue_as_babel_does() -> None:
    read = read_catalogue(catalogue_path(LANGUAGE, WORDS))
    assert read == translations(stored_catalogue(WORDS))


def test_a_report_is_in_chinese_when_chinese_is_spoken(monkeypatch: pytest.MonkeyPatch) -> None:
    sentences = Sentences(read_catalogue(catalogue_path(LANGUAGE, WORDS)))
    monkeypatch.setattr(Report, "translate", staticmethod(sentences.translated))
    findings = [Finding(bug) for bug in BUGS]
    findings += [deviation.finding() for piece in DEVIATIONS.values() for deviation in piece]
    report = Report.of("routing", findings, [Coverage("mask", "no labels"), Coverage("losses")])
    lines = str(report).splitlines()
    assert lines[0] == "✗ 路由：11 个已知的错误"
    assert lines[-1] == "未检查：掩码（没有标签）。"
    assert [line for line in lines if line and not HAN.search(line)] == []


def test_a_table_of_records_is_in_chinese_when_chinese_is_spoken(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    markdown = "| error, % | seeds |\n| -------- | ----- |\n| 0.5      | 10    |\n\n6 epochs each."
    assert spoken(markdown).data == markdown
    sentences = Sentences(read_catalogue(catalogue_path(LANGUAGE, WORDS)))
    monkeypatch.setattr(words, "_translate", sentences.translated)
    head, _, numbers, _, note = spoken(markdown).data.split("\n")
    assert len(HAN.findall(head)) > 3
    assert numbers == "| 0.5      | 10    |"
    assert note == "各训练 6 个迭代周期。"


# --- files that both editions have


def test_the_chinese_book_takes_the_files_that_the_english_one_has(tmp_path) -> None:
    files = {
        "_static/a.js": "both",
        "_static/b.js": "English",
        "_static/font.woff2": "both",
        "zh_CN/_static/a.js": "both",
        "zh_CN/_static/b.js": "Chinese",
        "zh_CN/_static/font.woff2": "both",
        "zh_CN/_static/own.css": "url(font.woff2)",
        "zh_CN/_static/chinese.png": "Chinese alone",
        "zh_CN/book/page.html": (
            '<meta content="https://a.place/zh_CN/_static/a.js"><script src="../_static/a.js?v=1">'
            '<script src="../_static/b.js"><img src="../_static/chinese.png">'
        ),
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")

    for _ in range(2):  # a second time changes nothing
        share(tmp_path, tmp_path / "zh_CN")
        gone = [name for name in files if not (tmp_path / name).exists()]
        assert gone == ["zh_CN/_static/a.js"]
        assert (tmp_path / "zh_CN/book/page.html").read_text(encoding="utf-8") == (
            '<meta content="https://a.place/_static/a.js"><script src="../../_static/a.js?v=1">'
            '<script src="../_static/b.js"><img src="../_static/chinese.png">'
        )


def test_without_an_english_book_the_chinese_one_stays_whole(tmp_path) -> None:
    file = tmp_path / "zh_CN" / "_static" / "a.js"
    file.parent.mkdir(parents=True)
    file.write_text("alone", encoding="utf-8")
    share(tmp_path, tmp_path / "zh_CN")
    assert file.exists()


# --- checks

ENGLISH = "`route` and $x$, **what matters.** Here"


@pytest.mark.parametrize(
    ("chinese", "is_same"),
    [
        ("`route` 与 $x$，**重要**。", True),
        ("`route` 与公式", False),
        ("`routes` 与 $x$，**重要**。", False),
        ("`route` 与 $x$，**重要。**的", False),
        ("[`route`](b.md) 与 $x$，**重要**。", False),
    ],
    ids=["same", "formula lost", "code changed", "emphasis that does not close", "a link too many"],
)
def test_code_formulas_links_and_emphasis_are_compared(chinese: str, is_same: bool) -> None:
    assert (checks.shape(ENGLISH) == checks.shape(chinese)) == is_same


TERMS = {
    "class capsule": checks.Term(["类胶囊"]),
    "capsule": checks.Term(["胶囊"]),
    "misread": checks.Term([], ["误读"]),
}


@pytest.mark.parametrize(
    ("check", "english", "chinese"),
    [
        (checks.same_number_of_holes, "# of # right", "对 # 个"),
        (checks.same_columns, "| a | b |", "| 甲 | 乙 | 丙 |"),
        (checks.same_numbers, "72 capsules of 8 numbers", "72 个胶囊"),
        (checks.terms_of_the_book, "ten class capsules", "十个类"),
        (checks.terms_of_the_book, "ten misread", "误读了十个"),
        (checks.nothing_banned, '"ten misread"', '"误读了十个"'),
        (checks.no_english_left, "It is as it was before", "It is as it was before。"),
        (checks.full_width_punctuation, "first, second", "第一,第二"),
        (checks.same_values, "{0} left of {1}", "剩 {0}"),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_a_check_reports_what_differs(check: checks.Check, english: str, chinese: str) -> None:
    assert len(list(check(Message(english, chinese), TERMS))) == 1
    assert list(check(Message(english, english), {})) == [] or check is checks.no_english_left


def test_a_term_may_be_exempted() -> None:
    message = Message("a capsule", "一组", user_comments=["terms: capsule"])
    assert list(checks.terms_of_the_book(message, TERMS)) == []


def test_a_citation_may_be_english() -> None:
    row = "| 2020 | ([De Sousa Ribeiro et al., 2020](https://a.place)) |"
    assert list(checks.no_english_left(Message("| a |", row), {})) == []


@pytest.mark.parametrize("name", catalogue_names())
def test_stored_translations_hold(name: str) -> None:
    """`python -m tools.translation check` says the same."""
    assert list(checks.problems(name, checks.terms())) == []


@pytest.mark.nightly
@pytest.mark.parametrize("name", catalogue_names())
def test_nothing_is_left_in_english(name: str) -> None:
    """`python -m tools.translation list --all` says what."""
    dictionary = translations(stored_catalogue(name))
    messages = [str(message.id) for message in entries(current_catalogue(name))]
    assert [message for message in messages if message not in dictionary] == []


@pytest.mark.nightly
def test_no_figure_is_outdated() -> None:
    assert outdated() == {}


def test_links_name_sections_in_chinese():
    places = {
        "book/chapters/09": tree.chinese_places([("Train it", "训练"), ("The loss", "损失")]),
        "book/chapters/06": tree.chinese_places([("A", "同名"), ("B", "同名")]),
    }
    text = "[a](#train-it) [b](09.ipynb#the-loss 'c') [d](#try-Choose?chosen=1) [e](06.ipynb#a)"
    chinese = tree.with_chinese_links(text, "book/chapters/09", places)
    assert chinese == (
        "[a](#训练) [b](09.ipynb#损失 'c') [d](#try-Choose?chosen=1) [e](06.ipynb#a)"
    )
