"""Expert weights: how far experts stand out, by eleven measures of a learner's weight (paper, fig:moe).

The paper says that DEEM gives experts 3–7 times higher weights and shows charts of importance, impact or weight, on the
expert classes and on the rest, without a definition. So several definitions stand side by side: of the answer when a
learner's votes are taken away, of its slope, and of the parameters themselves.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import plotly.graph_objects as go
import torch

from benchmarks.paper import published
from benchmarks.paper.context import Context
from benchmarks.paper.data import Source, expert_sets
from benchmarks.paper.outcome import Outcome, Pivot, Table, joined, mean, spread
from deem_core import DEEM
from deem_core.model.activations import ACTIVATIONS
from deem_core.model.energy import Model
from deem_core.typing import Codes, Floats

LAYERS = (1,)
"""Layers of our default; the paper's model of MnistE has two (its table of disentanglement)."""
RUNS = 3
ROWS = 1_500
"""Rows of each side that measures of the answer look at."""
OURS = "logit, votes permuted"
SETTINGS: dict[str, Any] = {"restarts": 1, "near_copies": "keep"}
"""One restart a run, and a voice for every learner as in the paper: parameters belong to learners then."""


@dataclass(frozen=True)
class Asked:
    """A trained model, and rows of one side.

    Attributes
    ----------
    model : Model
        One restart, its labels in the order of the classes.
    codes : (n, d) int array
    pool : (N, d) int array
        Votes to take instead of a learner's own.
    truth : (n,) int array
        For one measure only, which needs it.
    classes : (c,) int array
        Classes of this side.
    """

    model: Model
    codes: Codes
    pool: Codes
    truth: Codes
    classes: np.ndarray[Any, Any]

    def logits(self, codes: Codes | None = None) -> Floats:
        """Return logits of the label centred over the classes, (n, K)."""
        with torch.no_grad():
            found = _forward(self.model, _one_hot(self.codes if codes is None else codes, self.model)).numpy()
        return np.asarray(found - found.mean(axis=1, keepdims=True), np.float64)

    def without(self, learner: int, *, withheld: bool = False) -> Codes:
        """Return the votes with those of one learner permuted over all rows, or left out."""
        changed = self.codes.copy()
        rows = np.random.default_rng(learner).integers(len(self.pool), size=len(changed))
        changed[:, learner] = -1 if withheld else self.pool[rows, learner]
        return changed


def _one_hot(codes: Codes, model: Model) -> torch.Tensor:
    """Return votes as (n, d, K) one-hot vectors, zeros for no vote."""
    states = np.arange(model.n_classes)
    return torch.as_tensor((codes[:, :, None] == states).astype(np.float32))


def _forward(model: Model, votes: torch.Tensor) -> torch.Tensor:
    """Return the label's logits (n, K), differentiable in the votes (n, d, K)."""
    present, units = votes.detach().amax(dim=2, keepdim=True), votes
    for weight, bias in zip(model.layer_weights, model.layer_biases, strict=True):
        below = (units.flatten(1) @ weight[0] + bias[0]).view(units.shape)
        units = ACTIVATIONS[model.activation].forward(below) * present
    return units.flatten(1) @ model.weights[0] + model.hidden_bias[0]


# ---------------------------------------------------------------------- measures: (d,) weights


def _of_answer(score: Callable[[Asked, Floats, Floats], float], *, withheld: bool = False) -> Callable[[Asked], Floats]:
    """Return a measure: the mean change of a score when a learner's votes are taken away."""

    def measure(asked: Asked) -> Floats:
        before = asked.logits()
        learners = range(asked.model.n_learners)
        return np.array([score(asked, before, asked.logits(asked.without(i, withheld=withheld))) for i in learners])

    return measure


def _logit_drop(asked: Asked, before: Floats, after: Floats) -> float:
    at = np.arange(len(before)), before.argmax(1)
    return float((before[at] - after[at]).mean())


def _probability_drop(asked: Asked, before: Floats, after: Floats) -> float:
    at = np.arange(len(before)), before.argmax(1)
    return float((_softmax(before)[at] - _softmax(after)[at]).mean())


def _flips(asked: Asked, before: Floats, after: Floats) -> float:
    return float((before.argmax(1) != after.argmax(1)).mean())


def _accuracy_drop(asked: Asked, before: Floats, after: Floats) -> float:
    return float((before.argmax(1) == asked.truth).mean() - (after.argmax(1) == asked.truth).mean())


def _softmax(logits: Floats) -> Floats:
    raised = np.exp(logits - logits.max(axis=1, keepdims=True))
    return np.asarray(raised / raised.sum(axis=1, keepdims=True))


def _slope(asked: Asked, *, times_input: bool = False) -> Floats:
    """Return the mean norm of the fused logit's gradient in a learner's vote, or gradient × vote."""
    votes = _one_hot(asked.codes, asked.model).requires_grad_()
    logits = _forward(asked.model, votes)
    (logits.max(dim=1).values - logits.mean(dim=1)).sum().backward()
    assert votes.grad is not None  # noqa: S101  # the logits depend on the votes
    slope = votes.grad - votes.grad.mean(dim=2, keepdim=True)  # a constant over the states changes nothing
    found = (slope * votes.detach()).sum(dim=2) if times_input else slope.norm(dim=2)
    return found.mean(dim=0).numpy().astype(np.float64)


def _blocks(tensor: torch.Tensor, model: Model) -> Floats:
    """Return parameters by learner: (d, K, …)."""
    return tensor[0].detach().numpy().astype(np.float64).reshape(model.n_learners, model.n_classes, -1)


def _irbm(asked: Asked, *, centred: bool = False) -> Floats:
    """Return the norm per label of a unit's iRBM weights to this side, as they are or doubly centred."""
    U = _blocks(asked.model.weights, asked.model)  # (d, K, K)
    if centred:
        U = U - U.mean(axis=1, keepdims=True)
        U = U - U.mean(axis=2, keepdims=True)
    return np.asarray(np.linalg.norm(U[:, :, asked.classes], axis=(1, 2)) / np.sqrt(len(asked.classes)))


def _first_layer(asked: Asked) -> Floats:
    """Return the norm per state of the first layer's weights that leave a learner's votes for this side."""
    W = _blocks(asked.model.layer_weights[0], asked.model)
    return np.asarray(np.linalg.norm(W[:, asked.classes], axis=(1, 2)) / np.sqrt(len(asked.classes)))


def _paths(asked: Asked) -> Floats:
    """Return a vote's summed weight to its own label through all layers, activations left out."""
    product = torch.eye(asked.model.n_learners * asked.model.n_classes)[None]
    for weight in asked.model.layer_weights:
        product = product @ weight
    T = _blocks(product @ asked.model.weights, asked.model)
    T = T - T.mean(axis=1, keepdims=True)
    T = T - T.mean(axis=2, keepdims=True)
    return np.asarray(T[:, asked.classes, asked.classes].mean(axis=1))


MEASURES: dict[str, Callable[[Asked], Floats]] = {
    OURS: _of_answer(_logit_drop),
    "logit, votes withheld": _of_answer(_logit_drop, withheld=True),
    "probability, votes permuted": _of_answer(_probability_drop),
    "labels that change, votes permuted": _of_answer(_flips),
    "accuracy, votes permuted (needs truth)": _of_answer(_accuracy_drop),
    "slope of the logit": _slope,
    "slope × vote": lambda asked: _slope(asked, times_input=True),
    "iRBM weights": _irbm,
    "iRBM weights, centred": lambda asked: _irbm(asked, centred=True),
    "first layer's weights": _first_layer,
    "weight of a vote for its own class": _paths,
}
"""Measure → weights of all learners on one side: falls when votes are taken away, slopes, or parameters."""


# ---------------------------------------------------------------------- the experiment


def run(context: Context) -> Outcome:
    """Train on the sets with experts and weigh their learners in every way."""
    sources = expert_sets(context)
    sources = sources[1:2] if context.quick else sources
    rows = []
    for source in sources:
        for layers in LAYERS:
            units = [_unit(context, source, layers, seed) for seed in context.seeds(RUNS)]
            rows += [_row(source, layers, measure, units) for measure in MEASURES]
    low, high = published.EXPERT_WEIGHT
    figures = {
        f"Experts over others on their classes, {layers} layer{'s' * (layers > 1)}": _figure(
            [row for row in rows if row["layers"] == layers]
        )
        for layers in LAYERS
    }
    pivot = Pivot("Weight of experts over that of others, on the experts' classes", "measure", "column", "ratio", "sd")
    named = [{**row, "column": f"{row['set']}, {row['layers']}"} for row in rows]
    notes = [
        *(f"{source.name}: {source.about}; {source.votes.n_rows:,} rows." for source in sources),
        f"The paper's text has “{low:g}–{high:g}× higher weights”, its captions “importance” and “impact” on the "
        "expert classes (left) and on the rest (right). It defines none of them and prints no values.",
        "ratio: mean weight of the experts over the mean of the others, on the experts' classes; least and most: "
        "single experts over that mean; elsewhere: the same on the other classes; beyond itself: experts on their "
        "classes over themselves elsewhere.",
        "Columns: set and number of layers, of which the paper's model of MnistE has two. Single restarts, every "
        "learner with its own voice; spreads are over seeds.",
        f"Measures of the answer look at {ROWS:,} rows of each side, divided by the true class for this evaluation "
        "only; measures of parameters at the states or labels of the classes.",
    ]
    table = Table("expert_weights", "All numbers", named, (pivot,))
    return Outcome([table], figures, notes, _findings(rows))


def _findings(rows: list[dict[str, Any]]) -> list[str]:
    """Return, for each measure, the span of ratios over sets and layers, and whether the paper's span holds them."""
    low, high = published.EXPERT_WEIGHT
    said = []
    for measure in MEASURES:
        own = [row for row in rows if row["measure"] == measure and row["ratio"] is not None]
        for kind, chosen in (
            ("MnistE", [row for row in own if not row["set"].startswith("ampdata")]),
            ("AmpData", [row for row in own if row["set"].startswith("ampdata")]),
        ):
            if chosen:
                found = [row["ratio"] for row in chosen]
                inside = sum(low <= ratio <= high for ratio in found)
                span = " to ".join(dict.fromkeys(f"{ratio:.1f}" for ratio in (min(found), max(found))))
                said.append(
                    f"{measure}, {kind}: experts weigh {span} times as much as others on their classes; "
                    f"{inside} of {len(found)} within {low:g}–{high:g}."
                )
    return said


def _unit(context: Context, source: Source, layers: int, seed: int) -> Any:
    settings = {**SETTINGS, "n_layers": layers, **context.training, "random_state": seed}
    told = {**settings, "measures": list(MEASURES), "rows": ROWS, "classes": source.expert_classes}
    return context.unit(f"{source.name}-weights{layers}-{seed}", source.votes, told, lambda: _weigh(source, settings))


def _weigh(source: Source, settings: dict[str, Any]) -> dict[str, Any]:
    """Return measure → weights on both sides, by one training."""
    bare = source.votes.without_truth()
    model = DEEM(**settings).fit(bare)
    if not model.parts_:
        return {"weights": None, "why_not": joined(model.warnings_)}
    part, truth = model.parts_[0], np.asarray(source.votes.truth)
    own = part.model.single(0)
    order = np.argsort(part.maps[0])  # hidden states in the order of their classes
    own = own.with_parameters(
        [own.weights[..., order], own.visible_bias, own.hidden_bias[..., order], *own.parameters()[3:]]
    )
    inside = np.isin(truth, source.expert_classes)
    rng = np.random.default_rng(0)
    found: dict[str, dict[str, Floats]] = {measure: {} for measure in MEASURES}
    for side, chosen in (("subset", inside), ("rest", ~inside)):
        rows = np.flatnonzero(chosen)
        rows = np.sort(rng.choice(rows, min(ROWS, len(rows)), replace=False))
        classes = np.array([k for k in range(bare.n_classes) if (k in source.expert_classes) == (side == "subset")])
        asked = Asked(own, bare.codes[rows], bare.codes, truth[rows], classes)
        for measure, weigh in MEASURES.items():
            found[measure][side] = weigh(asked)
    return {"weights": found, "why_not": ""}


def _row(source: Source, layers: int, measure: str, units: list[Any]) -> dict[str, Any]:
    """Return ratios of one measure on one set, mean over runs."""
    is_expert = np.isin(source.votes.learners, list(source.experts))
    ratios: dict[str, list[float]] = {name: [] for name in ("ratio", "least", "most", "elsewhere", "beyond itself")}
    notes = [unit["why_not"] for unit in units]
    for unit in units:
        if unit["weights"] is None:
            continue
        subset, rest = (np.asarray(unit["weights"][measure][side], np.float64) for side in ("subset", "rest"))
        others, others_rest, own_rest = subset[~is_expert].mean(), rest[~is_expert].mean(), rest[is_expert].mean()
        if others > 0:
            each = subset[is_expert] / others
            ratios["ratio"].append(float(each.mean()))
            ratios["least"].append(float(each.min()))
            ratios["most"].append(float(each.max()))
        if others_rest > 0:
            ratios["elsewhere"].append(float(own_rest / others_rest))
        if own_rest > 0:
            ratios["beyond itself"].append(float(subset[is_expert].mean() / own_rest))
    if not all(ratios.values()):
        notes.append("No ratio where the weight that it divides by is not above 0.")
    row: dict[str, Any] = {"set": source.name, "layers": layers, "measure": measure, "runs": len(ratios["ratio"])}
    row |= {"ratio": mean(ratios["ratio"]), "sd": spread(ratios["ratio"])}
    row |= {name: mean(ratios[name]) for name in ("least", "most", "elsewhere", "beyond itself")}
    return {**row, "note": joined(notes)}


def _figure(rows: list[dict[str, Any]]) -> go.Figure:
    """Draw the ratios by measure, sets apart, the paper's span shaded."""
    low, high = published.EXPERT_WEIGHT
    figure = go.Figure()
    for name in dict.fromkeys(row["set"] for row in rows):
        own = [row for row in rows if row["set"] == name and row["ratio"] is not None]
        bars = {"type": "data", "array": [row["sd"] or 0 for row in own]}
        x, y = [row["ratio"] for row in own], [row["measure"] for row in own]
        figure.add_trace(go.Scatter(x=x, y=y, error_x=bars, mode="markers", name=name, marker={"size": 10}))
    figure.add_vrect(x0=low, x1=high, fillcolor="gray", opacity=0.2, line_width=0)
    figure.add_vline(x=1, line={"color": "gray", "dash": "dot"})
    title = f"weight of experts over that of others (shaded: the paper's {low:g}–{high:g})"
    figure.update_xaxes(title=title, type="log", tickvals=[1, 2, 3, 5, 7, 10, 20, 50], range=[-0.15, 1.9])
    figure.update_yaxes(autorange="reversed")
    return figure.update_layout(height=520, margin={"t": 30, "l": 260}, template="plotly_white")
