"""torch.compile with its default backend, which compiles C++: slow, so only one block of layers."""

import shutil

import pytest

from hybonet import Lorentz

from .catalogue import LAYERS, K, assert_compiles


@pytest.mark.skipif(not any(map(shutil.which, ("g++", "clang++"))), reason="the default backend needs a C++ compiler")
def test_compiles():
    build, make_inputs = LAYERS["LorentzTransformerEncoderLayer"]
    # Without vector instructions: the same kernels, and the C++ compiler takes half the time.
    assert_compiles(build(Lorentz(K)), make_inputs(), options={"cpp.simdlen": 0})
