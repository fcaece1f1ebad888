"""The script that makes the shipped hierarchy, on a WordNet of six synsets."""

import lzma
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[3] / "scripts" / "build_wordnet_hierarchy.py"
pytestmark = pytest.mark.skipif(not SCRIPT.exists(), reason="scripts are not part of an installed package")

DATA = """\
  1 This software and database is being provided to you
00000001 05 n 01 animal 0 000 | a living organism
00000002 05 n 02 mammal 0 mammalian 0 001 @ 00000001 n 0000 | warm-blooded | vertebrate
00000003 05 n 01 Dog 0 002 @ 00000002 n 0000 #m 00000009 n 0000 | barks
00000004 18 n 01 dog 0 001 @ 00000006 n 0000 | a fellow
00000005 05 n 01 Laika 0 001 @i 00000003 n 0000 | was the first in orbit
00000006 18 n 01 person 0 001 @ 00000001 n 0000 | human
00000007 05 n 01 tusker 0 001 @ 00000002 n 0000 | has tusks
"""
INDEX = """\
  1 This software and database is being provided to you
animal n 1 0 1 0 00000001
dog n 2 2 @ #m 2 1 00000003 00000004
laika n 1 1 @i 1 0 00000005
mammal n 1 1 @ 1 1 00000002
person n 1 1 @ 1 1 00000006
tusker n 1 1 @ 1 0 00000007
"""


def run(*arguments: Path | str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, str(SCRIPT), *map(str, arguments)], capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize("packed", [False, True])
def test_edges_below_mammal(tmp_path: Path, packed: bool) -> None:
    for name, text in (("data.noun", DATA), ("index.noun", INDEX)):
        if packed:
            (tmp_path / f"{name}.xz").write_bytes(lzma.compress(text.encode()))
        else:
            (tmp_path / name).write_text(text)
    out = tmp_path / "edges.tsv"
    done = run(tmp_path, "--out", out)
    assert done.returncode == 0, done.stderr
    assert out.read_text() == "dog.n.01\tmammal.n.01\nlaika.n.01\tdog.n.01\n"


def test_missing_database_is_explained(tmp_path: Path) -> None:
    done = run(tmp_path, "--out", tmp_path / "edges.tsv")
    assert done.returncode == 2
    assert "apt-get install wordnet-base" in done.stderr
    assert not (tmp_path / "edges.tsv").exists()
