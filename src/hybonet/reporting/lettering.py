"""Names in pictures as they are: no markup, no control characters, and fonts that have their letters."""

from __future__ import annotations

import unicodedata
import warnings
from functools import lru_cache
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from matplotlib.text import Text

#: Drawn in the place of what cannot be drawn.
_BOX = "\u25a1"
#: Characters that turn the direction of all that follows.
_TURNS = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
#: Fonts that have boxes or signs for everything, or letters of another make.
_ODD = ("last resort", "stix", "cm", "math", "mono", "display", "emoji", "serif", "condensed", "light")
#: What could not be drawn of texts.
_MISSING: WeakKeyDictionary[Text, frozenset[str]] = WeakKeyDictionary()
_LAST = 400  # fonts beyond which none is looked into


def printable(text: str) -> str:
    r"""Text in which control characters, half characters and turns of direction are boxes; line breaks stay.

    Example:
        >>> printable("caf\u00e9 \x1b[31mred\u202e"), printable("two\nlines")
        ('café □[31mred□', 'two\nlines')
    """
    return "".join(
        _BOX if each in _TURNS or (each != "\n" and unicodedata.category(each) in ("Cc", "Cs")) else each
        for each in text
    )


def dress(text: Text) -> set[str]:
    """Let a text of matplotlib be drawn as it is written, and return the characters that no installed font has.

    ``$`` starts no formula, and fonts that have the letters follow the text's own.
    """
    text.set_parse_math(False)
    written = printable(text.get_text())
    families, missing = _fonts_for(frozenset(each for each in written if ord(each) > 0x24F))
    if families:
        text.set_fontfamily([*text.get_fontfamily(), *families])
        text.set_fontweight("normal")  # few of them are there in bold
    text.set_text("".join(_BOX if each in missing else each for each in written))
    _MISSING[text] = _MISSING.get(text, frozenset()) | missing  # it may have been dressed before
    return set(_MISSING[text])


def dress_all(figure: Figure) -> None:
    """The same for everything in a figure; warns of letters that are missing."""
    from matplotlib.text import Text

    missing = set[str]().union(*(dress(each) for each in figure.findobj(Text)))
    if missing:
        shown = " ".join(sorted(missing)[:8])
        scripts = ", ".join(sorted({unicodedata.name(each, "unknown").split()[0].lower() for each in missing})[:3])
        warnings.warn(
            f"no installed font has {len(missing)} of the characters of the picture ({scripts}: {shown}), which are "
            f"drawn as {_BOX}; install one that has them, such as those of Noto (Debian: fonts-noto)",
            stacklevel=3,
        )


@lru_cache(maxsize=1024)
def _fonts_for(characters: frozenset[str]) -> tuple[tuple[str, ...], frozenset[str]]:
    """Families of installed fonts that have characters which matplotlib's own font lacks, and what none has."""
    missing = {each for each in characters if ord(each) not in _letters(_own())}
    families: list[str] = []
    for path, name in _installed() if missing else ():
        found = {each for each in missing if ord(each) in _letters(path)}
        if found:
            families.append(name)
            missing -= found
        if not missing:
            break
    return tuple(families), frozenset(missing)


def _own() -> str:
    from matplotlib.font_manager import FontProperties, findfont

    return findfont(FontProperties())


@lru_cache(maxsize=1)
def _installed() -> list[tuple[str, str]]:
    """Files and families of upright fonts of ordinary weight, those made for many scripts first."""
    from matplotlib.font_manager import findSystemFonts, fontManager

    known = {each.fname for each in fontManager.ttflist}
    for path in findSystemFonts():
        if path not in known:  # installed since matplotlib made its list
            try:
                fontManager.addfont(path)
            except (RuntimeError, OSError, ValueError):  # a damaged file
                continue
    fonts = {
        each.name: each.fname
        for each in fontManager.ttflist
        if each.style == "normal" and each.weight in (400, "normal", "regular")
    }
    names = [name for name in fonts if not any(odd in name.lower() for odd in _ODD)]
    names.sort(key=lambda name: ("Noto Sans" not in name, "CJK" not in name, name))
    return [(fonts[name], name) for name in names[:_LAST]]


@lru_cache(maxsize=_LAST + 1)
def _letters(path: str) -> frozenset[int]:
    """The characters of a font, by number."""
    from matplotlib.ft2font import FT2Font

    return frozenset(FT2Font(path).get_charmap())
