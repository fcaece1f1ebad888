"""Write docs/results/knowledge-graphs.md from the stored records; nothing in its tables is typed by hand.

python scripts/results_page.py
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import kill_trial
from hybonet.reporting.run_records import load_records
from hybonet.reporting.run_report import experiments, markdown_table, report_rows
from kg_comparisons import against_the_paper, at_500, ingredients, leak, models, short_trials

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs/results/knowledge-graphs.md"
RECORDS = ROOT / "docs/results/records"
SPEED = ROOT / "benchmarks/results"
#: Times its least memory traffic that a training step may take.
STEP_TARGET = 4


def page() -> str:
    """The whole page as Markdown."""
    parts = [
        INTRODUCTION,
        against_the_paper(),
        at_500(),
        models(),
        small_graphs(),
        short_trials(),
        ingredients(),
        leak(),
        recipes_timed(),
        against_pykeen(),
        large_graphs(),
        answers(),
        kills(),
    ]
    return "\n\n".join(part.strip() for part in parts if part) + "\n"


INTRODUCTION = """
# Knowledge graphs: results

Made by `python scripts/results_page.py` from run records; do not edit. Each record ([records](records)) holds settings, seed,
commit, versions, data checksums, protocol and time. Filtered ranking in both directions, ties realistic; "released" is the protocol of the
paper's code, which leaves the question's own entity out of the candidates and is easier. The model is the best epoch on validation; the test
triples are used once.
"""


def small_graphs() -> str:
    names = ("umls-seed", "nations-seed", "umls-without", "nations-without", "wordnet-seed")
    found = experiments(
        load_records(path for path in sorted((RECORDS / "kg").iterdir()) if path.name.startswith(names))
    )
    return f"""
## Small graphs

HyboNet with the recipe `default`, 32 ambient coordinates, mean ± standard deviation over seeds. Again with
`python scripts/reproduce.py umls nations umls-without-loop-bias nations-without-loop-bias wordnet`; compare your own runs with `hybonet report`.

{markdown_table(*report_rows(found))}
"""


def recipes_timed() -> str:
    record = read(SPEED / "kg_epoch.json")
    rows = [
        [
            row["recipe"],
            f"{row['epoch_seconds']:.1f}",
            f"{1e3 * row['step_seconds']:.1f}",
            f"{1e3 * row['step_seconds_without_compiled_loops']:.1f}",
            f"{row['step_bytes_at_least'] / 1e6:.0f}",
            f"{row['step_over_traffic_limit']:.1f}×",
            f"{row['test_evaluation_seconds']:.1f}",
            f"{row['evaluation_over_gemm_limit']:.1f}×",
            f"{row['peak_mebibytes']:,.0f}",
        ]
        for row in record["rows"]
    ]
    header = [
        "recipe", "epoch, s", "step, ms", "without compiled loops", "MB a step, at least", "of its limit", "evaluation, s", "of its limit", "peak, MiB",
    ]  # fmt: skip
    return f"""
## One epoch and one evaluation with the paper's recipes

On an {record["processor"]}, {record["threads"]} {"thread" if record["threads"] == 1 else "threads"}: memory bandwidth {record["bytes_a_second"] / 1e9:.1f} GB/s, GEMM
{record["gemm_flops"] / 1e9:.0f} GFLOP/s, both measured in the same run. The limit of a step is the time its least memory traffic takes; the limit
of an evaluation of the test triples is its matrix products at full GEMM speed ([how](../../benchmarks/kg_epoch.py)); the last column is the largest memory of a process that trains and evaluates. {_within(record["rows"])} With and without
[compiled loops](../decisions/0014-compiled-loops.md) steps took turns in one run: that ratio is what can be told best, since the speed of the machine changed by half from minute
to minute. Again with `python -m benchmarks.kg_epoch`.

{markdown_table(header, rows)}
"""


def _within(rows: list[dict[str, Any]]) -> str:
    """Which steps are within the target."""
    met = [row["recipe"] for row in rows if row["step_over_traffic_limit"] <= STEP_TARGET]
    said = "all" if len(met) == len(rows) else " and ".join(f"`{name}`" for name in met) or "none"
    return f"The target is a step within {STEP_TARGET} times its limit: {said} of the {len(rows)} meet it."


def against_pykeen() -> str:
    record = read(SPEED / "kg_pykeen.json")
    rows = [
        [
            f"an epoch, optimizer={row['optimizer']}",
            f"{row['epoch_seconds']:.1f}",
            f"{row['pykeen_epoch_seconds']:.1f}",
            f"{row['times_faster']:.1f}×",
            target(row),
        ]
        for row in record["training"]
    ]
    row = record["evaluation"]
    seconds = f"{row['seconds']:.2f}", f"{row['pykeen_seconds']:.2f}"
    rows.append(["test triples, filtered, both sides", *seconds, f"{row['times_faster']:.1f}×", target(row)])
    timed = " and ".join(str(row["batches_timed"]) for row in record["training"])
    return f"""
## Against PyKEEN on WN18RR

In one run, sides alternating, {record["threads"]} {"thread" if record["threads"] == 1 else "threads"}. Training: `paper-wn18rr-32` without clipping against
PyKEEN's MuRE with 32 coordinates in its own sLCWA loop, batches of 1,000 with 50 random tails each, inverse triples, Adam; {timed} of our
{record["training"][0]["batches_an_epoch"]} batches were timed and {record["training"][0]["batches_timed_pykeen"]} of PyKEEN's, an epoch is the median times all. Evaluation: one scorer,
PyKEEN's `RankBasedEvaluator` with its best batch size ({row["pykeen_batch_size"]}); the mean reciprocal ranks are {row["mrr"]:.6g} and
{row["pykeen_mrr"]:.6g}. Again with `python -m benchmarks.kg_pykeen`.

{markdown_table(["what", "ours, s", "PyKEEN, s", "times faster", "target"], rows)}
"""


def target(row: dict[str, Any]) -> str:
    return f"≥ {row['target']:g}×, {'met' if row['times_faster'] >= row['target'] else 'missed'}"


def large_graphs() -> str:
    record = read(SPEED / "kg_scale.json")
    settings = record["settings"]
    rows = [
        [
            row["graph"],
            f"{row['entities']:,}",
            f"{row['relations']:,}",
            f"{row['triples']:,}",
            f"{row['microseconds_a_triple']:.1f}",
            f"{row['times_wn18rr']:.2f}×",
            f"{row['peak_mebibytes']:,.0f}",
            f"{row['steps_timed']:,} ({row['steps_an_epoch']:,} an epoch)",
        ]
        for row in record["rows"]
    ]
    header = ["graph", "entities", "relations", "triples", "µs a triple", "of WN18RR's", "peak, MiB", "steps timed"]
    return f"""
## Up to a million entities

Softmax against a pool of {settings["negatives"]:,} random tails, batches of {settings["batch_size"]:,}, {settings["dim"]} coordinates, sparse updates in the chart,
{record["threads"]} {"thread" if record["threads"] == 1 else "threads"}; synthetic graphs with power-law degrees, each in a process of its own, whose largest memory is given
([how](../../benchmarks/kg_scale.py)). Again with `python -m benchmarks.kg_scale`.

{markdown_table(header, rows)}
"""


def answers() -> str:
    record = read(SPEED / "kg_answers.json")
    rows = [
        [row["topic"], row["case"], f"{row['ours']:.1f}", f"{row['peer']:.1f}", f"{row['ratio']:.2f}×"]
        for row in record["rows"]
    ]
    return f"""
## Answers among a million entities

The ten best tails, with exact probabilities (faiss: without), in one run with {record["threads"]} threads. Again with
`python -m benchmarks --only kg_answers`.

{markdown_table(["ours / peer", "case", "ours, ms", "peer, ms", "times faster"], rows)}
"""


def kills() -> str:
    return f"""
## Killed and resumed

`python scripts/kill_trial.py` trains on the graph inside the package, kills the training with SIGKILL at random moments and resumes it until
it finishes: {kill_trial.summary(read(RECORDS / "kill_trial.json"))}
"""


def read(path: Path) -> dict[str, Any]:
    return json.loads(path.read_text(encoding="utf-8"))


if __name__ == "__main__":
    PAGE.parent.mkdir(parents=True, exist_ok=True)
    PAGE.write_text(page(), encoding="utf-8")
    print(PAGE.relative_to(ROOT))
