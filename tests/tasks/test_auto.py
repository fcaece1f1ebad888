"""Settings by themselves: the race, what it keeps, what it leaves alone, and what is said besides."""

import json
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch

import hybonet
from hybonet.data import Hierarchy
from hybonet.data.graphs.graph_data import GraphData
from hybonet.data.mentions.loading import load_mentions
from hybonet.data.text.loading import load_corpus
from hybonet.data.text.translation_data import prepare
from hybonet.data.triples.triple_data import TripleData
from hybonet.recipes import recipe
from hybonet.tasks import auto
from hybonet.tasks.auto import Budget, Candidate, Plan
from hybonet.tasks.comparison import comparison
from hybonet.tasks.graph.candidates import candidates
from hybonet.tasks.graph.settings import GraphSettings
from hybonet.tasks.hierarchy.candidates import candidates as of_hierarchies
from hybonet.tasks.knowledge_graph.candidates import candidates as of_triples
from hybonet.tasks.knowledge_graph.data import TrainingGraph
from hybonet.tasks.knowledge_graph.inverse_shares import fit_shares
from hybonet.tasks.probing.candidates import candidates as of_trees
from hybonet.tasks.run import Run
from hybonet.tasks.translation.candidates import candidates as of_text
from hybonet.tasks.translation.options import DataOptions
from hybonet.tasks.translation.parts import choose_recipe
from hybonet.tasks.typing.candidates import candidates as of_mentions
from hybonet.training import Interrupted
from tests import toy_task

POINTS = [(x / 4, y / 4, int(x + y > 0)) for x in range(-3, 4) for y in range(-3, 4)]
#: One that learns, and one that hardly does.
QUICK, STUCK = Candidate("quick", {"lr": 0.1}, "points are few"), Candidate("stuck", {"lr": 1e-9})


@pytest.fixture
def points(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The toy task, with candidates, as another package would declare it."""
    about = tmp_path / "site" / "toy_points-1.0.dist-info"
    about.mkdir(parents=True)
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: toy-points\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text("[hybonet.tasks]\npoints = tests.toy_task:SPEC\n")
    monkeypatch.syspath_prepend(tmp_path / "site")
    monkeypatch.setattr(toy_task, "SPEC", replace(toy_task.SPEC, auto=True))
    monkeypatch.setattr(toy_task, "candidates", lambda settings, data: [STUCK, QUICK], raising=False)
    return tmp_path


def _train(out: Path, **chosen):
    return hybonet.train("points", POINTS, out=out, reporter=False, **{"epochs": 12, **chosen})


def test_the_race_finds_what_learns_and_says_so(points: Path) -> None:
    model = _train(points / "run", budget=36)
    assert model.run.settings.lr == 0.1
    found = model.record["auto"]
    assert found["chosen"] == "quick"
    assert found["changes"] == {"lr": 0.1}
    assert found["over_plain"]["epochs"] >= 2
    assert model.record["recipe"] == "auto"
    kept = json.loads((points / "run" / "auto.json").read_text())
    assert kept["order"][-1] == "stuck"
    assert not (points / "run" / "race").exists()
    again = _train(points / "again", budget=36)
    assert json.loads((points / "again" / "auto.json").read_text())["order"] == kept["order"]
    assert again.record["test"] == model.record["test"]


def test_a_lead_is_a_share_of_what_is_lacking(points: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Settings with a lead do not pass those that are all but perfect."""
    slow = replace(STUCK, lead=0.6)
    monkeypatch.setattr(toy_task, "candidates", lambda settings, data: [slow, QUICK])
    model = _train(points / "run", budget=36)
    figures = json.loads((points / "run" / "auto.json").read_text())["rounds"][0]["trials"]
    assert figures["stuck"]["figure"] + 0.6 > figures["quick"]["figure"]  # as a sum, the lead would decide
    assert model.record["auto"]["chosen"] == "quick"


def test_what_a_person_fixes_stays_and_a_recipe_means_no_race(points: Path) -> None:
    fixed = _train(points / "fixed", lr=0.03, budget=36)
    assert fixed.run.settings.lr == 0.03
    assert fixed.record["auto"]["changes"] == {}
    assert "auto" not in _train(points / "plain", recipe="points").record
    short = _train(points / "short", budget=0)
    assert short.record["auto"]["chosen"] == "stuck"  # the likeliest, as nothing has run
    with pytest.raises(ValueError, match="expected no budget"):
        _train(points / "none", recipe="points", budget="1m")


def test_minutes_are_turned_into_epochs(points: Path) -> None:
    assert _train(points / "run", budget="2s", epochs=3).record["auto"]["chosen"] == "quick"


def test_a_stopped_race_goes_on_where_it_was(points: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    straight = _train(points / "straight", budget=36)
    run_trial, ran = auto.run_trial, []

    def stopped(folder: Path, *given, **named):
        ran.append(folder.name)
        if len(ran) == 2:
            raise Interrupted("stopped by SIGINT")
        return run_trial(folder, *given, **named)

    monkeypatch.setattr(auto, "run_trial", stopped)
    with pytest.raises(Interrupted):
        _train(points / "stopped", budget=36)
    assert "chosen" not in Run(points / "stopped").config["auto"]
    resumed = hybonet.train("points", out=points / "stopped", resume=True, reporter=False)
    assert ran.count("stuck") == 1  # what had ended is not run again
    figures = [json.loads((each.run.folder / "auto.json").read_text())["order"] for each in (straight, resumed)]
    assert figures[0] == figures[1]
    assert resumed.record["test"] == straight.record["test"]


def test_budgets_and_rounds() -> None:
    assert Budget.read("90s") == Budget(seconds=90.0)
    assert Budget.read("300 steps") == Budget(steps=300)
    for wrong in ("1.5", "5 weeks", "-1", "m"):
        with pytest.raises(ValueError, match="expected a budget"):
            Budget.read(wrong)
    for candidates_, epochs in ((2, 10), (5, 100), (7, 31)):
        plan = Plan.of(candidates_, epochs)
        spent, before, left = 0, 0, plan.entrants
        for each in plan.epochs:
            spent, before, left = spent + left * (each - before), each, -(-left // 2)
        assert left == 1
        assert 0.5 * epochs < spent <= epochs


def _tree(columns: int) -> GraphData:
    """Every node hangs on an earlier one; the even have one class."""
    edges = [(f"n{(n - 1) // 2:02}", f"n{n:02}") for n in range(1, 40)]
    features = torch.randn(40, columns, generator=torch.Generator().manual_seed(0)) if columns else None
    return GraphData.from_edges(
        edges, features=features, labels=torch.arange(40) % 2, classes=("even", "odd"), source="tree"
    )


def test_features_in_large_units_are_brought_to_one_scale(tmp_path: Path) -> None:
    tree = _tree(5)
    assert tree.features is not None
    incomes = replace(tree, features=torch.cat((tree.features, 50_000 + 10_000 * tree.features[:, :1]), dim=1))
    scaled = {"scale_columns": True, "input_radius": 3.0}
    for task in ("lp", "nc"):
        settings = GraphSettings(task=task)
        assert all(scaled.items() <= dict(each.changes).items() for each in candidates(settings, incomes))
        assert not any("scale_columns" in each.changes for each in candidates(settings, tree))
    sparse = replace(incomes, features=incomes.features.to_sparse_csr())
    assert "scale_columns" not in candidates(GraphSettings(), sparse)[0].changes  # zeros stay zeros
    assert candidates(GraphSettings(), sparse)[0].changes["input_radius"] == 3.0
    assert "features are 48,775 long on average" in candidates(GraphSettings(), incomes)[0].why
    own = candidates(GraphSettings(inputs="learned"), incomes)
    assert not any("input_radius" in each.changes for each in own)
    model = hybonet.train("graph", incomes, task="nc", budget=0, epochs=1, reporter=False, out=tmp_path / "run")
    x = model.task.x
    assert torch.allclose(x.mean(0), torch.zeros(6), atol=1e-5)
    assert torch.allclose(x.std(0), x.std(0)[0].expand(6), rtol=1e-4)
    assert x.norm(dim=1).mean().item() == pytest.approx(3.0, rel=1e-5)
    assert hybonet.load(tmp_path / "run").predict(node="n07") == model.predict(node="n07")


def test_nodes_are_learned_by_heart_only_where_columns_are_many_for_them() -> None:
    def first(nodes: int, columns: int, **settings) -> str:
        edges = [(str((n - 1) // 2), str(n)) for n in range(1, nodes)]
        graph = GraphData.from_edges(
            edges, features=torch.randn(nodes, columns), labels=torch.arange(nodes) % 2, classes=("even", "odd")
        )
        return candidates(GraphSettings(task="nc", **settings), graph)[0].name

    assert first(150, 60) == "dropout"
    assert first(300, 60) == "four layers"
    assert first(60, 10) == "four layers"
    assert first(150, 60, inputs="learned") == "four layers"


@pytest.mark.parametrize(("columns", "first"), [(0, "wide margin"), (5, "wide margin"), (200, "dropout")])
def test_candidates_for_links_follow_the_features(columns: int, first: str) -> None:
    found = candidates(GraphSettings(task="lp"), _tree(columns))
    assert found[0].name == first
    assert found[-1].twin
    assert {**found[0].changes, "model": "GCN"} == found[-1].changes


def test_a_classifier_that_guesses_says_so_and_the_twin_is_compared(tmp_path: Path) -> None:
    chosen = {"task": "nc", "epochs": 1, "recipe": "graph-nc", "lr": 1e-9, "reporter": False}
    with pytest.warns(UserWarning, match="no better than guessing"):
        model = hybonet.train("graph", _tree(5), compare=True, out=tmp_path / "run", **chosen)
    found, guess = model.record["compare"], model.record["guessing"]
    assert found["changes"] == {"model": "GCN"}
    assert found["delta"]["delta"] == 0
    assert guess["guess"] == pytest.approx(2 / 3)  # one class for all, of two of equal size
    said = " ".join(comparison(found))
    assert "Does hyperbolic help here?" in said
    assert f"{found['twin_parameters']:,}" in said
    assert ("its layers fail here" in said) == (found["twin"] <= found["guess"])


@pytest.mark.parametrize("columns", [0, 5, 200])
@pytest.mark.parametrize("task", ["lp", "nc"])
def test_every_candidate_for_a_graph_has_settings(columns: int, task: str) -> None:
    plain = GraphSettings(task=task)
    found = [auto.settings_of(plain, each, ["lr"]) for each in candidates(plain, _tree(columns))]
    assert all(settings is not None and settings.lr == plain.lr for settings in found)
    assert found[-1].model == "GCN"


def test_candidates_for_triples_follow_the_relations() -> None:
    ring = [(f"n{n}", "next", f"n{(n + 1) % 9}") for n in range(9)]
    both = [(a, "beside", b) for a, _, b in ring] + [(b, "beside", a) for a, _, b in ring]
    plain = recipe("default", "kg").settings
    for triples, tied in ((ring, False), (ring + both, True)):
        found = of_triples(plain, TrainingGraph(TripleData.from_labels(triples)))
        settings = [auto.settings_of(plain, each, []) for each in found]
        assert getattr(settings[0], "tie_symmetric", False) == tied
        assert settings[0].batch_size == 128
        assert settings[-1].model == "MuRE"


def test_the_share_of_the_inverse_direction_is_fitted_and_comes_with_the_model(tmp_path: Path) -> None:
    facts = [(str(a), "next", str((a + step) % 40)) for a in range(40) for step in (1, 2, 3)]
    model = hybonet.train("kg", facts, epochs=3, dim=8, out=tmp_path / "run", reporter=False)
    assert model.run.settings.fit_inverse
    shares = torch.tensor(model.record["inverse_shares"])
    assert torch.equal(model.scorer.shares, shares)
    assert torch.equal(shares, fit_shares(model.scorer, model.graph))
    assert "test_one_direction" in model.record
    assert model.evaluate(split="valid")["both"]["mrr"] == model.record["valid"]["mrr"]
    model.save_pretrained(tmp_path / "saved")
    assert torch.equal(hybonet.load(tmp_path / "saved").scorer.shares, shares)
    (tmp_path / "run" / "record.json").unlink()
    assert torch.equal(hybonet.load(tmp_path / "run").scorer.shares, shares)


def test_hierarchies_have_the_plane_if_they_are_trees_and_room_otherwise() -> None:
    tree = Hierarchy.from_edges([(f"n{n}", f"n{(n - 1) // 2}") for n in range(1, 40)])
    web = Hierarchy.from_edges([(f"n{n}", f"n{(n - step) // 2}") for n in range(3, 40) for step in (1, 2)])
    plain = recipe("hierarchy", "hierarchy").settings
    found = [
        settings
        for (each,) in map(partial(of_hierarchies, plain), (tree, web))
        if (settings := auto.settings_of(plain, each, ()))
    ]
    assert [each.dim for each in found] == [3, 21]
    assert [each.start for each in found] == ["layout", "random"]


def test_one_candidate_is_settled_without_a_race_unless_a_budget_is_given(tmp_path: Path) -> None:
    web = sorted({(f"n{n}", f"n{(n - step) // 2}") for n in range(3, 40) for step in (1, 2)})
    chosen = {"epochs": 4, "reporter": False, "negatives": 20}
    model = hybonet.train("hierarchy", web, out=tmp_path / "run", **chosen)
    assert model.run.settings.dim == 21
    assert model.record["auto"]["chosen"] == "room"
    assert "parents" in model.record["auto"]["why"]
    assert json.loads((tmp_path / "run" / "auto.json").read_text())["rounds"] == []
    raced = hybonet.train("hierarchy", web, out=tmp_path / "raced", budget=100, **chosen)
    assert {"room", "plain"} == set(json.loads((tmp_path / "raced" / "auto.json").read_text())["order"])
    assert raced.record["auto"]["chosen"] == "plain" or raced.record["auto"]["over_plain"]["name"] == "plain"


def test_fewer_sentences_mentions_and_pairs_are_seen_more_often() -> None:
    town = load_mentions("little-town", words="hashed")
    for name, of, data, smaller in (
        ("typing", of_mentions, town, replace(town, train=town.train[:100])),
        (
            "probe",
            of_trees,
            *(SimpleNamespace(splits={"train": SimpleNamespace(trees=[0] * n)}) for n in (12_544, 800)),
        ),
    ):
        plain = recipe(name, name).settings
        one, other = (auto.settings_of(plain, of(plain, each)[0], ()) for each in (data, smaller))
        assert one is not None
        assert other is not None
        assert other.epochs > one.epochs


def test_the_vocabulary_of_a_text_grows_with_it() -> None:
    text = load_corpus("toy")
    plain, changes = choose_recipe(None, [], DataOptions(), "toy")
    assert (plain, changes) == ("translation", ["vocabulary=none"])
    data = prepare(text, "bpe", None)
    assert 300 < len(data.target_tokenizer) < 600
    (small,) = of_text(recipe("translation").settings, data)
    assert small.name == "few pairs"
    assert choose_recipe("multi30k-64", ["dim=8"], DataOptions(), "toy") == ("multi30k-64", ["dim=8"])
