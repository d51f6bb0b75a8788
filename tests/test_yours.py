"""The reader's own functions, kept by a chapter and run by the training."""

from __future__ import annotations

import linecache

import pytest
import torch
from capsnet_book import yours

from capsnet_check import check_routing, check_squash
from capsnet_tutorial import functional

SQUASH = """\
def squash(s, dim=-1, eps=1e-8):
    squared = (s * s).sum(dim, keepdim=True).clamp_min(eps**2)
    return squared / (1 + squared) * s / squared.sqrt()
"""
ROUTE = """\
def route(u_hat, iterations=3):
    b = u_hat.new_zeros(u_hat.shape[:3])
    for _ in range(iterations):
        c = b.softmax(dim=2)
        v = squash(torch.einsum("bij,bije->bje", c, u_hat))
        b = b + agreement(u_hat, v)
    return v
"""


def written_in_a_cell(source, name):
    """Return the function of a cell, with its source where a kernel puts it."""
    file = f"<cell of {name}>"
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    names = yours._names()
    exec(compile(source, file, "exec"), names)
    return names[name]


@pytest.fixture(autouse=True)
def in_an_empty_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def test_right_functions_are_kept_and_found_again():
    squash = written_in_a_cell(SQUASH, "squash")
    route = written_in_a_cell(ROUTE, "route")
    assert yours.keep_mine(check_squash(squash), squash)
    assert yours.keep_mine(check_routing(route), route)
    kept = yours.kept_functions()
    assert set(kept) == {"squash", "route"}
    u_hat = torch.randn(2, 5, 3, 4)
    assert torch.allclose(kept["route"](u_hat), functional.route(u_hat), atol=1e-6)


def test_a_wrong_function_is_not_kept():
    wrong = written_in_a_cell(SQUASH.replace("1 + squared", "2 + squared"), "squash")
    assert not yours.keep_mine(check_squash(wrong), wrong)
    assert yours.kept_functions() == {}


def test_a_kept_function_that_was_spoilt_is_not_used():
    yours.FILE.write_text(SQUASH.replace("1 + squared", "2 + squared"))
    assert yours.kept_functions() == {}
    yours.FILE.write_text("def squash(s:")
    assert yours.kept_functions() == {}
