"""Model files: safetensors with a JSON header, which cannot run code."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save as to_bytes

from deem_core.errors import InputError
from deem_core.estimators.peek import FORMAT, VERSION, check_metadata
from deem_core.files.atomic import whole_file
from deem_core.model.activations import ACTIVATIONS
from deem_core.model.energy import Model
from deem_core.model.records import Record
from deem_core.training.near_copies import Clique, GuardPlan, Reduction
from deem_core.training.restarts import Part
from deem_core.training.sweep import Sweep
from deem_core.votes.coding import as_label_array

_PLAIN = ("seed_", "n_rows_", "warnings_", "hedged_", "fallback_", "settings_", "restarts_", "seconds_", "device_")


def save(estimator: Any, path: str | os.PathLike[str]) -> None:
    """Write a fitted estimator."""
    tensors: dict[str, torch.Tensor] = {}
    parts = []
    for at, part in enumerate(estimator.parts_):
        for name, tensor in enumerate(part.model.parameters()):
            tensors[f"part{at}.{name}"] = tensor.cpu().contiguous()
        tensors[f"part{at}.maps"] = torch.as_tensor(np.ascontiguousarray(part.maps, np.int64))
        parts.append(
            {
                **_reduction(part.reduction),
                "n_layers": part.model.n_layers,
                "activation": part.model.activation,
                "fixed_state": part.model.fixed_state,
                "exact": part.exact,
            }
        )
    tensors["prior"] = torch.as_tensor(estimator.prior_)
    plan = estimator.near_copies_
    params = {name: value for name, value in estimator.get_params(deep=False).items() if _is_plain(value)}
    header = {
        "estimator": type(estimator).__name__,
        "params": params,
        "classes": estimator.classes_.tolist(),
        "learners": list(estimator.learners_),
        "parts": parts,
        "reduction": _reduction(estimator.reduction_),
        "cliques": [vars(clique) for clique in plan.cliques],
        "hedge": None if plan.hedge is None else _reduction(plan.hedge),
        "findings": list(plan.sentences),
        "history": [record.to_dict() for record in estimator.history_],
        "sweep": None if estimator.sweep_ is None else estimator.sweep_.to_dict(),
        **{name: getattr(estimator, name) for name in _PLAIN},
        **{name: getattr(estimator, name) for name in ("log_likelihood_", "n_iter_") if hasattr(estimator, name)},
    }
    metadata = {"format": FORMAT, "version": str(VERSION), "json": json.dumps(header, default=_plain)}
    with whole_file(path) as stream:
        stream.write(to_bytes(tensors, metadata))


def load(path: str | os.PathLike[str], kinds: Mapping[str, type[Any]]) -> Any:
    """Read a fitted estimator of one of the kinds given by name."""
    name = os.fspath(path)
    if not os.path.isfile(name):
        raise InputError(f"There is no model file {name!r}. Check the path.")
    try:
        with safe_open(name, framework="pt") as file:
            header = check_metadata(name, file.metadata())
            tensors = {key: file.get_tensor(key) for key in file.keys()}  # noqa: SIM118  # not a dictionary
        return _rebuild(header, tensors, kinds)
    except (SafetensorError, OSError, KeyError, ValueError, TypeError, IndexError, AttributeError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"{name!r} is damaged or not a DEEM Studio model ({type(error).__name__}).") from None


def _rebuild(header: dict[str, Any], tensors: dict[str, torch.Tensor], kinds: Mapping[str, type[Any]]) -> Any:
    estimator = kinds[header["estimator"]](**header["params"])
    estimator.classes_ = as_label_array(header["classes"])
    estimator.learners_ = tuple(map(str, header["learners"]))
    estimator.n_features_in_ = len(estimator.learners_)
    estimator.prior_ = tensors["prior"].to(torch.float64).numpy()
    shape = (len(estimator.learners_), len(estimator.classes_))
    estimator.parts_ = [_part(at, item, tensors, shape) for at, item in enumerate(header["parts"])]
    estimator.reduction_ = _reduced(header["reduction"], shape[0])
    hedge = None if header["hedge"] is None else _reduced(header["hedge"], shape[0])
    cliques = tuple(Clique(tuple(item["learners"]), item["kappa"], item["kind"]) for item in header["cliques"])
    estimator.near_copies_ = GuardPlan(cliques, estimator.reduction_, hedge, tuple(header["findings"]))
    estimator.history_ = [Record.from_dict(item) for item in header["history"]]
    sweep = header.get("sweep")
    estimator.sweep_ = None if sweep is None else Sweep.from_dict(sweep)
    estimator.class_map_ = estimator.parts_[0].maps if estimator.parts_ else np.zeros((0, shape[1]), np.intp)
    for name in (*_PLAIN, "log_likelihood_", "n_iter_"):
        if name in header:
            setattr(estimator, name, header[name])
    return estimator


def _part(at: int, item: dict[str, Any], tensors: dict[str, torch.Tensor], shape: tuple[int, int]) -> Part:
    """Return a part whose tensors have the shapes in the header."""
    reduction, K = _reduced(item, shape[0]), shape[1]
    n_layers, units = int(item["n_layers"]), len(reduction.members) * K
    if item["activation"] not in ACTIVATIONS or not 0 <= int(item["fixed_state"]) < K:
        raise ValueError("unknown activation or state")
    found = [tensors[f"part{at}.{name}"] for name in range(3 + 2 * n_layers)]
    maps = tensors[f"part{at}.maps"].to(torch.int64).numpy()
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


def _is_plain(value: Any) -> bool:
    return value is None or isinstance(value, (bool, int, float, str))


def _plain(value: Any) -> Any:
    """Return NumPy values as JSON knows them."""
    return value.tolist() if hasattr(value, "tolist") else str(value)
