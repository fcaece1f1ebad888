"""How a mistake on the command line is staged: a folder to make it in, and what the command did there."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import torch
from safetensors.torch import load_file, save_file
from typer.testing import CliRunner

from hybonet.cli import app

GOOD = "".join(f"n{i}\tnext\tn{(i + 1) % 40}\nn{i}\tdouble\tn{2 * i % 40}\n" for i in range(40))
#: Mentions of places and persons, each in a sentence of its own.
MENTIONS = "".join(
    f'{{"left_context_token": ["w{n}", "the"], "mention_span": "{span}", "right_context_token": ["."], '
    f'"y_str": ["{kind}", "{span}"]}}\n'
    for n in range(20)
    for span, kind in (("mill", "place"), ("mayor", "person"))
)
Prepare = Callable[[Path], object]


@dataclass(frozen=True)
class BadInput:
    """A mistake: how it comes about, the command, and what the message must say."""

    problem: str
    command: str
    expected: tuple[str, ...]
    prepare: Prepare = lambda folder: None
    #: Why the case cannot be shown on this machine; empty if it can.
    cannot: str = ""


@dataclass(frozen=True)
class Outcome:
    """What a command did."""

    code: int
    message: str
    #: Everything printed.
    output: str
    #: Paths that differ from before: made, changed or removed.
    changed: list[str]


def make_template(folder: Path) -> None:
    """What every case starts from: triples, a network and mentions, and runs trained on them."""
    (folder / "triples.tsv").write_text(GOOD)
    quick = "--set dim=4 --set epochs=2 --set batch_size=40 --set validate_every=1 --threads 1"
    outcome = run(f"train kg --data triples.tsv --out run {quick}", folder)
    assert outcome.code == 0, outcome.output
    from tests.cli.bad_graphs import EDGES, FEATURES, LABELS

    for name, content in (("edges", EDGES), ("features", FEATURES), ("labels", LABELS)):
        (folder / f"{name}.csv").write_text(content)
    quick = "--set dim=4 --set epochs=1 --threads 1"
    for task, out in (("lp", "net"), ("nc", "teams")):
        files = "--data edges.csv --features features.csv --labels labels.csv"
        outcome = run(f"train graph {files} --task {task} --out {out} {quick}", folder)
        assert outcome.code == 0, outcome.output
    (folder / "mentions.jsonl").write_text(MENTIONS)
    (folder / "words.txt").write_text("the 1 0\nmill 0 1\nmayor 1 1\n. 0 0.5\n")
    quick = "--set dim=8 --set heads=2 --set feedforward=8 --set layers=1 --set epochs=1 --threads 1"
    outcome = run(f"train typing --data mentions.jsonl --words words.txt --out typed {quick}", folder)
    assert outcome.code == 0, outcome.output


def show(case: BadInput, template: Path, folder: Path) -> Outcome:
    """Make the mistake in a new folder."""
    shutil.copytree(template, folder)
    case.prepare(folder)
    for config in folder.glob("*/config.json"):
        forget_checksums(config.parent)
    return run(case.command, folder)


def forget_checksums(run: Path) -> None:
    """Make a run one of an earlier version: what its readers say of a mistake is then told, not that a file changed."""
    for name in ("config.json", "record.json"):
        try:
            content = json.loads((run / name).read_text())
            kept = {key: value for key, value in content.items() if key not in ("sha256", "files")}
        except (OSError, ValueError, AttributeError):  # which is the mistake
            continue
        (run / name).write_text(json.dumps(kept))


def run(command: str, folder: Path) -> Outcome:
    """Run ``hybonet command`` inside a folder."""
    # Nothing is found outside the folder, whatever the machine has.
    environment = {"NO_COLOR": "1", "TERM": "dumb", "COLUMNS": "400", "HYBONET_DATA": "", "XDG_CACHE_HOME": "cache"}
    before, here = _content(folder), Path.cwd()
    os.chdir(folder)
    try:
        result = CliRunner(env=environment).invoke(app, shlex.split(command), prog_name="hybonet")
    finally:
        os.chdir(here)
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception  # a person would see a traceback
    after = _content(folder)
    changed = sorted(path for path in before | after if before.get(path) != after.get(path))
    panel = re.search(r"╭─ Error ─+╮\n(.*)\n╰", result.stderr, re.DOTALL)
    message = re.sub(r"^│ *| *│$", "", panel[1], flags=re.MULTILINE) if panel else result.stderr.strip()
    return Outcome(result.exit_code, message, result.output, changed)


def _content(folder: Path) -> dict[str, bytes | None]:
    return {str(path.relative_to(folder)): path.read_bytes() if path.is_file() else None for path in folder.rglob("*")}


# Preparations ------------------------------------------------------------------------------------------------------


def write(name: str, content: str | bytes = GOOD) -> Prepare:
    """A file with this content."""

    def prepare(folder: Path) -> None:
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)

    return prepare


def both(*parts: Prepare) -> Prepare:
    """One after the other."""
    return lambda folder: [part(folder) for part in parts]


def cut(name: str, share: float = 0.5) -> Prepare:
    """Keep only the first part of a file."""

    def prepare(folder: Path) -> None:
        content = (folder / name).read_bytes()
        (folder / name).write_bytes(content[: int(len(content) * share)])

    return prepare


def replace(name: str, old: str, new: str) -> Prepare:
    """Replace text once."""

    def prepare(folder: Path) -> None:
        text = (folder / name).read_text()
        assert old in text, old
        (folder / name).write_text(text.replace(old, new, 1))

    return prepare


def tensors(name: str, change: Callable[[dict[str, torch.Tensor]], object]) -> Prepare:
    """Change the tensors of a safetensors file."""

    def prepare(folder: Path) -> None:
        content = {key: value.clone() for key, value in load_file(folder / name).items()}  # not the mapped file
        change(content)
        save_file(content, folder / name)

    return prepare


def pickled(folder: Path) -> None:
    """A model saved with torch.save, under the name of a safetensors file."""
    torch.save({"weight": torch.zeros(3)}, folder / "run/model.safetensors")


def other_run(folder: Path) -> None:
    """The checkpoint of a run with another seed."""
    quick = "--set dim=4 --set epochs=1 --set batch_size=40 --threads 1"
    assert run(f"train kg --data triples.tsv --out other {quick} --set seed=1", folder).code == 0
    shutil.copy(folder / "other/checkpoint.safetensors", folder / "run/checkpoint.safetensors")


def out_of_patience(folder: Path) -> None:
    """A run that stopped early: with this step nothing becomes better."""
    settings = "--set dim=4 --set lr=1e-9 --set patience=1 --set validate_every=1 --set epochs=9 --threads 1"
    assert run(f"train kg --data triples.tsv --out tired {settings} --set dropout=0", folder).code == 0


def another_search(folder: Path) -> None:
    """A search of one trial, with settings of its own."""
    quick = "--set dim=4 --set epochs=1 --trials 1 --threads 1"
    assert run(f"tune kg --data triples.tsv --out found {quick}", folder).code == 0
