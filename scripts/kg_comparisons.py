"""Tables of the knowledge-graph results page that set records beside the paper's figures and beside each other."""

from __future__ import annotations

import json
import statistics
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import kg_cells
from hybonet.reporting.run_records import load_records
from hybonet.reporting.run_report import Spread, markdown_table
from stored_records import RECORDS, of_experiment, worked_seconds

#: The paper's table at 32 dimensions (large dimensions for the first six): MRR on WN18RR and FB15k-237.
PAPER = {
    "TransE": (0.227, 0.280),
    "DistMult": (0.415, 0.193),
    "ComplEx": (0.432, 0.257),
    "ConvE": (0.435, 0.304),
    "RotatE": (0.473, 0.301),
    "TuckER": (0.461, 0.347),
    "MuRP": (0.465, 0.323),
    "RotH": (0.472, 0.314),
    "AttH": (0.466, 0.324),
    "hybonet": (0.489, 0.334),
}
#: What each record named ablation-… changes, in words.
INGREDIENTS = {
    "full": "the recipe `default` as it is",
    "riemannian": "exact Riemannian Adam instead of Adam in the chart",
    "bce": "binary cross-entropy, 50 random tails for each triple (the paper)",
    "self-adversarial": "self-adversarial loss, 50 random tails for each triple",
    "own": "softmax against 50 random tails for each triple",
    "pool": "softmax against a pool of 500 shared tails",
    "bernoulli": "readings of a relation weighed as in Bernoulli sampling",
    "filtered": "other right answers of the training triples left out",
    "no-smoothing": "no label smoothing",
    "no-dropout": "no dropout",
    "l2": "L2 penalty .001",
    "n3": "N3 penalty .001",
    "curvature": "learned curvature",
    "no-max-norm": "no max-norm",
    "no-loop-bias": "no loop bias",
    "constant-rate": "constant learning rate",
    "sharpness": "loss of sharpness .7, 1.5 for symmetric relations",
    "tied": "symmetric relations one with their reciprocals",
    "tangent": "relations' maps through the tangent space",
    "both-readings": "answers by both readings of a triple, shares as for WN18RR",
}


def named(pattern: str) -> dict[str, list[dict[str, Any]]]:
    """Records by the name of their experiment, seeds together."""
    groups: dict[str, list[dict[str, Any]]] = {}
    for path in sorted((RECORDS / "kg").glob(f"{pattern}-seed*.json")):
        groups.setdefault(path.stem.rsplit("-seed", 1)[0], []).extend(load_records([path]))
    return groups


def mrr(records: Iterable[dict[str, Any]], *path: str) -> str:
    path = path or ("test", "both", "mrr")
    values = []
    for record in records:
        value: Any = record
        for key in path:
            value = value[key]
        values.append(float(value))
    return str(Spread.of(values)) if values else "–"


def thousandths(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}".removeprefix("0")


#: The paper's figures at 500 dimensions.
PAPER_500 = {"WN18RR": 0.513, "FB15k-237": 0.352}
_HEADER = ["data", "training", "seeds", "test MRR", "by one reading", "released protocol", "minutes on one core"]


def against_the_paper() -> str:
    """The recipes for the two benchmarks, one row each."""
    rows = []
    for place, (data, name) in enumerate((("WN18RR", "wn18rr-32"), ("FB15k-237", "fb15k237-32"))):
        rows.append(_published(data, PAPER["hybonet"][place]))
        rows.append(_trained(data, f"the paper's settings: `paper-{name}`", f"paper-{name}"))
        rows.append(_trained(data, f"`{name}`", name))
        for taught, records in named(f"{name}-taught*").items():
            rows.append(_trained(data, f"`{taught}`: learns from {_teachers(records)}", taught))
    return f"""
## WN18RR and FB15k-237 at 32 ambient coordinates

The test triples are used once, with the epoch that validation chose. Again with
`python scripts/reproduce.py 'wn18rr-32*' fb15k237-32 'paper-*' --threads 1`. Minutes are the processor's or,
in records that do not count them, those of a busy machine, validation apart. Our recipes answer by both readings of a triple, from head to tail
and back ([why](../decisions/0013-both-readings.md)); "by one reading" is the same model without.

{markdown_table(_HEADER, rows)}
{reached()}
"""


def at_500() -> str:
    """What is trained at the paper's larger size."""
    rows = []
    for data, recipe in (("WN18RR", "wn18rr-500"), ("FB15k-237", "fb15k237-500")):
        rows.append(_published(data, PAPER_500[data]))
        rows += [_trained(data, f"`{name}`", name) for name in (f"paper-{recipe}", recipe) if name in named("*")]
    return f"""
## With 500 ambient coordinates

Again with `python scripts/searches.py wn18rr-500 --threads 1`, which found the rate, and `python scripts/reproduce.py wn18rr-500 --threads 1`. The paper's
settings at this size run, but not to the end in a few hours of two cores: what an epoch takes is under
[one epoch](#one-epoch-and-one-evaluation-with-the-papers-recipes), and the paper has 1,000 of WN18RR and 500 of FB15k-237. `wn18rr-500` is a second
training: a first one, not kept, read as much of the other reading as `wn18rr-32` does, and its validation triples wanted less; its test triples had been looked at, too.

{markdown_table(_HEADER, rows)}
"""


def _published(data: str, figure: float) -> list[str]:
    easier = "easier protocol, leaked negatives" if data == "WN18RR" else "easier protocol"
    return [data, f"the paper's figure ({easier})", "–", "–", "–", thousandths(figure), "–"]


def _trained(data: str, label: str, name: str) -> list[str]:
    records = named(name).get(name, [])
    if not records:
        return [data, label, "not trained yet", "–", "–", "–", "–"]
    minutes = Spread.of([worked_seconds(record) / 60 for record in records])
    both = [record for record in records if "test_one_reading" in record]
    assert len(both) in (0, len(records)), f"records of {name} with and without other_reading"
    one = mrr(both, "test_one_reading", "mrr") if both else "the same"
    released = mrr(records, "test_released_protocol", "mrr")
    return [data, label, str(len(records)), mrr(records), one, released, f"{minutes.mean:.0f}"]


def _teachers(records: list[dict[str, Any]]) -> str:
    """Whom records name as teachers, in words."""
    runs = max((record["teachers"] for record in records), key=len)
    names = sorted({teacher["run"].rsplit("-seed", 1)[0] for teacher in runs})
    number = "a run" if len(runs) == 1 else f"{len(runs)} runs"
    return f"{number} of {' and '.join(f'`{name}`' for name in names)}, whose time comes before"


def reached() -> str:
    """When validation first came up to the paper's test figure."""
    lines = []
    for name, figure in (
        ("wn18rr-32", 0.489),
        ("wn18rr-32-taught", 0.489),
        ("fb15k237-32", 0.334),
    ):
        for record in named(name).get(name, []):
            course = record.get("validations", [])
            first = next((row for row in course if row["mrr"] >= figure), None)
            best = max((row["mrr"] for row in course), default=0.0)
            said = (
                f"reaches the paper's {thousandths(figure)} on validation after {worked_seconds(first) / 60:.0f} minutes "
                f"(epoch {first['epoch']})"
                if first
                else f"does not reach the paper's {thousandths(figure)} on validation: its best is {thousandths(best)}"
            )
            lines.append(f"- `{name}`, seed {record['seed']}, {record['threads']} thread(s): {said}.")
    return "\n" + "\n".join(lines) if lines else ""


def models() -> str:
    """Every model under the same loop, data and evaluation."""
    label = {"hybonet": "**HyboNet**", "hybonet-tangent": "HyboNet, tangent-space maps"}
    rows = []
    for model in (*[m for m in PAPER if m != "hybonet"], "MuRE", "hybonet-tangent", "hybonet"):
        cells = [label.get(model, model)]
        for place, cell in enumerate(("twenty-wn18rr", "twenty-fb15k-237")):
            records = of_experiment("kg", f"{cell}-{model.lower()}")
            size = f"{records[0]['parameters'] / 1e6:.2f}M" if records else "–"
            minutes = f"{worked_seconds(records[0]) / 60:.0f}" if records else "–"
            cells += [mrr(records), minutes, size, thousandths(PAPER[model][place] if model in PAPER else None)]
        for cell in ("umls", "nations"):
            own = of_experiment("kg", f"{cell}-{model.lower()}")
            cells.append(mrr(own or (of_experiment("kg", cell) if model == "hybonet" else [])))
        rows.append(cells)
    without = [mrr(of_experiment("kg", f"{cell}-without-loop-bias")) for cell in ("umls", "nations")]
    rows.insert(-1, ["HyboNet without loop bias", *["–"] * 8, *without])
    still = sorted({model for model in kg_cells.MODELS if _still_learning(f"nations-{model.lower()}")})
    large = [heading for data in ("WN18RR", "FB15k-237") for heading in (data, "minutes", "parameters", "the paper")]
    header = ["model", *large, "UMLS", "Nations"]
    return f"""
## Models side by side

Test MRR at 32 numbers an entity, the same loop, loss, data and evaluation for all. {_rates()} WN18RR and FB15k-237: the recipe
`comparison`, as many epochs as fit into twenty minutes of a core of one kind ([which](../../scripts/kg_cells.py)), one seed; minutes are those of
the core that trained, validation included. UMLS and Nations: the
recipe `default`, five seeds. "the paper" is its table: large dimensions for TransE to TuckER, 32 for the rest. Again with
`python scripts/searches.py 'twenty-*' 'umls-*' 'nations-*' --threads 1`, then the same of `reproduce.py`.

{markdown_table(header, rows)}

{_in_order()}

Where many entities are not related to themselves, a `loop_bias` says so ([what it is](../decisions/0006-loop-bias.md)). The other models have
none, and on UMLS and Nations it is what HyboNet's figures rest on: see the row without, which has the recipe's rate.{_told(still)}
"""


def _in_order() -> str:
    """The models by their figures, best first, and what one seed is worth."""
    lines = []
    for cell in kg_cells.CELLS:
        found = {model: of_experiment("kg", f"{cell}-{model.lower()}") for model in kg_cells.MODELS}
        means = {
            model: statistics.fmean(record["test"]["both"]["mrr"] for record in records)
            for model, records in found.items()
            if records
        }
        ranked = sorted(means, key=means.__getitem__, reverse=True)
        names = {"hybonet": "**HyboNet**", "hybonet-tangent": "with tangent-space maps"}
        told = ", ".join(f"{names.get(model, model)} {thousandths(means[model])}" for model in ranked)
        lines.append(f"- {kg_cells.CELLS[cell].data}, best first: {told}.")
    apart = max(
        max(values) - min(values)
        for name in ("wn18rr-32", "fb15k237-32")
        for values in [[record["test_one_reading"]["mrr"] for record in named(name)[name]]]
    )
    return "\n".join(lines) + (
        f"\n\nOne seed each on WN18RR and FB15k-237: the three of our recipes above lie up to {thousandths(apart)} apart by one reading, so that smaller "
        "differences say nothing. The models answer by one reading here, and have none of what those recipes have for their graphs."
    )


def _rates() -> str:
    """How the learning rates were found."""
    told = []
    shorter = f"trials of a {kg_cells.SHORTER}th of the training, at least two epochs"
    for cells, words in ((("twenty-wn18rr", "twenty-fb15k-237"), shorter), (("umls", "nations"), "whole trainings")):
        names = " and ".join(kg_cells.CELLS[cell].data for cell in cells)
        if kg_cells.are_searched(*cells):
            tried = ", ".join(thousandths(rate).rstrip("0") for rate in kg_cells.CELLS[cells[0]].rates)
            largest, of = kg_cells.at_the_largest(*cells)
            told.append(
                f"**On {names} every model has the learning rate that did best on validation triples**, of {tried} in {words} "
                f"([searches](records/searches)). In {largest} of {of} searches that is the largest: more might suit some better."
            )
        else:
            told.append(
                f"**On {names} the learning rates were not searched for**: that of HyboNet was found in trials, those of the "
                "others are customary."
            )
    return "\n".join(told)


def _told(still: list[str]) -> str:
    if not still:
        return ""
    return (
        f" On Nations the last epoch is the best or nearly so in every run of {', '.join(still)}, which were still learning "
        "when they ended."
    )


def _still_learning(name: str) -> bool:
    """Whether every run of an experiment was at its best in the last eighth of its epochs."""
    records = of_experiment("kg", name)
    return bool(records) and all(record["best_epoch"] > 7 / 8 * record["epochs"] - 1 for record in records)


def ingredients() -> str:
    """One ingredient changed at a time."""
    found = named("ablation-*")
    if "ablation-full" not in found:
        return ""
    rows = []
    for name, words in INGREDIENTS.items():
        records = found.get(f"ablation-{name}", [])
        if records:
            seconds = sum(map(worked_seconds, records)) / len(records)
            valid = mrr(records, "valid", "mrr")
            rows.append([words, valid, mrr(records), mrr(records, "test_released_protocol", "mrr"), f"{seconds:.0f}"])
    header = ["changed", "valid MRR", "test MRR", "released protocol", "seconds"]
    return f"""
## One ingredient at a time

The WordNet graph inside the package, recipe `default`, one seed on one core. Seeds differ by about as much as the three of `wordnet` under
"Small graphs" do: smaller differences than that say nothing. Again with `python scripts/reproduce.py 'ablation-*' --threads 1`.

{markdown_table(header, rows)}
"""


#: What each record named short-… changes, in words.
SHORT = {
    "recipe": "the recipe `wn18rr-32`: .7, and 1.5 for symmetric relations",
    "sharpness-0.7": "sharpness .7 for all relations",
    "sharpness-1": "sharpness 1 for all relations",
    "sharpness-1.5": "sharpness 1.5 for all relations",
    "untied": "two maps for the two readings of symmetric relations",
    "wide-start": "entities start at radius 1",
    "8000-candidates": "8,000 candidates instead of 2,000",
    "filtered": "other right answers of the training triples left out",
    "l2": "L2 penalty .02",
    "sparse": "only the entities of a batch are moved",
    "bce": "binary cross-entropy, 50 random tails for each triple",
    "riemannian": "exact Riemannian Adam",
}


def short_trials() -> str:
    """WN18RR after 15 epochs, by its two largest relations."""
    found = named("short-*")
    rows = []
    for name, words in SHORT.items():
        if records := found.get(f"short-{name}", []):
            relations = records[0]["test"]["by_relation"]
            cells = [thousandths(relations[r]["mrr"]) for r in ("_derivationally_related_form", "_hypernym")]
            rows.append([words, mrr(records, "valid", "mrr"), mrr(records), *cells])
    if not rows:
        return ""
    header = ["changed", "valid MRR", "test MRR", "derivationally related form", "hypernym"]
    return f"""
## Short trials on WN18RR

The recipe `wn18rr-32` cut to 15 epochs, questions answered by one reading, one thing changed at a time; the last two columns are test MRR of the two largest relations
([why they matter](../decisions/0007-sharpness-by-relation.md)). Again with `python scripts/reproduce.py 'short-*' --threads 1`.

{markdown_table(header, rows)}
"""


def leak() -> str:
    """What the released code's two habits are worth."""
    parts = []
    for path in sorted(RECORDS.glob("leak_trial_*.json")):
        record = json.loads(path.read_text(encoding="utf-8"))
        rows, found = [], {}
        for kind, words in (("train", "the training triples (ours)"), ("all", "all triples, test too (released)")):
            chosen = [row["test_mrr"] for row in record["rows"] if row["negatives_filtered_by"] == kind]
            for protocol in ("standard", "released"):
                found[kind, protocol] = Spread.of([row[protocol] for row in chosen])
            rows.append([words, str(found[kind, "standard"]), str(found[kind, "released"])])
        header = ["negatives filtered by", "test MRR, standard", "with the head masked (released)"]
        data = Path(record["data"]["source"]).name
        parts.append(f"{data}, {len(record['rows']) // 2} seed(s):\n\n{markdown_table(header, rows)}")
        if data == "WN18RR":
            worth, figure = found["all", "released"].mean - found["train", "standard"].mean, PAPER["hybonet"][0]
            parts[-1] += (
                f"\n\nBoth together are worth {thousandths(worth)} here: the paper's {thousandths(figure)}, which has both, "
                f"would be about {thousandths(figure - worth)} without, if they are worth as much in its training, which has another "
                "optimiser, rate and length."
            )
    if not parts:
        return ""
    tables = "\n\n".join(parts)
    return f"""
## What the head mask and the leaked negatives are worth

The paper's loss and negatives (binary cross-entropy, 50 random tails), without `loop_bias`, trained twice: once the honest way, once with
test triples kept out of the negatives, as the released code does on WN18RR. Again with `python scripts/leak_trial.py` and
`python scripts/leak_trial.py --data WN18RR --seeds 1 --threads 1`.

{tables}
"""
