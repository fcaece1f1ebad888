"""The command `python -m results`."""

from __future__ import annotations

import argparse
import fnmatch
from collections.abc import Mapping
from pathlib import Path

import results
from results import catalog, pages, stale, store
from results.cells import Cell, run_cell


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m results", description=results.__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="VERB")
    listed = verbs.add_parser("list", help="name experiments and searches, and say how much of each is stored")
    run = verbs.add_parser("run", help="carry out experiments and store their records")
    search = verbs.add_parser("search", help="search settings and store what was found")
    listed.add_argument("names", nargs="*", metavar="NAME", help="* for any; all by default")
    for verb in (run, search):
        verb.add_argument("names", nargs="+", metavar="NAME", help="* for any")
        verb.add_argument("--runs", type=Path, default=pages.ROOT / "runs/results", help="where the trainings lie")
        verb.add_argument("--threads", type=int, default=2)
        verb.add_argument("--again", action="store_true", help="also what is stored: its record is replaced")
        verb.set_defaults(seeds=[])
    run.add_argument("--seeds", type=int, nargs="+", metavar="SEED", help="these only; all by default")
    written = verbs.add_parser("pages", help="write the pages of docs/results and their pictures")
    written.add_argument("--check", action="store_true", help="write nothing; name pages that differ")
    verbs.add_parser("stale", help="name stored figures that are older than the code they measure")
    arguments = parser.parse_args()
    match arguments.verb:
        case "list":
            searches = {f"search {name}": cell for name, cell in catalog.searches().items()}
            show(_named(catalog.experiments() | searches, arguments.names or ["*"]))
        case "run" | "search":
            known = catalog.experiments() if arguments.verb == "run" else catalog.searches()
            for name, cell in _named(known, arguments.names).items():
                for each in cell.runs(name, arguments.seeds):
                    run_cell(cell, each, arguments.runs, arguments.threads, again=arguments.again)
        case "pages":
            write_pages(check=arguments.check)
        case "stale":
            found = stale.report(stale.stored_figures(), stale.history(pages.ROOT))
            print("\n".join(found) or "no stored figure is older than the code it measures")


def _named(known: Mapping[str, Cell], patterns: list[str]) -> dict[str, Cell]:
    """The cells that patterns name."""
    for pattern in patterns:
        if not fnmatch.filter(known, pattern):
            raise SystemExit(f"error: expected a name that `python -m results list` has, got {pattern!r}")
    return {name: cell for name, cell in known.items() if any(fnmatch.fnmatch(name, each) for each in patterns)}


def show(cells: Mapping[str, Cell]) -> None:
    """A line each: how many of its runs are stored, in which table, and the time they take."""
    for name, cell in cells.items():
        runs = cell.runs(name.removeprefix("search "))
        stored = sum(store.is_stored(cell.table, run) for run in runs)
        print(f"{name}: {stored}/{len(runs)} stored in {cell.table}; {cell.about}")


def write_pages(*, check: bool) -> None:
    """All pages, or the names of those that are not what the records say."""
    differ = [name for name in pages.PAGES if pages.path(name).read_text(encoding="utf-8") != pages.text(name)]
    if check and differ:
        raise SystemExit(f"error: {', '.join(differ)}: not what the records say; run python -m results pages")
    for name in [] if check else pages.PAGES:
        pages.write(name)
        print(pages.path(name).relative_to(pages.ROOT))


if __name__ == "__main__":
    main()
