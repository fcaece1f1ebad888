"""Sessions on the built wheel, never on the checkout. They need uv, and every Python on the PATH.

    nox -s matrix                        all corners of the version matrix, an environment of up to six gigabytes each
    nox -s "matrix(python='3.10', resolution='lowest')"    one of them
    nox -s build package                 the demo from wheel and sdist, in clean environments, away from the repository

With pyenv: PYENV_VERSION=3.10.13:3.11.7:3.12.1:3.13.0 nox -s matrix
Outcomes are kept in docs/versions.json; `python -m results.versions` writes the README's table and judges them.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import time
from pathlib import Path

import nox

sys.path.insert(0, str(Path(__file__).parent))
from results import versions  # only the standard library

nox.options.default_venv_backend = "uv"
nox.options.sessions = ["matrix"]
EXTRAS = (
    "plot", "fast", "geoopt", "parquet", "pykeen", "faiss", "graph", "tensorboard", "tune", "translation",
    "huggingface",
)  # fmt: skip
TOOLS = ("pytest", "pytest-xdist", "hypothesis", "mpmath", "networkx", "scikit-learn", "scipy")
#: What depends most on others' versions: gradients, compiled loops, message passing, optimisers, readers of files.
#: Beside them every task is trained by the command line, and one is measured again. `make test` runs everything.
TESTS = (
    "tests/geometry/test_gradients.py", "tests/geometry/test_centroid.py", "tests/kernels/test_norm_clipping.py",
    "tests/kernels/test_compiled_loops.py", "tests/nn/test_graph_attention.py", "tests/optim/test_riemannian_adam.py",
    "tests/interop/test_pyg.py", "tests/data/graphs/test_own_network.py",
)  # fmt: skip
SMALL = ("--set", "epochs=1")
TRAININGS = {
    "kg": ("train", "kg", "--data", "wordnet", *SMALL, "--set", "dim=8"),
    "links": ("train", "graph", *SMALL),
    "classes": ("train", "graph", "--task", "nc", *SMALL),
    "translation": ("train", "translation", *SMALL),
    "typing": ("train", "typing", *SMALL),
    "hierarchy": ("train", "hierarchy", *SMALL),
    "probe": ("probe", "translation", "--trees", "toy", *SMALL),
}
_ASK = "import hybonet, pathlib; print(pathlib.Path(hybonet.__file__).resolve())"


@nox.session(python=False)
def build(session: nox.Session) -> None:
    """sdist and wheel in dist/."""
    shutil.rmtree("dist", ignore_errors=True)
    session.run("uv", "build", "--quiet", "--out-dir", "dist", external=True)


def built(session: nox.Session, ending: str) -> str:
    if not list(Path("dist").glob(f"*{ending}")):
        build(session)
    return str(next(Path("dist").glob(f"*{ending}")).resolve())


@nox.session(python=False)
@nox.parametrize("python, resolution", versions.CORNERS)
def matrix(session: nox.Session, python: str, resolution: str) -> None:
    """Tests and a training of each task with the oldest or the newest dependencies that the metadata allow."""
    started, wheel = time.time(), built(session, ".whl")
    folder = Path(session.create_tmp(), f"{python}-{resolution}").resolve()
    environment = folder / "environment"
    shutil.rmtree(folder, ignore_errors=True)
    session.run("uv", "venv", "--quiet", "--python", python, str(environment), external=True)
    interpreter = str(environment / "bin/python")
    target = ("--python", interpreter)
    pins: tuple[str, ...] = ()
    if resolution == "lowest":
        pins = ("--constraint", str(folder / "lowest.txt"))
        extras = [word for extra in EXTRAS for word in ("--extra", extra)]
        lowest = ("uv", "pip", "compile", "--quiet", "--resolution", "lowest-direct", *target, *extras)
        session.run(*lowest, "pyproject.toml", "--output-file", pins[1], external=True, silent=True)
    session.run(
        "uv", "pip", "install", "--quiet", *target, *pins, f"{wheel}[{','.join(EXTRAS)}]", *TOOLS, external=True
    )
    listed = session.run("uv", "pip", "list", *target, "--format", "json", external=True, silent=True)
    found = {package["name"]: package["version"] for package in json.loads(str(listed).splitlines()[-1])}
    command = (interpreter, "-P", "-m") if python != "3.10" else (interpreter, "-m")
    settings = {"PYTHONPATH": "", "OMP_NUM_THREADS": "1", "COLUMNS": "120"}
    away = folder / "away"
    away.mkdir()
    with session.chdir(away):
        place = str(session.run(interpreter, "-c", _ASK, external=True, silent=True, env=settings)).strip()
        if not place.startswith(str(environment)):
            session.error(f"expected the installed wheel, got {place}")
        for name, words in TRAININGS.items():
            session.run(*command, "hybonet", *words, "--out", name, external=True, env=settings)
        session.run(*command, "hybonet", "evaluate", "kg", external=True, env=settings)
    report = folder / "tests.xml"
    # The repository's root is on the path of tests, its src is not.
    tests = (*command[:1], "-m", "pytest", "-n", "1", "-p", "no:cacheprovider", f"--junit-xml={report}")
    session.run(*tests, *(session.posargs or TESTS), external=True, env=settings)
    seconds = round(time.time() - started)
    if not session.posargs:
        versions.keep(python, resolution, found, report, sorted(TRAININGS), seconds)
    shutil.rmtree(folder)


@nox.session(python=["3.11"])
@nox.parametrize("ending", [".whl", ".tar.gz"], ids=["wheel", "sdist"])
def package(session: nox.Session, ending: str) -> None:
    """The package alone, without extras: the demo, away from the repository."""
    session.install(built(session, ending))
    away = Path(session.create_tmp()).resolve()
    with session.chdir(away):
        session.run("hybonet", "demo", "--out", "demo", "--overwrite", env={**os.environ, "PYTHONPATH": ""})
