"""What hybonet stands on may be used by everybody."""

import re

from scripts.licences import PAGE, pinned


def test_every_pinned_package_has_a_licence_that_asks_for_nothing():
    rows = dict(re.findall(r"^\| (\S+) \| \S+ \| (.+) \|$", PAGE.read_text(), re.MULTILINE))
    rows.pop("Package", None)
    missing = pinned().keys() - rows.keys() - {"hypll"}  # which only the benchmarks need
    assert not missing, "run python scripts/licences.py where these are installed"
    odd = {name: said for name, said in rows.items() if re.search(r"\bA?GPL|not said|Proprietary", said)}
    assert odd == {}
