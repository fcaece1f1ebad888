"""A file is replaced whole or left as it was."""

import os
from pathlib import Path

import pytest

from hybonet.files import write_atomically


def test_a_write_that_fails_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "note.txt"
    path.write_text("old")

    def write(target: Path) -> None:
        target.write_text("half of the n")
        raise RuntimeError("the disk is full")

    with pytest.raises(RuntimeError, match="full"):
        write_atomically(path, write)
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["note.txt"]
