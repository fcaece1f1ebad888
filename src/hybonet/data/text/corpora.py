"""The parallel corpora known by name: their files, checksums and licences, and how they are found."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING

from hybonet.data.io import search_path
from hybonet.data.io.source_file import SourceFile, find_packed, read_checked, unpack
from hybonet.data.text.byte_pairs import read_codes
from hybonet.data.text.parallel_text import Pairs, ParallelText, check_direction, read_aligned, read_table

if TYPE_CHECKING:
    from importlib.abc import Traversable  # importlib.resources.abc from Python 3.11 on

#: The corpus inside the package: English into an invented language, made by scripts/build_toy_corpus.py.
TOY = "toy"


@dataclass(frozen=True)
class Corpus:
    """A corpus of the catalog.

    Example:
        >>> CORPORA["multi30k"].statistics["train"]
        29000
    """

    name: str
    #: Folder on the search path.
    folder: str
    description: str
    licence: str
    #: Where the files come from, for people.
    source: str
    #: Files of a split: in the first language, in the second.
    files: Mapping[str, tuple[str, str]]
    languages: tuple[str, str]
    statistics: Mapping[str, int]
    #: By file, unpacked.
    sha256: Mapping[str, str]
    tokenized: bool = False
    #: A file of subword-nmt's merges.
    codes: str | None = None
    note: str = ""

    @property
    def directions(self) -> tuple[str, str]:
        """Both ways to translate; the first is the usual one."""
        first, second = self.languages
        return f"{first}-{second}", f"{second}-{first}"


_MULTI30K = Corpus(
    name="multi30k",
    folder="multi30k",
    description="descriptions of pictures in English and German (Elliott et al., 2016), task 1, raw text",
    licence="none stated; for researchers and educators",
    source="github.com/multi30k/dataset, data/task1/raw",
    files={
        "train": ("train.en", "train.de"),
        "valid": ("val.en", "val.de"),
        "test": ("test_2016_flickr.en", "test_2016_flickr.de"),
        "test2017": ("test_2017_flickr.en", "test_2017_flickr.de"),
    },
    languages=("en", "de"),
    statistics={"train": 29_000, "valid": 1_014, "test": 1_000, "test2017": 1_000},
    sha256={
        "train.en": "460a15fbd157e34a7a9957ee388c1ca247fe47af3ef25fb50442af6c274e0fc6",
        "train.de": "2c2b73fd2b548fbcde3a875e0a78d6ee94d498bfdee6bd3eae3945779e9ddf72",
        "val.en": "1f2a23d992769b5b3d209b0a10dd0b77c08cceb1f20dfb97ed0aafa49d107227",
        "val.de": "660e09eb7e1da2f856ea13ee5ad3cf6d36b3d5b0b733c857e94c5747a3dfc660",
        "test_2016_flickr.en": "399a4382932c1aadd3ceb9bef1008d388a64c76d4ae4e9d4728c6f4301cac182",
        "test_2016_flickr.de": "4be6b5b3236b79c25475c6bb829800a7ce559e9ba7a1f6c2394fe4d40be46d16",
        "test_2017_flickr.en": "ce1450ddc5ab0834502579d77a170849952e15a2938b34cc503bdc25ebb4fb98",
        "test_2017_flickr.de": "c3078bc3b36808bf9d20eb2347ed6137016179ef59ec0d2b9b8ecc3fb2880081",
    },
)
_IWSLT14 = Corpus(
    name="iwslt14",
    folder="iwslt14_de-en",
    description="TED talks in German and English (Cettolo et al., 2014), Moses-tokenised and lowercased",
    licence="TED: CC BY-NC-ND",
    source="wit3.fbk.eu, cut into splits as fairseq's prepare-iwslt14.sh does",
    files={
        "train": ("train_part.de", "train_part.en"),
        "valid": ("valid.de", "valid.en"),
        "test": ("test.de", "test.en"),
    },
    languages=("de", "en"),
    statistics={"train": 53_524, "valid": 7_283, "test": 6_750},
    sha256={
        "train_part.de": "55f2dc5e1b3a630bf2d9d6d2328d09d40cdc15b0a5608509a3bcef6262b401a5",
        "train_part.en": "a7c52e69cf6a2616bb39946a9fb74587c7e6340d55fb5a19ae057836a1c49509",
        "valid.de": "3f051579c9d8c7281a6ea8c72ad4ae09dbaa9bb24dfd41166f2c3a3df7cd940a",
        "valid.en": "e6d7317a9772cd1ed970910c611e9e7dada1f34439269b44a9d801334bff948d",
        "test.de": "e718c783e33160b7d72af8f733756a466e0d0c016eff8ab624c1b0d1d01cbbdf",
        "test.en": "4b127beb9050511a3e6209cd837ff36f623a3a423666b32aba6e208b7330cf4c",
        "bpe10k.codes": "3dd02684b6693abce3ba59520425901b0b910abeec2ae6b15cc62e458441d503",
    },
    tokenized=True,
    codes="bpe10k.codes",
    note="53,524 of the 160,239 training pairs of IWSLT'14, a third: figures are not comparable with the whole set's",
)
_WMT14 = Corpus(
    name="wmt14",
    folder="wmt14_en-de_slice",
    description="10,000 pairs of WMT'14's training text, English and German, Moses-tokenised",
    licence="MIT (of the slice)",
    source="github.com/harvardnlp/seq2seq-attn, data",
    files={
        "train": ("src-train.txt", "targ-train.txt"),
        "valid": ("src-val.txt", "targ-val.txt"),
        "test": ("src-test.txt", "targ-test.txt"),
    },
    languages=("en", "de"),
    statistics={"train": 10_000, "valid": 3_000, "test": 2_737},
    sha256={
        "src-train.txt": "db668a7d798bddf21d1ab8fcb403efbc724ba01b70472ad30d1e2049fd46e12b",
        "targ-train.txt": "fe1f824a189baa650eec46269e66eef07f7304ba7572598ebbe61c55eeff7d01",
        "src-val.txt": "a32a3554fb6c1073b7ed8e0e43828e88ff35d2292e13b42503b479f43c69c782",
        "targ-val.txt": "df700a3ffe2b4309af3bdaba9c6385b5e6fe647ac408e36759a136eef43959ed",
        "src-test.txt": "5fde93388f630f7afd3208f24b4c68d3f992ddb15e0bc2491ee3b4f9ea44845b",
        "targ-test.txt": "d0de86aa401fea9734095fe694ac16f58371d09bcad7d86aef71776cacc80b1d",
    },
    tokenized=True,
    note="10,000 of WMT'14's 4.5 million training pairs: enough to try the settings, not to compare figures",
)
CORPORA = {each.name: each for each in (_MULTI30K, _IWSLT14, _WMT14)}


def corpus_names() -> tuple[str, ...]:
    """Names of all corpora, the one inside the package first.

    Example:
        >>> corpus_names()
        ('toy', 'multi30k', 'iwslt14', 'wmt14')
    """
    return (TOY, *CORPORA)


def corpus_entry(name: str) -> Corpus:
    """The corpus of the catalog of that name, capitals or not.

    Example:
        >>> corpus_entry("Multi30K").languages
        ('en', 'de')
        >>> corpus_entry("iwslt15")
        Traceback (most recent call last):
        ValueError: expected a corpus of the catalog, got 'iwslt15'; did you mean 'iwslt14'?
    """
    if name.casefold() in CORPORA:
        return CORPORA[name.casefold()]
    raise ValueError(f"expected a corpus of the catalog, got {name!r}; {near_corpus(name)}")


def near_corpus(name: str) -> str:
    """What to say after an unknown name."""
    near = difflib.get_close_matches(name.casefold(), corpus_names(), n=1)
    return f"did you mean {near[0]!r}?" if near else f"check the path; names are {', '.join(corpus_names())}"


def find_corpus(name: str) -> Path | None:
    """The first folder on the search path that holds a corpus, or None.

    Example:
        >>> find_corpus("multi30k") is None or find_corpus("multi30k").is_dir()
        True
    """
    entry = corpus_entry(name)
    return next((place for place in _folders(entry) if all(find_packed(place, file) for file in entry.sha256)), None)


def load_named_corpus(name: str, direction: str | None = None) -> ParallelText:
    """A corpus by name, every file checked against its checksum.

    Example:
        >>> load_named_corpus("toy").statistics()
        {'train': 600, 'valid': 60, 'test': 60}
    """
    if name.casefold() == TOY:
        return _toy(direction)
    entry = corpus_entry(name)
    languages = check_direction(direction or entry.directions[0], entry.directions)
    files = _files(entry)
    notes: list[str] = [entry.note] if entry.note else []
    splits: dict[str, Pairs] = {}
    for split, (first, second) in entry.files.items():
        pairs = read_aligned(files[first], files[second], notes)
        splits[split] = pairs if languages == entry.languages else pairs.reversed()
    return ParallelText(
        entry.name,
        languages,
        splits,
        sha256={file: content.sha256 for file, content in files.items()},
        tokenized=entry.tokenized,
        merges=tuple(read_codes(files[entry.codes])) if entry.codes else (),
        notes=tuple(notes),
    )


def toy_files() -> list[str]:
    """Where the toy corpus lies in the installed package: train, valid and test.

    Example:
        >>> [Path(path).name for path in toy_files()][1:]
        ['valid.tsv', 'test.tsv']
    """
    return [str(place) for place in _toy_places().values()]


def _toy_places() -> dict[str, Traversable]:
    folder = resources.files("hybonet.data").joinpath("shipped", "toy_corpus")
    return {split: folder.joinpath(f"{split}.tsv") for split in ("train", "valid", "test")}


def _toy(direction: str | None) -> ParallelText:
    languages = check_direction(direction or "en-toy", ("en-toy", "toy-en"))
    files = {split: unpack(place.name, place.read_bytes()) for split, place in _toy_places().items()}
    splits = {split: read_table(file, []) for split, file in files.items()}
    return ParallelText(
        TOY,
        languages,
        splits if languages[0] == "en" else {split: pairs.reversed() for split, pairs in splits.items()},
        sha256={file.bare_name: file.sha256 for file in files.values()},
    )


def _files(entry: Corpus) -> dict[str, SourceFile]:
    folder = find_corpus(entry.name)
    if folder is None:
        raise ValueError(
            f"expected the files of {entry.name} on {search_path.described()}, "
            f"found them nowhere; put "
            f"{', '.join(entry.sha256)} (also .gz or .xz) from {entry.source} into a folder {entry.folder} there"
        )
    files = {}
    for name, expected in entry.sha256.items():
        path = find_packed(folder, name)
        assert path is not None, "find_corpus looks for it"
        files[name] = read_checked(path, expected)
    return files


def _folders(entry: Corpus) -> Iterable[Path]:
    for directory in search_path.directories():
        for name in dict.fromkeys((entry.folder, entry.name)):
            yield directory / name
