"""``python -m benchmarks.norm_growth``: how far out a linear layer's outputs come in so many gradient steps.

One layer is asked to bring its outputs as far from the origin as it can. The paper's product W x gives radii that grow
with the logarithm of the weights; outputs that are distances to hyperplanes grow with the weights themselves.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import torch
from torch import nn

from benchmarks.environment import environment
from hybonet import Lorentz
from hybonet.nn import LorentzHyperplaneLinear, LorentzLinear

RECORD = Path(__file__).parent / "results" / "norm_growth.json"
WIDTH, ROWS, RATE = 16, 64, 0.01
MARKS = (1, 10, 100, 1000, 10000)
LAYERS = {
    "scaled": lambda: LorentzLinear(WIDTH, WIDTH, dtype=torch.float64),
    "pure": lambda: LorentzLinear(WIDTH, WIDTH, form="pure", dtype=torch.float64),
    "paper": lambda: LorentzLinear(WIDTH, WIDTH, form="paper", dtype=torch.float64),
    "hyperplanes": lambda: LorentzHyperplaneLinear(WIDTH, WIDTH, dtype=torch.float64),
}


def radii(layer: nn.Module, optimizer: str = "SGD", steps: int = MARKS[-1], seed: int = 0) -> dict[int, float]:
    """Mean geodesic radius of the outputs after as many steps as the marks say; it stops at 100, where float64 ends.

    Example:
        >>> found = radii(LAYERS["pure"](), steps=10)
        >>> list(found)
        [1, 10]
    """
    x = Lorentz().random_normal(ROWS, WIDTH, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))
    step = getattr(torch.optim, optimizer)(layer.parameters(), lr=RATE)
    found: dict[int, float] = {}
    for number in range(1, steps + 1):
        step.zero_grad()
        (-Lorentz().dist0(layer(x)).mean()).backward()
        step.step()
        if number in MARKS:
            with torch.no_grad():
                found[number] = float(Lorentz().dist0(layer(x)).mean())
            if found[number] > 100:
                break
    return found


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.norm_growth", description=__doc__)
    parser.add_argument("--record", type=Path, default=RECORD)
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    rows = []
    for optimizer in ("SGD", "Adam"):
        for name, build in LAYERS.items():
            torch.manual_seed(0)
            rows.append({"layer": name, "optimizer": optimizer, "rate": RATE, "radius": radii(build(), optimizer)})
            print(rows[-1], flush=True)
    arguments.record.write_text(json.dumps({**environment(), "rows": rows}, indent=1, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
