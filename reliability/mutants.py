"""Break the code itself: ``python -m reliability.mutants`` changes one operator, constant or condition at a time.

A mutant that no test notices is listed. Each runs in a child of a process that has imported torch and pytest, with the
tests that fit its module alone; what came of it is kept, so that the command goes on where it was stopped.
"""

from __future__ import annotations

import argparse
import ast
import importlib.abc
import importlib.machinery
import importlib.util
import json
import os
import random
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from reliability.children import Child

ROOT = Path(__file__).parents[1]
SOURCE, RECORD = ROOT / "src/hybonet", ROOT / "docs/mutants.json"
#: Folders that are broken, with the tests of each; a module's own tests come first, by name.
ROOMS = {
    "geometry": ("tests/geometry",),
    "nn": ("tests/nn",),
    "optim": ("tests/optim", "tests/training/test_steps_and_averaging.py"),
    "metrics": ("tests/metrics",),
    "training": ("tests/training", "tests/tasks/test_integrity.py", "tests/tasks/test_run_lock.py"),
    "data/io": ("tests/data",),
    "data/triples": ("tests/data/triples",),
    "data/graphs": ("tests/data/graphs",),
    "data/text": ("tests/data/text",),
    "data/trees": ("tests/data/trees",),
    "data/mentions": ("tests/data/mentions",),
}
_COMPARE = {ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq}
_COMPARE |= {ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is}
_ARITHMETIC = {ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.FloorDiv: ast.Mult}
_LOGIC = {ast.And: ast.Or, ast.Or: ast.And}
_SECONDS = 240.0
_SHARED = ("torch._dynamo", "torch.utils.data", "pytest", "hypothesis", "pydantic", "typer.testing", "rich.progress")
_SHARED += ("safetensors.torch", "numpy", "mpmath", "scipy.sparse", "sklearn.metrics", "geoopt")


@dataclass(frozen=True)
class Mutant:
    """One change: of the node at a place of the tree's walk."""

    file: str
    line: int
    place: int
    change: str

    @property
    def key(self) -> str:
        """What it is called in the record."""
        return f"{self.file}:{self.line}:{self.place} {self.change}"


def mutants(path: Path) -> Iterator[Mutant]:
    """All of a file, but for messages, examples and types."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    skipped = {id(part) for node in ast.walk(tree) for whole in _no_code(node) for part in ast.walk(whole)}
    for place, node in enumerate(ast.walk(tree)):
        if id(node) not in skipped and (change := _change(node)):
            yield Mutant(str(path.relative_to(ROOT)), node.lineno, place, change)  # type: ignore[attr-defined]


def _no_code(node: ast.AST) -> Iterator[ast.AST]:
    """Parts of a node whose change nobody could notice, or only in the wording."""
    if isinstance(node, ast.Raise | ast.JoinedStr):
        yield node
    elif isinstance(node, ast.AnnAssign) or (isinstance(node, ast.arg) and node.annotation):
        yield node.annotation
    elif isinstance(node, ast.FunctionDef) and node.returns:
        yield node.returns
    elif isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
        yield node


def _change(node: ast.AST) -> str:
    """What is changed of a node, in words; empty if nothing is."""
    if isinstance(node, ast.Compare) and type(node.ops[0]) in _COMPARE:
        return f"{type(node.ops[0]).__name__} is {_COMPARE[type(node.ops[0])].__name__}"
    if isinstance(node, ast.BinOp) and type(node.op) in _ARITHMETIC:
        return f"{type(node.op).__name__} is {_ARITHMETIC[type(node.op)].__name__}"
    if isinstance(node, ast.BoolOp):
        return f"{type(node.op).__name__} is {_LOGIC[type(node.op)].__name__}"
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not | ast.USub):
        return f"{type(node.op).__name__} is left out"
    if isinstance(node, ast.Constant) and isinstance(node.value, bool | int | float):
        return f"{node.value} is {_other(node.value)}"
    return ""


def _other(value: bool | int | float) -> bool | int | float:
    return not value if isinstance(value, bool) else value + 1 if isinstance(value, int) else value * 2 + 1e-3


def broken(mutant: Mutant) -> str:
    """The source of the file with the change."""
    tree = ast.parse((ROOT / mutant.file).read_text(encoding="utf-8"))
    node = next(node for place, node in enumerate(ast.walk(tree)) if place == mutant.place)
    if isinstance(node, ast.Compare):
        node.ops[0] = _COMPARE[type(node.ops[0])]()
    elif isinstance(node, ast.BinOp):
        node.op = _ARITHMETIC[type(node.op)]()
    elif isinstance(node, ast.BoolOp):
        node.op = _LOGIC[type(node.op)]()
    elif isinstance(node, ast.Constant):
        node.value = _other(node.value)  # type: ignore[arg-type]
    else:
        assert isinstance(node, ast.UnaryOp)
        plus = node.operand
        for parent in ast.walk(tree):
            for name, value in ast.iter_fields(parent):
                if value is node:
                    setattr(parent, name, plus)
                elif isinstance(value, list):
                    value[:] = [plus if each is node else each for each in value]
    return ast.unparse(ast.fix_missing_locations(tree))


class _Broken(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Imports one module from a source that is not the file's."""

    def __init__(self, mutant: Mutant) -> None:
        self.name = mutant.file.removeprefix("src/").removesuffix(".py").removesuffix("/__init__").replace("/", ".")
        self.path, self.source = ROOT / mutant.file, broken(mutant)

    def find_spec(self, name: str, path: object, target: object = None) -> importlib.machinery.ModuleSpec | None:
        if name != self.name:
            return None
        inside = [str(self.path.parent)] if self.path.name == "__init__.py" else None
        return importlib.util.spec_from_file_location(name, self.path, loader=self, submodule_search_locations=inside)

    def exec_module(self, module: object) -> None:
        exec(compile(self.source, str(self.path), "exec"), module.__dict__)


def noticed(mutant: Mutant, folder: Path) -> str:
    """Which test fails of it; empty if none does."""
    room = next(room for room in ROOMS if f"src/hybonet/{room}/" in mutant.file)
    own = sorted(ROOT.glob(f"tests/**/test_{Path(mutant.file).stem}.py"))
    tests = [*map(str, own), *(str(ROOT / each) for each in ROOMS[room])]

    def work(tell: object) -> str:
        import pytest

        os.chdir(folder)
        failed: list[str] = []

        class Listening:
            def pytest_sessionstart(self) -> None:
                sys.meta_path.insert(0, _Broken(mutant))  # before pytest's own, which takes files that it is given

            def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
                if report.failed:
                    failed.append(report.nodeid)

        options = [
            "-n0",
            "-x",
            "-q",
            "-p",
            "no:cacheprovider",
            "-c",
            str(ROOT / "pyproject.toml"),
            "--rootdir",
            str(ROOT),
        ]
        code = pytest.main([*options, str(ROOT / mutant.file), *tests], plugins=[Listening()])
        return failed[0] if failed else "" if code == 0 else f"exit {int(code)}"

    outcome = Child(work).wait(_SECONDS)
    return outcome.value or "" if outcome.kind == "done" else outcome.kind


def sampled(count: int, seed: int = 0) -> list[Mutant]:
    """So many, the same ones every time, alike from every room."""
    chosen = random.Random(seed)
    rooms = [[m for path in sorted((SOURCE / room).glob("*.py")) for m in mutants(path)] for room in ROOMS]
    each = [chosen.sample(room, min(len(room), -(-count // len(rooms)))) for room in rooms]
    return [m for row in zip(*each, strict=False) for m in row][:count]


def main() -> int:
    """Entry point of the command."""
    parser = argparse.ArgumentParser(prog="python -m reliability.mutants", description=__doc__)
    parser.add_argument("--count", type=int, default=300, help="how many mutants in all")
    parser.add_argument("--record", type=Path, default=RECORD)
    options = parser.parse_args()
    for name in _SHARED:  # what every child has, but nothing of hybonet: that is what changes
        importlib.import_module(name)
    known = json.loads(options.record.read_text()) if options.record.exists() else {}
    for mutant in sampled(options.count):
        if mutant.key not in known:
            known[mutant.key] = noticed(mutant, ROOT)
            options.record.write_text(json.dumps(known, indent=1) + "\n", encoding="utf-8")
            print(f"{'noticed' if known[mutant.key] else 'SURVIVES'}  {mutant.key}  {known[mutant.key]}", flush=True)
    survivors = [key for key, by in known.items() if not by]
    print(f"{len(known) - len(survivors)} of {len(known)} noticed; not noticed:", *survivors, sep="\n  ")
    return 0


if __name__ == "__main__":
    sys.exit(main())
