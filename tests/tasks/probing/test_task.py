"""Probing: the losses by hand, a run that reads back and resumes, controls, vectors and their mistakes."""

import itertools
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file

import hybonet
from hybonet import Lorentz, ProbeModel
from hybonet.data import DependencyTree, Treebank, load_treebank, write_conllu
from hybonet.metrics.probing import ProbeScores
from hybonet.tasks.probing.encoders import load_encoder, probe_data
from hybonet.tasks.probing.models.tree_probe import TreeProbes
from hybonet.tasks.probing.models.word_encoder import ModuleEncoder, word_by_word
from hybonet.tasks.probing.settings import ProbeSettings
from hybonet.tasks.probing.task import (
    ProbeData,
    ProbeSplit,
    TreeProbingTask,
    chain_scores,
    make_batch,
    measure,
    probe_loss,
)
from hybonet.tasks.probing.vectors import read_vectors
from hybonet.tasks.run import Run, start
from hybonet.training import Interrupted, Trainer
from tests.training.toy import StopAt

SETTINGS = ProbeSettings(epochs=4, validate_every=2, dim=8, lr=0.02, seed=3)


@pytest.fixture(scope="module")
def treebank() -> Treebank:
    toy = load_treebank("toy")
    return Treebank(toy.train[:96], toy.valid[:24], toy.test[:24], "a little of toy", toy.sha256)


def telling_states(trees: tuple[DependencyTree, ...]) -> torch.Tensor:
    """Two layers: noise, and coordinates whose squared differences are the tree distances (each edge one axis)."""
    generator = torch.Generator().manual_seed(0)
    states = []
    for tree in trees:
        paths = torch.zeros(len(tree), 40)
        for word in range(len(tree)):
            place = word
            while tree.heads[place]:
                paths[word, place] = 1.0
                place = tree.heads[place] - 1
        states.append(torch.stack((torch.randn(len(tree), 40, generator=generator), paths), dim=1))
    return torch.cat(states)


@pytest.fixture(scope="module")
def vectors(treebank: Treebank, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("vectors") / "states.npz"
    np.savez(path, **{split: telling_states(treebank.trees(split)).numpy() for split in ("train", "valid", "test")})
    return path


@pytest.fixture(scope="module")
def run(treebank: Treebank, vectors: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs") / "probe"
    start(folder, "probe", SETTINGS, probe_data(vectors, treebank, SETTINGS), recipe="probe").train()
    return folder


def test_losses_by_hand() -> None:
    trees = (DependencyTree(("a", "b"), ("X", "X"), (0, 1)), DependencyTree(("c",), ("X",), (0,)))
    batch = make_batch(ProbeSplit(trees, torch.zeros(3, 1, 4)), [0, 1])
    distances = torch.tensor([[[[0.0, 3.0], [3.0, 0.0]], [[0.5, 99.0], [99.0, 99.0]]]])
    depths = torch.tensor([[[0.5, 1.0], [0.0, 99.0]]])
    # First sentence: (2 + 2)/4 + .5/2; second: .5/1 + 0; the mean of both. What lies beyond a sentence does not count.
    assert probe_loss(distances, depths, batch).item() == pytest.approx(((1 + 0.25) + 0.5) / 2)


def test_batches_are_the_sentences_states(treebank: Treebank) -> None:
    split = ProbeSplit(treebank.test, telling_states(treebank.test))
    batch = make_batch(split, [5, 2])
    for row, number in enumerate((5, 2)):
        place = batch.place[row][batch.place[row] >= 0]
        start = sum(map(len, treebank.test[:number]))
        torch.testing.assert_close(batch.states[:, place], split.states[start : start + len(place)].transpose(0, 1))
        length = len(treebank.test[number])
        assert torch.equal(batch.distances[row, :length, :length].long(), treebank.test[number].distances)


def test_structure_that_is_there_is_found(treebank: Treebank, vectors: Path, tmp_path: Path) -> None:
    settings = ProbeSettings(probe="euclidean", epochs=30, validate_every=30, dim=40, lr=0.02)
    task = TreeProbingTask(settings, probe_data(vectors, treebank, settings))
    model = Trainer(task, tmp_path).fit().model
    noise, telling = measure(model, task.splits["test"])
    assert telling.uuas > 0.95
    assert telling.root == 1.0
    assert telling.dspr > 0.9
    assert noise.uuas < 0.4
    assert task.validate(model)["layer"] == 1.0


@pytest.mark.parametrize("manifold", [None, Lorentz(-0.5)], ids=["vectors", "points"])
def test_long_states_are_learned_from_as_well_as_short_ones(treebank: Treebank, tmp_path: Path, manifold) -> None:
    """Without stretching, a Lorentz probe of states thirty times as long learns nothing at all."""
    scores = []
    for factor in (1.0, 30.0 if manifold is None else 4.0):
        splits = {}
        for name in ("train", "valid", "test"):
            trees = treebank.trees(name)
            states = telling_states(trees)[:, 1:] * factor
            states = states if manifold is None else manifold.expmap0(torch.nn.functional.pad(states, (1, 0)))
            splits[name] = ProbeSplit(trees, states)
        settings = ProbeSettings(epochs=4, validate_every=4, dim=16, lr=0.02)
        task = TreeProbingTask(settings, ProbeData(splits, manifold, (0,), {}))
        (tmp_path / str(factor)).mkdir()
        model = Trainer(task, tmp_path / str(factor)).fit().model
        scores.append(measure(model, task.splits["test"])[0])
    assert scores[0].uuas > 0.5
    assert scores[1].uuas == pytest.approx(scores[0].uuas, abs=0.02)
    assert scores[1].nspr == pytest.approx(scores[0].nspr, abs=0.02)


def test_a_chain_is_measured_as_any_prediction(treebank: Treebank) -> None:
    chains = tuple(replace(tree, heads=tuple(range(len(tree))), relations=()) for tree in treebank.test)
    assert chain_scores(chains) == ProbeScores(1.0, 1.0, chain_scores(chains).root, 1.0)
    edges = found = 0
    for tree in treebank.test:
        words = [place for place in range(len(tree)) if tree.tags[place] != "PUNCT"]
        neighbours = {frozenset(pair) for pair in itertools.pairwise(words)}
        gold = {frozenset((place, tree.heads[place] - 1)) for place in words if tree.heads[place]}
        edges, found = edges + len(gold), found + len(gold & neighbours)
    assert chain_scores(treebank.test).uuas == pytest.approx(found / edges)


def test_a_run_reads_back(run: Path, treebank: Treebank) -> None:
    read = ProbeModel.load(run)
    record = read.record
    assert read.settings == SETTINGS
    assert [tree.words for tree in read.test.trees] == [tree.words for tree in treebank.test]
    assert [vars(each) for each in read.scores()] == [row["test"] for row in record["layers"]]
    assert record["test"] == record["layers"][record["best_layer"]]["test"]
    assert record["chain"]["test"] == vars(chain_scores(treebank.test))
    assert record["task"] == "probe"
    assert record["recipe"] == "probe"
    assert record["data"]["train"] == 96
    assert record["encoder"]["kind"] == "vectors"
    assert len(record["encoder"]["states_sha256"]) == 64
    assert {"commit", "created", "machine", "seconds", "seed", "protocol"} <= record.keys()
    for tree, guess in zip(read.test.trees, read.trees(), strict=True):
        assert guess.words == tree.words
        assert not tree.is_punctuation[guess.root]


def test_predicted_trees_agree_with_the_measures(run: Path) -> None:
    read = ProbeModel.load(run)
    roots = found = total = 0
    for tree, guess in zip(read.test.trees, read.trees(layer=1), strict=True):
        roots += tree.root == guess.root
        gold, predicted = (
            {
                frozenset((word, head))
                for word, head in enumerate(each.heads, 1)
                if head and tree.tags[word - 1] != "PUNCT"
            }
            for each in (tree, guess)
        )
        found, total = found + len(gold & predicted), total + len(gold)
    scores = read.record["layers"][1]["test"]
    assert roots / len(read.test.trees) == pytest.approx(scores["root"])
    assert found / total == pytest.approx(scores["uuas"])  # in this treebank nothing hangs from punctuation


@pytest.mark.parametrize("at", [1, 4])
def test_stopped_and_resumed_equals_uninterrupted(
    run: Path, treebank: Treebank, vectors: Path, tmp_path: Path, at: int
) -> None:
    stopped = start(tmp_path / "run", "probe", SETTINGS, probe_data(vectors, treebank, SETTINGS))
    with pytest.raises(Interrupted):
        stopped.train(reporter=StopAt(at))
    Run(tmp_path / "run").train(resume=True)
    straight, resumed = (load_file(folder / "checkpoint.safetensors") for folder in (run, tmp_path / "run"))
    assert all(torch.equal(straight[key], resumed[key]) for key in straight)
    first, second = (json.loads((folder / "record.json").read_text()) for folder in (run, tmp_path / "run"))
    assert first["layers"] == second["layers"]


def test_shuffled_labels_keep_the_shape_of_trees(treebank: Treebank, vectors: Path) -> None:
    settings = SETTINGS.model_copy(update={"control": "shuffled-labels"})
    data = probe_data(vectors, treebank, settings)
    shuffled, again = (TreeProbingTask(settings, data).splits["train"].trees for _ in range(2))
    assert [tree.heads for tree in shuffled] == [tree.heads for tree in again]
    assert any(tree.heads != other.heads for tree, other in zip(shuffled, treebank.train, strict=True))
    for tree, other in zip(shuffled[:20], treebank.train, strict=False):
        assert tree.words == other.words
        assert sorted(tree.depths.tolist()) == sorted(other.depths.tolist())
        assert torch.equal(tree.distances.flatten().sort()[0], other.distances.flatten().sort()[0])


def test_pictures(run: Path, tmp_path: Path) -> None:
    model = ProbeModel.load(run)
    drawn = model.plot(tmp_path / "pictures", sentence=2, layer=1)
    assert [path.name for path in drawn] == ["layers.png", "sentence.png", "curves.png"]
    assert all(path.read_bytes()[1:4] == b"PNG" for path in drawn)
    with pytest.raises(ValueError, match="a test sentence from 1 to 24, got 25"):
        model.plot(tmp_path, sentence=25)
    with pytest.raises(ValueError, match=r"one of the layers probed \(0, 1\), got 7"):
        model.plot(tmp_path, layer=7)


def test_states_may_go_after_the_training(run: Path, tmp_path: Path) -> None:
    import shutil

    copy = tmp_path / "copy"
    shutil.copytree(run, copy)
    (copy / "states.safetensors").unlink()
    assert len(ProbeModel.load(copy).evaluate()["layers"]) == 2
    with pytest.raises(ValueError, match=r"expected states\.safetensors in the run .* to go on with, found none"):
        Run(copy).change_settings(["epochs=9"])
    assert json.loads((copy / "config.json").read_text())["settings"]["epochs"] == SETTINGS.epochs


def test_saved_probes_are_measured_and_asked_as_the_run(run: Path, tmp_path: Path) -> None:
    model = ProbeModel.load(run)
    assert "test sentences and their states" in model.export(tmp_path / "saved")
    kept = {path.name for path in (tmp_path / "saved").iterdir()}
    weights = {"model.safetensors", "test_states.safetensors"}
    assert kept == weights | {"config.json", "test.conllu", "record.json", "README.md"}
    saved = hybonet.load(tmp_path / "saved")
    assert saved.evaluate() == model.evaluate()
    assert saved.predict(layer=1).text == model.predict(layer=1).text
    with pytest.raises(ValueError, match="holds a model saved for use, without the state of its training"):
        Run(tmp_path / "saved").change_settings([])


def test_predictions_are_words_with_heads(run: Path) -> None:
    model = ProbeModel.load(run)
    answers, trees = model.predict(layer=1), model.trees(layer=1)
    assert [each["head"] for each in answers] == [head for tree in trees for head in tree.heads]
    assert [each["gold_head"] for each in answers] == [head for tree in model.test.trees for head in tree.heads]
    assert answers[0]["sentence"] == answers[0]["word"] == 1


# -- vectors ----------------------------------------------------------------------------------------------------------


def arrays(treebank: Treebank, width: int = 6) -> dict[str, torch.Tensor]:
    counts = treebank.statistics()
    return {split: torch.randn(counts[f"{split}_words"], width) for split in ("train", "valid", "test")}


def test_points_of_any_curvature(treebank: Treebank, tmp_path: Path) -> None:
    points = {split: Lorentz(-0.5).random_normal(*each.shape) for split, each in arrays(treebank).items()}
    save_file({**points, "K": torch.tensor(-0.5)}, tmp_path / "points.safetensors")
    data = probe_data(tmp_path / "points.safetensors", treebank, SETTINGS)
    assert data.manifold.curvature == -0.5
    model = TreeProbingTask(SETTINGS, data).build_model()
    assert isinstance(model, TreeProbes)
    assert model.distance.of_points
    save_file({**points, "K": torch.tensor(-2.0)}, tmp_path / "wrong.safetensors")
    with pytest.raises(ValueError, match=r"off the hyperboloid .* leave K out if the vectors are Euclidean"):
        read_vectors(tmp_path / "wrong.safetensors", treebank)


def test_vectors_of_one_file_follow_its_order(treebank: Treebank, tmp_path: Path) -> None:
    trees = treebank.train[:25]
    write_conllu(tmp_path / "mine.conllu", trees)
    numbers = torch.arange(float(sum(map(len, trees))))[:, None]
    save_file({"all": numbers}, tmp_path / "mine.safetensors")
    own = load_treebank(tmp_path / "mine.conllu")
    states = read_vectors(tmp_path / "mine.safetensors", own)[0]
    assert states["valid"][0].item() == sum(map(len, trees[:8]))
    assert states["test"][-1].item() == sum(map(len, trees[:20])) - 1
    assert sum(map(len, states.values())) == len(numbers)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda a: a.pop("test"), "expected the arrays train, valid, test .*, got train, valid; the file holds"),
        (lambda a: a.update(test=a["test"][:-1]), "vectors for the words of test"),
        (lambda a: a.update(test=a["test"][:, :3].contiguous()), "the same layers and coordinates in all arrays"),
        (lambda a: a.update(test=a["test"].long()), "expected floating-point numbers"),
        (lambda a: a["test"].fill_(torch.nan), "expected finite numbers in test, .* got nan at word 0 in column 0"),
        (lambda a: a.update(K=torch.tensor(1.0)), "expected K to be one negative number"),
    ],
)
def test_vectors_that_do_not_fit(treebank: Treebank, tmp_path: Path, change, message: str) -> None:
    content = arrays(treebank)
    change(content)
    save_file(content, tmp_path / "bad.safetensors")
    with pytest.raises(ValueError, match=message):
        read_vectors(tmp_path / "bad.safetensors", treebank)


def test_no_weights_to_draw(treebank: Treebank, vectors: Path) -> None:
    settings = ProbeSettings(control="random-weights")
    with pytest.raises(ValueError, match="which have no weights"):
        probe_data(vectors, treebank, settings)
    encoder = ModuleEncoder(lambda tokens: [torch.zeros(*tokens.shape, 4)], word_by_word(lambda word: [1]))
    with pytest.raises(ValueError, match="got an encoder; give one without training"):
        probe_data(encoder, treebank, settings)


def test_long_sentences_are_left_out_and_counted(treebank: Treebank) -> None:
    table = torch.nn.Embedding(30, 4)
    encoder = ModuleEncoder(lambda tokens: [table(tokens)] * 3, word_by_word(lambda word: [len(word)]), longest=10)
    data = probe_data(encoder, treebank, SETTINGS, layers=[0, 2])
    expected = sum(len(tree) > 10 for tree in treebank.test)
    assert data.about["data"]["too_long"]["test"] == expected > 0
    assert data.layers == (0, 2)
    assert data.splits["test"].states.shape[1:] == (2, 4)
    with pytest.raises(ValueError, match=r"layers from 0 \(the embedding\) to 2 of a module, got 3"):
        probe_data(encoder, treebank, SETTINGS, layers=[3])


def test_what_is_no_encoder(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text('{"task": "kg"}')
    with pytest.raises(ValueError, match="got a run of the task 'kg'; give a run of hybonet train translation"):
        load_encoder(tmp_path, SETTINGS)
