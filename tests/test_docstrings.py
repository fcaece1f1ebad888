"""Every public name explains itself with an example that the tests run."""

import importlib
import inspect

import pytest

import hybonet

MODULES = ("hybonet", "hybonet.geometry", "hybonet.nn", "hybonet.optim", "hybonet.testing")

#: Methods that torch and PyTorch Geometric document; the latter writes its own into a class when it is first used.
OF_TORCH = {"forward", "extra_repr", "register_parameter", "add_param_group"}
OF_PYG = {"propagate", "collect", "edge_updater", "edge_collect"}


def public_names():
    for module_name in MODULES:
        module = importlib.import_module(module_name)
        for name in module.__all__:
            thing = getattr(module, name)
            if inspect.isclass(thing) or inspect.isfunction(thing):
                yield pytest.param(thing, id=f"{module_name}.{name}")


@pytest.mark.parametrize("thing", list(public_names()))
def test_public_name_has_a_docstring_with_a_runnable_example(thing):
    doc = inspect.getdoc(thing) or ""
    assert len(doc) > 60, "say what it does, with the formula and the shapes"
    assert ">>> " in doc, "show an example"


@pytest.mark.parametrize("thing", list(public_names()))
def test_public_methods_are_documented(thing):
    if not inspect.isclass(thing):
        return
    for name, member in vars(thing).items():
        if name.startswith("_") or name in OF_TORCH | OF_PYG:
            continue
        if inspect.isfunction(member) or isinstance(member, property | classmethod | staticmethod):
            assert inspect.getdoc(getattr(thing, name)), f"{thing.__name__}.{name} has no docstring"


def test_core_imports_without_optional_packages():
    """geometry, nn, optim and testing must not pull in plotting, the command line or a peer library."""
    import subprocess
    import sys

    code = (
        "import sys, hybonet, hybonet.nn, hybonet.optim, hybonet.testing\n"
        "optional = {'matplotlib', 'geoopt', 'typer', 'rich', 'pydantic', 'scipy', 'torch_geometric', 'numba'}\n"
        "heavy = optional & set(sys.modules)\n"
        "sys.exit(f'imported {sorted(heavy)}' if heavy else 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_version_is_stated_once():
    from importlib.metadata import version

    assert version("hybonet") == hybonet.__version__
