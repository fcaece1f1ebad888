"""Every set with the settings that follow from its data (`auto-NAME`) and with the plain ones (`plain-NAME`)."""

from __future__ import annotations

from dataclasses import dataclass

from results.cells import Training


@dataclass(frozen=True)
class ColdSet:
    """A set of data, what is plain for it, and what else is known of it.

    Args:
        tuned: the experiment with a recipe that was made for it, or with the best settings found by hand.
        others: experiments of other systems, each tuned or at its own best; ``*`` for any.
        measure: where its figure stands in a record.
    """

    task: str
    data: str
    plain: str = "default"
    tuned: str = ""
    others: str = ""
    measure: str = "test.both.mrr"
    options: tuple[str, ...] = ()


def _graph(data: str, task: str, cell: str) -> ColdSet:
    measure = "test.roc_auc" if task == "lp" else "test.f1"
    options = ("--task", task)
    return ColdSet("graph", data, f"graph-{task}", f"{cell}-hybonet-standard", f"{cell}-*-standard", measure, options)


def _hierarchy(data: str) -> ColdSet:
    return ColdSet("hierarchy", data, "hierarchy", measure="metrics.mean_average_precision")


def _text(data: str, tuned: str = "", others: str = "") -> ColdSet:
    return ColdSet("translation", data, "translation", tuned, others, "test.bleu", ("--direction", "en-de"))


SETS = {
    "disease-links": _graph("disease_lp", "lp", "disease-lp"),
    "airport-links": _graph("airport", "lp", "airport-lp"),
    "cora-links": _graph("cora", "lp", "cora-lp"),
    "pubmed-links": _graph("pubmed", "lp", "pubmed-lp"),
    "disease-classes": _graph("disease_lp", "nc", "disease-nc"),
    "tree-classes": _graph("disease-large", "nc", "tree-nc"),
    "airport-classes": _graph("airport", "nc", "airport-nc"),
    "cora-classes": _graph("cora", "nc", "cora-nc"),
    "pubmed-classes": _graph("pubmed", "nc", "pubmed-nc"),
    "wordnet": ColdSet("kg", "wordnet", tuned="ablation-both-readings"),
    "umls": ColdSet("kg", "UMLS", tuned="umls-hybonet", others="umls-*"),
    "nations": ColdSet("kg", "Nations", tuned="nations-hybonet", others="nations-*"),
    "countries-s1": ColdSet("kg", "countries_S1"),
    "countries-s2": ColdSet("kg", "countries_S2"),
    "countries-s3": ColdSet("kg", "countries_S3"),
    "codex-m": ColdSet("kg", "CoDEx-M"),
    "wn18rr": ColdSet("kg", "WN18RR", tuned="wn18rr-32", others="twenty-wn18rr-*"),
    "fb15k-237": ColdSet("kg", "FB15k-237", tuned="fb15k237-32", others="twenty-fb15k-237-*"),
    "mammals": _hierarchy("wordnet_mammals"),
    "products": _hierarchy("google-products"),
    "hpo": _hierarchy("hpo"),
    "go": _hierarchy("go"),
    "nouns": _hierarchy("wordnet_nouns"),
    "multi30k": _text("multi30k", "multi30k-64-hybonet", "multi30k-64-*"),
    "pairs-2000": _text("multi30k-2000"),
    "crowd-types": ColdSet("typing", "ufet", "typing", "typing-hybonet", "typing-[mlh][uay]*", "test.total.f1"),
    "town-types": ColdSet("typing", "little-town", "typing", "typing-little-town", measure="test.total.f1"),
}


def trainings() -> dict[str, Training]:
    """Both trainings of every set, and what it costs that the radius carries generality."""
    found = {}
    for name, of in SETS.items():
        for kind, recipe in (("auto", "auto"), ("plain", of.plain)):
            found[f"{kind}-{name}"] = Training(
                of.task, "cold-start", of.data, recipe, options=of.options, about=f"{kind} settings on {of.data}"
            )
    found["radius-wordnet"] = Training(
        "kg", "cold-start", "wordnet", changes=("radius_order=10",), about="the radius says how general an entity is"
    )
    return found
