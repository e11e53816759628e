"""Dependence left between units given the label: what another layer could use."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from deem_core.model.energy import Model, layer_outputs, posterior
from deem_core.votes.information import table_information

MOST_UNITS = 2_000
"""d·K beyond which the table of all pairs of states is too large to bother."""

MIN_ROWS = 20
"""Rows that a class needs for its dependence to be estimated."""


@dataclass(frozen=True)
class Dependence:
    """Conditional mutual information between units given the fused label, in nats.

    NaN where it was not computed.

    Attributes
    ----------
    mean : float
        Over all pairs of units, each class weighted by its rows.
    frobenius : float
        Frobenius norm of the (d, d) matrix without its diagonal (paper, MI scores).
    """

    mean: float
    frobenius: float


@torch.no_grad()
def dependence(model: Model, codes: Tensor) -> Dependence:
    """Return the dependence of the last layer's units given the fused label.

    Without layers, that of the votes.

    With V_i the K states of unit i, one-hot or a sparsemax distribution, p(a, b | m) is the mean over the rows of
    class m of V_ia V_jb, and I_ij = Σ_m p(m) Σ_ab p(a, b | m) log( p(a, b | m) / (p(a | m) p(b | m)) ).

    Parameters
    ----------
    model : Model
        R = 1.
    codes : (1, m, d)
    """
    d, K = model.n_learners, model.n_classes
    if d * K > MOST_UNITS:
        return Dependence(float("nan"), float("nan"))
    label = posterior(model, codes)[0].argmax(-1).cpu()
    layers = layer_outputs(model, codes)
    present = (codes[0] >= 0).unsqueeze(-1)
    hot = layers[-1][0] if layers else functional.one_hot(codes[0].clamp_min(0), K).float() * present  # (m, d, K)
    hot = hot.cpu()  # for float64, which Apple's GPU does not have, and to choose rows without a wait for each class
    total, rows = np.zeros((d, d)), 0
    for m in range(K):
        own = hot[label == m].double().flatten(1)
        if len(own) >= MIN_ROWS:
            joint = (own.T @ own).numpy().reshape(d, K, d, K).transpose(0, 2, 1, 3)  # (d, d, K, K)
            total += len(own) * table_information(joint)
            rows += len(own)
    if not rows or d < 2:
        return Dependence(float("nan"), float("nan"))
    matrix = total / rows
    pairs = matrix[~np.eye(d, dtype=bool)]
    return Dependence(float(pairs.mean()), float(np.sqrt((pairs**2).sum())))
