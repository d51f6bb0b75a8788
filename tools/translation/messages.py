"""The messages of a page: `rewritten` meets each of them and puts its translation in its place."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Callable
from typing import Any

import yaml
from _ext.notebook import SUFFIX, Notebook, outputs, source
from _ext.widgets.models import Models, stored_models
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from myst_parser.config.main import MdParserConfig
from myst_parser.parsers.mdit import create_md_parser

from .code import rewritten_code, rewritten_prints
from .paths import ROOT

CONFIG = yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))
MARKDOWN = create_md_parser(
    MdParserConfig(enable_extensions=set(CONFIG["parse"]["myst_enable_extensions"])), RendererHTML
)
# A fence; of a glossary, which holds Markdown, with its directive.
FENCE = re.compile(r"(`{3,}|:{3,})(\{glossary\})?")
SUMMARY = re.compile(r"(?<=<summary>).*?(?=</summary>)")
# A word in a formula.
FORMULA_WORDS = re.compile(r"(?<=\\text\{)[^{}]+(?=\})")
# What is no prose: code, formulas, addresses, substitutions, tags, roles.
NO_PROSE = re.compile(r"`[^`]*`|\$[^$]*\$|\]\([^)]*\)|\{\{.*?\}\}|<[^>]*>|\{\w+\}")
ENGLISH = re.compile(r"[A-Za-z]{2}")
OUTPUT_TEXTS = {  # of a stored output, by its type: the texts in it
    "text/html": re.compile(r'(?<=>)(?<!<code>)[^<>{}]+(?=<)|(?<=aria-label=")[^"]+'),
    # Cells of a table, and what stands below it.
    "text/markdown": re.compile(r"(?<=\| )[^|\n]+?(?= \|)|^[^|\n]+$", re.MULTILINE),
}
UNTRANSLATED = '<span class="untranslated" lang="en">{}</span>'
DROPPED = "\0"  # marks a line that goes

# (kind of message, English) -> its translation, or None
Translate = Callable[[str, str], str | None]


def has_words(text: str) -> bool:
    """Return True if a text has prose."""
    return bool(ENGLISH.search(NO_PROSE.sub("", text)))


def translated(translate: Translate, kind: str, text: str) -> str:
    """Return the translation of a text, or the text."""
    return (has_words(text) and translate(kind, text)) or text


def rewritten(text: str, suffix: str, translate: Translate) -> str:
    """Return a page's source, .md or .ipynb, with each message as `translate` has it."""
    if suffix != SUFFIX:
        return rewritten_markdown(text, translate)
    notebook = json.loads(text)
    for cell in notebook["cells"]:
        if cell["cell_type"] == "markdown":
            markdown = rewritten_formulas(rewritten_markdown(source(cell), translate), translate)
            cell["source"] = markdown.splitlines(keepends=True)
        if cell["cell_type"] == "code":
            rewrite_code(cell, translate)
        rewrite_metadata(cell["metadata"], translate)
    rewrite_outputs(notebook, translate)
    rewrite_widgets(stored_models(notebook), translate)
    return as_json(notebook)


def as_json(notebook: Notebook) -> str:
    """Return a notebook as the text of its file."""
    return json.dumps(notebook, indent=1, ensure_ascii=False) + "\n"


# --- a notebook's code, metadata and outputs


def rewrite_code(cell: dict[str, Any], translate: Translate) -> None:
    """Translate the words of a cell's code, and what it has printed, in place."""
    code = source(cell)
    names = cell["metadata"].get("names", [])
    for output in cell["outputs"]:
        if output["output_type"] == "stream":
            text = rewritten_prints("".join(output["text"]), code, translate, names)
            output["text"] = text.splitlines(keepends=True)
    cell["source"] = rewritten_code(code, translate, names).splitlines(keepends=True)


def rewrite_metadata(metadata: dict[str, Any], translate: Translate) -> None:
    """Translate what a cell's metadata says: alternative text, buttons, guess, coloured words."""
    myst = metadata.get("mystnb", {})
    if myst.get("image"):
        translate_items(myst["image"], ["alt"], "alternative text", translate)
    prompts = [key for key in myst if key.startswith("code_prompt")]
    translate_items(myst, prompts, "button", translate)

    guess = metadata.get("guess")
    if guess:
        choices = guess.get("choices", [])
        translate_items(choices, range(len(choices)), "choice", translate)
        units = [key for key in ("unit", "across") if key in guess]
        translate_items(guess, units, "unit", translate)

    hues = metadata.get("hues")
    if hues:
        words = {translated(translate, "coloured word", word): hue for word, hue in hues.items()}
        metadata["hues"] = words


def translate_items(holder: Any, keys: Any, kind: str, translate: Translate) -> None:
    """Translate these items of a dictionary or a list in place."""
    for key in keys:
        holder[key] = translated(translate, kind, str(holder[key]))


def rewrite_widgets(models: Models, translate: Translate) -> None:
    """Translate the names that the stored widgets show: of their numbers, and of their cases."""
    for model in models.values():
        for names in model["state"].get("names") or []:
            if isinstance(names, list):
                translate_items(names, range(len(names)), "name in a widget", translate)
        for case in model["state"].get("cases") or []:
            translate_items(case, ["name"], "name in a widget", translate)


def rewrite_outputs(notebook: Notebook, translate: Translate) -> None:
    """Translate what a notebook's outputs say, in place."""
    for output in outputs(notebook):
        data = output.get("data", {})
        for kind in OUTPUT_TEXTS.keys() & data.keys():
            text = rewritten_output("".join(data[kind]), kind, translate)
            data[kind] = text.splitlines(keepends=True)


def rewritten_output(text: str, kind: str, translate: Translate) -> str:
    """Return an output of a type of `OUTPUT_TEXTS`, translated."""

    def replaced(match: re.Match[str]) -> str:
        if kind != "text/html":
            return translated(translate, "output", match[0])
        english = html.unescape(match[0])
        translation = translated(translate, "output", english)
        return match[0] if translation == english else html.escape(translation)

    return OUTPUT_TEXTS[kind].sub(replaced, text)


# --- Markdown


def rewritten_markdown(text: str, translate: Translate) -> str:
    """Return a text with each block translated, in one line; code and formulas are unchanged."""
    lines = text.split("\n")
    plain = without_fences(lines, translate)
    tokens = MARKDOWN.parse("\n".join(plain))
    in_row = False
    for number, token in enumerate(tokens):
        if token.type in ("tr_open", "tr_close"):
            in_row = token.nesting > 0
        if not token.map:
            continue
        if token.type == "html_block":
            translate_summaries(lines, token, translate)
        elif token.type == "tr_open":
            start = token.map[0]
            lines[start] = translated(translate, "row", lines[start])
        elif token.type == "inline" and not in_row:
            is_heading = tokens[number - 1].type == "heading_open"
            translate_block(lines, token, "heading" if is_heading else "paragraph", translate)
    return "\n".join(line for line in lines if line != DROPPED)


def rewritten_formulas(text: str, translate: Translate) -> str:
    """Return a text with the words of its formulas translated."""
    return FORMULA_WORDS.sub(
        lambda match: translated(translate, "word of a formula", match[0]), text
    )


def translate_summaries(lines: list[str], token: Token, translate: Translate) -> None:
    """Translate the summaries of folds in the lines of a block of HTML."""
    assert token.map
    for number in range(*token.map):
        lines[number] = SUMMARY.sub(
            lambda match: translated(translate, "summary", match[0]), lines[number]
        )


def translate_block(lines: list[str], token: Token, kind: str, translate: Translate) -> None:
    """Put a translation in the place of a block's lines, after their prefix: "# ", "* ", "> "."""
    assert token.map
    message = re.sub(r"  +\n", "\\\n", token.content)
    message = re.sub(r"(?<!\\)\n", " ", message)
    if not has_words(message):
        return
    translation = translate(kind, message)
    if translation is None and kind == "heading":
        return  # an element in it would be in the table of contents, too
    if translation is None:
        translation = UNTRANSLATED.format(message)

    start, end = token.map
    first_line = token.content.split("\n")[0]
    prefix = lines[start][: lines[start].index(first_line)]
    indent = re.sub(r"[^>\s]", " ", prefix)
    lines[start] = prefix + translation.replace("\n", f"\n{indent}")
    lines[start + 1 : end] = [DROPPED] * (end - start - 1)


def without_fences(lines: list[str], translate: Translate) -> list[str]:
    """Return the lines with fences of glossaries, which hold Markdown, left empty.

    In `lines` itself the terms of glossaries are translated.
    """
    plain = []
    glossary = ""  # the fence of a glossary that is open
    code = ""  # the fence of a block of code that is open
    for number, line in enumerate(lines):
        bare = line.strip()
        fence = FENCE.match(bare)
        is_text = True
        if code:
            code = "" if bare == code else code
        elif glossary and bare == glossary:
            glossary = ""
            is_text = False
        elif fence and fence[2]:
            glossary = fence[1]
            is_text = False
        elif fence:
            code = fence[1]
        elif glossary and bare.startswith(":"):  # an option
            is_text = False
        elif glossary and bare and line[0] != " ":
            lines[number] = with_both_terms(line, translate)
            is_text = False
        plain.append(line if is_text else "")
    return plain


def with_both_terms(term: str, translate: Translate) -> str:
    """Return a glossary's term above itself in English: readers look for either."""
    translation = translated(translate, "term", term)
    return term if translation == term else f"{translation}\n{term}"
