"""Files of a training: readable by everybody, and complete for layers that share a curvature."""

import json

import pytest
import torch
from safetensors import safe_open
from safetensors.torch import load_file, save_file

from hybonet import Lorentz
from hybonet.nn import LorentzEmbedding, LorentzLinear
from hybonet.optim import RiemannianAdam
from hybonet.training.checkpoint import Identity, load_checkpoint, save_checkpoint, save_model

RUN = Identity({"task": "toy"}, {})


def test_files_get_the_mode_of_any_other_file(tmp_path):
    plain = tmp_path / "plain"
    plain.write_bytes(b"")
    model = LorentzEmbedding(3, 4, form="paper")
    save_model(tmp_path / "model.safetensors", model)
    save_checkpoint(tmp_path / "checkpoint.safetensors", model, RiemannianAdam(model, lr=0.1), {}, RUN)
    for name in ("model", "checkpoint"):
        assert (tmp_path / f"{name}.safetensors").stat().st_mode == plain.stat().st_mode


def test_a_checkpoint_of_an_older_version_is_named_so(tmp_path):
    model, path = LorentzEmbedding(3, 4, form="paper"), tmp_path / "checkpoint.safetensors"
    save_checkpoint(path, model, RiemannianAdam(model, lr=0.1), {}, RUN)
    with safe_open(path, framework="pt") as file:
        header = json.loads(file.metadata()["hybonet"])
    del header["sha256"]
    save_file(load_file(path), path, {"hybonet": json.dumps({**header, "run": "a fingerprint"})})
    with pytest.raises(
        ValueError, match=r"checkpoint\.safetensors: .* an older version, which cannot go on; train again"
    ):
        load_checkpoint(path, model, RiemannianAdam(model, lr=0.1), RUN)


def test_a_learned_curvature_that_layers_share_is_saved_and_read_back(tmp_path):
    def build(K):
        manifold = Lorentz(K, learnable=True)
        return torch.nn.Sequential(
            LorentzEmbedding(3, 4, manifold=manifold, form="paper"), LorentzLinear(4, 4, manifold=manifold)
        )

    model, other = build(-0.7), build(-1.0)
    save_model(tmp_path / "model.safetensors", model)
    other.load_state_dict(load_file(tmp_path / "model.safetensors"))
    assert other[0].manifold.curvature == model[0].manifold.curvature
    save_checkpoint(tmp_path / "checkpoint.safetensors", model, RiemannianAdam(model, lr=0.1), {"epoch": 1}, RUN)
    third = build(-1.0)
    assert load_checkpoint(tmp_path / "checkpoint.safetensors", third, RiemannianAdam(third, lr=0.1), RUN) == {
        "epoch": 1
    }
    assert third[1].manifold.curvature == model[0].manifold.curvature
