"""The commit is named only for code that git tracks."""

import shutil
import subprocess
from pathlib import Path

import pytest

from hybonet.tasks.provenance import source_commit

needs_git = pytest.mark.skipif(shutil.which("git") is None, reason="needs git")


def git(folder: Path, *arguments: str) -> str:
    identity = ("-c", "user.name=tester", "-c", "user.email=tester@example.org")
    done = subprocess.run(["git", "-C", str(folder), *identity, *arguments], capture_output=True, text=True, check=True)
    return done.stdout.strip()


@needs_git
def test_commit_of_tracked_code(tmp_path: Path) -> None:
    git(tmp_path, "init", "--quiet")
    package, installed = tmp_path / "package", tmp_path / "site-packages"
    for folder in (package, installed):
        folder.mkdir()
        (folder / "code.py").write_text("1\n")
    git(tmp_path, "add", "package")
    git(tmp_path, "commit", "--quiet", "--no-verify", "-m", "first")
    commit = git(tmp_path, "rev-parse", "HEAD")
    assert source_commit(package) == commit
    assert source_commit(installed) is None
    (package / "code.py").write_text("2\n")
    assert source_commit(package) == f"{commit}+changes"


def test_no_git_no_commit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert source_commit(Path(__file__).parent) is None
