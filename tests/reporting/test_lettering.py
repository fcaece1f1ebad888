"""Names in pictures: drawn as they are written, whatever is in them."""

import warnings

import pytest
import torch

from hybonet.data import Hierarchy
from hybonet.geometry import Lorentz
from hybonet.reporting import lettering
from hybonet.reporting.charts import draw_groups, draw_relation_bars
from hybonet.reporting.disk import draw_disk

#: A formula that is none, markup, control characters, half a pair, right to left, combining marks, other planes.
NASTY = [
    r"$\frac{1$",
    "[bold]x[/nope]",
    "\x1b[31mred\x07",
    "\ud83d",
    "שלום\u202eolleh",
    "日本語",
    "हिन्दी",
    "𝔘𝔫𝔦",
    "50 $ to 60 $",
    "",
]


@pytest.mark.parametrize("picture", ["bars", "groups", "disk"])
@pytest.mark.filterwarnings("ignore:no installed font")
def test_no_name_breaks_a_picture(picture, tmp_path):
    path = tmp_path / "picture.png"
    with warnings.catch_warnings():
        warnings.filterwarnings("error", message="Glyph")
        if picture == "bars":
            rows = {f"{name}{place}": {"mrr": 0.5, "count": 2.0, "category": "1-1"} for place, name in enumerate(NASTY)}
            draw_relation_bars(rows, path, title=NASTY[0], dpi=40)
        elif picture == "groups":
            group = torch.arange(len(NASTY)).repeat(6)
            draw_groups(torch.rand(len(group), 2) - 0.5, group, NASTY, path, title=NASTY[0], note=NASTY[1], dpi=40)
        else:
            tree = Hierarchy.from_edges([(f"n{place}", "root") for place in range(len(NASTY))])
            points = Lorentz().random_normal(len(tree), 3)
            draw_disk(points, tree, Lorentz(), path, title=NASTY[0], note=NASTY[4], shown=["root", *NASTY], dpi=40)
    assert path.stat().st_size > 1000


def test_letters_that_no_font_has_are_said(monkeypatch, tmp_path):
    monkeypatch.setattr(lettering, "_installed", list)
    lettering._fonts_for.cache_clear()
    rows = {"हिन्दी": {"mrr": 0.5, "count": 2.0, "category": "1-1"}}
    with pytest.warns(UserWarning, match="no installed font has .*devanagari.* install one"):
        draw_relation_bars(rows, tmp_path / "bars.png", title="", dpi=40)
    lettering._fonts_for.cache_clear()


def test_a_font_that_has_the_letters_follows_the_texts_own(monkeypatch):
    from matplotlib.text import Text

    monkeypatch.setattr(lettering, "_installed", lambda: [("one", "One"), ("two", "Two"), ("three", "Three")])
    own = {"one": {0x0416}, "two": {0x65E5, 0x672C}, "three": {0x65E5}}
    monkeypatch.setattr(lettering, "_letters", lambda path: own.get(path, {0x416}))
    lettering._fonts_for.cache_clear()
    text = Text(0, 0, "Ж 日本 ∀")
    assert lettering.dress(text) == {"∀"}
    assert text.get_fontfamily()[-1] == "Two"
    assert text.get_text() == "Ж 日本 □"
    lettering._fonts_for.cache_clear()
