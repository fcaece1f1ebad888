"""The table of what settings that follow from the data reach."""

from __future__ import annotations

import fnmatch
from statistics import fmean
from typing import Any

from hybonet.reporting.run_report import markdown_table
from results import store
from results.cold_start.cells import SETS, ColdSet
from results.figures import NOTHING, thousandths, values

_HEADER = ("", "auto", "plain", "tuned", "best of others", "auto: s", "plain: s", "what auto chose")


def parts() -> dict[str, Any]:
    """What page.md has in braces."""
    rows = [_row(name, of) for name, of in SETS.items() if store.records(f"auto-{name}")]
    missing = [name for name in SETS if not store.records(f"auto-{name}")]
    kept = [name for name, of in SETS.items() if _keeps_up(name, of)]
    measured = [name for name, of in SETS.items() if store.records(f"auto-{name}") and of.tuned]
    return {
        "table": markdown_table(_HEADER, rows),
        "missing": ", ".join(missing) or "none",
        "kept": f"{len(kept)} of {len(measured)}",
        "slow": ", ".join(name for name in SETS if _is_slow(name)) or "nowhere",
        "below": ", ".join(name for name in SETS if _is_below(name)) or "nowhere",
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
    """Of training, and of the race before it."""
    return record["seconds"] + record.get("auto", {}).get("seconds", 0.0)


def _is_slow(name: str) -> bool:
    auto, plain = store.records(f"auto-{name}"), store.records(f"plain-{name}")
    return bool(auto and plain) and _seconds(auto[0]) > 2 * _seconds(plain[0])


def _mean(experiment: str, of: ColdSet) -> float | None:
    found = values(store.records(experiment), of.measure)
    return fmean(found) if found else None


def _figure(experiment: str, of: ColdSet) -> str:
    return thousandths(_mean(experiment, of))


def _best_of_others(of: ColdSet) -> str:
    """The best mean of systems that are not HyboNet, and which it is."""
    known = {row["run"].partition("-seed")[0] for rows in store.tables().values() for row in rows}
    names = [name for name in fnmatch.filter(known, of.others) if "hybonet" not in name] if of.others else []
    found = sorted(((figure, name) for name in names if (figure := _mean(name, of)) is not None), reverse=True)
    if not found:
        return NOTHING
    figure, name = found[0]
    return f"{thousandths(figure)} ({store.records(name)[0]['settings']['model']})"


def _keeps_up(name: str, of: ColdSet) -> bool:
    """Within a point of AUC, and 97 per cent of MRR or F1, of the tuned settings."""
    auto, tuned = _mean(f"auto-{name}", of), _mean(of.tuned, of) if of.tuned else None
    if auto is None or tuned is None:
        return False
    return auto >= (tuned - 0.01 if of.measure == "test.roc_auc" else 0.97 * tuned)


def _is_below(name: str) -> bool:
    auto, plain = (_mean(f"{kind}-{name}", SETS[name]) for kind in ("auto", "plain"))
    return auto is not None and plain is not None and auto < plain
