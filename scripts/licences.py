"""Write docs/licences.md: the licence of every package that hybonet, its extras and its development need.

Names and versions are those of constraints.txt; what is said is in the packages' own metadata, as installed here.
"""

from __future__ import annotations

import sys
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs/licences.md"
INTRODUCTION = """# Licences of what hybonet stands on

hybonet is under the MIT licence. It contains no code of these packages; `pip` installs them. Only torch, numpy,
safetensors, pydantic, typer and rich, and what those need, are always there; the others come with extras or are for
development. `python scripts/licences.py` makes the table from the packages' own metadata.

| Package | Version | Licence |
|---|---|---|
"""
_CLASSIFIER = "License :: "


def pinned() -> dict[str, str]:
    """Versions by package, of constraints.txt."""
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    named = (line.partition("#")[0].strip().partition("==") for line in lines)
    return {name: version.partition(";")[0].strip() for name, equals, version in named if equals}


def licence(package: Distribution) -> str:
    """What a package says of itself, shortest where it says so twice."""
    about = package.metadata
    classified = [
        each.rpartition(" :: ")[2] for each in about.get_all("Classifier") or () if each.startswith(_CLASSIFIER)
    ]
    free = (about["License"] or "").strip()
    said = about["License-Expression"] or ", ".join(classified) or (free.splitlines()[0] if free else "")
    return said.removesuffix(" License") or "not said"


def main() -> int:
    """Entry point of the script."""
    rows = []
    for name, version in sorted(pinned().items(), key=lambda each: each[0].lower()):
        try:
            rows.append(f"| {name} | {version} | {licence(distribution(name))} |\n")
        except PackageNotFoundError:
            print(f"left out, since it is not installed: {name}", file=sys.stderr)
    PAGE.write_text(INTRODUCTION + "".join(rows), encoding="utf-8")
    print(PAGE)
    return 0


if __name__ == "__main__":
    sys.exit(main())
