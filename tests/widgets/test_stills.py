"""The still pictures beneath widgets: which, and in which notebooks."""

from __future__ import annotations

from typing import Any

import pytest
from _ext.widgets.storage import drop_stills_of_a_server
from capsnet_book import stills
from capsnet_book.widgets import Choose, SquashVector


@pytest.fixture
def displayed(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """What a notebook displays beside its results."""
    bundles: list[dict[str, Any]] = []
    monkeypatch.setattr("IPython.display.display", lambda data, raw: bundles.append(data))
    return bundles


def test_a_server_gets_the_still_of_the_widgets_look(
    monkeypatch: pytest.MonkeyPatch, displayed: list[dict[str, Any]]
) -> None:
    monkeypatch.setenv("JPY_SESSION_NAME", "04-squash.ipynb")
    for widget in (SquashVector(), Choose("squash")):
        bundle, _ = widget._repr_mimebundle_()
        assert "application/vnd.jupyter.widget-view+json" in bundle
    assert ["SquashVector" in data["text/html"] for data in displayed] == [True, False]
    assert ["Choose-squash" in data["text/html"] for data in displayed] == [False, True]


def test_without_a_server_nothing_is_added(
    monkeypatch: pytest.MonkeyPatch, displayed: list[dict[str, Any]]
) -> None:
    monkeypatch.delenv("JPY_SESSION_NAME", raising=False)
    SquashVector()._repr_mimebundle_()
    assert displayed == []


def test_a_stored_notebook_keeps_none() -> None:
    picture = stills.still("SquashVector")
    assert picture is not None
    added = {"data": {"text/html": stills.figure("SquashVector", picture)}}
    own = {"data": {"text/html": "<b>bold</b>"}}
    notebook = {"cells": [{"outputs": [added, own]}, {"cell_type": "markdown"}]}
    drop_stills_of_a_server(notebook)
    assert notebook["cells"][0]["outputs"] == [own]
