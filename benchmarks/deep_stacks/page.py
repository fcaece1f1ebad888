"""docs/deep-stacks.md: the words of ``page.md`` around tables and pictures of the record."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable
from pathlib import Path
from statistics import mean, stdev
from typing import Any

from benchmarks.deep_stacks.cells import DEPTHS, NAMERS, RATES, TOPICS, final_loss, is_done, torch_rate
from benchmarks.deep_stacks.models import OPTIONS, PIECES, STARTS
from benchmarks.deep_stacks.tasks import SETTINGS
from hybonet.reporting.run_report import markdown_table
from results.pages import fill

Cell = dict[str, Any]
Record = list[Cell]

ROOT = Path(__file__).parent.parent.parent
PAGE = ROOT / "docs/deep-stacks.md"
IMAGES = ROOT / "docs/images"
GROWTH = ROOT / "benchmarks/results/norm_growth.json"
NOT_YET = "not measured"
#: Ours may be so much worse than torch.
BAR = 1.03


def text(record: Record) -> str:
    """The whole page."""
    template = Path(__file__).with_name("page.md").read_text(encoding="utf-8")
    tables = (
        paper,
        main_table,
        rates,
        plateau,
        positions,
        longer,
        pieces,
        starts,
        trials,
        widths,
        heads,
        harder,
        naming_depth,
        depth,
        growth,
        soak,
        left,
    )
    return fill(template, {table.__name__: table(record) for table in tables})


def chosen(record: Record, **wanted: Any) -> Record:
    return [each for each in record if wanted.items() <= each.items()]


def spread(values: Iterable[float], digits: int, unknown: str = NOT_YET) -> str:
    """Mean, ± deviation if there are several, and how many where not one."""
    found = list(values)
    if not found:
        return unknown
    if len(found) == 1:
        return f"{found[0]:.{digits}f}"
    return f"{mean(found):.{digits}f} ± {stdev(found):.{digits}f} ({len(found)})"


def main_table(record: Record) -> str:
    """Loss after equal steps at torch's best rate."""
    rows = []
    for task in SETTINGS:
        topic = "multi30k" if task == "multi30k" else "small"
        steps = SETTINGS[task]["steps"]
        for layers in (*DEPTHS, 48) if task == "copy" else DEPTHS:
            same = {"steps": 320, "positions": "centred"} if topic == "multi30k" else {"topic": topic}
            rate = torch_rate(record, task, layers, **same)
            wanted = {"topic": topic, "task": task, "layers": layers, "rate": rate, "steps": steps}
            ours, torch = (chosen(record, **wanted, model=side) for side in ("ours", "torch"))
            read: Callable[[Cell], float] = _perplexity if topic == "multi30k" else final_loss
            digits = 2 if topic == "multi30k" else 4
            losses = [[read(each) for each in side] for side in (ours, torch)]
            ratio = mean(losses[0]) / mean(losses[1]) if all(losses) else None
            verdict = [NOT_YET, ""] if ratio is None else [f"{ratio:.2f}", "yes" if ratio <= BAR else "**no**"]
            seconds = " / ".join(spread([mean(_seconds(side))] if side else [], 1, "–") for side in (ours, torch))
            shown = [spread(side, digits, "–") for side in losses]
            rows.append([_task(task), str(layers), f"{rate:g}", *shown, *verdict, seconds])
    header = ["task, steps", "layers", "rate", "ours", "torch", "ours / torch", "at most 1.03", "seconds"]
    return markdown_table(header, rows)


def _task(task: str) -> str:
    name = "Multi30k, perplexity" if task == "multi30k" else task
    return f"{name}, {SETTINGS[task]['steps']:,}"


def _perplexity(each: Cell) -> float:
    return math.exp(min(final_loss(each), 20.0))


def _seconds(side: Record) -> list[float]:
    return [each["seconds"] for each in side]


def rates(record: Record) -> str:
    """Losses over a decade of rates with seed 0."""
    rows = []
    for task, given in RATES.items():
        for layers in DEPTHS:
            cells = []
            for rate in sorted(given):
                wanted = {"topic": "small", "task": task, "layers": layers, "rate": rate, "seed": 0}
                sides = [chosen(record, **wanted, model=side) for side in ("ours", "torch")]
                found = [f"{final_loss(side[0]):.4f}" if side else "–" for side in sides]
                cells.append(f"{rate:g}: {found[0]} / {found[1]}")
            rows.append([_task(task), str(layers), *cells])
    return markdown_table(["task, steps", "layers", "low: ours / torch", "middle", "high"], rows)


def plateau(record: Record) -> str:
    """Steps of reversal until the loss was half of the first, and how that compares."""
    cells = chosen(record, topic="plateau", layers=2, steps=330)
    found = {name: chosen(cells, model=name) for name in ("ours", "torch", *PIECES, *STARTS)}
    whole = [each["half"] for each in found["ours"] if each["half"]]
    rows = []
    for name, each_seed in found.items():
        if steps := [each["half"] for each in each_seed if each["half"]]:
            rows.append([name, spread(steps, 0), f"{mean(steps) / mean(whole):.2f}" if whole else "–"])
    return markdown_table(["block", "steps", "/ ours"], rows)


def longer(record: Record) -> str:
    """Losses of reversal after twice the steps."""
    rows = []
    for layers in (2, 6):
        cells = chosen(record, topic="plateau", layers=layers, steps=600)
        rows.append(
            [str(layers), *(spread(map(final_loss, chosen(cells, model=side)), 4) for side in ("ours", "torch"))]
        )
    return markdown_table(["layers", "ours", "torch"], rows)


def _short(record: Record, names: Iterable[str]) -> str:
    """Perplexity of Multi30k after 320 steps, with 6 layers and seed 0."""
    base = [each for each in record if each["topic"] in ("pieces", "trials") and each["task"] == "multi30k"]
    whole = chosen(base, model="ours")
    rows = []
    for name in names:
        found = chosen(base, model=name)
        values = [_perplexity(each) for each in found]
        ratio = f"{mean(values) / mean(map(_perplexity, whole)):.3f}" if values and whole else "–"
        rows.append([name, spread(values, 1), ratio])
    return markdown_table(["block", "perplexity", "/ ours"], rows)


def positions(record: Record) -> str:
    """Perplexity of Multi30k after 320 steps by the kind of position vectors."""
    rows = []
    for kind in ("learned", "centred", "sinusoidal"):
        wanted: Cell = {"topic": "positions", "positions": kind}
        sides = [chosen(record, **wanted, layers=layers, model=side) for layers in (2, 6) for side in ("ours", "torch")]
        rows.append([kind, *(spread(map(_perplexity, side), 1) for side in sides)])
    plain = chosen(record, topic="positions", positions="sinusoidal", model="torch, RMS norms")
    rows.append(["sinusoidal, torch with RMS norms", "", spread(map(_perplexity, plain), 1), "", ""])
    header = ["positions", "two layers at 1e-2: ours", "torch", "six layers at 3e-3: ours", "torch"]
    return markdown_table(header, rows)


def pieces(record: Record) -> str:
    return _short(record, ("ours", "torch", *(name for name in PIECES if name != "all pieces on")))


def starts(record: Record) -> str:
    return _short(record, STARTS)


def trials(record: Record) -> str:
    return _short(
        record, ["ours, GELU", "torch, GELU", *(name for name in OPTIONS if name not in ("ours", "ours, GELU"))]
    )


def paper(record: Record) -> str:
    """What copying with six layers comes to in 300 steps."""
    found = {
        name: chosen(record, topic="trials", task="copy", model=name) for name in ("paper's form", "torch", "ours")
    }
    if not all(found.values()):
        return "seen by hand, not yet in this record"
    return ", ".join(f"{name} {final_loss(each[0]):.4f}" for name, each in found.items()) + ", chance 3.91"


def widths(record: Record) -> str:
    """Losses of reversal by width."""
    found = chosen(record, topic="trials", task="reversal")
    sizes = [(16, 6), (64, 6), (128, 6), (256, 6), (512, 2)]
    rows = []
    for width, layers in sizes:
        at = chosen(found, width=width, layers=layers)
        shown = [spread(map(final_loss, chosen(at, model=side)), 4) for side in ("ours", "torch")]
        rows.append([str(width), str(layers), str(at[0]["steps"]) if at else "–", *shown])
    return markdown_table(["width", "layers", "steps", "ours", "torch"], rows)


def _maps(record: Record, model: str, topic: str = "hypernyms", **wanted: Any) -> str:
    """Test MAP at the best of the search for seed 0, and other seeds with the same settings."""
    found = chosen(record, topic=topic, model=model, **wanted)
    first = [each for each in found if each["seed"] == 0]
    if not first:
        return NOT_YET
    best = max(first, key=lambda each: each.get("valid", 0.0))
    same = [each for each in found if all(each[name] == best[name] for name in ("rate", "smoothing"))]
    return f"{spread((each['map'] for each in same), 3)} of {len(first)}"


def heads(record: Record) -> str:
    usual = {"layers": 1, "held_out": 0.5, "noise": 0.0}
    rows = [[name, *(_maps(record, name, space=space, **usual) for space in (4, 8))] for name in NAMERS]
    return markdown_table(["body / head", "4 coordinates", "8 coordinates"], rows)


def harder(record: Record) -> str:
    cases: dict[str, dict[str, Any]] = {
        "nine tenths held out": {"held_out": 0.9},
        "a fifth of labels wrong": {"noise": 0.2},
        "4,017 animals": {"topic": "animals"},
        "of them, ancestors of fewer than ten words told": {"topic": "rare"},
        "82,115 nouns, two passes": {"topic": "nouns"},
    }
    rows = []
    for name in ("torch/linear", "flat/log", "lorentz/geodesic"):
        usual = {"layers": 1, "space": 8, "held_out": 0.5, "noise": 0.0}
        rows.append([name, *(_maps(record, name, **{**usual, **case}) for case in cases.values())])
    return markdown_table(["body / head", *cases], rows)


def naming_depth(record: Record) -> str:
    usual = {"space": 8, "held_out": 0.5, "noise": 0.0}
    rows = []
    for name in ("torch/linear", "flat/log", "lorentz/geodesic"):
        rows.append([name, *(_maps(record, name, layers=layers, **usual) for layers in DEPTHS)])
    return markdown_table(["body / head", *(f"{layers} layers" for layers in DEPTHS)], rows)


def depth(record: Record) -> str:
    """Signal in the first, the middle and the last of 24 layers."""
    rows = []
    for model in ("ours", "torch"):
        for each in chosen(record, topic="signal", model=model)[-1:]:
            for step, found in each["by_layer"].items():
                three = [" / ".join(f"{values[at]:.3g}" for at in (0, 11, 23)) for values in found.values()]
                named = dict(zip(found, three, strict=True))
                order = ("length", "radius", "angle", "gradient")
                rows.append([model, step, *(named.get(name, "–") for name in order)])
    header = ["24 layers", "step", "length of the stream", "radius", "angle between points", "gradient norm"]
    return markdown_table(header, rows)


def growth(_: Record) -> str:
    """Radius after so many steps, from the record of ``python -m benchmarks.norm_growth``."""
    marks = ("1", "10", "100", "1000", "10000")
    rows = []
    for each in _grown():
        radii = [f"{each['radius'][mark]:.2f}" if mark in each["radius"] else "above 100" for mark in marks]
        rows.append([each["layer"], each["optimizer"], *radii])
    return markdown_table(["linear layer", "optimiser", *(f"{mark} steps" for mark in marks)], rows)


def _grown() -> Record:
    return json.loads(GROWTH.read_text(encoding="utf-8"))["rows"]


def soak(record: Record) -> str:
    """How far the long training is, and its extremes."""
    parts = sorted(chosen(record, topic="soak"), key=lambda each: each["until"])
    if not parts:
        return f"The soak is {NOT_YET}."
    every: dict[str, list[float]] = {name: [] for name in parts[0]["samples"]}
    for each in parts:
        for name, values in each["samples"].items():
            every[name] += values
    sound = "no loss or parameter was NaN or infinite" if all(each["finite"] for each in parts) else "**not finite**"
    return (
        f"{parts[-1]['until']:,} of 20,000 steps are done: {sound}. The norm of all gradients was between "
        f"{min(every['gradient']):.2g} and {max(every['gradient']):.2g}, the farthest point of the stream at radius "
        f"{max(every['radius']):.2f}, and points were off the hyperboloid by at most {max(every['off_sheet']):.1g} of "
        f"their squared time. The loss of the last thousand steps was at most {parts[-1]['worst_loss']:.2g}."
        "\n\n![Loss, gradient norm and farthest radius by steps](images/deep-stacks-soak.png)"
    )


def left(record: Record) -> str:
    """What has been measured of what is planned."""
    rows = []
    for topic, plan in TOPICS.items():
        cells = list(plan(record))
        done = sum(is_done(each, record) for each in cells)
        seconds = sum(each.get("seconds", 0.0) for each in chosen(record, topic=topic))
        rows.append([topic, f"{done} of {len(cells)}", f"{seconds / 60:.1f}"])
    return markdown_table(["topic", "cells measured", "minutes they took"], rows)


def draw(record: Record, folder: Path = IMAGES) -> None:
    """The pictures of what has been measured."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    def save(figure: Any, name: str) -> None:
        for panel in figure.axes:
            panel.grid(color="#dddddd", linewidth=0.6)
            panel.spines[["top", "right"]].set_visible(False)
        figure.savefig(folder / f"deep-stacks-{name}.png", dpi=100)
        plt.close(figure)

    sides = {"ours": "#0072B2", "torch": "#D55E00"}
    if signals := chosen(record, topic="signal"):
        figure, panels = plt.subplots(1, 3, figsize=(10, 3.2), layout="constrained")
        for each in signals:
            for step, found in each["by_layer"].items():
                look = {"color": sides[each["model"]], "linestyle": "--" if step == "0" else "-"}
                for panel, name in zip(panels, ("length", "angle", "gradient"), strict=True):
                    values = found[name]
                    values = [value / values[0] for value in values] if name == "length" else values
                    panel.plot(range(1, len(values) + 1), values, label=f"{each['model']}, step {step}", **look)
        titles = (
            "length of the stream / that after layer 1",
            "angle between points, degrees",
            "gradient norm of layer",
        )
        for panel, title in zip(panels, titles, strict=True):
            panel.set_title(title, fontsize=10)
            panel.set_xlabel("layer")
            panel.set_ylim(bottom=0)
        panels[0].legend(frameon=False, fontsize=8)
        save(figure, "signal")
    figure, panels = plt.subplots(1, 2, figsize=(8, 3.2), sharey=True, layout="constrained")
    for each in _grown():
        panel = panels[("SGD", "Adam").index(each["optimizer"])]
        panel.plot([int(step) for step in each["radius"]], each["radius"].values(), label=each["layer"], marker=".")
        panel.set_title(f"{each['optimizer']}, rate {each['rate']:g}", fontsize=10)
        panel.set_xscale("log")
        panel.set_xlabel("steps")
        panel.set_ylim(0, 12)
    panels[0].set_ylabel("geodesic radius of the outputs")
    panels[0].legend(frameon=False, fontsize=8)
    save(figure, "growth")
    if parts := sorted(chosen(record, topic="soak"), key=lambda each: each["until"]):
        figure, panels = plt.subplots(1, 3, figsize=(10, 3.2), layout="constrained")
        for panel, name in zip(panels, ("loss", "gradient", "radius"), strict=True):
            values = [value for each in parts for value in each["samples"][name]]
            panel.plot(
                [parts[0]["every"] * at for at in range(1, len(values) + 1)], values, color="#0072B2", linewidth=0.8
            )
            panel.set_title(
                {"gradient": "norm of all gradients", "radius": "farthest radius"}.get(name, name), fontsize=10
            )
            panel.set_xlabel("steps")
            if name != "radius":
                panel.set_yscale("log")
        save(figure, "soak")


def write(record: Record) -> None:
    """The page and its pictures."""
    PAGE.write_text(text(record), encoding="utf-8")
    draw(record)
