"""Write docs/bad-input.md: what the command line says to common mistakes, each tried here and now.

The mistakes are those of tests/cli/bad_inputs.py, which the tests check one by one.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from tests.cli.bad_inputs import GROUPS, NOTED  # noqa: E402
from tests.cli.staging import BadInput, make_template, show  # noqa: E402

INTRODUCTION = """# What the command line says to mistakes

Each of these {count} mistakes ends with exit code 2, no traceback, and not a byte on disk changed;
`tests/cli/test_bad_input.py` checks it. The table is made by `python scripts/bad_input_table.py`, which tries every one
of them in a folder with a file `triples.tsv` and a run `run` trained on it, and a graph (`edges.csv`,
`features.csv`, `labels.csv`) with a run of links `net` and one of classes `teams`, and `mentions.jsonl`,
`words.txt` and a typing run `typed`.
"""
ODD = """
## Odd, but possible

Training goes on, and a note says what was seen.
"""
HEAD = "\n| What is wrong | `hybonet …` | What it says |\n|---|---|---|\n"


def cell(text: str) -> str:
    """Text as it must stand in a cell of a Markdown table."""
    return text.replace("|", "\\|").replace("<", "&lt;").replace("\n", "<br>")


def row(case: BadInput, message: str) -> str:
    """A line of the table; a very long argument is shortened."""
    command = " ".join(word if len(word) < 100 else word[:10] + "…" for word in case.command.split(" "))
    for word in case.command.split(" "):
        if len(word) >= 100:
            message = message.replace(word, word[:10] + "…")
    return f"| {cell(case.problem)} | `{cell(command)}` | {cell(message.removeprefix('error: '))} |\n"


def table(cases: list[BadInput], template: Path, scratch: Path, expect: int, options: str = "") -> str:
    """Try the cases and tell what came."""
    lines = []
    for number, case in enumerate(cases):
        if case.cannot:
            print(f"left out: {case.problem} ({case.cannot})", file=sys.stderr)
            continue
        tried = BadInput(case.problem, f"{case.command} {options}".strip(), case.expected, case.prepare)
        outcome = show(tried, template, scratch / str(number))
        if outcome.code != expect:
            raise ValueError(f"{case.problem}: expected exit code {expect}, got {outcome.code}:\n{outcome.output}")
        notes = [line for line in outcome.message.split("\n") if not line.startswith("note: ") or expect == 0]
        wanted = [line for line in notes if expect or any(part in line for part in case.expected)]
        # Some messages name the whole path, and the scratch folder is another every time.
        lines.append(row(case, "\n".join(wanted).replace(f"{(scratch / str(number)).absolute()}/", "")))
    return HEAD + "".join(lines)


def main() -> None:
    """Entry point of the script."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--output", type=Path, default=ROOT / "docs/bad-input.md")
    output = parser.parse_args().output
    with tempfile.TemporaryDirectory() as folder:
        scratch = Path(folder)
        template = scratch / "template"
        template.mkdir()
        make_template(template)
        parts = [INTRODUCTION.format(count=sum(not case.cannot for cases in GROUPS.values() for case in cases))]
        for title, cases in GROUPS.items():
            (scratch / title).mkdir()
            parts += [f"\n## {title}\n", table(cases, template, scratch / title, expect=2)]
        (scratch / "odd").mkdir()
        quick = "--set epochs=1 --set dim=4 --threads 1"
        parts += [ODD, table(NOTED, template, scratch / "odd", expect=0, options=quick)]
    output.write_text("".join(parts), encoding="utf-8")
    print(output)


if __name__ == "__main__":
    main()
