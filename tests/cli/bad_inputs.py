"""What people get wrong, and what they are told: the cases of test_bad_input.py and of scripts/bad_input_table.py."""

from __future__ import annotations

import gzip
import lzma
import os
import shutil

import torch

from tests.cli import probe_mistakes, translation_mistakes
from tests.cli.bad_graphs import GRAPHS
from tests.cli.bad_typing_inputs import TYPING
from tests.cli.staging import (
    GOOD,
    BadInput,
    another_search,
    both,
    cut,
    other_run,
    out_of_patience,
    pickled,
    replace,
    tensors,
    write,
)

TRAIN = "train kg --data triples.tsv --out new"
ASK = "predict run --head n1 --relation next"
RESUME = "train kg --out run --resume"
TUNE = "tune kg --data triples.tsv --out new"


def _data(name: str, content: str | bytes, problem: str, *expected: str, options: str = "") -> BadInput:
    command = f"train kg --data {name} --out new {options}".strip()
    return BadInput(problem, command, expected, write(name, content))


def _names(content: str, problem: str, *expected: str) -> BadInput:
    return BadInput(problem, f"{TRAIN} --names names.tsv", expected, write("names.tsv", content))


def _set(assignment: str, problem: str, *expected: str) -> BadInput:
    return BadInput(problem, f"{TRAIN} --set {assignment}", expected)


def _range(text: str, problem: str, *expected: str) -> BadInput:
    return BadInput(problem, f"{TUNE} --range {text}", expected)


FILES = [
    BadInput("no such file", "train kg --data absent.tsv --out new", ("'absent.tsv'", "neither a path nor a name")),
    BadInput("a name with a slip", "train kg --data wordnett --out new", ("did you mean 'wordnet'?",)),
    BadInput(
        "a benchmark that is not here",
        "train kg --data UMLS --out new",
        ("files of UMLS", "hybonet data fetch UMLS"),
    ),
    _data("empty.tsv", "", "an empty file", "empty.tsv: expected at least one triple, got an empty file"),
    _data("head.csv", "head,relation,tail\n", "a header and nothing else", "got a header alone; add rows"),
    BadInput(
        "a folder without training triples",
        "train kg --data facts --out new",
        ("facts: expected a file train.txt", "got test.tsv"),
        write("facts/test.tsv"),
    ),
    BadInput(
        "a folder with two training files",
        "train kg --data facts --out new",
        ("expected one file for train, got train.csv, train.tsv",),
        both(write("facts/train.tsv"), write("facts/train.csv")),
    ),
    _data("photo.tsv", b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR", "a picture named .tsv", "photo.tsv, line 1", "UTF-8"),
    _data(
        "short.tsv", GOOD + "n1\tnext\n", "a row with two columns", "short.tsv, line 81: expected 3 columns", "got 2"
    ),
    _data("rows.tsv", GOOD + "n1\nn2\n", "several bad rows", "2 of 82 rows are not triples", "line 81", "line 82"),
    _data(
        "gap.tsv", GOOD + "n1\t\tn2\n", "an empty field", "line 81: expected a printable relation, got an empty field"
    ),
    _data("nul.tsv", GOOD + "n1\tnext\tn\x002\n", "a NUL byte", "line 81", "control characters in 'n\\x002'"),
    _data("latin.tsv", GOOD.encode() + b"caf\xe9\tnext\tn1\n", "not UTF-8", "line 81: expected UTF-8", "0xe9"),
    _data("wide.tsv", GOOD.encode("utf-16"), "UTF-16, as some programs save", "expected UTF-8 text, got the byte 0xff"),
    _data(
        "quote.csv", 'n1,next,"n2\nn2,next,n3\n', "a quote that is not closed", "quote.csv, line 2", "close every quote"
    ),
    _data("cut.tsv.gz", gzip.compress(GOOD.encode())[:60], "a gzip file cut off", "expected gz data, got a damaged"),
    _data("bad.tsv.xz", lzma.compress(GOOD.encode())[:40] + b"!" * 40, "a damaged xz file", "expected xz data"),
    _data("bad.parquet", b"PAR1 and no more", "a damaged Parquet file", "expected Parquet data, got a damaged"),
    _data("words.docx", GOOD, "triples with an unknown ending", "ending in .txt or .tsv or .csv", "got '.docx'"),
    _data(
        "space.tsv",
        GOOD.replace("\t", " "),
        "spaces instead of tabs",
        "line 1: expected 3 columns",
        "separated by a space: give --separator ' '",
    ),
    _data("two.tsv", GOOD, "a separator of two characters", "expected one character", options="--separator ::"),
    _data("four.tsv", "1\ta\tr\tb\n", "four columns", "got 4", "choose three with --columns, e.g. --columns 0,1,2"),
    _data("ok.tsv", GOOD, "two columns chosen", "expected three columns", "got 0, 1", options="--columns 0,1"),
    _data("ok.tsv", GOOD, "a column that is not there", "from 0 to 2, got 7", options="--columns 0,1,7"),
    _data("ok.tsv", GOOD, "a column chosen twice", "three different columns", "got 0, 1, 1", options="--columns 0,1,1"),
    _data(
        "named.csv",
        "subject,verb,object\nn1,next,n2\n",
        "an unknown column name",
        "expected a column 'verbs'",
        "did you mean 'verb'?",
        options="--columns subject,verbs,object",
    ),
    _data("few.tsv", "a\tr\tb\nb\tr\tc\n", "too few triples to split", "5% can be held out", "give more triples"),
    BadInput("options for a named graph", "train kg --columns 0,1,2 --out new", ("no options", "'wordnet'", "columns")),
    BadInput("a names file that is not there", f"{TRAIN} --names absent.tsv", ("'absent.tsv', which is not there",)),
    _names("n1\tone\nn1\tuno\n", "two names for one entity", "names.tsv, line 2: expected one name a label", "'uno'"),
    _names("n1\n", "names without names", "names.tsv, line 1: expected a label, a name", "got 1 columns"),
    _names("one\tn1\n", "names for none of the entities", "expected names for entities such as 'n0'", "such as 'one'"),
]

OPTIONS = [
    BadInput("a command with a slip", "trian kg --out new", ("No such command 'trian'", "'train'")),
    BadInput("an option with a slip", f"{TRAIN} --recpie default", ("No such option: --recpie", "--recipe")),
    BadInput("no --out", "train kg --data triples.tsv", ("Missing option '--out'",)),
    BadInput(
        "a size that a model cannot have",
        f"{TRAIN} --set model=ComplEx --set dim=33",
        ("expected an even dim, two numbers for each complex one, got 33; use 34",),
    ),
    _set("learning_rate=0.1", "another library's name of a setting", "did you mean 'lr'?"),
    _set("epoch=3", "a setting with a slip", "unknown setting 'epoch'; did you mean 'epochs'?"),
    _set("gamma=0.9", "a setting without its group", "unknown setting 'gamma'; did you mean 'schedule.gamma'?"),
    _set("schedule=cosine", "a group instead of a setting", "set one of schedule.kind, schedule.gamma"),
    _set("epochs", "no =", "expected key=value, got 'epochs'"),
    _set("epochs=many", "text for a number", "setting epochs: expected a valid integer", "got 'many'"),
    _set("K=1", "a positive curvature", "setting K: expected less than 0, got '1' (curvature of the space"),
    BadInput(
        "a setting of another model",
        f"{TRAIN} --set model=RotH --set scale=3",
        ("expected a setting that model=RotH has, got 'scale', which is one of hybonet; leave it out",),
    ),
    _set("margin=3", "a setting of another loss", "setting margin: it changes nothing here, since loss is softmax"),
    _set("lr=inf", "an infinite step", "setting lr: expected a finite number"),
    _set("schedule.gamma=2", "a factor above 1", "setting schedule.gamma: expected less than or equal to 1, got '2'"),
    _set(
        "loss=softmx", "an unknown loss", "setting loss: expected 'bce', 'softmax' or 'self_adversarial', got 'softmx'"
    ),
    BadInput(
        "a GPU on a machine without",
        f"{TRAIN} --set device=cuda",
        ("expected a device of this machine, got 'cuda'; use device=cpu",),
        cannot="this machine has a GPU" if torch.cuda.is_available() else "",
    ),
    _set("device=gpu", "no device at all", "expected a device of this machine, got 'gpu'"),
    BadInput("no threads", f"{TRAIN} --threads 0", ("Invalid value for '--threads'", "1")),
    BadInput("a recipe with a slip", f"{TRAIN} --recipe papr-wn18rr-32", ("did you mean 'paper-wn18rr-32'?",)),
    BadInput("a recipe to show with a slip", "recipes show defalt", ("did you mean 'default'?",)),
    BadInput("a benchmark with a slip", "data path WN18", ("got 'WN18'; did you mean 'WN18RR'?",)),
    BadInput("the shipped graph with a slip", "data fetch wordnt", ("did you mean 'wordnet'?",)),
    BadInput("mentions to show with a slip", "data show litle-town", ("did you mean 'little-town'?",)),
    BadInput(
        "a report on a stopped run",
        "report stopped",
        ("got 'stopped'; a stopped run has no record yet",),
        write("stopped/config.json", "{}"),
    ),
    BadInput(
        "a report on another file",
        "report other.json",
        ("other.json: expected the record of a finished run (kg, graph, translation,", "got other JSON"),
        write("other.json", "{}"),
    ),
    BadInput("the place of what is not here", "data path UMLS", ("files of UMLS", "hybonet data fetch UMLS")),
    BadInput("a file as --out", "train kg --out triples.tsv", ("got the file 'triples.tsv'; choose another --out",)),
    BadInput("--out below a file", "train kg --out triples.tsv/new", ("triples.tsv'; choose another --out",)),
    BadInput("an --out in use", "train kg --out run", ("'run' holds files; go on with --resume",)),
    BadInput("a name too long for a folder", f"train kg --out {'x' * 300}", ("File name too long",)),
    BadInput(
        "an --out that may not be written",
        "train kg --out locked/new",
        ("locked' may not be written; choose another --out",),
        lambda folder: (folder / "locked").mkdir(mode=0o500),
        cannot="the superuser may write everywhere" if os.geteuid() == 0 else "",
    ),
    BadInput("going on without a run", "train kg --out new --resume", ("run in 'new'", "config.json is missing")),
    BadInput("other data for a run", f"{RESUME} --data triples.tsv", ("with --resume, got --data", "start a new one")),
    BadInput("another recipe for a run", f"{RESUME} --recipe default", ("with --resume, got --recipe",)),
    BadInput(
        "a fixed setting of a run",
        f"{RESUME} --set lr=0.1",
        ("checkpoint_seconds, keep, rank_timeout, device with --resume, got lr",),
    ),
    BadInput(
        "a recipe for learning from others, without them",
        f"{TRAIN} --recipe wn18rr-32-distilled",
        ("expected --teacher RUN with the recipe wn18rr-32-distilled",),
    ),
    BadInput(
        "a search for how much teachers count",
        f"{TUNE} --range distillation_weight=0.1:0.9",
        ("range of distillation_weight: a search has no teachers to learn from",),
    ),
    BadInput(
        "fewer epochs than done", f"{RESUME} --set epochs=1", ("more than the 2 epochs already done, got epochs=1",)
    ),
    BadInput(
        "more epochs for a run out of patience",
        "train kg --out tired --resume --set epochs=20",
        ("expected patience above 1 (the validations since the best one), got patience=1", "--set patience=none"),
        out_of_patience,
    ),
]

SEARCHES = [
    _range("lr", "a range without =", "expected a setting and its range, got 'lr'", "--range lr=0.001:0.1:log"),
    _range("learning_rate=0.1:1", "a range for no setting", "unknown setting 'learning_rate'"),
    _range("gamma=0.9:1", "a range without the setting's group", "did you mean 'schedule.gamma'?"),
    _range("lr=0.1", "a range of one value", "expected low:high, low:high:log or a,b,c, got '0.1'", "--set lr=0.1"),
    _range("lr=0.1:0.001", "ends exchanged", "expected the lower end first, got 0.1:0.001; write 0.001:0.1"),
    _range("lr=small:large", "words for ends", "expected numbers around the colon, got 'small:large'"),
    _range("lr=0.1:1:linear", "an unknown scale", "expected low:high, low:high:log or a,b,c, got '0.1:1:linear'"),
    _range("dropout=0:0.5:log", "orders of magnitude from 0", "expected ends above 0 with log, got 0:0.5:log"),
    _range("dropout=0:1.5", "a range beyond the setting's", "range of dropout: expected less than 1, got '1.5'"),
    _range("dim=4.5:8", "a fraction as the end of whole numbers", "range of dim: expected a valid integer, got '4.5'"),
    _range("batch_size=250,250", "the same choice twice", "expected two or more different values, got 250,250"),
    _range("loss=softmax,bec", "an unknown choice", "range of loss", "got 'bec'"),
    _range("loss=0.1:0.5", "numbers for words", "range of loss: expected values to choose from, such as a,b,c"),
    _range("lr=0.1:1 --range lr=0.2:2", "two ranges for a setting", "one range a setting, got two for lr"),
    _range("seed=0,1,2", "a search for lucky seeds", "range of seed: expected a setting that makes a better model"),
    BadInput("no trials", f"{TUNE} --trials 0", ("Invalid value for '--trials'", "1")),
    BadInput("a search in a folder in use", "tune kg --data triples.tsv --out run", ("'run' holds files",)),
    BadInput("going on without a search", "tune kg --out run --resume", ("in 'run', but search.json is missing",)),
    BadInput(
        "another search's folder",
        "tune kg --data triples.tsv --out found",
        ("expected the search that 'found' holds", "dim (4 there, 32 now)", "hybonet tune kg --out found --resume"),
        another_search,
    ),
    BadInput(
        "other ranges for a search",
        "tune kg --out found --resume --range lr=0.1:1",
        ("range of lr (0.002:0.05:log there, 0.1:1 now)", "choose another --out"),
        another_search,
    ),
    BadInput(
        "other data under the same name",
        "tune kg --out found --resume",
        ("data (triples.tsv has changed)",),
        both(another_search, write("triples.tsv", GOOD + "n1\tdouble\tn7\n")),
    ),
    BadInput(
        "a journal that is none",
        "tune kg --out found --resume --trials 2",
        ("found/journal.log: expected optuna's journal", "restore the file, or search in a new folder"),
        both(another_search, write("found/journal.log", "one\ntwo\n")),
    ),
    BadInput(
        "a file of settings that is not there",
        f"{TRAIN} --recipe best.json",
        ("expected a file of settings, got 'best.json', which is not there",),
    ),
    BadInput(
        "a file of settings that is not JSON",
        f"{TRAIN} --recipe best.json",
        ("best.json: expected JSON", "hybonet recipes show default --json"),
        write("best.json", "lr: 0.1"),
    ),
    BadInput(
        "an unknown setting in a file",
        f"{TRAIN} --recipe best.json",
        ("best.json: unknown setting 'dims'; did you mean 'dim'?",),
        write("best.json", '{"dims": 32}'),
    ),
    BadInput(
        "nothing to search",
        f"{TUNE} --recipe best.json",
        ("recipe best.json leaves nothing; give a range",),
        write("best.json", '{"dim": 32}'),
    ),
]

NAMES = [
    BadInput("an entity with a slip", "predict run --head n1x --relation next", ("got 'n1x'; did you mean 'n1'",)),
    BadInput("an unknown entity", "predict run --head zero --relation next", ("got 'zero'; labels look like 'n0'",)),
    BadInput("a relation with a slip", "predict run --head n1 --relation nexd", ("did you mean 'next'?",)),
    BadInput(
        "a name that two entities have",
        "predict run --head Paris --relation next",
        ("several entities are called 'Paris': n1 (France), n2 (Texas); use one of these labels",),
        both(
            replace("run/entities.tsv", "\nn1\tn1\t", "\nn1\tParis\tFrance"),
            replace("run/entities.tsv", "\nn2\tn2\t", "\nn2\tParis\tTexas"),
        ),
    ),
    BadInput(
        "only new answers, and no question",
        f"{ASK} --tail n2 --new",
        ("--new, got whole triples to judge", "leave it out"),
    ),
    BadInput(
        "questions and triples in one file",
        "predict run --questions q.csv",
        ("q.csv, question 2: expected two of head, relation and tail, got head, relation, tail; leave out",),
        write("q.csv", "head,relation,tail\nn1,next,\nn1,next,n2\n"),
    ),
    BadInput("a head alone", "predict run --head n1", ("expected two of head, relation and tail, got head",)),
    BadInput(
        "no question", "predict run", ("expected either two or three of --head, --relation and --tail, or a file",)
    ),
    BadInput("a question and a file", f"{ASK} --questions triples.tsv", ("expected either two or three of",)),
    BadInput("no answers wanted", f"{ASK} --top 0", ("Invalid value for '--top'", "1")),
    BadInput(
        "answers with an unknown ending", f"{ASK} --output a.txt", (".json, .csv or .tsv, got 'a.txt'", "--format")
    ),
    BadInput("a table in a file", f"{ASK} --output a.csv --format table", ("expected --format json, csv or tsv",)),
    BadInput("answers to nowhere", f"{ASK} --output no/a.csv", ("'no/a.csv'", "in a folder that is not there")),
    BadInput("answers to a folder", f"{ASK} --output run", ("got 'run', which is a folder",)),
    BadInput("questions that are not there", "predict run --questions q.csv", ("'q.csv', which is not there",)),
    BadInput(
        "questions without a header",
        "predict run --questions q.csv",
        ("q.csv, line 1: expected a header", "got 'n1', 'next'"),
        write("q.csv", "n1,next\n"),
    ),
    BadInput(
        "a question with a column too many",
        "predict run --questions q.csv",
        ("q.csv, line 3: expected 2 columns as in the header, got 3",),
        write("q.csv", "head,relation\nn1,next\nn1,next,n2\n"),
    ),
    BadInput(
        "nothing but bad questions",
        "predict run --questions q.csv --output a.csv",
        ("q.csv, question 1: expected one of 40 entities, got 'nn'",),
        write("q.csv", "head,relation\nnn,next\nn1,nxt\n"),
    ),
    BadInput(
        "questions that are not UTF-8",
        "predict run --questions q.csv",
        ("q.csv, line 2: expected UTF-8 text, got the byte 0xe9",),
        write("q.csv", b"head,relation\ncaf\xe9,next\n"),
    ),
]

RUNS = [
    BadInput(
        "a teacher of another graph",
        "train kg --data other.tsv --teacher run --out new",
        ("expected a teacher that was trained on the same graph with the same split, but 'run'", "train one on this"),
        write("other.tsv", GOOD.replace("n1\t", "m1\t")),
    ),
    BadInput(
        "a teacher where the loss has no place for it",
        f"{TRAIN} --teacher run --set loss=bce",
        ("expected loss=softmax, negative_sampling=shared or all", "got loss=bce"),
    ),
    BadInput(
        "settings for a teacher, but none",
        f"{TRAIN} --set distillation_weight=0.7",
        ("expected --teacher RUN with distillation_weight=0.7",),
    ),
    BadInput("no run", "evaluate new", ("expected a run in 'new'", "config.json is missing")),
    BadInput(
        "a run of another kind",
        "evaluate other",
        ("expected a run of hybonet train", "in 'other', but config.json names no task"),
        write("other/config.json", '{"dim": 3, "epochs": 300}'),
    ),
    BadInput(
        "a run that was stopped before it had a model",
        ASK,
        ("run has no model yet", "go on with hybonet train kg --out run --resume"),
        lambda folder: (folder / "run/model.safetensors").unlink(),
    ),
    BadInput(
        "a model cut off",
        ASK,
        ("run/model.safetensors: expected a safetensors file, got a damaged one", "restore it or train again"),
        cut("run/model.safetensors"),
    ),
    BadInput(
        "a pickle called .safetensors",
        ASK,
        ("run/model.safetensors", "got a pickle (torch.save), which is not read since it can run code"),
        pickled,
    ),
    BadInput(
        "a model that does not fit the settings",
        ASK,
        ("run/model.safetensors does not fit the run's settings", "size mismatch"),
        replace("run/config.json", '"dim": 4', '"dim": 6'),
    ),
    BadInput("settings cut off", ASK, ("run/config.json: expected JSON", "restore the file"), cut("run/config.json")),
    BadInput(
        "settings that are a list",
        ASK,
        ("run/config.json: expected a JSON object, got []",),
        write("run/config.json", "[]"),
    ),
    BadInput(
        "an unknown setting in a run",
        ASK,
        ("run/config.json: unknown setting 'dims'; did you mean 'dim'?",),
        replace("run/config.json", '"dim":', '"dims":'),
    ),
    BadInput(
        "an impossible setting in a run",
        "evaluate run",
        ("run/config.json: setting K: expected less than 0, got 1.0",),
        replace("run/config.json", '"K": -1.0', '"K": 1.0'),
    ),
    BadInput(
        "labels cut off",
        ASK,
        ("run: graph.safetensors does not fit entities.tsv and relations.tsv", "expected ids of"),
        cut("run/entities.tsv"),
    ),
    BadInput(
        "a label twice",
        ASK,
        ("run/entities.tsv", "got 'n1' twice"),
        replace("run/entities.tsv", "\nn2\t", "\nn1\t"),
    ),
    BadInput(
        "a label without a name",
        ASK,
        ("run/relations.tsv: expected a label, a name and a description per line, but line 2 is not one",),
        replace("run/relations.tsv", "\ndouble\tdouble", "\ndouble"),
    ),
    BadInput(
        "a graph without its validation triples",
        "evaluate run",
        ("run/graph.safetensors: expected triples for valid, found none",),
        tensors("run/graph.safetensors", lambda graph: graph.pop("valid")),
    ),
    BadInput(
        "a graph with an entity out of range",
        "evaluate run",
        ("graph.safetensors does not fit entities.tsv", "expected ids of 40 entities", "0 to 99"),
        tensors("run/graph.safetensors", lambda graph: graph["train"].view(-1).__setitem__(0, 99)),
    ),
    BadInput(
        "a graph of fractions",
        "evaluate run",
        ("graph.safetensors does not fit", "torch.float32"),
        tensors("run/graph.safetensors", lambda graph: graph.update(test=graph["test"].float())),
    ),
    BadInput(
        "a checkpoint cut off",
        f"{RESUME} --set epochs=3",
        ("run/checkpoint.safetensors: expected a checkpoint, got a damaged one", "train again in a new folder"),
        cut("run/checkpoint.safetensors"),
    ),
    BadInput(
        "the checkpoint of another run",
        RESUME,
        ("run/checkpoint.safetensors: expected a checkpoint of this run", "got one of a run with seed=1 instead of 0"),
        other_run,
    ),
    BadInput(
        "a run from a machine with a GPU",
        f"{RESUME} --set epochs=3",
        ("expected a device of this machine, got 'cuda'",),
        replace("run/config.json", '"device": "cpu"', '"device": "cuda"'),
        cannot="this machine has a GPU" if torch.cuda.is_available() else "",
    ),
    BadInput(
        "a model called checkpoint",
        RESUME,
        ("run/checkpoint.safetensors: expected a checkpoint, got a safetensors file of another kind",),
        lambda folder: shutil.copy(folder / "run/model.safetensors", folder / "run/checkpoint.safetensors"),
    ),
    BadInput(
        "a history that is not JSON",
        RESUME,
        ("run/history.jsonl: expected the 2 lines that the checkpoint is of",),
        write("run/history.jsonl", "epoch 1\nepoch 2\n"),
    ),
]

#: By what they are about, in the order of the table.
GROUPS = {
    "Files of data": FILES,
    "Options": OPTIONS,
    "Searches and files of settings": SEARCHES,
    "Questions": NAMES,
    "Run folders": RUNS,
    "Graphs": GRAPHS,
    "Translation": translation_mistakes.MISTAKES,
    "Probing": probe_mistakes.MISTAKES,
    "Entity typing": TYPING,
}

#: Odd but possible: training goes on, and a note says what was seen.
NOTED = [
    BadInput(
        "a header in words that nobody knows",
        "train kg --data odd.csv --out new",
        ("odd.csv: the first row (x, y, z) is read as column names", "say header=False (--no-header)"),
        write("odd.csv", "x,y,z\n" + GOOD.replace("\t", ",")),
    ),
    BadInput(
        "an entity that only the validation triples know",
        "train kg --data facts --out new",
        ("1 entities of valid do not occur in train, so nothing is learned of them: stranger",),
        both(write("facts/train.tsv"), write("facts/valid.tsv", "n1\tnext\tstranger\n"), write("facts/test.tsv", GOOD)),
    ),
    BadInput(
        "the same triple twice",
        "train kg --data twice.tsv --out new",
        ("twice.tsv: 1 repeated triples dropped",),
        write("twice.tsv", GOOD + "n1\tnext\tn2\n"),
    ),
    BadInput(
        "entities without a name",
        f"{TRAIN} --names names.tsv",
        ("39 of 40 entities have no name and are shown by their label",),
        write("names.tsv", "n1\tone\n"),
    ),
    BadInput(
        "no word vectors",
        "train typing --data mentions.jsonl --out new --set heads=2 --set feedforward=4",
        ("words are read by their letters alone (hashed)",),
    ),
    BadInput(
        "a missing number and words among features",
        "train graph --data edges.csv --features odd.csv --out new",
        ("odd.csv: column 'age': 1 missing number filled with", "odd.csv: column 'eyes' has words"),
        write(
            "odd.csv",
            "node,age,eyes\n" + "".join(f"p{at},{at or 'NA'},{'blue' if at % 2 else 'grey'}\n" for at in range(40)),
        ),
    ),
    *translation_mistakes.NOTED,
]
