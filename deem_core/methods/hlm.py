"""HLM, the hyper label model.

A pretrained graph network (Wu et al., 2023).

There is nothing to fit, so nothing to stop: for every class k the votes cast are the nodes of a graph, valued +1 for k
and −1 otherwise, and the network answers p_nk for each row in one pass. Two classes are one question; for more, the
posterior is p_nk / Σ_l p_nl. Ties go to the lowest class. Missing votes are no nodes.

The network comes with the optional package `hyperlm`. Its checkpoint is read with ``weights_only``, allowing only the
NumPy number that stands beside the weights, so the file cannot run code. A pass holds about 600 bytes for each vote.
"""

from __future__ import annotations

import importlib
import importlib.util
from pathlib import Path
from typing import Any

import numpy as np
import torch

from deem_core.control import NO_CONTROL, Control
from deem_core.errors import InputError
from deem_core.methods.contract import Aggregate, fill_silent_rows, silence_notes
from deem_core.methods.one_vs_rest import check_cut
from deem_core.typing import Floats
from deem_core.votes import Votes

MAX_VOTES = 4_000_000
"""Most votes cast: the network's layers hold about 2.4 GB for so many."""


def aggregate(votes: Votes, rng: np.random.Generator, *, control: Control = NO_CONTROL) -> Aggregate:
    """Ask the network about every class; ``rng`` is not used."""
    if importlib.util.find_spec("hyperlm") is None:
        raise InputError("HLM needs the optional package hyperlm: install it with `pip install hyperlm==0.0.5`.")
    if (n_votes := int(votes.votes_per_row.sum())) > MAX_VOTES:
        raise InputError(
            f"HLM holds about 600 bytes for each vote: refused above {MAX_VOTES:,} votes; there are {n_votes:,}."
        )
    voted = votes.votes_per_row > 0
    posterior = np.zeros((votes.n_rows, votes.n_classes))
    if voted.any():
        posterior[voted] = _ask(votes.select_rows(voted), control)
    fill_silent_rows(posterior, voted)
    return Aggregate(
        posterior=posterior,
        voted=voted,
        notes=silence_notes(voted),
    )


def _ask(votes: Votes, control: Control) -> Floats:
    """Return the posterior (n, K) of rows that all have votes."""
    network = _network()
    row, learner = np.nonzero(votes.codes >= 0)
    index = torch.as_tensor(np.stack([row, learner], axis=1))[None]
    classes_named = votes.codes[row, learner]
    K = votes.n_classes
    answers = np.zeros((votes.n_rows, K))
    classes = [1] if K == 2 else range(K)
    with torch.no_grad():
        for done, k in enumerate(classes):
            check_cut(done, len(classes), control)
            values = torch.as_tensor(np.where(classes_named == k, 1.0, -1.0).astype(np.float32))[None]
            answers[:, k] = network(index, values)[0].reshape(-1).numpy()
    if K == 2:
        answers[:, 0] = 1 - answers[:, 1]
    posterior: Floats = np.maximum(answers, 1e-12)
    posterior /= posterior.sum(axis=1, keepdims=True)
    return posterior


def _network() -> Any:
    """Return hyperlm's network with its weights."""
    package = importlib.import_module("hyperlm.hyper_label_model")
    checkpoint = Path(str(package.__file__)).with_name("checkpoint.pt")
    harmless: list[Any] = [
        (
            importlib.import_module("numpy._core.multiarray").scalar,
            "numpy.core.multiarray.scalar",
        ),  # the name it had when the file was written
        np.dtype,
        np.dtypes.Float64DType,
        np.dtypes.Int64DType,
    ]
    with torch.serialization.safe_globals(harmless):
        stored = torch.load(checkpoint, map_location="cpu", weights_only=True)
    network = package.LELAGNN()
    network.load_state_dict(stored["model_state_dict"])
    return network.eval()
