"""Files that nobody wrote: mutations of valid ones, and what Hypothesis makes up, given to every reader.

A reader may give data, or refuse with a ``ValueError`` or ``OSError``. Anything else is wrong, and so are more than ten
seconds of the processor or a gigabyte.
"""

from __future__ import annotations

import gzip
import io
import json
import lzma
import os
import pickle
import resource
import signal
import tempfile
import warnings
from collections import Counter
from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pyarrow.parquet
import torch
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st
from safetensors.torch import save

from hybonet.data.graphs.hgcn_files import read_airport, read_disease
from hybonet.data.graphs.loading import load_graph
from hybonet.data.graphs.planetoid import read_planetoid
from hybonet.data.hierarchies.loading import load_hierarchy
from hybonet.data.io.label_names import read_names
from hybonet.data.io.numpy_file import read_npy, read_npz
from hybonet.data.io.source_file import SourceFile, unpack
from hybonet.data.mentions.loading import load_mentions
from hybonet.data.mentions.type_inventory import read_inventory
from hybonet.data.mentions.word_vectors import read_vectors as read_word_vectors
from hybonet.data.text.byte_pairs import read_codes
from hybonet.data.text.loading import load_corpus
from hybonet.data.trees.loading import load_treebank
from hybonet.data.triples.loading import load_knowledge_graph
from hybonet.tasks.knowledge_graph.questions import read_questions
from hybonet.tasks.probing.vectors import read_vectors as read_states
from hybonet.tasks.recipes import read_settings_file
from hybonet.tasks.run import Run
from hybonet.tasks.run_folder import CONFIG, RECORD
from hybonet.training import LoopSettings, override
from hybonet.training.checkpoint import read_file
from hybonet.training.history import HISTORY, read_history
from hybonet.training.loop import BEST, LAST
from reliability.children import Child
from reliability.runs import ONE_A_TASK, Case, Wrong, lazily

CHUNK = 500
_SECONDS, _BYTES = 10, 1 << 30
#: Where small files are written fastest, if anywhere.
_MEMORY = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
Reader = Callable[[bytes], object]
#: What files of these kinds have in them, and what breaks readers.
_WORDS = [b"\t", b",", b"\n", b'"', b"\r\n", b"{", b"[", b"null", b"-1", b"1e999", b"NaN", b"\x00", b"\xff\xfe", b"0"]
_WORDS += [b"99999999999999999999", b"\xe2\x80\xae", b"\x1b[31m", b"# ", b"_", b"(", b"'", b"\\", b"true", b"  "]

_STEPS = (("next", 1), ("skip", 2), ("far", 5))
TRIPLES = "".join(f"n{i}\t{name}\tn{(i + step) % 12}\n" for i in range(12) for name, step in _STEPS).encode()
_COLUMNS = tuple(enumerate(("head", "relation", "tail")))
EDGES = b"a,b\nb,c\nc,d\nd,e\ne,a\na,c\n"
MENTIONS = (
    '{"left_context_token": ["The"], "mention_span": "mayor", "right_context_token": ["spoke"], "y_str": ["person"]}\n'
)
TREES = (
    b"# sent_id = 1\n1\tThe\tthe\tDET\t_\t_\t2\tdet\t_\t_\n2\tdog\tdog\tNOUN\t_\t_\t3\tnsubj\t_\t_\n"
    b"3\tsleeps\tsleep\tVERB\t_\t_\t0\troot\t_\t_\n\n"
)
PAIRS = "".join(f"the dog number {i} sleeps\tder Hund Nummer {i} schläft\n" for i in range(14)).encode()


def _arrays(**arrays: Any) -> bytes:
    buffer = io.BytesIO()
    np.savez_compressed(buffer, **arrays)
    return buffer.getvalue()


def _npy(array: Any) -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, array)
    return buffer.getvalue()


def _in_file(name: str, read: Callable[[Path], object], **others: bytes) -> Reader:
    """A reader of a path, in a folder of its own with other files."""

    def reader(content: bytes) -> object:
        with tempfile.TemporaryDirectory(dir=_MEMORY) as folder:
            for other, kept in others.items():
                (Path(folder) / other.replace("__", ".")).write_bytes(kept)
            (Path(folder) / name).write_bytes(content)
            return read(Path(folder) / name)

    return reader


def _planetoid(part: str) -> Reader:
    labels = np.eye(3, dtype=np.int32)[[0, 1, 2, 0, 1, 2]]
    files = {
        **{name: pickle.dumps(labels, protocol=2) for name in ("y", "ty", "ally")},
        "graph": pickle.dumps({node: [(node + 1) % 12] for node in range(12)}, protocol=2),
        "test.index": b"6\n7\n8\n9\n10\n11\n",
    }
    return lambda content: read_planetoid(
        "toy", {n: SourceFile(n, n, content if n == part else c) for n, c in files.items()}
    )


def _disease(part: str) -> Reader:
    files = {"edges": b"0,1\n1,2\n", "labels": _npy(np.array([0, 1, 1])), "feats": FEATURES}
    return lambda content: read_disease(
        "toy", {n: SourceFile(n, n, content if n == part else c) for n, c in files.items()}
    )


def _beside_edges(what: str, name: str) -> Reader:
    return _in_file(name, lambda p: load_graph(p.with_name("edges.csv"), **{what: p}), edges__csv=EDGES)


def _parquet() -> bytes:
    names = {name: [line.split("\t")[place] for line in TRIPLES.decode().splitlines()] for place, name in _COLUMNS}
    buffer = io.BytesIO()
    pyarrow.parquet.write_table(pyarrow.table(names), buffer)
    return buffer.getvalue()


def _states(path: Path) -> object:
    with tempfile.NamedTemporaryFile(dir=_MEMORY, suffix=".conllu") as trees:
        Path(trees.name).write_bytes(TREES * 10)
        return read_states(path, load_treebank(trees.name))


class Graph:
    """As networkx names its own, for a pickle."""

    def __init__(self) -> None:
        self._node = {node: {"feat": [0.0, 1.0, 2.0, 3.0, 4.0]} for node in "abcdef"}
        self._adj = {node: {other: {} for other in "abcdef" if other != node} for node in "abcdef"}


_AIRPORT = pickle.dumps(Graph(), protocol=2).replace(b"creliability.fuzz\nGraph\n", b"cnetworkx.classes.graph\nGraph\n")
FEATURES = _arrays(
    shape=np.array([3, 2]), indptr=np.array([0, 1, 2, 3]), indices=np.array([0, 1, 0]), data=np.array([1.0, 2.0, 3.0])
)
GRAPH = pickle.dumps({node: [(node + 1) % 12] for node in range(12)}, protocol=2)
_KG = load_knowledge_graph
#: Valid content and reader, by name.
READERS: dict[str, tuple[bytes, Reader]] = {
    "triples as JSON": (
        b"".join(b'{"head": "n%d", "relation": "next", "tail": "n%d"}\n' % (i, i + 1) for i in range(30)),
        _in_file("a.jsonl", _KG),
    ),
    "triples as Parquet": (_parquet(), _in_file("a.parquet", _KG)),
    "questions": (b"head,relation\nn1,next\nn2,far\n", _in_file("q.csv", read_questions)),
    "triples as TSV": (TRIPLES, _in_file("a.tsv", _KG)),
    "triples as CSV": (TRIPLES.replace(b"\t", b","), _in_file("a.csv", _KG)),
    "triples packed with gzip": (gzip.compress(TRIPLES), _in_file("a.tsv.gz", _KG)),
    "triples packed with xz": (lzma.compress(TRIPLES), _in_file("a.tsv.xz", _KG)),
    "edges as CSV": (EDGES, _in_file("edges.csv", load_graph)),
    "features as CSV": (b"node,x,y\na,1,2\nb,0.5,-1\nc,1e3,0\nd,0,0\ne,1,1\n", _beside_edges("features", "f.csv")),
    "features as npz": (_arrays(features=np.eye(5), nodes=np.array([*"abcde"])), _beside_edges("features", "f.npz")),
    "labels as CSV": (b"node,class\na,x\nb,y\nc,x\nd,y\ne,x\n", _beside_edges("labels", "l.csv")),
    "edges as npz": (_arrays(edges=np.array([[0, 1], [1, 2], [2, 0]])), _in_file("edges.npz", load_graph)),
    "a hierarchy": (b"dog,canine\nwolf,canine\ncat,feline\nfeline,mammal\n", _in_file("a.csv", load_hierarchy)),
    "mentions": (
        "".join(MENTIONS.replace("mayor", f"mayor {i}") for i in range(14)).encode(),
        _in_file("a.jsonl", load_mentions),
    ),
    "types": (b"person\tcoarse\npoet\tfine\n", lambda c: read_inventory(SourceFile("t.tsv", "t.tsv", c))),
    "word vectors": (b"2 3\ndog 0.1 0.2 0.3\ncat -1 2e-3 0.5\n", _in_file("v.txt", read_word_vectors)),
    "word vectors packed with gzip": (
        gzip.compress(b"dog 0.1 0.2 0.3\ncat -1 2e-3 0.5\n"),
        _in_file("v.txt.gz", read_word_vectors),
    ),
    "states of words as npz": (_arrays(all=np.ones((30, 2, 4))), _in_file("s.npz", _states)),
    "states of words": (save({"all": torch.ones(30, 2, 4)}), _in_file("s.safetensors", _states)),
    "trees": (TREES * 14, _in_file("a.conllu", load_treebank)),
    "parallel text": (PAIRS, _in_file("a.tsv", load_corpus)),
    "one of two aligned files": (
        PAIRS,
        _in_file("a.de", lambda p: load_corpus(source_file=p, target_file=p.with_name("a.en")), a__en=PAIRS),
    ),
    "merges of words": (b"#version: 0.2\ne n</w>\nt h\n", lambda c: read_codes(SourceFile("codes", "codes", c))),
    "names as TSV": (b"Q1\tParis\ttown\nQ2\tRome\ttown\n", lambda c: read_names(SourceFile("n.tsv", "n.tsv", c))),
    "names as JSON": (
        b'{"Q1": {"label": "a", "description": "b"}}',
        lambda c: read_names(SourceFile("n.json", "n.json", c)),
    ),
    "an npz": (_arrays(a=np.arange(3), b=np.array(["x"])), lambda c: read_npz(SourceFile("a.npz", "a.npz", c))),
    "an npy": (_npy(np.arange(6.0).reshape(2, 3)), lambda c: read_npy(SourceFile("a.npy", "a.npy", c))),
    "pickled neighbours": (GRAPH, _planetoid("graph")),
    "pickled labels": (pickle.dumps(np.eye(3, dtype=np.int32)[[0, 1, 2, 0, 1, 2]], protocol=2), _planetoid("ally")),
    "test nodes": (b"6\n7\n8\n9\n10\n11\n", _planetoid("test.index")),
    "features in CSR": (FEATURES, _disease("feats")),
    "labels as npy": (_npy(np.array([0, 1, 1])), _disease("labels")),
    "a pickled graph": (_AIRPORT, lambda c: read_airport("airport", {"graph": SourceFile("g", "g", c)})),
    "gzip": (gzip.compress(TRIPLES), lambda c: unpack("a.gz", c)),
    "xz": (lzma.compress(TRIPLES), lambda c: unpack("a.xz", c)),
    "a file of settings": (
        b'{"epochs": 3, "schedule": {"kind": "cosine"}}',
        _in_file("a.json", lambda p: read_settings_file(p, LoopSettings)),
    ),
    "a setting": (b"schedule.gamma=0.5", lambda c: override(LoopSettings(), [c.decode("latin1")])),
    "a history": (
        b'{"epoch": 1, "loss": 0.5}\n{"epoch": 2, "loss": 0.25}\n',
        _in_file(HISTORY, lambda p: read_history(p.parent)),
    ),
}


class Fuzz:
    """Five hundred made-up files for one reader; a number names the reader and the random numbers."""

    def __init__(self, scratch: Path) -> None:
        self.scratch = scratch
        self.case = lazily(lambda name: Case(name, scratch / name.replace(" ", "-")))

    @cached_property
    def readers(self) -> dict[str, tuple[bytes, Reader]]:
        """Those of data, and those of every file of a run of every task."""
        found = dict(READERS)
        for name in ONE_A_TASK:
            run = self.case(name).straight
            others = {each.name.replace(".", "__"): each.read_bytes() for each in run.iterdir() if each.is_file()}
            loose = {**others, "config__json": _without_checksums(others["config__json"])}
            data = lambda path: Run(path.parent).data  # noqa: E731 - the readers of a table are such
            for path in sorted(run.iterdir()):
                read, content = _in_file(path.name, data, **loose), path.read_bytes()
                if path.name == CONFIG:  # a stranger's has no checksum, or a right one
                    read, content = (
                        _in_file(path.name, lambda p: Run(p.parent).settings, **others),
                        loose["config__json"],
                    )
                elif path.name in (BEST, LAST):
                    read = _in_file(path.name, read_file)
                elif path.name in (HISTORY, RECORD):
                    continue
                found[f"{path.name} of {name}"] = content, read
        return found

    def __call__(self, number: int) -> Counter[str]:
        known = READERS if number < len(READERS) else self.readers  # of runs, only if it is their turn
        name = [*known][number % len(known)]
        content, read = known[name]
        outcome = Child(lambda tell: _tried(name, content, read, number, tell)).wait(900)
        if outcome.kind != "done":
            raise Wrong(f"{name}, part {number}: {outcome.kind}: {outcome.value}")
        return outcome.value


def _without_checksums(config: bytes) -> bytes:
    return json.dumps({k: v for k, v in json.loads(config).items() if k not in ("sha256", "files")}).encode()


def _tried(name: str, content: bytes, read: Reader, number: int, tell: Callable[[str], None]) -> Counter[str]:
    warnings.simplefilter("ignore")
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + _BYTES, used + _BYTES))
    signal.signal(signal.SIGPROF, _late)  # of the processor's time: a busy machine is no fault of the reader
    read(content)  # what is not mutated is taken
    random, counts = Random(number), Counter[str]()

    def attempt(made: bytes) -> None:
        signal.setitimer(signal.ITIMER_PROF, _SECONDS)
        try:
            read(made)
            counts["read"] += 1
        except (ValueError, OSError):
            counts["refused"] += 1
        except BaseException as error:
            raise Wrong(f"{name}: {type(error).__name__}: {error} by {made[:600]!r}") from error
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)

    for _ in range(CHUNK * 4 // 5):
        attempt(_mutated(content, random))
    for strategy in (st.binary(max_size=300), st.text(max_size=200).map(str.encode), _documents().map(str.encode)):
        _by_hypothesis(strategy, CHUNK // 15, number)(attempt)
    return counts


def _late(*_: object) -> None:
    raise Wrong(f"more than {_SECONDS} seconds")


def _documents() -> st.SearchStrategy[str]:
    """JSON of any shape."""
    leaves = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20)
    deep = st.recursive(leaves, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner))
    return deep.map(lambda value: json.dumps(value, ensure_ascii=False)).filter(lambda text: text.isprintable())


def _by_hypothesis(
    strategy: st.SearchStrategy[bytes], count: int, number: int
) -> Callable[[Callable[[bytes], None]], None]:
    def run(attempt: Callable[[bytes], None]) -> None:
        quick = settings(
            max_examples=count,
            database=None,
            deadline=None,
            phases=(Phase.generate,),
            suppress_health_check=list(HealthCheck),
        )
        quick(seed(number)(given(strategy)(attempt)))()

    return run


def _mutated(content: bytes, random: Random) -> bytes:
    """One to six changes: bits, bytes, words, pieces that move, are doubled or lost."""
    made = bytearray(content)
    for _ in range(random.choice((1, 1, 2, 3, 6))):
        at = random.randrange(len(made) + 1)
        length = random.choice((1, 2, 4, 16, 64))
        kind = random.randrange(8)
        if kind == 0 and at < len(made):
            made[at] ^= 1 << random.randrange(8)
        elif kind == 1 and at < len(made):
            made[at] = random.randrange(256)
        elif kind == 2:
            made[at:at] = random.choice(_WORDS) * random.choice((1, 1, 1, 50))
        elif kind == 3:
            made[at : at + length] = random.choice(_WORDS)
        elif kind == 4:
            del made[at : at + length]
        elif kind == 5:
            made[at:at] = made[(start := random.randrange(len(made) + 1)) : start + length]
        elif kind == 6:
            del made[at:]
        else:
            made[at : at + 4] = random.choice((b"\xff\xff\xff\xff", b"\x00\x00\x00\x80", b"\xff\xff\xff\x7f"))
    return bytes(made)
