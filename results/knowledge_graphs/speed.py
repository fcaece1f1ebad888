"""The stored benchmarks of knowledge graphs, with what the page says of them beside what was measured."""

from __future__ import annotations

from typing import Any

from results.figures import speed

#: Times its least memory traffic that a training step may take.
STEP_TARGET = 4


def parts() -> dict[str, Any]:
    """Records by topic, and the rows of their tables."""
    epoch, pykeen, scale, answers = (speed(f"kg_{topic}") for topic in ("epoch", "pykeen", "scale", "answers"))
    for row in epoch["rows"]:
        row["step_ms"], row["megabytes"] = 1e3 * row["step_seconds"], row["step_bytes_at_least"] / 1e6
        row["without_ms"] = 1e3 * row["step_seconds_without_compiled_loops"]
    met = [row["recipe"] for row in epoch["rows"] if row["step_over_traffic_limit"] <= STEP_TARGET]
    epoch |= {
        "met": "all" if len(met) == len(epoch["rows"]) else " and ".join(f"`{name}`" for name in met) or "none",
        "recipes": len(epoch["rows"]),
        "target": STEP_TARGET,
        "gigabytes_a_second": epoch["bytes_a_second"] / 1e9,
        "gemm_gigaflops": epoch["gemm_flops"] / 1e9,
    }
    for row in pykeen["training"]:
        row |= {"what": f"an epoch, optimizer={row['optimizer']}", "digits": 1}
        row |= {"seconds": row["epoch_seconds"], "pykeen_seconds": row["pykeen_epoch_seconds"]}
    pykeen["evaluation"] |= {"what": "test triples, filtered, both sides", "digits": 2}
    compared = [*pykeen["training"], pykeen["evaluation"]]
    for row in compared:
        row["met"] = "met" if row["times_faster"] >= row["target"] else "missed"
    pykeen["timed"] = " and ".join(str(row["batches_timed"]) for row in pykeen["training"])
    topics = {"kg_epoch": epoch, "kg_pykeen": pykeen, "kg_scale": scale, "kg_answers": answers}
    rows = {"epochs": epoch["rows"], "compared": compared, "graphs": scale["rows"], "questions": answers["rows"]}
    return topics | rows
