"""The benchmark graphs the catalog knows: their files, checksums, licences and sizes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

_CONVE = "TimDettmers/ConvE/f3c0eb286025410fa5b4c04696c918264163d0ca"
_KG_BERT = "yao8839836/kg-bert/0b8f625108efcb9b43603b6840f2548ff3d3c973"
_RAW = "https://raw.githubusercontent.com"


@dataclass(frozen=True)
class DataFile:
    """One file of a data set. The checksum and the size are of the file itself, unpacked."""

    name: str
    sha256: str
    size: int
    #: The file, or a .tar.gz that holds it. The archives' own checksums are unknown: what is unpacked is checked.
    url: str

    @property
    def in_archive(self) -> bool:
        """Whether the address is of an archive that holds the file."""
        return self.url.endswith(".tar.gz")


@dataclass(frozen=True)
class DataSet:
    """A data set of the catalog.

    Example:
        >>> BENCHMARKS["UMLS"].statistics["entities"], BENCHMARKS["UMLS"].licence
        (135, 'MIT')
    """

    name: str
    description: str
    licence: str
    #: Where the files come from, for people.
    source: str
    #: train, valid and test, in this order.
    splits: tuple[DataFile, DataFile, DataFile]
    #: What :meth:`hybonet.data.TripleData.statistics` gives.
    statistics: Mapping[str, int]
    entity_names: DataFile | None = None
    relation_names: DataFile | None = None
    #: Names end at their first comma.
    short_names: bool = False

    @property
    def files(self) -> tuple[DataFile, ...]:
        """All files, names included."""
        return (*self.splits, *(file for file in (self.entity_names, self.relation_names) if file))

    @property
    def size(self) -> int:
        """Bytes of all files, unpacked."""
        return sum(file.size for file in self.files)


def _splits(url: str, *checksums: tuple[str, int]) -> tuple[DataFile, DataFile, DataFile]:
    names = ("train.txt", "valid.txt", "test.txt")
    files = [
        DataFile(name, sha256, size, url if url.endswith(".tar.gz") else f"{url}/{name}")
        for name, (sha256, size) in zip(names, checksums, strict=True)
    ]
    return files[0], files[1], files[2]


def _statistics(entities: int, relations: int, train: int, valid: int, test: int) -> dict[str, int]:
    return {"entities": entities, "relations": relations, "train": train, "valid": valid, "test": test}


def _countries(number: int, triples: int, train: tuple[str, int], task: str) -> DataSet:
    return DataSet(
        name=f"countries_S{number}",
        description=f"Countries, regions and neighbours (Bouchard et al., 2015), task S{number}: {task}. "
        f"The train file has {triples + 1:,} rows, one of them twice.",
        licence="MIT",
        source=f"github.com/{_CONVE.rsplit('/', 1)[0]}, folder countries",
        splits=_splits(
            f"{_RAW}/{_CONVE}/countries/countries_S{number}",
            train,
            ("f4b27648148a44f87e627140ec3a02ca4c884c32d348591147ca72f1d6fff5b0", 624),
            ("262ca5ae5ed3aa1927026e0f258cc52b10830185b93465b93b9360727e719158", 610),
        ),
        statistics=_statistics(271, 2, triples, 24, 24),
    )


_WN18RR = DataSet(
    name="WN18RR",
    description="WordNet without the inverse relations of WN18 (Dettmers et al., 2018)",
    licence="MIT; WordNet: WordNet 3.0 licence; names: Apache-2.0",
    source="github.com/TimDettmers/ConvE; names: github.com/yao8839836/kg-bert",
    splits=_splits(
        f"{_RAW}/{_CONVE}/WN18RR.tar.gz",
        ("038612e783c215ee5f3ca9fbfca27b8d0739be1028fe4ee7c174aecf0b83d5df", 3_135_377),
        ("453ce7202afa58094a04d2b1560ee2b02660f1c260b32ce6651c8ccedd1028ab", 110_415),
        ("0383bceaaa1096cf3c03ec021ed0048068e2355dbfc0239b292cefdac821cec5", 113_180),
    ),
    statistics=_statistics(40_943, 11, 86_835, 3_034, 3_134),
    entity_names=DataFile(
        "entity2text.txt",
        "8f5c6f11753dafa879917b9bdf73d398ceb3bd4bed8d5553177e1e0f2c37521f",
        4_086_439,
        f"{_RAW}/{_KG_BERT}/data/WN18RR/entity2text.txt",
    ),
    relation_names=DataFile(
        "relation2text.txt",
        "91b1de5585d686ed31498d50f1c4eed44ba9486dffbbcc0c28927ac884184918",
        370,
        f"{_RAW}/{_KG_BERT}/data/WN18RR/relation2text.txt",
    ),
    short_names=True,
)

_FB15K_237 = DataSet(
    name="FB15k-237",
    description="Freebase without the inverse relations of FB15k (Toutanova and Chen, 2015)",
    licence="MIT; Freebase: CC BY; names: Apache-2.0",
    source="github.com/TimDettmers/ConvE; names: github.com/yao8839836/kg-bert",
    splits=_splits(
        f"{_RAW}/{_CONVE}/FB15k-237.tar.gz",
        ("6e4c2782169af21e9743f3b1d200886f5d595bf6bc504ec1351720949c5cdfae", 21_277_292),
        ("cf6309010852f6a8d47a45df830a426415d1ee6f7a3970a8376ff1fb81db4a5c", 1_303_101),
        ("5711cf41623ceb4eacc50eb6108a3ca6565c7492e3caaf82a3e355cc660d1574", 1_519_499),
    ),
    statistics=_statistics(14_541, 237, 272_115, 17_535, 20_466),
    entity_names=DataFile(
        "entity2text.txt",
        "16beedcfad3d32696e8b0b98cfa0f5eeb144f5142225f227a64fd9ce37447da5",
        392_383,
        f"{_RAW}/{_KG_BERT}/data/FB15k-237/entity2text.txt",
    ),
    relation_names=DataFile(
        "relation2text.txt",
        "4bf7cb6ea0ac09b17ad210889f723be5e079669f6ae5d507787e1320bbaa0f72",
        29_130,
        f"{_RAW}/{_KG_BERT}/data/FB15k-237/relation2text.txt",
    ),
)

_UMLS = DataSet(
    name="UMLS",
    description="Semantic network of the Unified Medical Language System (Kok and Domingos, 2007)",
    licence="MIT",
    source="github.com/TimDettmers/ConvE",
    splits=_splits(
        f"{_RAW}/{_CONVE}/umls.tar.gz",
        ("873ef4925516b83e7f6f8cc02b4be51d848828710a7f65a956f0ac4a9e452f35", 260_013),
        ("025c98f8a4891e2a6582ec5b40ee0d904031edad9c52554522f4b7904820c98e", 32_963),
        ("a7eb529a3d2810fcc96341ccc97c625a5e202f8389673aa6bd317eeebbb79014", 32_968),
    ),
    statistics=_statistics(135, 46, 5_216, 652, 661),
)

_NATIONS = DataSet(
    name="Nations",
    description="Relations between fourteen nations in the 1960s (Kok and Domingos, 2007)",
    licence="MIT",
    source="github.com/TimDettmers/ConvE",
    splits=_splits(
        f"{_RAW}/{_CONVE}/nations.tar.gz",
        ("0830fa9da8e5bba2ccdaa45b7bdc9130451ba66b09ff2708f35fccaf82473e57", 39_101),
        ("2b337a62e51a2f45c283eac98a70d21b7e0e102136be1539b2a52c652a7b0530", 4_851),
        ("3971085165b47b6aeaec68058c6d8d98b3005e929db81268410b95ae4db770ab", 4_951),
    ),
    statistics=_statistics(14, 55, 1_592, 199, 201),
)

#: The data sets by name.
BENCHMARKS: Mapping[str, DataSet] = {
    entry.name: entry
    for entry in (
        _WN18RR,
        _FB15K_237,
        _UMLS,
        _NATIONS,
        _countries(
            1,
            1_110,
            ("5256bf3fc4181d7e87d819571e3acfa5425fc5af365b9ebe5c113740534ca561", 31_885),
            "a country's continent follows from its region",
        ),
        _countries(
            2,
            1_062,
            ("84c8f310fa076f902760f0909716b13bc0853a105ab9e0145e4e5135d855f68a", 30_266),
            "a country's continent follows from its neighbours' continent",
        ),
        _countries(
            3,
            984,
            ("80a8e3a26aff58b78fd5a453ec2a37591466bad621df8d05185f26763b663a0c", 28_238),
            "a country's continent follows from its neighbours' regions",
        ),
    )
}
