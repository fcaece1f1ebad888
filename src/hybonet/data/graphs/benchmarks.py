"""The networks that the catalog knows: their files, checksums, licences and sizes, and how each is read."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial

from hybonet.data.graphs.disease_tree import disease_tree
from hybonet.data.graphs.graph_data import GraphData
from hybonet.data.graphs.hgcn_files import read_airport, read_disease
from hybonet.data.graphs.planetoid import PARTS, read_planetoid
from hybonet.data.io.source_file import SourceFile

_HGCN = "https://raw.githubusercontent.com/HazyResearch/hgcn/a526385744da25fc880f3da346e17d0fe33817f8/data"
_PLANETOID = "https://raw.githubusercontent.com/kimiyoung/planetoid/master/data"
_NO_LICENCE = "none stated"


@dataclass(frozen=True)
class NetworkFile:
    """One file of a network."""

    name: str
    url: str
    #: None where the file could not be had: then only its content is checked, by the reader.
    sha256: str | None = None
    #: Whether the network can be read without it, with a note on what it lacks.
    optional: bool = False


@dataclass(frozen=True)
class Network:
    """A network of the catalog.

    Example:
        >>> NETWORKS["cora"].statistics["edges"]
        5278
    """

    name: str
    description: str
    licence: str
    #: By part, as the reader takes them; empty for a generated network.
    files: Mapping[str, NetworkFile]
    #: What :meth:`GraphData.statistics` gives when all files are there.
    statistics: Mapping[str, int]
    read: Callable[[Mapping[str, SourceFile]], GraphData]

    @property
    def generated(self) -> bool:
        """Whether it is made on demand, not stored."""
        return not self.files


def _statistics(nodes: int, edges: int, features: int, classes: int) -> dict[str, int]:
    return {"nodes": nodes, "edges": edges, "features": features, "classes": classes}


def _planetoid(
    name: str,
    about: str,
    where: str,
    checksums: Mapping[str, str],
    statistics: dict[str, int],
    classes: tuple[str, ...],
) -> Network:
    files = {
        part: NetworkFile(f"ind.{name}.{part}", f"{where}/ind.{name}.{part}", checksums.get(part), part == "allx")
        for part in PARTS
    }
    reader = partial(read_planetoid, name, classes=classes)
    return Network(name, about, f"{_NO_LICENCE} (Planetoid: MIT)", files, statistics, reader)


def _disease(task: str, about: str, checksums: Mapping[str, str], statistics: dict[str, int]) -> Network:
    name = f"disease_{task}"
    endings = {"edges": "edges.csv", "labels": "labels.npy", "feats": "feats.npz"}
    files = {
        part: NetworkFile(
            f"{name}.{ending}", f"{_HGCN}/{name}/{name}.{ending}", checksums.get(part), optional=part == "feats"
        )
        for part, ending in endings.items()
    }
    return Network(name, about, _NO_LICENCE, files, statistics, partial(read_disease, name))


def _generated(name: str, num_nodes: int, infection: float) -> Network:
    def generate(_: Mapping[str, SourceFile]) -> GraphData:
        return disease_tree(num_nodes, seed=0, infection=infection, name=name)

    about = f"A generated tree of {num_nodes:,} nodes along which a disease spread (hybonet.data.graphs.disease_tree)"
    return Network(name, about, "as the package", {}, _statistics(num_nodes, num_nodes - 1, 11, 2), generate)


#: The networks by name.
NETWORKS: Mapping[str, Network] = {
    network.name: network
    for network in (
        _disease(
            "lp",
            "A tree along which a disease spread (Chami et al., 2019), made for link prediction",
            {
                "edges": "b5b7e41bbfd28fc7f61590e5587622103ee9c3aa1b59911c74873a6f328dca07",
                "feats": "b4a726b13598c036a75e1b49f08e92820553b972966ad950b8d4d5416eb339f8",
                "labels": "8f2b26602764fbb785b93775d9f71194f1f36920e185af8bc5c31aea07dde858",
            },
            _statistics(2665, 2664, 11, 2),
        ),
        _disease(
            "nc",
            "A tree along which a disease spread (Chami et al., 2019), made for node classification",
            {
                "edges": "08b2dcf00db1e6a8f491af5294dee98197f1251a63bc9190d05fb4e77507782e",
                "labels": "70be7f91a854d924f3b7ac423615d75b1f9ee2506261c44113de27cc2caadd51",
            },
            _statistics(1044, 1043, 1000, 2),
        ),
        Network(
            "airport",
            "Airports joined by flights (Chami et al., 2019), from OpenFlights",
            _NO_LICENCE,
            {
                "graph": NetworkFile(
                    "airport.p",
                    f"{_HGCN}/airport/airport.p",
                    "ab16b04cea3666e87dbd8a5bff3de68da61330f4604fa21082f7a17e806e64d8",
                )
            },
            _statistics(3188, 18630, 5, 4),
            partial(read_airport, "airport"),
        ),
        _planetoid(
            "cora",
            "Papers on machine learning and their citations (Sen et al., 2008; split of Yang et al., 2016)",
            f"{_HGCN}/cora",
            {
                "allx": "9419ba2f26f5c35243db64aba110e0f35a04851609e0dc5433450676ca6b8543",
                "ally": "2b998f5cc7fedc86e7f97ca2498f47a1ffc1462c29e2d578b23bf3f62b6e7d71",
                "graph": "58f13302f39dde8852dad6fe6d15b89b077b6d7f837626bce671ef80344b383d",
                "test.index": "297ce89af2b51a6a194181c7dbe1796c6a1cf9cd9349a88383b1b1e227867875",
                "tx": "b9afbaa4a400df991f6f02ef677e1e44da55ffc04801fd02f9e673987829226a",
                "ty": "41f5ac76596a1699cc33f53084a2419e92961c42bb75f36fc38e616d348532ad",
                "x": "23cfa55d91c6f624233f5eb7b6e3f141f1bd2b2ae39608a63cf5d084bb27baab",
                "y": "94465c14eb53e04ca262198dcbb2521ee8af60fb3f3d546cd6ca24a511b0e7d1",
            },
            _statistics(2708, 5278, 1433, 7),
            (),
        ),
        _planetoid(
            "pubmed",
            "Papers on diabetes and their citations (Namata et al., 2012; split of Yang et al., 2016)",
            f"{_HGCN}/pubmed",
            {
                "ally": "0c37bbe3b5014ec365e9d393cf4791925e5ed94fb194305d74f064a8d7b50f0e",
                "graph": "5b89f0036ca22909471f1e6558eb42fa06e0c730a577bde5b058b40638f81dc9",
                "test.index": "b101d421688bbaecbd82e8a18f1e282378d6830f3a37666f28ebc47f844341b5",
                "tx": "4eb5f5d0f30f26497eb0ac6ac9719d09c67e284f1ed0385c93f3ef27a671da3d",
                "ty": "ee2e0d4819d9fbcc403689c3bf2e49face401b605932f093bc58ab6461130fdd",
                "x": "fbe9cb5c47200d1b7769a26e579be3b7130b556831f9d850e77c4c74f2599b33",
                "y": "e6c807633307a07ed659249006536a147c7999c797f11a2560752990181b41b3",
            },
            _statistics(19717, 44324, 500, 3),
            (),
        ),
        _planetoid(
            "citeseer",
            "Papers on computer science and their citations (Sen et al., 2008; split of Yang et al., 2016)",
            _PLANETOID,
            {},
            _statistics(3327, 4552, 3703, 6),
            (),
        ),
        _generated("disease-small", 600, infection=0.56),
        # The deeper the tree, the fewer are ill: this infection makes them about as many as in the published one.
        _generated("disease-large", 6000, infection=0.85),
    )
}
