"""The README's table of tested versions is the matrix's, and a release without a fresh matrix is refused."""

import re
import subprocess

import pytest

from results import versions

HEAD = "0" * 40


def outcome(python, resolution, **changes):
    return {"python": python, "resolution": resolution, "failures": 0, "errors": 0, "commit": HEAD, **changes}


@pytest.fixture
def unchanged(monkeypatch):
    monkeypatch.setattr(versions, "_changed_since", lambda commit: commit != HEAD)


def test_the_readme_shows_what_was_tested():
    readme = versions.README.read_text(encoding="utf-8")
    assert versions.with_table(readme) == readme, "run python -m results.versions"
    for row in versions.outcomes():
        assert f"| {row['python']}, {'oldest' if row['resolution'] == 'lowest' else 'newest'} | " in readme
        assert row["failures"] == row["errors"] == 0
        assert len(row["trained"]) == 7


def test_a_release_needs_every_corner_fresh_and_passed(unchanged):
    rows = [outcome(*corner) for corner in versions.CORNERS]
    assert versions.problems(rows) == []
    assert versions.problems(rows[1:]) == ["Python 3.10, lowest versions: no outcome"]
    rows[1] = outcome(*versions.CORNERS[1], errors=2)
    rows[2] = outcome(*versions.CORNERS[2], commit="1" * 40)
    failed, old = versions.problems(rows)
    assert failed == "Python 3.10, highest versions: 2 tests failed"
    assert "measured at 1111111" in old


def test_outcomes_of_other_code_are_old(tmp_path, monkeypatch):
    def git(*words):
        identity = ("-c", "user.name=a", "-c", "user.email=a@b")
        return subprocess.run(
            ["git", "-C", tmp_path, *identity, *words], check=True, capture_output=True, text=True
        ).stdout

    monkeypatch.setattr(versions, "ROOT", tmp_path)
    (tmp_path / "src").mkdir()
    for text in ("one", "two"):
        (tmp_path / "src/a.py").write_text(text)
        (tmp_path / "pyproject.toml").write_text("")
        git("init", "-q")
        git("add", ".")
        git("commit", "-qm", text)
    first, second = git("log", "--reverse", "--format=%H").split()
    assert versions._changed_since(first)
    assert not versions._changed_since(second)
    assert versions._changed_since(f"{second}+changes")
    assert versions._changed_since("f" * 40)  # not in this history


def test_the_workflow_has_the_same_corners():
    text = (versions.ROOT / ".github/workflows/matrix.yml").read_text(encoding="utf-8")
    assert tuple(re.findall(r'python: "([\d.]+)", resolution: (\w+)', text)) == versions.CORNERS
