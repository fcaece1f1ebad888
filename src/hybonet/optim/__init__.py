"""Riemannian optimisers that take hybonet models as torch's optimisers take Euclidean ones."""

from hybonet.optim.parameters import clip_grad_norm_, manifold_of, parameter_groups
from hybonet.optim.riemannian_adam import RiemannianAdam
from hybonet.optim.riemannian_sgd import RiemannianSGD

__all__ = ["RiemannianAdam", "RiemannianSGD", "clip_grad_norm_", "manifold_of", "parameter_groups"]
