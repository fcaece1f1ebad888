"""What the page says of the stored benchmarks of knowledge graphs: a table of each, and figures in its words."""

from __future__ import annotations

from typing import Any

from hybonet.reporting.run_report import markdown_table
from results.figures import speed
from results.store import Record

#: Times its least memory traffic that a training step may take.
STEP_TARGET = 4


def _kg_epoch(record: Record) -> dict[str, Any]:
    """One epoch and one evaluation with each of the paper's recipes."""
    rows = [
        row
        | {"step_ms": 1e3 * row["step_seconds"], "without_ms": 1e3 * row["step_seconds_without_compiled_loops"]}
        | {"megabytes": row["step_bytes_at_least"] / 1e6}
        for row in record["rows"]
    ]
    met = [row["recipe"] for row in rows if row["step_over_traffic_limit"] <= STEP_TARGET]
    columns = [
        ("recipe", "{recipe}"),
        ("epoch, s", "{epoch_seconds:.1f}"),
        ("step, ms", "{step_ms:.1f}"),
        ("without compiled loops", "{without_ms:.1f}"),
        ("MB a step, at least", "{megabytes:.0f}"),
        ("of its limit", "{step_over_traffic_limit:.1f}×"),
        ("evaluation, s", "{test_evaluation_seconds:.1f}"),
        ("of its limit", "{evaluation_over_gemm_limit:.1f}×"),
        ("peak, MiB", "{peak_mebibytes:,.0f}"),
    ]
    return {
        "table": _table(rows, columns),
        "met": "all" if len(met) == len(rows) else " and ".join(f"`{name}`" for name in met) or "none",
        "recipes": len(rows),
        "target": STEP_TARGET,
        "gigabytes_a_second": record["bytes_a_second"] / 1e9,
        "gemm_gigaflops": record["gemm_flops"] / 1e9,
    }


def _kg_pykeen(record: Record) -> dict[str, Any]:
    """Training and evaluation beside PyKEEN's."""
    rows = [
        row | {"what": f"an epoch, optimizer={row['optimizer']}", "seconds": row["epoch_seconds"], "digits": 1}
        | {"pykeen_seconds": row["pykeen_epoch_seconds"]}
        for row in record["training"]
    ]  # fmt: skip
    rows.append(record["evaluation"] | {"what": "test triples, filtered, both sides", "digits": 2})
    rows = [row | {"met": "met" if row["times_faster"] >= row["target"] else "missed"} for row in rows]
    columns = [
        ("what", "{what}"),
        ("ours, s", "{seconds:.{digits}f}"),
        ("PyKEEN, s", "{pykeen_seconds:.{digits}f}"),
        ("times faster", "{times_faster:.1f}×"),
        ("target", "≥ {target:g}×, {met}"),
    ]
    timed = " and ".join(str(row["batches_timed"]) for row in record["training"])
    return {"table": _table(rows, columns), "timed": timed}


def _kg_scale(record: Record) -> dict[str, Any]:
    """Up to a million entities."""
    columns = [
        ("graph", "{graph}"),
        ("entities", "{entities:,}"),
        ("relations", "{relations:,}"),
        ("triples", "{triples:,}"),
        ("µs a triple", "{microseconds_a_triple:.1f}"),
        ("of WN18RR's", "{times_wn18rr:.2f}×"),
        ("peak, MiB", "{peak_mebibytes:,.0f}"),
        ("steps timed", "{steps_timed:,} ({steps_an_epoch:,} an epoch)"),
    ]
    return {"table": _table(record["rows"], columns)}


def _kg_answers(record: Record) -> dict[str, Any]:
    """The best tails among a million entities."""
    columns = [("ours / peer", "{topic}"), ("case", "{case}"), ("ours, ms", "{ours:.1f}"), ("peer, ms", "{peer:.1f}")]
    return {"table": _table(record["rows"], [*columns, ("times faster", "{ratio:.2f}×")])}


def _table(rows: list[Record], columns: list[tuple[str, str]]) -> str:
    """Columns by header and format."""
    return markdown_table(
        [header for header, _ in columns], [[form.format_map(row) for _, form in columns] for row in rows]
    )


_TOPICS = {"kg_epoch": _kg_epoch, "kg_pykeen": _kg_pykeen, "kg_scale": _kg_scale, "kg_answers": _kg_answers}


def parts() -> dict[str, dict[str, Any]]:
    """Each benchmark's record, with its table."""
    found = {topic: speed(topic) for topic in _TOPICS}
    return {topic: record | _TOPICS[topic](record) for topic, record in found.items()}
