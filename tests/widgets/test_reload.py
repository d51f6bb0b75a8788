"""_reload.py: in development a widget's source is a file that follows its own files."""

from __future__ import annotations

from pathlib import Path

import pytest
from capsnet_book.widgets import _parts, _reload, _sources


@pytest.fixture
def copies(monkeypatch, tmp_path):
    """Copies in a folder of the test, which no thread watches."""
    monkeypatch.setattr(_reload, "_copies", {})
    monkeypatch.setattr(_reload, "_folder", lambda: tmp_path)


def test_a_widget_is_a_path_in_development_and_text_otherwise(copies, monkeypatch):
    text = _sources.module("squash_vector.js")
    assert _parts.module("squash_vector.js") == text
    monkeypatch.setattr(_reload, "is_developing", lambda: True)
    path = _parts.module("squash_vector.js")
    assert isinstance(path, Path)
    assert path.read_text(encoding="utf-8") == text
    assert _parts.stylesheet("squash_vector.css").suffix == ".css"


def test_a_copy_follows_its_sources_and_outlives_a_mistake(copies, capsys):
    texts = ["first", "second"]
    path = _reload.joined_copy("widget.js", lambda: texts.pop(0))
    assert path.read_text(encoding="utf-8") == "first"
    _reload.refresh_copies()
    assert path.read_text(encoding="utf-8") == "second"

    def half_edited() -> str:
        raise ValueError("expected exports of declarations; got half a line")

    _reload._copies[path] = half_edited
    _reload.refresh_copies()
    assert path.read_text(encoding="utf-8") == "second"
    assert "half a line" in capsys.readouterr().err


def test_anywidgets_own_switch_decides(monkeypatch):
    monkeypatch.setattr(_reload, "find_spec", lambda name: name)
    monkeypatch.delenv("ANYWIDGET_HMR", raising=False)
    assert not _reload.is_developing()
    monkeypatch.setenv("ANYWIDGET_HMR", "1")
    assert _reload.is_developing()
