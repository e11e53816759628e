"""Exactness of the samplers' laws by full enumeration of a small model.

The laws are written out in tests/oracles.py, to which tests/core/model/test_sampler.py holds the samplers.

Usage: python -m benchmarks.exactness
"""

from __future__ import annotations

import torch

from deem_core.model.energy import Model
from tests.oracles import (
    boltzmann,
    distance,
    expected_energy,
    langevin_law,
    metropolis,
    prior_errors,
    random_model,
    stationary,
    step_law,
)


def main() -> None:
    """Print how far each sampler's stationary law is from exp(−F)/Z, and how far the printed prior is off."""
    print("Total variation between the stationary law and exp(−F)/Z, mean over 5 random models")
    print(f"{'layers':>6}{'DMALA':>12}{'DULA':>9}{'GWG':>12}{'DMALA, E for F':>16}")
    for n_layers in (0, 1, 2):
        rows = [_distances(random_model(n_layers, seed)) for seed in range(0, 50, 10)]
        dmala, dula, gwg, with_energy = torch.tensor(rows).mean(0).tolist()
        print(f"{n_layers:>6}{dmala:>12.1e}{dula:>9.3f}{gwg:>12.1e}{with_energy:>16.3f}")
    errors = [prior_errors(random_model(0, seed)) for seed in range(0, 50, 10)]
    ours, printed = torch.tensor(errors).max(0).values.tolist()
    print(
        f"\nLargest error of π over the same 5 models without layers: {ours:.1e}; as printed in Lemma 1: {printed:.2f}"
    )


def _distances(model: Model) -> list[float]:
    law = boltzmann(model)
    # E at the expected label instead of F, as the Metropolis test of the authors' package has it.
    wrong = metropolis(langevin_law(model), -expected_energy(model)[0])
    transitions = [step_law(model, kind) for kind in ("dmala", "dula", "gwg")]
    return [distance(stationary(transition), law) for transition in (*transitions, wrong)]


if __name__ == "__main__":
    main()
