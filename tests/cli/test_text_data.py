"""``hybonet data`` on text: corpora, treebanks and mentions by name."""

from pathlib import Path

import pytest

from hybonet.data import named
from tests.cli.staging import run


@pytest.fixture(autouse=True)
def empty_search_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HYBONET_DATA", "")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def test_the_list_has_mentions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def here() -> dict[str, list[str]]:
        return {
            line.split()[0]: line.split() for line in run("data list", tmp_path).output.splitlines() if line.strip()
        }

    assert here()["little-town"][1:] == ["42", "420", "120", "120", "in", "the", "package"]
    assert here()["ufet"][1:] == ["10,331", "1,998", "1,998", "1,998", "no"]
    (tmp_path / "ufet").mkdir()
    for file in named("ufet").files.values():
        (tmp_path / "ufet" / file.name).touch()
    monkeypatch.setattr("hybonet.data.io.search_path.directories", lambda: [tmp_path])
    assert here()["ufet"][-1] == "yes"
    assert run("data path UFET", tmp_path).output.strip() == str(tmp_path / "ufet")
    damaged = run("data show ufet", tmp_path)
    assert damaged.code == 2
    assert "the file was changed or damaged" in damaged.message


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("little-town", ("types: 42", "train: 420 mentions", "sha256 of types.tsv")),
        ("toy", ("train: 600 pairs", "train: 800 sentences")),
    ],
)
def test_text_inside_the_package_is_shown_and_found(name: str, said: tuple[str, ...], tmp_path: Path) -> None:
    shown = run(f"data show {name}", tmp_path)
    assert shown.code == 0, shown.output
    for fragment in said:
        assert fragment in shown.output
    files = [line for line in run(f"data path {name}", tmp_path).output.splitlines() if Path(line).is_absolute()]
    assert len(files) >= 5
    assert all(Path(file).is_file() for file in files)
    assert "inside the package" in run(f"data fetch {name}", tmp_path).output


@pytest.mark.parametrize("command", ["show", "path", "fetch"])
def test_mentions_that_are_not_here_are_said_to_come_from_their_authors(command: str, tmp_path: Path) -> None:
    outcome = run(f"data {command} ufet", tmp_path)
    assert outcome.code == 2
    assert "github.com/uwnlp/open_type" in outcome.message


@pytest.mark.parametrize("command", ["show", "path", "fetch"])
def test_a_slip_is_seen_among_names_of_all_kinds(command: str, tmp_path: Path) -> None:
    assert "did you mean 'ufet'?" in run(f"data {command} ufte", tmp_path).message
    assert "did you mean 'UD_English-EWT'?" in run(f"data {command} UD_English-EVT", tmp_path).message
