"""The table of what settings that follow from the data reach."""

from __future__ import annotations

import fnmatch
from functools import reduce
from operator import getitem
from statistics import fmean
from typing import Any

from hybonet.reporting.run_report import markdown_table
from results import store
from results.cold_start.cells import SETS, ColdSet
from results.figures import NOTHING, thousandths, values, worked_seconds

_HEADER = ("", "auto", "plain", "tuned", "best of others", "auto: s", "plain: s", "what auto chose")


def parts() -> dict[str, Any]:
    """What page.md has in braces."""
    rows = [_row(name, of) for name, of in SETS.items() if store.records(f"auto-{name}")]
    missing = [name for name in SETS if not store.records(f"auto-{name}")]
    kept = [name for name, of in SETS.items() if _keeps_up(name, of)]
    measured = [name for name, of in SETS.items() if store.records(f"auto-{name}") and of.tuned]
    below = {name: shown for name, of in SETS.items() if (shown := _below(name, of))}
    return {
        "table": markdown_table(_HEADER, rows),
        "missing": ", ".join(missing) or "none",
        "kept": f"{len(kept)} of {len(measured)}",
        "not_kept": ", ".join(name for name in measured if name not in kept) or "none",
        "slow": ", ".join(_slow(name) for name in SETS if _slow(name)) or "nowhere",
        "noise": ", ".join(name for name, shown in below.items() if shown == "noise") or "none",
        "below": ", ".join(name for name, shown in below.items() if shown == "below") or "nowhere",
        "radius": _radius(),
    }


def _row(name: str, of: ColdSet) -> list[str]:
    auto, plain = store.records(f"auto-{name}"), store.records(f"plain-{name}")
    chosen = auto[0]["auto"]["chosen"]
    return [
        name,
        _figure(f"auto-{name}", of),
        _figure(f"plain-{name}", of),
        _figure(of.tuned, of) if of.tuned else NOTHING,
        _best_of_others(of),
        f"{_seconds(auto[0]):.0f}",
        f"{_seconds(plain[0]):.0f}" if plain else NOTHING,
        chosen,
    ]


def _seconds(record: dict[str, Any]) -> float:
    """The processor's, of training and of the race before it."""
    return worked_seconds(record) + record.get("auto", {}).get("processor_seconds", 0.0)


def _slow(name: str) -> str:
    """How many times the plain settings' time it took, if it is more than twice."""
    auto, plain = store.records(f"auto-{name}"), store.records(f"plain-{name}")
    times = _seconds(auto[0]) / _seconds(plain[0]) if auto and plain else 0.0
    return f"{name} ({times:.1f})" if times > 2 else ""


def _mean(experiment: str, of: ColdSet) -> float | None:
    found = values(store.records(experiment), of.measure)
    return fmean(found) if found else None


def _figure(experiment: str, of: ColdSet) -> str:
    found = _mean(experiment, of)
    return f"{found:.1f}" if found is not None and of.task == "translation" else thousandths(found)


def _best_of_others(of: ColdSet) -> str:
    """The best mean of systems that are not HyboNet, and which it is."""
    known = {row["run"].partition("-seed")[0] for rows in store.tables().values() for row in rows}
    names = [name for name in fnmatch.filter(known, of.others) if "hybonet" not in name] if of.others else []
    names = [name for name in names if "settings" not in name.split("-")]
    found = sorted(((figure, name) for name in names if (figure := _mean(name, of)) is not None), reverse=True)
    if not found:
        return NOTHING
    name = found[0][1]
    return f"{_figure(name, of)} ({store.records(name)[0]['settings']['model']})"


def _keeps_up(name: str, of: ColdSet) -> bool:
    """Within a point of AUC, and 97 per cent of MRR, F1 or BLEU, of the tuned settings."""
    auto, tuned = _mean(f"auto-{name}", of), _mean(of.tuned, of) if of.tuned else None
    if auto is None or tuned is None:
        return False
    return auto >= (tuned - 0.01 if of.measure == "test.roc_auc" else 0.97 * tuned)


def _below(name: str, of: ColdSet) -> str:
    """Whether it is below the plain settings, beyond its interval (if there is one) or within."""
    auto, plain = (_mean(f"{kind}-{name}", of) for kind in ("auto", "plain"))
    if auto is None or plain is None or auto >= plain:
        return ""
    *path, measure = of.measure.split(".")
    interval = reduce(getitem, path, store.records(f"auto-{name}")[0]).get("interval")
    return "noise" if interval and interval[measure][1] >= plain else "below"


def _radius() -> str:
    """What it costs that the radius carries generality, and how well it does."""
    found, plain = store.records("radius-wordnet"), store.records("plain-wordnet")
    if not found:
        return "not run yet"
    radius = found[0]["radius"]
    return (
        f"an MRR of {thousandths(found[0]['test']['both']['mrr'])} instead of "
        f"{thousandths(plain[0]['test']['both']['mrr'])} on the packaged WordNet, both with plain settings; the rank "
        f"correlation of radius and depth is {radius['spearman']:.2f}, and of validation triples the child of "
        f"{radius['farther_out']:.0%} lies farther out"
    )
