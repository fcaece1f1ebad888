"""Relative error of float32 geodesic distances, measured against 50-digit arithmetic.

    python -m benchmarks.distance_error --plot docs/images/distance_error.png --json distance_error.json

Pairs of points lie at a given radius and separation (K = -1), apart along the radius, across it, or in a random
direction. The oracle takes the float32 space coordinates as exact, so the error is that of the formula alone:

- ``hybonet.dist``: the cancellation-free form for pairs;
- ``hybonet.cdist``: the GEMM form for all pairs, whose stated error is absolute, eps x_t y_t;
- ``acosh``: the textbook form, acosh of the inner product;
- ``geoopt``: ``geoopt.Lorentz.dist``.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import geoopt
import mpmath
import torch
from torch import Tensor
from torch.nn.functional import normalize

from benchmarks.environment import environment
from hybonet.geometry import cdist, dist, inner, lift

K = -1.0
SEED = 0
DIMS = 8
PAIRS = 16
RADII = (1.0, 3.0, 6.0, 8.0)
CURVE_RADII = tuple(0.5 + 0.25 * i for i in range(35))  # to 9, where float32 ambient coordinates end
SEPARATIONS = (0.001, 0.01, 0.1, 1.0)
KINDS = ("radial", "tangential", "random")

METHODS: dict[str, Callable[[Tensor, Tensor], Tensor]] = {
    "hybonet.dist": lambda x, y: dist(x, y, K=K),
    "hybonet.cdist": lambda x, y: cdist(x, y, K=K).diagonal(),
    "acosh": lambda x, y: torch.acosh((-inner(x, y)).clamp_min(1.0)),
    "geoopt": lambda x, y: geoopt.Lorentz(k=1.0).dist(x, y),
}


def make_pairs(radius: float, separation: float, kind: str, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """Space parts ``(PAIRS, DIMS)`` of both points of every pair, made in float64 and rounded to float32."""
    axis, across = torch.randn(2, PAIRS, DIMS, dtype=torch.float64, generator=generator)
    axis = normalize(axis, dim=-1)
    across = normalize(across - (across * axis).sum(-1, keepdim=True) * axis, dim=-1)
    angle = torch.pi * torch.rand(PAIRS, 1, dtype=torch.float64, generator=generator)
    if kind == "radial":
        angle = torch.pi * (angle > torch.pi / 2)
    elif kind == "tangential":
        angle = torch.full_like(angle, torch.pi / 2)
    cos, sin = torch.cos(angle), torch.sin(angle)
    r, s = torch.tensor([radius, separation], dtype=torch.float64)
    outward = ((1 + cos) * torch.sinh(r + s) + (1 - cos) * torch.sinh(r - s)) / 2
    return (torch.sinh(r) * axis).float(), (outward * axis + torch.sinh(s) * sin * across).float()


def exact_distance(x: Sequence[float], y: Sequence[float]) -> mpmath.mpf:
    """acosh of the inner product, of which 50 digits can afford to lose a few."""
    with mpmath.workdps(50):
        a, b = ([mpmath.mpf(v) for v in row] for row in (x, y))
        times = mpmath.sqrt(1 + mpmath.fdot(a, a)) * mpmath.sqrt(1 + mpmath.fdot(b, b))
        return mpmath.acosh(times - mpmath.fdot(a, b))


def measure(radii: Sequence[float] = RADII) -> list[dict]:
    """Largest relative error of every method in every cell: method, radius, separation, kind, max_rel_error."""
    generator = torch.Generator().manual_seed(SEED)
    rows = []
    for radius in radii:
        for separation in SEPARATIONS:
            for kind in KINDS:
                xs, ys = make_pairs(radius, separation, kind, generator)
                truths = [exact_distance(x, y) for x, y in zip(xs.tolist(), ys.tolist(), strict=True)]
                x, y = lift(xs, K=K), lift(ys, K=K)
                for name, method in METHODS.items():
                    values = method(x, y).tolist()
                    worst = max(float(abs(v - t) / t) for v, t in zip(values, truths, strict=True))
                    rows.append(
                        {
                            "method": name,
                            "radius": radius,
                            "separation": separation,
                            "kind": kind,
                            "max_rel_error": worst,
                        }
                    )
    return rows


def worst(rows: list[dict], **where: float | str) -> float:
    """Largest error among the rows that match."""
    return max(row["max_rel_error"] for row in rows if all(row[key] == value for key, value in where.items()))


def table(rows: list[dict]) -> str:
    """One line a radius and separation, one column a method; the worst of the three kinds of pairs."""
    lines = [f"{'radius':>6} {'separation':>10} " + " ".join(f"{name:>14}" for name in METHODS)]
    for radius in dict.fromkeys(row["radius"] for row in rows):
        for separation in SEPARATIONS:
            errors = (worst(rows, method=name, radius=radius, separation=separation) for name in METHODS)
            lines.append(f"{radius:>6g} {separation:>10g} " + " ".join(f"{error:>14.1e}" for error in errors))
    lines.append(f"{'worst':>17} " + " ".join(f"{worst(rows, method=name):>14.1e}" for name in METHODS))
    return "\n".join(lines)


def plot(path: Path) -> None:
    """Error against radius, a panel for every separation."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt
    from matplotlib.ticker import LogLocator, NullLocator

    rows = measure(CURVE_RADII)
    style = {
        "hybonet.dist": {"color": "#0072B2", "linewidth": 2.4},
        "hybonet.cdist": {"color": "#56B4E9", "linewidth": 1.6, "linestyle": "--"},
        "geoopt": {"color": "#D55E00", "linewidth": 1.6},
        "acosh": {"color": "black", "linestyle": "none", "marker": ".", "markersize": 4, "markevery": 2},
    }
    figure, panels = plt.subplots(1, len(SEPARATIONS), figsize=(12, 3.8), sharey=True, layout="constrained")
    for panel, separation in zip(panels, SEPARATIONS, strict=True):
        for name, look in style.items():
            errors = [worst(rows, method=name, radius=r, separation=separation) for r in CURVE_RADII]
            panel.plot(CURVE_RADII, errors, label=name, **look)
        panel.axhline(1.0, color="black", linewidth=0.8)
        panel.set_title(f"points {separation:g} apart", fontsize=11)
        panel.set_xlabel("distance from the origin")
        panel.set_yscale("log")
        panel.set_ylim(3e-8, 5e3)
        panel.yaxis.set_major_locator(LogLocator(numticks=12))
        panel.yaxis.set_minor_locator(NullLocator())
        panel.set_xticks(range(0, 10, 3))
        panel.grid(color="#dddddd", linewidth=0.6)
        panel.spines[["top", "right"]].set_visible(False)
    panels[0].set_ylabel("largest relative error, float32")
    panels[-1].annotate("100 % wrong", (0.2, 1.6), fontsize=9)
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=len(style), frameon=False)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=150)
    plt.close(figure)


def main() -> None:
    parser = argparse.ArgumentParser(description="Relative error of float32 distances against 50-digit arithmetic.")
    parser.add_argument(
        "--plot",
        type=Path,
        metavar="PNG",
        help="also draw error against radius, for example docs/images/distance_error.png",
    )
    parser.add_argument("--json", type=Path, metavar="PATH", help="also write the rows, with their provenance")
    arguments = parser.parse_args()
    start = time.perf_counter()
    rows = measure()
    print(f"Largest relative error of float32 distances (K = {K:g}, {DIMS} space dimensions, seed {SEED},")
    print(f"{PAIRS} pairs of each kind: {', '.join(KINDS)}; torch {torch.__version__}, geoopt {geoopt.__version__})\n")
    print(table(rows))
    if arguments.json:
        provenance: dict[str, object] = {
            **environment(),
            "seconds": round(time.perf_counter() - start, 1),
            "dtype": "float32",
            "K": K,
            "space_dimensions": DIMS,
            "pairs_per_cell": PAIRS,
            "seed": SEED,
        }
        versions = {"geoopt": geoopt.__version__, "mpmath": mpmath.__version__}
        arguments.json.write_text(json.dumps({**provenance, **versions, "rows": rows}, indent=1) + "\n")
    if arguments.plot:
        plot(arguments.plot)


if __name__ == "__main__":
    main()
