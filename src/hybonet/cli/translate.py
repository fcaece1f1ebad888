"""``hybonet translate``: sentences from a file or a pipe, translations out."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from hybonet.cli import verbs
from hybonet.cli.answers import check_output
from hybonet.cli.app import app, clean_errors

if TYPE_CHECKING:
    from hybonet.tasks.translation.predictor import Translation

_EXAMPLES = """
**Examples**

From a pipe: `echo "The dog sees two birds." | hybonet translate runs/toy`

A file, into another: `hybonet translate runs/toy sentences.txt --output translations.txt`

The four best of each with their scores: `hybonet translate runs/toy sentences.txt --n-best 4 --format tsv`

Drawn at random: `hybonet translate runs/toy sentences.txt --temperature 0.8 --top-p 0.9 --seed 1`
"""


@verbs.predict.of("translation", epilog=_EXAMPLES)
@app.command(epilog=_EXAMPLES)
def translate(
    run: Annotated[Path, typer.Argument(help="A run folder of hybonet train translation, or an exported model.")],
    sentences: Annotated[
        Path | None, typer.Argument(help="File with a sentence a line (also .gz, .xz).", show_default="standard input")
    ] = None,
    beam: Annotated[
        int | None, typer.Option(min=1, help="Translations followed at a time; 1: greedy.", show_default="the run's")
    ] = None,
    length_penalty: Annotated[
        float | None, typer.Option(min=0, help="Of a beam; 0: short translations win.", show_default="the run's")
    ] = None,
    n_best: Annotated[int, typer.Option(min=1, help="Translations of each sentence.")] = 1,
    temperature: Annotated[
        float | None, typer.Option(min=0.001, help="Draw translations at random; 1: as the model says.")
    ] = None,
    top_k: Annotated[int | None, typer.Option(min=1, help="Draw among so many likeliest tokens.")] = None,
    top_p: Annotated[float | None, typer.Option(min=0.001, max=1, help="Draw among so much probability.")] = None,
    seed: Annotated[int | None, typer.Option(min=0, help="Of the draw at random.", show_default="0")] = None,
    form: Annotated[
        Literal["text", "tsv", "json"],
        typer.Option(
            "--format",
            help="text: a translation a line; tsv: line, score, translation; json: an object a sentence.",
        ),
    ] = "text",
    output: Annotated[Path | None, typer.Option(help="Write to this file instead of the terminal.")] = None,
) -> None:
    """Translate sentences, one a line; a line stays a line, and an empty one stays empty."""
    with clean_errors():
        from hybonet.files import write_atomically
        from hybonet.tasks.translation.decoding import Decoding
        from hybonet.tasks.translation.predictor import MTModel
        from hybonet.training.progress import counting

        if n_best > 1 and form == "text":
            raise ValueError(
                "expected --format tsv or json with --n-best: in text, which line belongs to which is lost"
            )
        if temperature is not None and beam is not None:
            raise ValueError("expected --beam or --temperature, got both: a draw follows no beam; leave one out")
        if temperature is None and seed is not None:
            raise ValueError("expected --seed with --temperature: a search draws nothing at random; leave it out")
        if output is not None:
            check_output(output)
            if sentences is not None and output.resolve() == sentences.resolve():
                raise ValueError(f"expected another file than the sentences' own, got {str(output)!r} for both")
        model = MTModel.load(run)
        wide = max(n_best, model.settings.beam) if beam is None else beam
        if length_penalty is not None and (temperature is not None or wide == 1):
            raise ValueError(
                "expected --length-penalty with a beam of 2 or more, which compares translations: greedy decoding and "
                "draws have only one; give --beam 4, or leave it out"
            )
        penalty = model.settings.length_penalty if length_penalty is None else length_penalty
        how = Decoding(wide, penalty, n_best, temperature, top_k, top_p, seed or 0)
        lines = _read_lines(sentences)
        numbers = [model.source_tokenizer.encode(line) for line in lines]
        with counting("translating", sum(map(bool, numbers))) as progress:
            found = model.translations(lines, how, progress)
        _note_odd(numbers, found, model.settings.max_length)
        text = "".join(
            _written(number, line, each, form) for number, (line, each) in enumerate(zip(lines, found, strict=True), 1)
        )
        if output is None:
            typer.echo(text, nl=False)
        else:
            write_atomically(output, lambda place: place.write_text(text, encoding="utf-8"))


def _read_lines(path: Path | None) -> list[str]:
    from hybonet.data.io.source_file import SourceFile, read_source
    from hybonet.data.io.text_table import decode

    file = SourceFile("standard input", "stdin", sys.stdin.buffer.read()) if path is None else read_source(path)
    text = decode(file.content, file.source)
    if not text:
        raise ValueError(f"{file.source}: expected sentences to translate, one a line, got none")
    return [line.strip() for line in text.removesuffix("\n").split("\n")]


def _note_odd(numbers: list[list[int]], found: list[list[Translation]], limit: int) -> None:
    from hybonet.data.text.token_vocabulary import UNK

    empty = sum(not each for each in numbers)
    if empty:
        typer.echo(f"note: {empty:,} empty line{'s stay' if empty > 1 else ' stays'} empty", err=True)
    cut = [each[0].cut for each in found]
    _note_lines(cut, f"more than the model's {limit} tokens; only their beginning was translated")
    _note_lines([UNK in each for each in numbers], "words or characters that the model has not learned: unknown to it")


def _note_lines(odd: list[bool], what: str) -> None:
    lines = [str(number) for number, each in enumerate(odd, 1) if each]
    if lines:
        shown = ", ".join(lines[:5]) + (", …" if len(lines) > 5 else "")
        typer.echo(f"note: {len(lines):,} of {len(odd):,} sentences (line {shown}) have {what}", err=True)


def _written(number: int, line: str, translations: list[Translation], form: str) -> str:
    if form == "json":
        best = [
            {"text": each.text, "score": each.score, "log_probability": each.log_probability} for each in translations
        ]
        row = {"line": number, "source": line, "translations": best, "cut": translations[0].cut}
        return json.dumps(row, ensure_ascii=False) + "\n"
    if form == "tsv":
        return "".join(f"{number}\t{each.score:.4f}\t{each.text}\n" for each in translations)
    return translations[0].text + "\n"
