"""What the book's settings say, in Chinese; all else of the files stays."""

from __future__ import annotations

from tools.translation.settings import setting_messages, with_settings

FILE = """\
title: Capsules  # of the book
author: Somebody
parts:
  - caption: Build it
    chapters:
      - file: book/title
    nb_code_prompt_show: Show
"""


def test_titles_and_captions_are_translated_and_nothing_else() -> None:
    dictionary = {"Capsules": "胶囊", "Build it": "动手搭建", "book/title": "不", "Show": "显示"}

    assert with_settings(FILE, dictionary) == FILE.replace("Capsules", "胶囊").replace(
        "Build it", "动手搭建"
    ).replace(": Show", ": 显示")


def test_the_captions_of_the_parts_are_messages() -> None:
    messages = list(setting_messages())

    assert ("_toc.yml", "Build it") in messages
    assert not any("#" in words for _, words in messages)
