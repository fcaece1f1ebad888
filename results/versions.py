"""What the package was tested with: the outcomes of the version matrix, the README's table, and a release's look.

nox -s matrix                   runs the matrix; each corner that passes is kept in docs/versions.json
python -m results.versions      writes the table in the README from it
python -m results.versions --release    refuses a release without a fresh matrix; lists figures older than their code
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from datetime import datetime, timezone
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

ROOT = Path(__file__).parent.parent
STORED, README = ROOT / "docs/versions.json", ROOT / "README.md"
#: Python, and which of the versions that the metadata allow.
CORNERS = (("3.10", "lowest"), ("3.10", "highest"), ("3.11", "highest"), ("3.12", "highest"), ("3.13", "highest"))
#: Changes in these make an outcome old.
MEASURED = ("src", "pyproject.toml")
SHOWN = ("torch", "numpy", "pydantic", "typer", "rich", "safetensors")
BEGIN, END = "<!-- versions: made by python -m results.versions -->", "<!-- end of versions -->"


def keep(python: str, resolution: str, found: dict[str, str], tests: Path, trained: list[str], seconds: int) -> None:
    """Store the outcome of a corner that has passed, in place of an earlier one."""
    suite = ElementTree.parse(tests).getroot().find("testsuite")
    assert suite is not None
    counts = {name: int(suite.get(name, 0)) for name in ("tests", "skipped", "failures", "errors")}
    changed = _git("status", "--porcelain", "--", *MEASURED)
    corner = {
        "python": python,
        "resolution": resolution,
        "date": datetime.now(timezone.utc).isoformat(timespec="seconds"),
        "commit": _git("rev-parse", "HEAD") + "+changes" * bool(changed),
        **counts,
        "trained": trained,
        "seconds": seconds,
        "versions": dict(sorted(found.items())),
    }
    others = [row for row in outcomes() if (row["python"], row["resolution"]) != (python, resolution)]
    rows = sorted([*others, corner], key=lambda row: CORNERS.index((row["python"], row["resolution"])))
    STORED.write_text("[\n" + ",\n".join(json.dumps(row) for row in rows) + "\n]\n", encoding="utf-8")


def outcomes() -> list[dict[str, Any]]:
    """What is stored, a row per corner."""
    return json.loads(STORED.read_text(encoding="utf-8")) if STORED.exists() else []


def table(rows: list[dict[str, Any]]) -> str:
    """The README's table.

    Example:
        >>> row = {"python": "3.10", "resolution": "lowest", "versions": {"torch": "2.6.0"}, "tests": 9, "skipped": 1}
        >>> print(table([{**row, "date": "2026-01-02T03:04:05"}]).splitlines()[2])
        | 3.10, oldest | 2.6.0 | – | – | – | – | – | 8 | 2026-01-02 |
    """
    if not rows:
        return "The matrix has not been run to its end on this version yet."
    lines = [f"| Python | {' | '.join(SHOWN)} | tests | date |", "|" + "---|" * (len(SHOWN) + 3)]
    for row in rows:
        name = f"{row['python']}, {'oldest' if row['resolution'] == 'lowest' else 'newest'}"
        cells = [row["versions"].get(package, "–").partition("+")[0] for package in SHOWN]
        lines.append(f"| {' | '.join((name, *cells, str(row['tests'] - row['skipped']), row['date'][:10]))} |")
    return "\n".join(lines)


def with_table(readme: str) -> str:
    """The README's text with the table as it should be."""
    section = re.compile(re.escape(BEGIN) + ".*?" + re.escape(END), re.DOTALL)
    return section.sub(lambda _: f"{BEGIN}\n{table(outcomes())}\n{END}", readme)


def problems(rows: list[dict[str, Any]]) -> list[str]:
    """Why these outcomes are not those of the code as it stands."""
    found = []
    stored = {(row["python"], row["resolution"]): row for row in rows}
    for corner in CORNERS:
        row = stored.get(corner)
        name = f"Python {corner[0]}, {corner[1]} versions"
        if row is None:
            found.append(f"{name}: no outcome")
        elif row["failures"] or row["errors"]:
            found.append(f"{name}: {row['failures'] + row['errors']} tests failed")
        elif _changed_since(row["commit"]):
            found.append(f"{name}: measured at {row['commit'][:7]}, and {' or '.join(MEASURED)} have changed since")
    return found


def _changed_since(commit: str) -> bool:
    command = ["git", "-C", str(ROOT), "diff", "--quiet", commit, "--", *MEASURED]
    return commit.endswith("+changes") or bool(subprocess.run(command, capture_output=True, check=False).returncode)


def _git(*words: str) -> str:
    return subprocess.run(["git", "-C", str(ROOT), *words], capture_output=True, text=True, check=True).stdout.strip()


def release() -> None:
    """Refuse a release that is not ready, and list the figures that are older than the code they measure."""
    from hybonet import __version__
    from results import stale

    found = problems(outcomes())
    if with_table(README.read_text(encoding="utf-8")) != README.read_text(encoding="utf-8"):
        found.append(
            "README.md: the table of versions is not that of docs/versions.json; run python -m results.versions"
        )
    if f"## [{__version__}]" not in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"):
        found.append(f"CHANGELOG.md: no section for version {__version__}")
    old = stale.report(stale.stored_figures(), stale.history(ROOT))
    print("\n".join([f"{len(old)} tables have figures older than the code they measure", *old]))
    if found:
        raise SystemExit("\n".join(["error: not to be released (nox -s matrix runs the matrix)", *found]))


if __name__ == "__main__":
    if sys.argv[1:] == ["--release"]:
        release()
    elif sys.argv[1:]:
        raise SystemExit(f"error: expected --release or nothing, got {' '.join(sys.argv[1:])}")
    else:
        README.write_text(with_table(README.read_text(encoding="utf-8")), encoding="utf-8")
