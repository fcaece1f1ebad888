"""Break the code itself: ``python -m reliability.mutants`` changes one operator, constant or condition at a time.

First it sees which test calls which function, and how long each takes. Then a mutant runs in a child of a process that
has imported torch and pytest, with the tests that call its function, the quickest first. What came of it is kept in
``docs/mutants.json``, so that the command goes on where it was stopped; ``--again`` tries more tests with those that
none noticed.
``reliability/equivalent.json`` says why some cannot be noticed.
"""

from __future__ import annotations

import argparse
import ast
import hashlib
import importlib.abc
import importlib.machinery
import importlib.util
import json
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from reliability.children import Child

ROOT = Path(__file__).parents[1]
SOURCE, RECORD, EQUIVALENT = (
    ROOT / "src/hybonet",
    ROOT / "docs/mutants.json",
    Path(__file__).with_name("equivalent.json"),
)
#: Folders that are broken, with the tests of each.
ROOMS = {
    "geometry": ("tests/geometry",),
    "nn": ("tests/nn",),
    "optim": ("tests/optim", "tests/training/test_steps_and_averaging.py"),
    "metrics": ("tests/metrics",),
    "training": ("tests/training", "tests/tasks/test_integrity.py", "tests/tasks/test_run_lock.py"),
    "data/io": ("tests/data",),
    "data/triples": ("tests/data/triples", "tests/data/test_in_memory.py"),
    "data/graphs": ("tests/data/graphs", "tests/data/test_in_memory.py"),
    "data/text": ("tests/data/text", "tests/data/test_in_memory.py"),
    "data/trees": ("tests/data/trees", "tests/data/test_in_memory.py"),
    "data/mentions": ("tests/data/mentions", "tests/data/test_in_memory.py"),
}
#: Sees defaults, which are no function's.
_ALWAYS = "tests/test_defaults.py::test_defaults_are_those_that_are_written_down"
_COMPARE = {ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq}
_COMPARE |= {ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is}
_ARITHMETIC = {ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.FloorDiv: ast.Mult}
_LOGIC = {ast.And: ast.Or, ast.Or: ast.And}
#: Of the unbroken tests of a mutant, at first and with ``--again``; how long it may take: so many times that, and more.
_SECONDS, _AGAIN, _TIMES, _BESIDE = 15.0, 150.0, 4, 45.0
_SHARED = ("torch._dynamo", "torch.utils.data", "pytest", "hypothesis", "pydantic", "typer.testing", "rich.progress")
_SHARED += ("safetensors.torch", "numpy", "mpmath", "scipy.sparse", "sklearn.metrics", "geoopt")


@dataclass(frozen=True)
class Mutant:
    """One change: of the node at a place of the tree's walk."""

    file: str
    place: int
    change: str
    #: Name of the function; empty outside of one.
    function: str
    #: What it is called in the record: by its text, as lines move.
    key: str


def mutants(path: Path) -> Iterator[Mutant]:
    """All of a file, but for messages, examples and types."""
    text, file = path.read_text(encoding="utf-8"), str(path.relative_to(ROOT))
    tree, lines, seen = ast.parse(text), text.splitlines(), Counter[str]()
    skipped = {id(part) for node in ast.walk(tree) for whole in _no_code(node) for part in ast.walk(whole)}
    functions = {
        id(part): node.name  # of the innermost, which comes last
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef)
        for statement in node.body
        for part in ast.walk(statement)
    }
    for place, node in enumerate(ast.walk(tree)):
        if id(node) in skipped or not (change := _change(node)):
            continue
        key = f"{file}: {lines[node.lineno - 1].strip()}: {change}"  # type: ignore[attr-defined]
        seen[key] += 1
        again = f" ({seen[key]})" if seen[key] > 1 else ""
        yield Mutant(file, place, change, functions.get(id(node), ""), key + again)


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


_OPTIONS = ["-n0", "-x", "-q", "-p", "no:cacheprovider", "-c", str(ROOT / "pyproject.toml"), "--rootdir", str(ROOT)]


def noticed(mutant: Mutant, tests: list[str], seconds: float) -> str:
    """Which of the tests fails of it, or that they hang, which they do not without it; empty if they pass."""
    limit = _BESIDE + _TIMES * seconds
    outcome = Child(lambda tell: _first_failure(tests, mutant)).wait(limit)
    if outcome.kind == "hung" and Child(lambda tell: _first_failure(tests)).wait(limit).kind == "hung":
        return noticed(mutant, tests, 4 * seconds)  # the machine is busy
    return outcome.value or "" if outcome.kind == "done" else outcome.kind


def _first_failure(tests: list[str], mutant: Mutant | None = None) -> str:
    import pytest

    order, failed = {name: place for place, name in enumerate(tests)}, list[str]()

    class Listening:
        def pytest_sessionstart(self) -> None:
            if mutant:  # before pytest's own, which takes files that it is given
                sys.meta_path.insert(0, _Broken(mutant))

        def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
            items[:] = sorted((each for each in items if each.nodeid in order), key=lambda each: order[each.nodeid])

        def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
            if report.failed:
                failed.append(report.nodeid)

    files = dict.fromkeys(str(ROOT / name.partition("::")[0]) for name in tests)
    code = int(pytest.main([*_OPTIONS, *files], plugins=[Listening()]))
    return failed[0] if failed else "" if code in (0, 5) else f"exit {code}"


def _calls(tests: list[str]) -> dict[str, Any]:
    """Of every test that passes: its seconds, and what it calls as ``file:function``."""

    def work(tell: object) -> dict[str, Any]:
        import pytest

        found: dict[str, Any] = {}
        source = str(SOURCE)

        class Listening:
            @pytest.hookimpl(wrapper=True)
            def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
                called, started = set(), time.perf_counter()
                sys.setprofile(lambda frame, event, _: called.add(frame.f_code) if event == "call" else None)
                try:
                    return (yield)  # type: ignore[misc]
                finally:
                    sys.setprofile(None)
                    own = {each for each in called if each.co_filename.startswith(source)}
                    names = {f"{each.co_filename.removeprefix(f'{ROOT}/')}:{each.co_name}" for each in own}
                    found[item.nodeid] = [time.perf_counter() - started, sorted(names)]

            def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
                if report.outcome != "passed":
                    failed.add(report.nodeid)

        failed: set[str] = set()
        pytest.main([*_OPTIONS[:1], *_OPTIONS[2:], *tests], plugins=[Listening()])
        return {name: each for name, each in found.items() if name not in failed}

    outcome = Child(work).wait(3600)
    assert outcome.kind == "done", outcome
    return outcome.value


class Tests:
    """Which tests call what; what was seen of a file is kept, by its content."""

    def __init__(self, kept: Path) -> None:
        self.kept = kept

    @cache  # noqa: B019 - lives as long as the command
    def of_room(self, room: str) -> dict[str, Any]:
        paths = [ROOT / each for each in (*ROOMS[room], f"src/hybonet/{room}")]
        files = [file for path in paths for file in (sorted(path.rglob("*.py")) if path.is_dir() else [path])]
        places = {file: self.kept / f"{hashlib.sha256(file.read_bytes()).hexdigest()[:16]}.json" for file in files}
        if new := [file for file, place in places.items() if not place.exists()]:
            seen = _calls([*map(str, new)])
            for file in new:
                own = {name: each for name, each in seen.items() if ROOT / name.partition("::")[0] == file}
                places[file].write_text(json.dumps(own), encoding="utf-8")
        return {name: each for place in places.values() for name, each in json.loads(place.read_text()).items()}

    def of(self, mutant: Mutant, most: float) -> tuple[list[str], float]:
        """Those that call its function, or others of its file, in so many seconds; and how long they take."""
        room = next(room for room in ROOMS if f"src/hybonet/{room}/" in mutant.file)
        own = f"test_{Path(mutant.file).stem}.py"
        exact = f"{mutant.file}:{mutant.function}" if mutant.function else f"{mutant.file}:"
        found = []
        for name, (seconds, called) in self.of_room(room).items():
            if any(each == exact if mutant.function else each.startswith(exact) for each in called):
                found.append((own not in name and mutant.file not in name, seconds, name))
        total, chosen = 0.0, [_ALWAYS]
        for _, seconds, name in sorted(found):
            if total + seconds <= most or len(chosen) == 1:
                chosen.append(name)
                total += seconds
        return chosen, total


def sampled(count: int) -> list[Mutant]:
    """So many, alike from every room; the same ones every time, also when other code has changed."""
    rooms = [[m for path in sorted((SOURCE / room).glob("*.py")) for m in mutants(path)] for room in ROOMS]
    each = [sorted(room, key=lambda m: hashlib.sha256(m.key.encode()).digest()) for room in rooms]
    most = -(-count // len(rooms))
    return [m for row in zip(*(room[:most] for room in each), strict=True) for m in row][:count]


def summary(known: dict[str, str], equivalent: dict[str, str]) -> str:
    """How many were noticed, in a sentence."""
    same = [key for key, by in known.items() if not by and key in equivalent]
    seen, others = sum(map(bool, known.values())), len(known) - len(same)
    return (
        f"Of {len(known):,} mutants, {len(same)} are equivalent ([reasons](../reliability/equivalent.json)). A test "
        f"notices {seen} of the other {others}: {seen / max(1, others):.1%}."
    )


def main() -> int:
    """Entry point of the command."""
    parser = argparse.ArgumentParser(prog="python -m reliability.mutants", description=__doc__)
    parser.add_argument("--count", type=int, default=330, help="how many mutants in all")
    parser.add_argument("--again", action="store_true", help="try more tests with those that none noticed")
    parser.add_argument("--record", type=Path, default=RECORD)
    options = parser.parse_args()
    for name in _SHARED:  # what every child has, but nothing of hybonet: that is what changes
        importlib.import_module(name)
    kept = ROOT / "build/mutants"
    kept.mkdir(parents=True, exist_ok=True)
    tests, equivalent = Tests(kept), json.loads(EQUIVALENT.read_text(encoding="utf-8"))
    origin, known = _in_child(_origin), dict[str, str]()
    if options.record.exists():
        known = json.loads(options.record.read_text(encoding="utf-8"))["mutants"]
    for mutant in sampled(options.count):
        again = options.again and not known.get(mutant.key) and mutant.key not in equivalent
        if mutant.key in known and not again:
            continue
        chosen, seconds = tests.of(mutant, _AGAIN if again else _SECONDS)
        known[mutant.key] = noticed(mutant, chosen, seconds)
        content = json.dumps({**origin, "mutants": known}, indent=1) + "\n"
        options.record.write_text(content, encoding="utf-8")
        print(f"{'noticed' if known[mutant.key] else 'SURVIVES'}  {mutant.key}  {known[mutant.key]}", flush=True)
    _in_child(lambda: _page(f"\n{summary(known, equivalent)}\n"))
    survivors = [key for key, by in known.items() if not by and key not in equivalent]
    print(summary(known, equivalent), "Not noticed:", *survivors, sep="\n  ")
    return 0


def _in_child(work: Callable[[], Any]) -> Any:
    """What it gives; as mutants are of modules that nobody has imported, here nobody does."""
    return Child(lambda tell: work()).wait().value


def _origin() -> dict[str, Any]:
    from hybonet.tasks.provenance import provenance

    return provenance()


def _page(text: str) -> None:
    from reliability.record import put

    put(text, "<!-- made by python -m reliability.mutants -->\n", "<!-- end of mutants -->\n")


if __name__ == "__main__":
    sys.exit(main())
