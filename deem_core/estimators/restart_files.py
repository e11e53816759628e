"""Kept restarts in a model file: parameters, guard, history and sweep."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from deem_core.estimators.files import Content
from deem_core.model.activations import ACTIVATIONS
from deem_core.model.energy import Model
from deem_core.model.records import Record
from deem_core.training.near_copies import Clique, GuardPlan, Reduction
from deem_core.training.parts import Part
from deem_core.training.sweep import Sweep

if TYPE_CHECKING:
    from deem_core.estimators.deem import DEEM

_PLAIN = ("hedged_", "fallback_", "log_likelihood_", "n_iter_")  # the last two only of an exact iRBM


def pack(estimator: DEEM, content: Content) -> Content:
    """Return a file's content with the restarts of an estimator."""
    arrays = dict(content.arrays)
    parts = []
    for at, part in enumerate(estimator.parts_):
        for name, tensor in enumerate(part.model.parameters()):
            arrays[f"part{at}.{name}"] = tensor.detach().cpu().numpy()
        arrays[f"part{at}.maps"] = np.asarray(part.maps, np.int64)
        parts.append(
            {
                **_reduction(part.reduction),
                "n_layers": part.model.n_layers,
                "activation": part.model.activation,
                "fixed_state": part.model.fixed_state,
                "exact": part.exact,
            }
        )
    plan = estimator.near_copies_
    header = {
        **content.header,
        "parts": parts,
        "reduction": _reduction(estimator.reduction_),
        "cliques": [vars(clique) for clique in plan.cliques],
        "hedge": None if plan.hedge is None else _reduction(plan.hedge),
        "findings": list(plan.sentences),
        "history": [record.to_dict() for record in estimator.history_],
        "sweep": None if estimator.sweep_ is None else estimator.sweep_.to_dict(),
        **{name: getattr(estimator, name) for name in _PLAIN if hasattr(estimator, name)},
    }
    return Content(header, arrays)


def unpack(estimator: DEEM, content: Content) -> None:
    """Give an estimator the restarts of a file.

    Raises
    ------
    KeyError, TypeError, ValueError
        If something is missing or does not fit.
    """
    header = content.header
    shape = (len(estimator.learners_), len(estimator.classes_))
    estimator.parts_ = [_part(at, item, content, shape) for at, item in enumerate(header["parts"])]
    estimator.reduction_ = _reduced(header["reduction"], shape[0])
    hedge = None if header["hedge"] is None else _reduced(header["hedge"], shape[0])
    cliques = tuple(Clique(tuple(item["learners"]), item["kappa"], item["kind"]) for item in header["cliques"])
    estimator.near_copies_ = GuardPlan(cliques, estimator.reduction_, hedge, tuple(header["findings"]))
    estimator.history_ = [Record.from_dict(item) for item in header["history"]]
    sweep = header.get("sweep")
    estimator.sweep_ = None if sweep is None else Sweep.from_dict(sweep)
    estimator.class_map_ = estimator.parts_[0].maps if estimator.parts_ else np.zeros((0, shape[1]), np.intp)
    for name in _PLAIN:
        if name in header:
            setattr(estimator, name, header[name])


def _part(at: int, item: dict[str, Any], content: Content, shape: tuple[int, int]) -> Part:
    """Return a part whose tensors have the shapes in the header."""
    reduction, K = _reduced(item, shape[0]), shape[1]
    n_layers, units = int(item["n_layers"]), len(reduction.members) * K
    if item["activation"] not in ACTIVATIONS or not 0 <= int(item["fixed_state"]) < K:
        raise ValueError("unknown activation or state")
    found = [torch.from_numpy(content.arrays[f"part{at}.{name}"]) for name in range(3 + 2 * n_layers)]
    maps = content.arrays[f"part{at}.maps"].astype(np.int64)
    R = len(maps)
    wanted = [(R, units, K), (R, units), (R, K), *[(R, units, units)] * n_layers, *[(R, units)] * n_layers]
    if [tuple(tensor.shape) for tensor in found] != wanted or not all(t.dtype.is_floating_point for t in found):
        raise ValueError("shapes do not fit")
    if R == 0 or not all(sorted(row) == list(range(K)) for row in maps.tolist()):
        raise ValueError("a class map is not a permutation")
    blank = Model(found[0], found[1], found[2], tuple(found[3 : 3 + n_layers]), tuple(found[3 + n_layers :]))
    model = Model(**{**vars(blank), "activation": item["activation"], "fixed_state": int(item["fixed_state"])})
    return Part(reduction, model, maps, bool(item["exact"]))


def _reduction(reduction: Reduction) -> dict[str, Any]:
    return {"members": [list(group) for group in reduction.members], "names": list(reduction.learners)}


def _reduced(item: dict[str, Any], n_learners: int) -> Reduction:
    members = tuple(tuple(int(at) for at in group) for group in item["members"])
    if sorted(at for group in members for at in group) != list(range(n_learners)):
        raise ValueError("the learners do not fit")
    return Reduction(members, tuple(map(str, item["names"])))
