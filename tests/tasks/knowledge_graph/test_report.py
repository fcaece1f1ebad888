"""Tables of metrics: they fit 80 columns, and cut names rather than numbers."""

import pytest
from rich.console import Console

from hybonet.tasks.knowledge_graph.report import evaluation_tables, metrics_table

METRICS = {
    "count": 123456.0,
    "mrr": 0.123,
    "hits@1": 0.456,
    "hits@3": 0.789,
    "hits@10": 0.321,
    "mean_rank": 12345.6,
    "adjusted_mean_rank": 1.054,
}
RESULT = {
    "split": "test",
    "protocol": "standard",
    "ties": "realistic",
    **dict.fromkeys(("both", "tails", "heads"), METRICS),
    "by_category": {"1-N": METRICS},
    "by_relation": {
        "derivationally_related": {"category": "N-N", **METRICS},
        "/film/film/release_date_s./film/film_regional_release_date": {"category": "1-1", **METRICS},
    },
}
RECORD = {
    "data": {"source": "wordnet", "entities": 4156, "relations": 17},
    "settings": {"dim": 32},
    "best_epoch": 30,
    "epochs": 40,
    "seconds": 200.0,
    "valid": METRICS,
    "test": {"both": METRICS},
    "test_paper_code": METRICS,
}


def shown(table: object) -> list[str]:
    console = Console(width=80, no_color=True)
    with console.capture() as capture:
        console.print(table)
    return capture.get().splitlines()


@pytest.mark.parametrize("table", [metrics_table(RECORD), *evaluation_tables(RESULT)])
def test_a_row_is_a_line_and_no_number_is_cut(table):
    lines = shown(table)
    title = 0 if table.title is None else str(table.title).count("\n") + 1
    assert len(lines) == title + 2 + table.row_count, "\n".join(lines)
    assert max(map(len, lines)) <= 80
    for line in lines[title + 2 :]:
        assert "0.123 0.456 0.789 0.321 12345.6 1.054" in " ".join(line.split())
    assert "H@10" in lines[title]


def test_intervals_stand_below_their_figures():
    bounds = {"interval": {name: [0.1, 1.0] for name in ("mrr", "hits@1", "hits@3", "hits@10")}}
    whole = {**RESULT, **dict.fromkeys(("both", "tails", "heads"), METRICS | bounds)}
    lines = shown(evaluation_tables(whole)[0])
    assert [line.split() for line in lines if "95 %" in line] == [["95", "%", *[".100–1.00"] * 4]] * 3
    assert max(map(len, lines)) <= 80


def test_a_name_is_whole_if_it_fits_and_ends_in_dots_if_not():
    lines = shown(evaluation_tables(RESULT)[-1])
    assert lines[2].startswith("derivationally_related ")
    assert lines[3].startswith("/film/film/release_da… ")
