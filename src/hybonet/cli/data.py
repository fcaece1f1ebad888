"""``hybonet data``: what there is by name, what a file or a name holds, and graphs measured and made."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hybonet.cli.app import app, clean_errors
from hybonet.cli.options import AsJson, only_given, say
from hybonet.tasks.options import column_list

if TYPE_CHECKING:
    from hybonet.data import DataSet

data_app = typer.Typer(
    help="Data by name: list, show, fetch and find it; look at files, make and measure graphs of your own.",
    no_args_is_help=True,
)
app.add_typer(data_app, name="data")

Name = Annotated[str, typer.Argument(help="A name from `hybonet data list`.")]
Source = Annotated[str, typer.Argument(help="A name from `hybonet data list`, or a file of edges.")]
Columns = Annotated[str | None, typer.Option(help="Columns to read: names or numbers from 0, with commas.")]
Header = Annotated[bool | None, typer.Option("--header/--no-header", help="Whether first rows are column names.")]


@data_app.command("list")
def list_data(as_json: AsJson = False) -> None:
    """The data known by name: its size, licence and whether it is here."""
    with clean_errors():
        from hybonet.data.registry import KINDS, data_sets
        from hybonet.reporting.console import Console
        from hybonet.reporting.narrow_table import add_row, narrow_table

        if as_json:
            say(json.dumps([_about(entry) for entry in data_sets()], indent=2, ensure_ascii=False))
            return
        console = Console(highlight=False)
        licences: dict[str, list[str]] = {}
        for kind in KINDS.values():
            table = narrow_table(["name"], kind.counts, ["here"])
            for entry in data_sets(kind.task):
                add_row(table, entry.name, *(f"{entry.statistics[part]:,}" for part in kind.counts), entry.here())
                licences.setdefault(entry.licence, []).append(entry.name)
            console.print(kind.title)
            console.print(table)
            console.print()
        console.print(
            "hybonet data show NAME says more, path where it is; hybonet data fetch NAME downloads it.\nLicences:"
        )
        for licence, names in licences.items():
            console.print(f"  {', '.join(names)}: {licence}")


@data_app.command("fetch")
def fetch(name: Name, as_json: AsJson = False) -> None:
    """Download data to the cache, checking its checksums; an interrupted download goes on where it stopped."""
    with clean_errors():
        entries = _named(name)
        if entries[0].packaged:
            say(f"nothing to fetch: {entries[0].name} is inside the package; use it with --data {name}")
            return
        folder = entries[0].fetch()
        say(json.dumps({"name": entries[0].name, "folder": str(folder)}) if as_json else str(folder))


@data_app.command("path")
def path(name: Name, as_json: AsJson = False) -> None:
    """Where data lies on this machine: its folder, or its files inside the package."""
    with clean_errors():
        entries = _named(name)
        files = {part: str(place) for entry in entries for part, place in _parts(entry, len(entries) > 1).items()}
        if as_json:
            say(json.dumps(files, indent=2))
        elif entries[0].packaged:
            say(f"{entries[0].name} is inside the package; use it with --data {name}", err=True)
            say("\n".join(files.values()))
        else:
            say(str(entries[0].folder()))


@data_app.command("show")
def show(
    source: Annotated[str, typer.Argument(help="A name from `hybonet data list`, or a file or folder of your own.")],
    features: Annotated[Path | None, typer.Option(help="Table of node, number, … for a file of edges.")] = None,
    labels: Annotated[Path | None, typer.Option(help="Table of node, label for a file of edges.")] = None,
    label_column: Annotated[str | None, typer.Option(help="Column of the label, where there are several.")] = None,
    columns: Columns = None,
    header: Header = None,
    allow_unlabelled: Annotated[bool, typer.Option("--allow-unlabelled", help="Accept nodes without a label.")] = False,
    as_json: AsJson = False,
) -> None:
    """What a data set of any kind holds: its sizes, classes, checksums, and what was dropped or is missing."""
    with clean_errors():
        from hybonet.data.registry import find_named

        options = only_given(
            features=features,
            labels=labels,
            label_column=_column(label_column),
            columns=columns and column_list(columns),
            header=header,
            allow_unlabelled=allow_unlabelled or None,
        )
        if found := find_named(source):
            shown = [_contents(entry, options) for entry in found]
        else:
            shown = [_recognised(source, options)]
        if as_json:
            say(json.dumps(shown if len(shown) > 1 else shown[0], indent=2, ensure_ascii=False))
            return
        for each in shown:
            _tell(each)


@data_app.command("hyperbolicity")
def hyperbolicity(
    source: Source,
    samples: Annotated[
        int | None, typer.Option(min=1, help="Random quadruples.", show_default="exact if small, else 50,000")
    ] = None,
    seed: Annotated[int, typer.Option(help="Of the draw.")] = 0,
    columns: Columns = None,
    header: Header = None,
    as_json: AsJson = False,
) -> None:
    """Gromov's δ of a graph: how far its distances are from a tree's, and so how well hyperbolic space fits it."""
    with clean_errors():
        from hybonet.cli.options import tell_notes
        from hybonet.data import load_graph
        from hybonet.metrics import hyperbolicity as measure

        graph = load_graph(source, **only_given(columns=columns and column_list(columns), header=header))
        tell_notes(graph.notes)
        found = measure(graph.edges, graph.num_nodes, samples=samples, seed=seed)
        if as_json:
            say(json.dumps({"nodes": graph.num_nodes, "edges": len(graph.edges), **asdict(found)}, indent=2))
            return
        bound = "" if found.diameter_exact else "at least "
        say(f"{graph.source}: {graph.num_nodes:,} nodes, {len(graph.edges):,} edges")
        say(f"δ: {found.delta:g} ({found.confidence()})")
        say(f"relative δ: {found.relative:.3f} (2δ over the diameter, {bound}{found.diameter})")
        say(f"mean δ: {found.mean:.4f} ± {found.mean_margin:.4f} ({found.samples:,} quadruples)")
        say(found.meaning())


@data_app.command("disease-tree")
def make_disease_tree(
    out: Annotated[Path, typer.Option(help="Folder to make, with edges.csv, features.csv and labels.csv.")],
    nodes: Annotated[int, typer.Option(min=2, help="Of the tree.")] = 600,
    seed: Annotated[int, typer.Option(min=0, help="The same seed gives the same files.")] = 0,
    label_noise: Annotated[float, typer.Option(min=0, max=1, help="Share of labels turned around.")] = 0.0,
    as_json: AsJson = False,
) -> None:
    """Make a tree along which a disease spreads, like Disease of HGCN, of any size."""
    with clean_errors():
        from hybonet.data import disease_tree
        from hybonet.data.graphs.writing import write_network
        from hybonet.tasks.new_folder import new_folder

        with new_folder(out) as staging:
            written = write_network(disease_tree(nodes, seed=seed, label_noise=label_noise), staging)
        paths = [str(out / path.name) for path in written]
        say(json.dumps(paths) if as_json else "\n".join(paths))


def _named(name: str) -> list[DataSet]:
    """All data sets of a name; ``toy`` is two."""
    from hybonet.data.registry import find_named, named

    return find_named(name) or [named(name)]


def _parts(entry: DataSet, several: bool) -> dict[str, Path]:
    return {f"{entry.kind} {part}" if several else part: place for part, place in entry.paths().items()}


def _column(text: str | None) -> str | int | None:
    return int(text) if text is not None and text.isdigit() else text


def _about(entry: DataSet) -> dict[str, Any]:
    keys = ("name", "kind", "description", "licence", "source")
    return {key: getattr(entry, key) for key in keys} | {"here": entry.here(), "statistics": dict(entry.statistics)}


def _contents(entry: DataSet, options: dict[str, Any]) -> dict[str, Any]:
    """What is known of a named data set, and what its files hold."""
    if entry.kind == "typing" and not entry.packaged:
        # Read without word vectors, which training needs and which need not be here.
        return _about(entry) | {"sha256": {file.bare_name: file.sha256 for file in entry.read().values()}}
    return _about(entry) | _held(entry.load(**options))


def _recognised(source: str, options: dict[str, Any]) -> dict[str, Any]:
    """What a file or folder of one's own holds."""
    from hybonet.data.io.source_file import read_source
    from hybonet.data.mentions.mention_data import read_mentions
    from hybonet.data.recognise import Recognised, recognise
    from hybonet.data.registry import KINDS, near

    if not Path(source).exists():
        raise ValueError(f"expected data, got {source!r}, which is neither a path nor a name; {near(source)}")
    # These options are of edges alone.
    found = Recognised("graph", "", "") if options else recognise(source)
    shown: dict[str, Any] = {"name": source, "kind": found.kind}
    if found.what:
        shown |= {"what": found.what, "command": found.command}
    if found.kind == "typing" and Path(source).is_file():
        mentions = read_mentions(read_source(source))
        types = {label for mention in mentions for label in mention.types}
        return shown | {"statistics": {"mentions": len(mentions), "types": len(types)}, "sha256": {}}
    if found.kind == "features":
        from hybonet.data.graphs.loading import open_table
        from hybonet.data.graphs.node_tables import read_features

        names, values = read_features(open_table(source, "node"), None)
        return shown | {"statistics": {"nodes": len(names), "features": values.shape[1]}, "sha256": {}}
    if found.kind == "labels":
        return shown | {"statistics": {}, "sha256": {}}
    try:
        return shown | _held(KINDS[found.kind].load(source, **{**found.options, **options}))
    except ValueError as error:
        if not found.what or str(error).startswith(source):
            raise
        # It is what it seems to be, and every row is right, but it is too small, say: people want to know both.
        return shown | {"statistics": {}, "sha256": {}, "notes": [f"as it is it cannot be trained on: {error}"]}


def _held(data: Any) -> dict[str, Any]:
    held: dict[str, Any] = {"statistics": data.statistics()}
    if getattr(data, "classes", ()):
        held["classes"] = data.class_counts()
    if getattr(data, "split", None) is not None and hasattr(data.split, "sizes"):
        held["published split"] = data.split.sizes
    if hasattr(data, "repeated_edges"):
        held["left out"] = {"repeated edges": data.repeated_edges, "self loops": len(data.self_loops)}
    checksums = data.sha256 if not isinstance(data.sha256, str) else {"edges": data.sha256}
    notes = [*getattr(data, "notes", ()), *getattr(data, "warnings", ())]
    return held | {"sha256": dict(checksums or {}), "notes": notes}


def _tell(shown: dict[str, Any]) -> None:
    from hybonet.data.registry import KINDS

    rows = KINDS[shown["kind"]].rows if shown["kind"] in KINDS else ""
    if "licence" in shown:
        say(f"{shown['description']}; licence: {shown['licence']}")
    if "what" in shown:
        say(f"seems to be: {shown['what']}")
    for what, count in shown["statistics"].items():
        say(f"{what.replace('_', ' ')}: {count:,}" + (f" {rows}" if what in ("train", "valid", "test") else ""))
    for label, count in shown.get("classes", {}).items():
        say(f"  class {label}: {count:,} nodes")
    if "published split" in shown:
        say("published split: " + " / ".join(f"{size:,}" for size in shown["published split"]) + " nodes")
    if "left out" in shown:
        say("left out: " + ", ".join(f"{count:,} {what}" for what, count in shown["left out"].items()))
    for name, checksum in shown["sha256"].items():
        say(f"sha256 of {name}: {checksum}")
    for note in shown.get("notes", ()):
        say(f"note: {note}")
    if "command" in shown:
        say(f"train on it: {shown['command']}")
