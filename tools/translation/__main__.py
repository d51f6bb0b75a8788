"""The command line: `python -m tools.translation COMMAND [page …]`."""

from __future__ import annotations

import argparse
import re
import sys

from .catalogues import entries, stored_catalogue, translations
from .paths import catalogue_names
from .sharing import share
from .tree import build, write

COMMANDS = """
update    bring the catalogues of the pages up to date with the English
list      print what is not translated, or not since its English changed
check     print what differs that must be the same, and terms that are not the book's
write     write the Chinese pages, with all that they need, into _build/zh_CN
figures   run these, for the pictures of figures that are outdated
book      build these into _build/html/zh_CN
share     let these take the files that the English book beside them has, too
"""


def main() -> int:
    """Run a command; return the exit status."""
    names = catalogue_names()
    parser = argparse.ArgumentParser(
        prog="python -m tools.translation",
        description="The book in Chinese, from catalogues over the English source.",
        epilog=COMMANDS,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("command", choices=re.findall(r"^\w+", COMMANDS, re.MULTILINE))
    parser.add_argument("pages", nargs="*", help="names of catalogues (default: all)")
    parser.add_argument("--all", action="store_true", help="list each message, not only how many")
    options = parser.parse_args()
    chosen = options.pages or names
    unknown = set(chosen) - set(names)
    if unknown:
        parser.error(f"no catalogue is called {', '.join(unknown)}; there are {', '.join(names)}")
    return run(options.command, chosen, options.all)


def run(command: str, chosen: list[str], list_all: bool) -> int:
    """Run a command on these catalogues; return the exit status."""
    match command:
        case "update":
            update_all(chosen)
        case "list":
            print_missing(chosen, list_all)
        case "check":
            return check(chosen)
        case "write":
            write()
        case "figures":
            from .drawing import draw  # needs Jupyter

            draw(chosen)
        case "book":
            return build()
        case "share":
            share()
    return 0


def update_all(chosen: list[str]) -> None:
    """Bring catalogues up to date, with what any of them has translated."""
    from .current import update  # needs a parser of scripts, as the next two do

    dictionary: dict[str, str] = {}
    for name in catalogue_names():
        dictionary |= translations(stored_catalogue(name))
    for name in chosen:
        update(name, dictionary)


def print_missing(chosen: list[str], list_all: bool) -> None:
    """Print how much of each catalogue is translated; with `list_all` the messages that are not."""
    from .current import current_catalogue

    total = missing = 0
    for name in chosen:
        messages = [str(message.id) for message in entries(current_catalogue(name))]
        dictionary = translations(stored_catalogue(name))
        untranslated = [message for message in messages if message not in dictionary]
        total += len(messages)
        missing += len(untranslated)
        print(f"{len(messages) - len(untranslated):5} of {len(messages):4}  {name}")
        if list_all:
            for message in untranslated:
                print(f"        {message}")
    print(f"{total - missing:5} of {total:4} messages are translated")
    print_outdated_figures()


def print_outdated_figures() -> None:
    """Print which figures are to be drawn."""
    from .drawing import outdated  # needs Jupyter

    counts = outdated()
    if counts:
        figures = ", ".join(f"{count} of {name}" for name, count in counts.items())
        print(f"Figures to draw: {figures}")


def check(chosen: list[str]) -> int:
    """Print the problems of the translations; return 1 if there are some."""
    from .checks import problems, terms

    vocabulary = terms()
    lines = [problem for name in chosen for problem in problems(name, vocabulary)]
    print("\n".join(lines))
    return int(bool(lines))


if __name__ == "__main__":
    sys.exit(main())
