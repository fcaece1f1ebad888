"""What hybonet stands on may be used by everybody."""

import re

import pytest
from packaging.utils import canonicalize_name

from scripts.licences import PAGE, ROOT, pinned


def test_every_pinned_package_has_a_licence_that_asks_for_nothing():
    rows = dict(re.findall(r"^\| (\S+) \| \S+ \| (.+) \|$", PAGE.read_text(), re.MULTILINE))
    rows.pop("Package", None)
    missing = pinned().keys() - rows.keys() - {"hypll"}  # which only the benchmarks need
    assert not missing, "run python scripts/licences.py where these are installed"
    odd = {name: said for name, said in rows.items() if re.search(r"\bA?GPL|not said|Proprietary", said)}
    assert odd == {}


@pytest.mark.parametrize("name", ["demo", "test", "torch-cpu"])
def test_what_is_installed_has_checksums_of_the_pinned_versions(name):
    versions = {canonicalize_name(package): version for package, version in pinned().items()}
    listed = re.findall(
        r"^(\S+)==([^\s+]+).*((?:\n    --hash=sha256:[0-9a-f]{64}.*)+)", (ROOT / f"hashes/{name}.txt").read_text(), re.M
    )
    assert {package: version for package, version, _ in listed}.items() <= versions.items(), "run scripts.hashes"
    if name == "test":
        assert versions.keys() - {package for package, *_ in listed} == {"hypll"}
