"""Write hashes/: what `make demo` and `make test` install, with the checksum of every file that PyPI has of it.

Versions are those of constraints.txt; what needs what is read from the packages' own metadata, as installed here.
"""

from __future__ import annotations

import re
import sys
import urllib.request
from importlib.metadata import requires

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name, parse_wheel_filename

from scripts.licences import ROOT, pinned

FOLDER = ROOT / "hashes"
#: Extras of hybonet by command.
COMMANDS = {"demo": "plot", "test": "dev"}
#: Where the two commands run.
_PLATFORMS = {"linux": "Linux", "darwin": "Darwin", "win32": "Windows"}
_PYTHONS = ("3.11", "3.12", "3.13")
_WHEELS = re.compile(
    r"-(py3|py2\.py3|cp3(11|12|13)-cp3(11|12|13)|cp3\d+-abi3)-.*(any|x86_64|aarch64|arm64|universal2|win_amd64)\.whl$"
)


def needed(extra: str, versions: dict[str, str], platform: str, python: str) -> set[str]:
    """Names of all pinned packages that hybonet with an extra needs; torch's CUDA libraries are not among them."""
    environment = {"sys_platform": platform, "platform_system": _PLATFORMS[platform], "python_version": python}
    environment |= {"python_full_version": f"{python}.0", "platform_machine": "x86_64"}
    todo, seen = [("hybonet", extra)], set()
    while todo:
        if (one := todo.pop()) in seen:
            continue
        seen.add(one)
        for line in requires(one[0]) or ():
            wanted = Requirement(line)
            name = canonicalize_name(wanted.name)
            marked = not wanted.marker or wanted.marker.evaluate({**environment, "extra": one[1]})
            if marked and (name in versions or name == "hybonet"):
                todo += [(name, each) for each in ("", *wanted.extras)]
    return {name for name, _ in seen} - {"hybonet"} | {"setuptools"}  # which builds hybonet itself


def checksums(name: str, version: str) -> list[str]:
    """Of every wheel for the platforms and Pythons, and of the source archive."""
    with urllib.request.urlopen(f"https://pypi.org/simple/{name}/", timeout=100) as answer:
        found = re.findall(r'#sha256=([0-9a-f]{64})"[^>]*>([^<]+)<', answer.read().decode())
    right = [sum256 for sum256, file in found if _is_right(file, version)]
    if not right:
        raise ValueError(f"expected files of {name} {version} on PyPI, got none; correct constraints.txt")
    return sorted(right)


def _is_right(file: str, version: str) -> bool:
    if file.endswith(".tar.gz"):
        return file.removesuffix(".tar.gz").rpartition("-")[2] == version
    return bool(_WHEELS.search(file)) and str(parse_wheel_filename(file)[1]) == version


def main() -> int:
    """Entry point of the script."""
    versions = {canonicalize_name(name): version for name, version in pinned().items()}
    FOLDER.mkdir(exist_ok=True)
    known: dict[str, list[str]] = {}
    for command, extra in COMMANDS.items():
        where = {
            each: set.union(*(needed(extra, versions, each, python) for python in _PYTHONS)) for each in _PLATFORMS
        }
        lines = [f"# What make {command} installs, made by python -m scripts.hashes from constraints.txt.\n"]
        for name in sorted(set.union(*where.values())):
            known[name] = known.get(name) or checksums(name, versions[name])
            there = [f'sys_platform == "{each}"' for each, names in where.items() if name in names]
            marker = f" ; {' or '.join(there)}" if len(there) < len(where) else ""
            lines.append(f"{name}=={versions[name]}{marker}")
            lines += [f" \\\n    --hash=sha256:{each}" for each in known[name]]
            lines.append("\n")
        (FOLDER / f"{command}.txt").write_text("".join(lines), encoding="utf-8")
        print(FOLDER / f"{command}.txt")
    return 0


if __name__ == "__main__":
    sys.exit(main())
