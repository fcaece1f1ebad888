"""What ``hybonet data show`` says of named text: parallel corpora, treebanks and mentions."""

from __future__ import annotations

from collections.abc import Mapping

import typer


def is_text(name: str) -> bool:
    """Whether this is the name of a corpus, a treebank or mentions.

    Example:
        >>> is_text("little-town"), is_text("Toy"), is_text("wordnet")
        (True, True, False)
    """
    from hybonet.data.mentions.named_sets import mention_sets
    from hybonet.data.text.corpora import corpus_names
    from hybonet.data.trees.treebanks import published_name

    return name.casefold() in (*corpus_names(), *mention_sets()) or published_name(name) is not None


def show_text(name: str) -> None:
    """All that goes by the name: ``toy`` is a corpus and a treebank."""
    from hybonet.data.mentions.named_sets import mention_sets
    from hybonet.data.text.corpora import corpus_names
    from hybonet.data.trees.treebanks import TOY, published_name

    if name.casefold() in corpus_names():
        _show_corpus(name)
    if name.casefold() in mention_sets():
        _show_mentions(name.casefold())
    if name.casefold() == TOY or published_name(name):
        _show_treebank(name)


def show_provenance(checksums: Mapping[str, str], notes: tuple[str, ...] = ()) -> None:
    """Where data comes from, and what people should know of it."""
    for name, checksum in checksums.items():
        typer.echo(f"sha256 of {name}: {checksum}")
    for note in notes:
        typer.echo(f"note: {note}")


def _show_corpus(name: str) -> None:
    from hybonet.data.text.corpora import CORPORA, load_named_corpus

    corpus = load_named_corpus(name)
    if name.casefold() in CORPORA:
        entry = CORPORA[name.casefold()]
        typer.echo(f"{entry.description}; licence: {entry.licence}")
    else:
        typer.echo("parallel text in English and an invented language")
    typer.echo(f"languages: {' and '.join(corpus.languages)}")
    for split, count in corpus.statistics().items():
        typer.echo(f"{split}: {count:,} pairs")
    show_provenance(corpus.sha256, corpus.notes)


def _show_treebank(name: str) -> None:
    from hybonet.data.trees.treebanks import SPLITS, TREEBANKS, load_treebank, published_name

    treebank = load_treebank(name)
    published = published_name(name)
    typer.echo("dependency trees" + (f"; licence: {TREEBANKS[published].licence}" if published else ""))
    counts = treebank.statistics()
    for split in SPLITS:
        typer.echo(f"{split}: {counts[split]:,} sentences, {counts[f'{split}_words']:,} words")
    show_provenance(treebank.sha256)


def _show_mentions(name: str) -> None:
    from hybonet.data.mentions.loading import load_mentions
    from hybonet.data.mentions.mention_data import SPLITS
    from hybonet.data.mentions.named_sets import MENTION_SETS, SHIPPED, read_published

    if name == SHIPPED:
        town = load_mentions(name)
        typer.echo("mentions of an invented town, with word vectors")
        counts = {"types": len(town.types), **{split: len(town.split(split)) for split in SPLITS}}
        checksums, notes = town.sha256 or {}, town.notes
    else:  # read without the word vectors, which training needs and which need not be here
        entry = MENTION_SETS[name]
        checksums, notes = {file: found.sha256 for file, found in read_published(name).items()}, ()
        typer.echo(f"{entry.description}; licence: {entry.licence}")
        counts = dict(entry.statistics)
    for what, count in counts.items():
        typer.echo(f"{what}: {count:,}" + ("" if what == "types" else " mentions"))
    show_provenance(checksums, notes)
