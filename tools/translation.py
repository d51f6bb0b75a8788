"""The book in another language, from catalogues of messages over the English source.

    python tools/translation.py update [page …]    messages of the pages into book/locales/zh_CN/*.po
    python tools/translation.py list [--all] [page …]    what is not translated, or not since its English changed
    python tools/translation.py check [page …]     what differs that must be the same, and terms that are not the book's
    python tools/translation.py write              the pages in Chinese, with all that they need, into _build/zh_CN
    python tools/translation.py figures [page …]   these run, for the pictures of figures that are outdated
    python tools/translation.py book               these built, into _build/html/zh_CN

A message is a block of Markdown: a paragraph, heading, list item, row of a table, summary, an alternative text, what a
guess offers. Each page has a catalogue, NN-….po. What widgets, extensions and templates say is in interface.po: there a
message is a piece of a file's source, quotes and all, in whose place the written copy of that file has Chinese.
`update` finds the sentences in JavaScript; a piece of another file is entered by hand, with the file's name. What
figures, reports and tables say is in words.po (`capsnet_book/words.py`): the written copy of the book draws with these
words, and figures/ keeps the pictures, by the digests of the English ones; its words.json says which words each has.

What has no translation, or had one for other words ("fuzzy"), stays English, and is marked so in the page. A message
that is right as it is has itself as its translation. terms.csv has the terms; a comment "# terms: length" above a
message spares it that one.
"""

from __future__ import annotations

import argparse
import base64
import csv
import hashlib
import html
import json
import os
import re
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

import yaml
from _ext.notebooks.figures import PHONE
from _ext.pages.languages import CHINESE as LANGUAGE
from _ext.pages.languages import HEADINGS
from babel.messages.catalog import Catalog, Message
from babel.messages.jslexer import tokenize
from babel.messages.pofile import read_po, write_po
from bs4 import BeautifulSoup
from capsnet_book import words
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from myst_parser.config.main import MdParserConfig
from myst_parser.parsers.mdit import create_md_parser

ROOT = Path(__file__).resolve().parent.parent
CATALOGUES = ROOT / "book" / "locales" / LANGUAGE
INTERFACE, WORDS = "interface", "words"
FIGURES = CATALOGUES / "figures"
STILLS = CATALOGUES / "stills"  # of what may stay asleep on a page; tools/pictures.py takes them
NETWORKS = ROOT / "book" / "capsnet_book" / "assets" / STILLS.name  # the network, in notebooks
DRAWN = FIGURES / "words.json"  # a figure's digest -> its words -> those of its picture
CHINESE = re.compile(r"[\u4e00-\u9fff]")
TREE, HTML = ROOT / "_build" / LANGUAGE, ROOT / "_build" / "html" / LANGUAGE
NEEDED = (
    *("_config.yml", "_toc.yml", "pyproject.toml", "README.md", "LICENSE"),
    *("results", "tools", "book", "capsnet_tutorial", "capsnet_check"),
)
NOT_NEEDED = ("node_modules", "__pycache__", ".ipynb_checkpoints", "locales", "*.egg-info")
SCRIPTS = ("book/capsnet_book/widgets/**/*.js", "book/_static/*.js")
ENGLISH_PAGES = {"results"}  # in what their cells print
REMOVED = {"remove-cell", "remove-output"}
PIECES = {  # of a stored output, by its type: what is said in it
    "text/html": re.compile(r'(?<=>)[^<>{}]+(?=<)|(?<=aria-label=")[^"]+'),
    "text/markdown": re.compile(r"(?<=\| )[^|\n]+?(?= \|)"),
}
ENGLISH_RUN = re.compile(
    r"(?:\b[A-Za-z][a-z'’-]++[ ,]++){3,}+[A-Za-z]++(?!\??（)"
)  # “Two Words（两个词）” may stand
# Where a formula or a pill meets a mark that no line begins or ends with: browsers break lines beside such boxes.
CLINGS = re.compile(r"(?<=[（“])(?=\$)|(?<=[$)])(?=[，。、：；！？）”])")
SAID_IN_ENGLISH = "pre, code, script, style, em, .fold.code, .math, .citation-list, [lang=en]"
SPEAKS_CHINESE = """

import sys

sys.path[:0] = needs.values()  # the book that lies there speaks Chinese
"""

CONFIG = yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))
MARKDOWN = create_md_parser(
    MdParserConfig(enable_extensions=set(CONFIG["parse"]["myst_enable_extensions"])), RendererHTML
)
FENCE = re.compile(
    r"(`{3,}|:{3,})(?:\{(grid|grid-item-card|glossary)\} *(.*))?"
)  # these hold Markdown, others code
SUMMARY = re.compile(r"(?<=<summary>).*?(?=</summary>)")
SPARED = re.compile(
    r"`[^`]*`|\$[^$]*\$|\]\([^)]*\)|\{\{.*?\}\}|<[^>]*>|\{\w+\}"
)  # code, formulas, addresses, roles
ENGLISH = re.compile(r"[A-Za-z]{2}")
UNTRANSLATED = '<span class="untranslated" lang="en">{}</span>'

Say = Callable[
    [str, str], str | None
]  # the kind of a message, its English -> its translation, or None


# --- messages of a page: rewritten() meets each of them, and puts in its place what `say` answers


def rewritten(text: str, suffix: str, say: Say) -> str:
    """A page's source, .md or .ipynb, with each message as `say` has it."""
    if suffix == ".md":
        return rewritten_markdown(text, say)
    notebook = json.loads(text)
    for cell in notebook["cells"]:
        if cell["cell_type"] == "markdown":
            cell["source"] = rewritten_markdown("".join(cell["source"]), say).splitlines(
                keepends=True
            )
        meta = cell["metadata"]
        places: list[tuple[Any, Any, str]] = []
        if image := meta.get("mystnb", {}).get("image"):
            places += [(image, "alt", "alternative text")]
        places += [
            (meta["mystnb"], key, "button")
            for key in meta.get("mystnb", {})
            if key.startswith("code_prompt")
        ]
        if guess := meta.get("guess"):
            places += [
                (guess["choices"], k, "choice") for k in range(len(guess.get("choices", ())))
            ]
            places += [(guess, key, "unit") for key in ("unit", "across") if key in guess]
        for holder, key, kind in places:
            holder[key] = spoken(say, kind, str(holder[key]))
        if hues := meta.get("hues"):
            meta["hues"] = {spoken(say, "coloured word", word): hue for word, hue in hues.items()}
        for output in cell.get("outputs", ()):
            for kind in PIECES.keys() & output.get("data", {}).keys():
                output["data"][kind] = rewritten_output("".join(output["data"][kind]), kind, say)
    return json.dumps(notebook, indent=1, ensure_ascii=False) + "\n"


def rewritten_output(text: str, kind: str, say: Say) -> list[str]:
    read, written = (html.unescape, html.escape) if kind == "text/html" else (str, str)
    return (
        PIECES[kind]
        .sub(lambda found: written(spoken(say, "output", read(found[0]))), text)
        .splitlines(keepends=True)
    )


def is_said(text: str) -> bool:
    """Whether a text has words."""
    return bool(ENGLISH.search(SPARED.sub("", text)))


def spoken(say: Say, kind: str, text: str) -> str:
    return (is_said(text) and say(kind, text)) or text


def rewritten_markdown(text: str, say: Say) -> str:
    """A text with each block as `say` has it, in one line; the rest, code and formulas, as it is."""
    lines = text.split("\n")
    plain = opened(lines, say)
    tokens, row = MARKDOWN.parse("\n".join(plain)), False
    for n, token in enumerate(tokens):
        if token.type in ("tr_open", "tr_close"):
            row = token.nesting > 0
        if token.type == "html_block" and token.map:
            for k in range(*token.map):
                lines[k] = SUMMARY.sub(lambda found: spoken(say, "summary", found[0]), lines[k])
        elif token.type == "tr_open" and token.map:
            start = token.map[0]
            lines[start] = spoken(say, "row", lines[start])
        elif token.type == "inline" and token.map and not row:
            kind = "heading" if tokens[n - 1].type == "heading_open" else "paragraph"
            put_block(lines, token, kind, say)
    return "\n".join(line for line in lines if line != DROPPED)


DROPPED = "\0"


def put_block(lines: list[str], token: Token, kind: str, say: Say) -> None:
    """Put a translation in the place of the lines of a block, after what stands before it: "# ", "* ", "> "."""
    assert token.map
    message = re.sub(r"  +\n", "\\\n", token.content)
    message = re.sub(r"(?<!\\)\n", " ", message)
    if not is_said(message):
        return
    start, end = token.map
    first = token.content.split("\n")[0]
    before = lines[start][: lines[start].index(first)]
    translation = say(kind, message)
    if translation is None:
        if kind == "heading":  # an element in it would be in the contents, too
            return
        translation = UNTRANSLATED.format(message)
    lines[start] = before + translation.replace("\n", "\n" + re.sub(r"[^>\s]", " ", before))
    lines[start + 1 : end] = [DROPPED] * (end - start - 1)


def opened(lines: list[str], say: Say) -> list[str]:
    """The lines without the fences of directives that hold Markdown; in `lines`, titles of cards and terms are said."""
    around: list[tuple[str, str]] = []
    plain, code = [], ""
    for n, line in enumerate(lines):
        bare = line.strip()
        fence = FENCE.match(bare)
        if code:
            code = "" if bare == code else code
        elif around and bare == around[-1][0]:
            around.pop()
            line = ""
        elif fence and fence[2]:
            around.append((fence[1], fence[2]))
            if fence[2] == "grid-item-card":
                lines[n] = line.replace(fence[3], spoken(say, "heading of a card", fence[3]))
            line = ""
        elif fence:
            code = fence[1]
        elif around and bare.startswith(":"):  # an option
            line = ""
        elif around and around[-1][1] == "glossary" and bare and line[0] != " ":
            said = spoken(say, "term", line)
            lines[n] = line if said == line else f"{said}\n{line}"  # both: one looks for either
            line = ""
        plain.append(line)
    return plain


# --- figures


def digest(figure: dict[str, Any]) -> str:
    """Of a figure's English picture."""
    return hashlib.sha256(figure["data"]["image/png"].encode()).hexdigest()[:12]


def figures(notebook: dict[str, Any]) -> list[dict[str, Any]]:
    """The outputs that are figures, of those that the page shows."""
    return [
        output
        for cell in notebook["cells"]
        if not REMOVED & set(cell["metadata"].get("tags", ()))
        for output in cell.get("outputs", ())
        if "<Figure" in "".join(output.get("data", {}).get("text/plain", ""))
    ]


def drawn() -> dict[str, dict[str, str]]:
    return json.loads(DRAWN.read_text(encoding="utf-8")) if DRAWN.exists() else {}


def outdated() -> dict[str, int]:
    """Page -> how many of its figures were never drawn, or with other words than they have now."""
    known, pictures = ready(catalogue(WORDS)), drawn()
    current = {
        key
        for key, says in pictures.items()
        if all(known.get(one, one) == other for one, other in says.items())
    }
    old = {
        name: sum(digest(figure) not in current for figure in figures(read_notebook(path)))
        for name, path in pages().items()
        if name not in ENGLISH_PAGES
    }
    return {name: count for name, count in old.items() if count}


def read_notebook(path: Path) -> dict[str, Any]:
    return (
        json.loads(path.read_text(encoding="utf-8")) if path.suffix == ".ipynb" else {"cells": []}
    )


def draw(chosen: list[str]) -> None:
    """Run the written notebooks whose figures are outdated, and keep what they draw."""
    import nbformat
    from refresh_notebooks import execute, with_a_palette

    write()
    known = ready(catalogue(WORDS))
    os.environ["PYTHONPATH"] = written_first()
    FIGURES.mkdir(exist_ok=True)
    for name in (name for name in outdated() if name in chosen):
        path = TREE / pages()[name].relative_to(ROOT)
        notebook = nbformat.read(path, as_version=4)
        execute(notebook, path, timeout=1200)
        pictures = drawn()
        for english, chinese in zip(
            figures(read_notebook(pages()[name])), figures(notebook), strict=True
        ):
            if (texts := chinese["metadata"].get("capsnet_words")) is None:
                raise SystemExit(
                    "matplotlib finds no font with Chinese: install one (fonts-noto-cjk, on Debian)"
                )
            said = {words.message(text) for text in texts}
            pictures[digest(english)] = {
                one: known.get(one, one) for one in said if is_said(one) or CHINESE.search(one)
            }
            for end, png in (
                ("", chinese["data"]["image/png"]),
                ("-phone", chinese["metadata"].get(PHONE)),
            ):
                if png and any(CHINESE.search(one) for one in pictures[digest(english)].values()):
                    data = base64.b64decode(with_a_palette(png, (16, 32, 64)))
                    (FIGURES / f"{digest(english)}{end}.png").write_bytes(data)
        keep_pictures(pictures)
        print(f"{name}: drawn", flush=True)


def keep_pictures(pictures: dict[str, dict[str, str]]) -> None:
    """Write down what was drawn, and drop what no page shows any more."""
    shown = {digest(figure) for path in pages().values() for figure in figures(read_notebook(path))}
    kept = {key: pictures[key] for key in sorted(shown & pictures.keys())}
    DRAWN.write_text(
        json.dumps(kept, indent=1, ensure_ascii=False, sort_keys=True) + "\n", encoding="utf-8"
    )
    for path in FIGURES.glob("*.png"):
        if path.stem.removesuffix("-phone") not in shown:
            path.unlink()


def with_pictures(text: str) -> str:
    """A notebook with the Chinese pictures of its figures, and a set-up cell that finds the Chinese book."""
    notebook = json.loads(text)
    for figure in figures(notebook):
        wide, phone = (FIGURES / f"{digest(figure)}{end}.png" for end in ("", "-phone"))
        if wide.exists():
            figure["data"]["image/png"] = base64_of(wide)
        if phone.exists():
            figure["metadata"][PHONE] = base64_of(phone)
    stills = chinese_network_stills()
    for cell in notebook["cells"]:
        for output in cell.get("outputs", ()):
            png = output.get("data", {}).get("image/png")
            if png in stills:
                output["data"]["image/png"] = stills[png]
        if "needs = {" in (source := "".join(cell["source"])):
            cell["source"] = source + SPEAKS_CHINESE.rstrip()
    return json.dumps(notebook, indent=1, ensure_ascii=False) + "\n"


@cache
def chinese_network_stills() -> dict[str, str]:
    """Return the English pictures of the network and their Chinese forms, PNG in base64."""
    stills = {}
    for english in NETWORKS.glob("*.png"):
        chinese = STILLS / english.name
        if chinese.exists():
            stills[base64_of(english)] = base64_of(chinese)
    return stills


def base64_of(path: Path) -> str:
    """Return a file's bytes in base64."""
    return base64.b64encode(path.read_bytes()).decode()


# --- catalogues


def pages() -> dict[str, Path]:
    """The pages of the book, by their catalogue's name: solutions/04-squash is "solutions-04-squash"."""
    contents = (ROOT / "_toc.yml").read_text(encoding="utf-8")
    found = {}
    for page in re.findall(r"(?:root|file): book/(\S+)", contents):
        path = next(
            ROOT / "book" / f"{page}{suffix}"
            for suffix in (".ipynb", ".md")
            if (ROOT / "book" / f"{page}{suffix}").exists()
        )
        found[page.removeprefix("chapters/").replace("/", "-")] = path
    return found


def messages(name: str) -> Catalog:
    """What a page says, or the scripts: a catalogue without translations."""
    catalog = Catalog(LANGUAGE, fuzzy=False)
    if name == INTERFACE:
        for file, literal in sentences():
            catalog.add(literal, locations=[(file, None)])  # type: ignore[list-item]
        for message in entries(
            catalogue(name)
        ):  # entered by hand: these stay, and `check` says when one is lost
            if not (message.locations[0][0].endswith(".js") and is_lost(message)):
                catalog.add(message.id, locations=message.locations)
        return catalog
    for page, path in pages().items():

        def note(kind: str, text: str, page: str = page) -> None:
            if kind == "output" and name == WORDS:
                catalog.add(words.message(text), auto_comments=[page])
            elif kind != "output" and name == page:
                catalog.add(text, auto_comments=[kind])

        if name == page or (name == WORDS and page not in ENGLISH_PAGES):
            rewritten(path.read_text(encoding="utf-8"), path.suffix, note)
    for text in sorted(
        {text for says in drawn().values() for text in says if is_said(text)}
        if name == WORDS
        else ()
    ):
        catalog.add(text, auto_comments=["in a figure"])
    return catalog


def catalogue(name: str) -> Catalog:
    """A page's stored catalogue. Of a translator's comments the exceptions to the terms alone are kept."""
    path = CATALOGUES / f"{name}.po"
    if not path.exists():
        return Catalog(LANGUAGE, fuzzy=False)
    with path.open("rb") as stream:
        stored = read_po(stream, LANGUAGE)
    for message in stored:  # Babel takes what it wrote of an outdated message for comments
        message.user_comments = [
            each for each in message.user_comments if each.startswith("terms:")
        ]
    return stored


def entries(catalog: Catalog) -> Iterator[Message]:
    return (message for message in catalog if message.id)


def ready(catalog: Catalog) -> dict[str, str]:
    """English -> translation, of what is translated."""
    return {
        str(message.id): str(message.string)
        for message in entries(catalog)
        if message.string and not message.fuzzy
    }


def is_lost(message: Message) -> bool:
    """Whether a piece of the interface is no longer in its file, or the file is gone."""
    paths = [ROOT / file for file, _ in message.locations]
    return any(
        not path.exists() or str(message.id) not in path.read_text(encoding="utf-8")
        for path in paths
    )


def update(name: str, known: dict[str, str]) -> None:
    """Bring a catalogue up to date. What another page has translated comes along; what was lost goes."""
    stored, template = catalogue(name), messages(name)
    new = len(stored) == 0
    stored.update(template, no_fuzzy_matching=new)
    stored.obsolete.clear()
    for message in entries(stored):
        if message.id in known and (message.fuzzy or not message.string):
            message.string = known[message.id]
            message.flags.discard("fuzzy")
    stored.header_comment = f"# {name}"
    stored.project, stored.version, stored.language_team = "Capsule networks, live", "", LANGUAGE
    stored.last_translator = stored.msgid_bugs_address = ""
    stored.creation_date = stored.revision_date = datetime(
        2026, 1, 1, tzinfo=UTC
    )  # Git knows better
    with (CATALOGUES / f"{name}.po").open("wb") as stream:
        write_po(stream, stored, width=0, include_previous=True, include_lineno=False)


def sentences() -> Iterator[tuple[str, str]]:
    """(file, literal) for each string in the scripts that looks like something said to a reader."""
    for path in sorted(path for pattern in SCRIPTS for path in ROOT.glob(pattern)):
        text = path.read_text(encoding="utf-8")
        at = 0
        for token in tokenize(text, jsx=False):
            at = text.index(token.value, at) + len(token.value)
            before = text[text.rfind("\n", 0, at - len(token.value)) + 1 : at - len(token.value)]
            words = re.sub(r"\$\{.*?\}", " X ", token.value[1:-1])
            if (
                token.type in ("string", "template_string")
                and re.search(r"[A-Za-z]{2,}[,:;.]? +[(“]?[A-Za-z]|^[A-Z][a-z]+", words)
                and not re.search(
                    r"\bclass(Name)?: |\bd[,:] |className = |Error\($|\bquery\w*\($", before[-40:]
                )
                and "px" not in words
            ):
                yield path.relative_to(ROOT).as_posix(), token.value


# --- checks


def shape(text: str) -> Counter[str]:
    """What of a message must be in its translation, too: code, formulas, links, pictures, emphasis, numbers."""
    found: Counter[str] = Counter()
    for token in MARKDOWN.parseInline(text)[0].children or ():
        if token.type in ("text", "softbreak"):
            continue
        target = token.attrs.get("href") or token.attrs.get("src") or ""
        content = (
            re.sub(r"^.*<(.*)>$", r"\1", token.content)
            if token.type == "myst_role"
            else token.content
        )
        found[f"{token.type} {content} {target}"] += 1
    return found


def numbers(text: str) -> set[str]:
    return set(re.findall(r"\d+(?:[.,]\d+)*", SPARED.sub(" ", text)))


def terms() -> dict[str, list[str]]:
    """English -> what it may be called, in terms.csv."""
    with (CATALOGUES / "terms.csv").open(encoding="utf-8", newline="") as stream:
        return {row["English"]: row["Chinese"].split("/") for row in csv.DictReader(stream)}


def problems(name: str, vocabulary: dict[str, list[str]]) -> Iterator[str]:
    """What is wrong with a page's translations, in a line each."""
    for message in entries(catalogue(name)):
        if not message.string or message.fuzzy or message.string == message.id:
            continue
        english, chinese = str(message.id), str(message.string)
        where = f"{name}: {english[:60]!r}"
        if name == INTERFACE:
            if is_lost(message):
                yield f"{where}: not in {message.locations[0][0]} any more"
            if unknown := holes(chinese) - holes(english):
                yield f"{where}: names in ${{…}} that the English has not: {', '.join(unknown)}"
            if english[0] in "\"'`" and (chinese[0], chinese[-1]) != (english[0], english[-1]):
                yield f"{where}: other quotation marks at its ends"
            continue
        if name == WORDS and english.count("#") != chinese.count("#"):
            yield f"{where}: another number of #"
        if (one := shape(english)) != (other := shape(chinese)):
            yield f"{where}: lacks {[*(one - other)]}, has besides {[*(other - one)]}"
        if english.count("|") != chinese.count("|"):
            yield f"{where}: another number of columns, or of |"
        if lacking := numbers(english) - numbers(chinese):
            yield f"{where}: lacks the numbers {', '.join(sorted(lacking))}"
        said, left = SPARED.sub(" ", english), SPARED.sub(".", chinese)
        spared = " ".join(message.user_comments)
        for title in re.findall(r"(?<!\*)\*[^*]+\*", english):  # a paper's title stays English
            if title in chinese:
                said, left = said.replace(title, " "), left.replace(title, ".")
        for term in sorted(vocabulary, key=len, reverse=True):
            said, times = re.subn(
                rf"(?<![\w-]){re.escape(term)}(?:s|es)?(?![\w-])", " ", said, flags=re.IGNORECASE
            )
            if (
                times
                and not any(each in chinese for each in vocabulary[term])
                and f"terms: {term}" not in spared
            ):
                yield f"{where}: {term} is {' or '.join(vocabulary[term])}"
        if found := re.search(r"(?:\b[A-Za-z]{2,}[ ,]+){4,}", left):
            yield f"{where}: English is left: {found[0]!r}"
        if found := re.search(
            r"[\u4e00-\u9fff][,;:?!]|[\u4e00-\u9fff]\.(?!\w)", SPARED.sub("", chinese)
        ):
            yield f"{where}: half-width punctuation: {found[0]!r}"


def holes(script: str) -> set[str]:
    """The names that a literal's ${…} use."""
    code = " ".join(re.findall(r"\$\{([^}]*)", script))
    return set(re.findall(r"[A-Za-z_]\w*", re.sub(r'"[^"]*"', "", code)))


# --- the Chinese tree


def write(tree: Path = TREE) -> None:
    """Write the pages, and all that a build of them needs, where anything of it changed."""
    headings: dict[str, list[str]] = {}
    translated = {path: name for name, path in pages().items()}
    interface, said = ready(catalogue(INTERFACE)), ready(catalogue(WORDS))
    pieces: dict[str, list[tuple[str, str]]] = {}
    for message in entries(catalogue(INTERFACE)):
        for file, _ in message.locations if message.id in interface else ():
            pieces.setdefault(file, []).append((str(message.id), interface[str(message.id)]))
    for path in needed():
        relative = path.relative_to(ROOT).as_posix()
        data = path.read_bytes()
        if path in translated:
            page = relative.rpartition(".")[0]
            headings[page] = []
            name = translated[path]
            prints = {} if name in ENGLISH_PAGES else said
            data = in_chinese(
                data.decode(), path.suffix, ready(catalogue(name)), prints, headings[page]
            ).encode()
        for english, chinese in sorted(pieces.get(relative, ()), key=lambda pair: -len(pair[0])):
            data = data.replace(english.encode(), chinese.encode())
        if relative == "_config.yml":
            data = data.replace(
                b"\n  config:\n", f"\n  config:\n    language: {LANGUAGE}\n".encode()
            )
        if path.parent.name == STILLS.name and (chinese_still := STILLS / path.name).exists():
            data = chinese_still.read_bytes()
        put(tree / relative, data)
    put(tree / HEADINGS, json.dumps(headings, indent=1).encode())
    put(
        tree / words.WORDS.relative_to(ROOT),
        json.dumps(said, indent=1, ensure_ascii=False).encode(),
    )


def in_chinese(
    text: str, suffix: str, known: dict[str, str], said: dict[str, str], headings: list[str]
) -> str:
    """A page with its messages translated; its English headings, without marks, go into the list."""

    def say(kind: str, english: str) -> str | None:
        if kind == "heading":
            tokens = MARKDOWN.parseInline(english)[0].children or ()
            headings.append("".join(token.content for token in tokens))
        if kind == "output":
            return words.translated(english, said)
        return CLINGS.sub("\N{WORD JOINER}", known[english]) if english in known else None

    return (
        with_pictures(rewritten(text, suffix, say))
        if suffix == ".ipynb"
        else rewritten(text, suffix, say)
    )


def needed() -> Iterator[Path]:
    """The files of the book's source."""
    for name in NEEDED:
        for path in sorted((ROOT / name).rglob("*")) if (ROOT / name).is_dir() else [ROOT / name]:
            parts = path.relative_to(ROOT)
            if path.is_file() and not any(
                parent.match(pattern)
                for pattern in NOT_NEEDED
                for parent in (parts, *parts.parents)
            ):
                yield path


def put(path: Path, data: bytes) -> None:
    """Write a file, unless it is so already: what Sphinx finds unchanged it does not read again."""
    if not path.exists() or path.read_bytes() != data:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


def book(tree: Path = TREE, published: Path = HTML) -> int:
    """Build the tree with every warning an error, with the widgets as it has them, and publish the pages."""
    write(tree)
    command = shutil.which("jupyter-book", path=str(Path(sys.executable).parent)) or "jupyter-book"
    arguments = ["build", ".", "-q", "-W", "-n", "--keep-going"]
    status = subprocess.run(
        [command, *arguments],
        cwd=tree,
        env=os.environ | {"PYTHONPATH": written_first(tree)},
        check=False,
    ).returncode
    if status == 0:
        shutil.copytree(tree / "_build" / "html", published, dirs_exist_ok=True)
        print(f"The Chinese book is in {published}/index.html")
    return status


def written_first(tree: Path = TREE) -> str:
    """A PYTHONPATH with which a kernel, or Sphinx, finds the widgets and figures of the tree."""
    return os.pathsep.join([str(tree), str(tree / "book"), os.environ.get("PYTHONPATH", "")])


def english_left(page: Path) -> list[str]:
    """Four or more English words in a row on a built page, that are neither code nor a title, nor marked as English."""
    article = BeautifulSoup(page.read_text(encoding="utf-8"), "html.parser").select_one(
        "article.bd-article"
    )
    for part in article.select(SAID_IN_ENGLISH) if article else ():
        part.decompose()
    return ENGLISH_RUN.findall(article.get_text("\n")) if article else []


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("command", choices=["update", "list", "check", "write", "figures", "book"])
    parser.add_argument("pages", nargs="*", help="names of catalogues (default: all)")
    parser.add_argument("--all", action="store_true", help="list each message, not only how many")
    options = parser.parse_args()
    every = [INTERFACE, WORDS, *pages()]
    chosen = options.pages or every
    if unknown := set(chosen) - set(every):
        parser.error(f"no catalogue is called {', '.join(unknown)}; there are {', '.join(every)}")
    if options.command == "update":
        known = {
            english: said for name in every for english, said in ready(catalogue(name)).items()
        }
        for name in chosen:
            update(name, known)
    elif options.command == "list":
        return listed(chosen, options.all)
    elif options.command == "check":
        found = [problem for name in chosen for problem in problems(name, terms())]
        print("\n".join(found))
        return bool(found)
    elif options.command == "write":
        write()
    elif options.command == "figures":
        draw(chosen)
    else:
        return book()
    return 0


def listed(chosen: list[str], each: bool) -> int:
    """Print how much of a catalogue is translated; its messages that are not."""
    total = missing = 0
    for name in chosen:
        wanted, known = (
            [str(message.id) for message in entries(messages(name))],
            ready(catalogue(name)),
        )
        lacking = [message for message in wanted if message not in known]
        total, missing = total + len(wanted), missing + len(lacking)
        print(f"{len(wanted) - len(lacking):5} of {len(wanted):4}  {name}")
        for message in lacking if each else ():
            print(f"        {message}")
    print(f"{total - missing:5} of {total:4} messages are translated")
    if old := outdated():
        print(f"Figures to draw: {', '.join(f'{count} of {name}' for name, count in old.items())}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
