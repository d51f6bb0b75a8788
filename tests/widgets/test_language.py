"""The language of what widgets say: `shared/t.js` and the catalogue that it looks in."""

from __future__ import annotations

import pytest
from capsnet_book import words
from capsnet_book.widgets import _parts, _sources

CATALOGUE = 'const capsnetWords = { "{0} of {1} right": "{1} 个中对 {0} 个" };\n'
SAY = """
const right = m.t`${7} of ${10} right`;
return [right, m.t`It is not
  in the catalogue: ${"$1"}.`, m.t`toString`];
"""


@pytest.mark.parametrize(
    ("catalogue", "sentence"), [("", "7 of 10 right"), (CATALOGUE, "10 个中对 7 个")]
)
def test_a_sentence_is_looked_up_and_takes_its_values(
    evaluate, tmp_path, catalogue: str, sentence: str
) -> None:
    (tmp_path / "t.mjs").write_text(catalogue + _sources.module("shared/t.js"), encoding="utf-8")
    sentences = evaluate(SAY, m=str(tmp_path / "t.mjs"))
    assert sentences == [sentence, "It is not in the catalogue: $1.", "toString"]


def test_a_widget_of_a_chinese_notebook_brings_its_catalogue(
    evaluate, tmp_path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A table of sentences is made when its module is loaded: the catalogue is there before."""
    monkeypatch.setattr(words, "_language", "zh_CN")
    (tmp_path / "sets.mjs").write_text(_parts.module("playground/sets.js"), encoding="utf-8")
    assert evaluate("return m.SETS.digits.title;", m=str(tmp_path / "sets.mjs")) == "数字"
