"""Exactness of the samplers by full enumeration of a small model.

Usage: python -m benchmarks.exactness
"""

from __future__ import annotations

import torch

from deem_core.model.energy import Model
from deem_core.model.sampler import Evaluation, evaluate_at
from tests.oracles import (
    ALPHA,
    all_rows,
    boltzmann,
    distance,
    expected_energy,
    flip_matrix,
    langevin_matrix,
    metropolis,
    prior_errors,
    random_model,
    stationary,
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
    langevin = evaluate_at(model, all_rows(), "dmala", ALPHA)
    flips = evaluate_at(model, all_rows(), "gwg", ALPHA)
    proposals = langevin_matrix(langevin)
    # E at the expected label instead of F, as the Metropolis test of the authors' package has it.
    wrong = Evaluation(langevin.codes, -expected_energy(model), langevin.log_q)
    return [
        distance(stationary(metropolis(proposals, langevin, "dmala")), law),
        distance(stationary(proposals), law),
        distance(stationary(metropolis(flip_matrix(flips), flips, "gwg")), law),
        distance(stationary(metropolis(proposals, wrong, "dmala")), law),
    ]


if __name__ == "__main__":
    main()
