"""The registry: where data sets are found, how they are checked and fetched; and the graph that ships."""

import functools
import gzip
import hashlib
import io
import lzma
import re
import subprocess
import sys
import tarfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from hybonet.data import DataSet, DownloadError, TripleData, data_sets, load_knowledge_graph, named, registry
from hybonet.data.registry import DataFile

TEXTS = {
    "train.txt": b"a\tr\tb\nb\tr\tc\nc\tr\ta\n",
    "valid.txt": b"a\tr\tc\n",
    "test.txt": b"b\tr\ta\n",
    "entity2text.txt": b"a\tAnn, a person\n",
}


def toy_file(name: str, url: str) -> DataFile:
    return DataFile(name, hashlib.sha256(TEXTS[name]).hexdigest(), len(TEXTS[name]), url)


@pytest.fixture
def toy(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> DataSet:
    """A data set of the catalog with an empty search path and no network."""
    tar, text = "http://example.org/toy.tar.gz", "http://example.org/entity2text.txt"
    files = {part: toy_file(f"{part}.txt", tar) for part in ("train", "valid", "test")}
    files["names"] = replace(toy_file("entity2text.txt", text), optional=True)
    entry = DataSet(
        kind="kg",
        name="Toy",
        description="three people",
        licence="MIT",
        source="example.org",
        files=files,
        statistics={"entities": 3, "relations": 1, "train": 3, "valid": 1, "test": 1},
        folders=("Toy", "small_kgs/Toy"),
        options={"short_names": True},
    )
    known = tuple(each for each in data_sets("kg") if each.packaged)
    monkeypatch.setattr(registry, "_registry", lambda: (entry, *known))
    monkeypatch.setenv("HYBONET_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return entry


def put(folder: Path, pack: Callable[[bytes], bytes] = bytes, ending: str = "", **changes: bytes) -> Path:
    folder.mkdir(parents=True)
    for name, content in (TEXTS | changes).items():
        (folder / (name + ending)).write_bytes(pack(content))
    return folder


def archive(texts: dict[str, bytes], prefix: str = "") -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as tar:
        for name, content in texts.items():
            member = tarfile.TarInfo(prefix + name)
            member.size = len(content)
            tar.addfile(member, io.BytesIO(content))
    return buffer.getvalue()


def serve(monkeypatch: pytest.MonkeyPatch, files: dict[str, bytes]) -> list[str]:
    """Replace the network: downloads come from ``files`` by the address's last part."""
    asked = []

    def download(url: str, target: Path, *, sha256: str | None = None, **_: object) -> Path:
        asked.append(url)
        name = url.rsplit("/", 1)[1]
        if name not in files:
            raise DownloadError(f"{url}: HTTP 404")
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(files[name])
        return target

    monkeypatch.setattr(registry, "download", download)
    return asked


# Finding and checking ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("place", ["data/Toy", "data/toy", "data/small_kgs/toy", "cache/hybonet/Toy"])
@pytest.mark.parametrize(("pack", "ending"), [(bytes, ""), (gzip.compress, ".gz"), (lzma.compress, ".xz")])
def test_found_on_the_search_path(
    toy: DataSet, tmp_path: Path, place: str, pack: Callable[[bytes], bytes], ending: str
) -> None:
    folder = put(tmp_path / place, pack, ending)
    assert named("toy").folder() == folder
    graph = load_knowledge_graph("TOY")
    assert graph.statistics() == toy.statistics
    assert graph.source == "Toy"
    assert graph.sha256["train.txt"] == toy.files["train"].sha256
    assert graph.entities.name(0) == "Ann"


def test_names_are_optional(toy: DataSet, tmp_path: Path) -> None:
    (put(tmp_path / "data/Toy") / "entity2text.txt").unlink()
    assert load_knowledge_graph("Toy").entities.name(0) == "a"


def test_an_incomplete_folder_is_passed_over(toy: DataSet, tmp_path: Path) -> None:
    (put(tmp_path / "data/Toy") / "test.txt").unlink()
    folder = put(tmp_path / "cache/hybonet/Toy")
    assert named("Toy").folder() == folder


def test_a_changed_file_is_named_with_both_checksums(toy: DataSet, tmp_path: Path) -> None:
    folder = put(tmp_path / "data/Toy", **{"valid.txt": b"a\tr\tb\n"})
    found = hashlib.sha256(b"a\tr\tb\n").hexdigest()
    with pytest.raises(
        ValueError, match=rf"valid.txt: expected a file with sha256 {toy.files['valid'].sha256}, got {found}; "
    ):
        load_knowledge_graph("Toy")
    assert load_knowledge_graph(folder).statistics()["valid"] == 1, "by path it is the user's own"


def test_absent_data_set_says_how_to_get_it(toy: DataSet) -> None:
    with pytest.raises(
        ValueError, match=r"hybonet data fetch Toy .*, or put train.txt, .* from example.org .*licence MIT"
    ):
        load_knowledge_graph("Toy")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("WN18R", r"got 'WN18R'; did you mean 'WN18RR'\?"),
        ("FB15k", r"did you mean 'FB15k-237'\?"),
        ("nation", r"did you mean 'Nations'\?"),
        ("xyz", r"names are wordnet, WN18RR, FB15k-237, UMLS, Nations, countries_S1"),
    ],
)
def test_unknown_name_gets_near_matches(name: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        named(name)


def test_every_entry_is_complete() -> None:
    assert len({(entry.kind, entry.name.casefold()) for entry in data_sets()}) == len(data_sets())
    for entry in data_sets():
        assert set(registry.KINDS[entry.kind].counts) <= set(entry.statistics)
        assert entry.licence
        assert entry.description
        assert entry.packaged or entry.generated or entry.folders
        for file in entry.files.values():
            checked = file.sha256 is not None
            assert entry.packaged or checked or entry.name == "disease_nc"
            assert not checked or (len(file.sha256) == 64 and (file.size > 0 or entry.name == "citeseer"))
            assert not file.url or file.url.startswith("https://")
            assert "github" not in file.url or re.search("/[0-9a-f]{40}/", file.url), "a branch moves"


@pytest.mark.parametrize(
    "entry", [each for each in data_sets() if each.packaged or each.generated], ids=lambda entry: entry.name
)
def test_what_needs_no_files_loads_with_its_statistics(entry: DataSet) -> None:
    found = entry.load().statistics()
    assert {part: found[part] for part in entry.statistics} == entry.statistics
    assert entry.here() in ("in the package", "generated")


@pytest.mark.parametrize(
    "entry", [each for each in data_sets("hierarchy") if each.name != "inaturalist"], ids=lambda entry: entry.name
)
def test_published_hierarchies_have_their_sizes(entry: DataSet) -> None:
    if not entry.packaged and entry.folder() is None:
        pytest.skip(f"{entry.name} is not on the search path (HYBONET_DATA)")
    assert entry.load().statistics() == entry.statistics


# Fetching ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("prefix", ["", "./", "toy/"])
def test_fetch_unpacks_checks_and_tidies(
    toy: DataSet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, prefix: str
) -> None:
    tar = archive({**TEXTS, "../evil.txt": b"x", "train.txt.bak": b"x"}, prefix)
    asked = serve(monkeypatch, {"toy.tar.gz": tar, "entity2text.txt": TEXTS["entity2text.txt"]})
    folder = named("Toy").fetch()
    assert folder == tmp_path / "cache/hybonet/Toy"
    assert sorted(path.name for path in folder.iterdir()) == sorted(TEXTS)
    assert load_knowledge_graph("Toy").statistics() == toy.statistics
    assert len(asked) == 2
    assert named("Toy").fetch() == folder
    assert len(asked) == 2, "nothing is fetched twice"


def test_fetch_takes_up_where_it_stopped(toy: DataSet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    serve(monkeypatch, {"toy.tar.gz": archive(TEXTS)})
    with pytest.raises(DownloadError, match="404"):
        named("Toy").fetch()
    asked = serve(monkeypatch, {"entity2text.txt": TEXTS["entity2text.txt"]})
    named("Toy").fetch()
    assert asked == ["http://example.org/entity2text.txt"]


def test_fetch_leaves_what_the_search_path_has(toy: DataSet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = put(tmp_path / "data/Toy")
    asked = serve(monkeypatch, {})
    assert named("Toy").fetch() == folder
    assert asked == []


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"no archive", r"toy.tar.gz: expected a .tar.gz, got a damaged file"),
        (archive(TEXTS)[:-40], r"expected a .tar.gz, got a damaged file"),
        (
            archive(TEXTS | {"test.txt": b"B\tr\ta\n"}),
            r"expected test.txt in it with 6 bytes and sha256 \w+, got \w+; ",
        ),
        (archive({"train.txt": TEXTS["train.txt"]}), r"expected valid.txt in it .* got no file of that size"),
    ],
    ids=["no archive", "cut off", "changed file", "missing file"],
)
def test_bad_archives_leave_nothing(
    toy: DataSet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: bytes, message: str
) -> None:
    serve(monkeypatch, {"toy.tar.gz": content})
    with pytest.raises(DownloadError, match=message):
        named("Toy").fetch()
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


# By name or path ---------------------------------------------------------------------------------------------------


def test_names_and_paths_are_taken(toy: DataSet, tmp_path: Path) -> None:
    folder = put(tmp_path / "data/Toy")
    assert load_knowledge_graph("toy").statistics() == toy.statistics
    assert load_knowledge_graph("wordnet").source == "wordnet"
    assert load_knowledge_graph(folder, names=folder / "entity2text.txt").entities.name(0) == "Ann, a person"
    with pytest.raises(ValueError, match=r"expected no options with the named data 'Toy', got header"):
        load_knowledge_graph("Toy", header=True)
    with pytest.raises(ValueError, match=r"got 'wordnt', which is neither a path nor a name; did you mean 'wordnet'\?"):
        load_knowledge_graph("wordnt")


# Real data ---------------------------------------------------------------------------------------------------------


cached_load = functools.cache(load_knowledge_graph)


def real(name: str) -> TripleData:
    if named(name).folder() is None:
        pytest.skip(f"{name} is not on the search path (HYBONET_DATA)")
    return cached_load(name)


@pytest.mark.parametrize("name", [entry.name for entry in data_sets("kg") if not entry.packaged])
def test_published_statistics(name: str) -> None:
    assert real(name).statistics() == named(name).statistics


def test_wn18rr_names_and_leaks() -> None:
    graph = real("WN18RR")
    dog = graph.entities.find("02084071")
    assert graph.entities.name(dog) == "domestic dog"
    assert any("1,052 of 3,134 triples of test are repeated in train" in warning for warning in graph.warnings)


def test_codex_has_names_of_relations() -> None:
    graph = real("CoDEx-M")
    assert graph.relations.name(graph.relations.find("P106")) == "occupation"


def test_fb15k_237_has_entities_that_train_lacks() -> None:
    graph = real("FB15k-237")
    assert len(set(graph.train[:, [0, 2]].flatten().tolist())) == 14_505
    assert any("29 entities of test do not occur in train" in warning for warning in graph.warnings)
    assert graph.entities.name(graph.entities.find("/m/06rf7")) == "Schleswig-Holstein"


# The shipped graph -------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def wordnet() -> TripleData:
    return load_knowledge_graph("wordnet")


def test_shipped_graph_has_its_known_size(wordnet: TripleData) -> None:
    assert wordnet.statistics() == {"entities": 4156, "relations": 17, "train": 14294, "valid": 1261, "test": 1261}
    assert wordnet.warnings == ()
    assert wordnet.notes == ()


def test_shipped_split_leaks_nothing(wordnet: TripleData) -> None:
    parts = [{tuple(row) for row in wordnet.triples(split).tolist()} for split in ("train", "valid", "test")]
    assert len(set.union(*parts)) == sum(len(part) for part in parts)
    assert set(wordnet.train[:, [0, 2]].flatten().tolist()) == set(range(wordnet.num_entities))
    assert set(wordnet.train[:, 1].tolist()) == set(range(wordnet.num_relations))
    pairs = [{frozenset((head, tail)) for head, _, tail in part} for part in parts]
    shared = sum(len(pairs[0] & other) for other in pairs[1:]) + len(pairs[1] & pairs[2])
    assert shared <= 10, "two relations between the same synsets in different parts are rare exceptions"


def test_shipped_graph_is_connected_and_well_known(wordnet: TripleData) -> None:
    component = torch.arange(wordnet.num_entities)
    head, _, tail = wordnet.triples("all").unbind(1)
    for _ in range(50):
        low = torch.minimum(component[head], component[tail])
        component = component.scatter_reduce(0, head, low, "amin").scatter_reduce(0, tail, low, "amin")
    assert component.max() == 0
    degree = torch.bincount(torch.cat((head, tail)))
    assert degree.min() >= 2
    for word in ("dog.n.01", "France", "Paris", "piano", "apple.n.01", "bicycle", "Mars"):
        wordnet.entities.find(word)
    triple = (wordnet.entities.find("France"), wordnet.relations.find("part_of"), wordnet.entities.find("Europe"))
    assert triple in {tuple(row) for row in wordnet.triples("all").tolist()}


def test_shipped_relations_read_as_sentences(wordnet: TripleData) -> None:
    alike = {name for name in wordnet.relations.names if name in wordnet.relations}
    assert alike == {"causes", "entails"}
    assert all(wordnet.entities.descriptions)


SCRIPT = Path(__file__).parents[2] / "scripts" / "build_wordnet_graph.py"


@pytest.mark.skipif(not SCRIPT.exists(), reason="scripts are not part of an installed package")
def test_script_explains_a_missing_database(tmp_path: Path) -> None:
    command = [sys.executable, str(SCRIPT), str(tmp_path), "--out", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "apt-get install wordnet-base" in done.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
@pytest.mark.skipif(not Path("/usr/share/wordnet/cntlist.rev").exists(), reason="needs the package wordnet-base")
def test_script_makes_the_shipped_files(tmp_path: Path, request: pytest.FixtureRequest) -> None:
    if "slow" not in request.config.getoption("markexpr"):
        pytest.skip("half a minute; run with -m slow")
    subprocess.run([sys.executable, str(SCRIPT), "--out", str(tmp_path)], check=True, capture_output=True)
    shipped = SCRIPT.parents[1] / "src/hybonet/data/shipped"
    for made in tmp_path.iterdir():
        assert lzma.decompress(made.read_bytes()) == lzma.decompress((shipped / made.name).read_bytes())
