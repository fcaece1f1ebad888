"""A file is replaced whole or left as it was."""

import json
import os
from pathlib import Path

import pytest

from hybonet.files import sealed, unsealed, write_atomically


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


SEALED = json.dumps(sealed({"dim": 32, "shares": [0.5], "source": "a" * 64}))


@pytest.mark.parametrize("damaged", [SEALED.replace("32", "33"), SEALED[:-3] + 'z"}', SEALED.replace("a" * 9, "b" * 9)])
@pytest.mark.parametrize("name", ["sha256", "sha254", "rha357"])
def test_content_is_not_taken_for_another_where_the_checksums_name_is_damaged_too(damaged: str, name: str) -> None:
    with pytest.raises(ValueError, match="changed or damaged"):
        unsealed(json.loads(damaged.replace("sha256", name)), "record.json")


def test_a_damaged_name_of_the_checksum_alone_is_noticed() -> None:
    with pytest.raises(ValueError, match="changed or damaged"):
        unsealed(json.loads(SEALED.replace("sha256", "checks")), "record.json")


def test_what_was_never_sealed_is_as_it_is() -> None:
    content = {"dim": 32, "shares": [0.5], "source": "a" * 64}
    assert unsealed(content, "record.json") == content
