"""Result of a sweep: curves, verdicts and the recommendation."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from deem_core.errors import InputError
from deem_core.training import guidance
from deem_core.training.guidance import Recommendation, Verdict
from deem_core.training.sweep.shown import Shown
from deem_core.typing import Floats

if TYPE_CHECKING:
    from deem_core.training.sweep.measure import Look
    from deem_core.training.sweep.sweeper import Sweeper


SAME = (
    "n_layers",
    "batch_size",
    "sampler",
    "sampler_steps",
    "step_size",
    "chain_start",
    "momentum",
    "l1",
    "l2",
    "init_scale",
    "activation",
    "near_copies",
)
"""Settings that a training must share with a sweep for the sweep's rates to hold."""


@dataclass(frozen=True)
class Sweep(Shown):
    """Candidates trained from one initialisation, and what their curves say.

    Attributes
    ----------
    rates : (R,)
        Learning rate of each candidate, ascending; all the same if depths were swept.
    n_layers : (R,) int
    updates, epochs : (T,)
        Where records were taken; the first is before training.
    curves : Curves
    majority_shares : (K,)
        Class shares by majority vote on the measured rows.
    dependence : (R,)
        Mean conditional mutual information after the last layer; NaN unless depths were swept.
    settings : dict
        Setting → {"value", "reason"}, but for those that are swept.
    default_rate : float
        What training would take without a sweep.
    seed : int
    rows_measured, rows : int
    how : str
        How the candidates trained.
    seconds : float
    complete : bool
        False if it was stopped before all candidates were done.
    ended : bool
        Whether somebody had seen enough and ended it; then it is not complete either.
    verdicts : tuple of Verdict
        One per candidate.
    recommendation : Recommendation
    notes : tuple of str
        What was found about near-copies.
    failures : dict of int to str
        Candidate → why it was abandoned.
    smoothing : float
    training_start : str
        Where training with these settings starts by itself; "groups" if not from the majority vote, as the sweep does.
    """

    rates: Floats
    n_layers: NDArray[np.intp]
    updates: NDArray[np.intp]
    epochs: Floats
    curves: Curves
    majority_shares: Floats
    dependence: Floats
    settings: dict[str, dict[str, Any]]
    default_rate: float
    seed: int
    rows_measured: int
    rows: int
    how: str
    seconds: float
    complete: bool
    verdicts: tuple[Verdict, ...]
    recommendation: Recommendation
    notes: tuple[str, ...]
    failures: dict[int, str]
    smoothing: float
    training_start: str = "majority"
    ended: bool = False

    @property
    def by_depth(self) -> bool:
        """Whether depths were swept, not rates."""
        return len(set(self.n_layers.tolist())) > 1

    @property
    def share(self) -> float:
        """How much of it was done; abandoned candidates count as done."""
        known = self.curves.reached
        known[list(self.failures)] = len(self.updates)
        return float(known.sum() / max(known.size * len(self.updates), 1))

    @property
    def positive(self) -> Floats:
        """Mean free energy of the data, (R, T)."""
        return self.curves.positive

    @property
    def negative(self) -> Floats:
        """Mean free energy of the samples, (R, T)."""
        return self.curves.negative

    @property
    def difference(self) -> Floats:
        """Positive − negative, (R, T)."""
        return self.curves.difference

    @property
    def grouped_likelihood(self) -> Floats | None:
        """Grouped likelihood of the labels, (R, T).

        None where no grouped model explains the votes.
        """
        return self.curves.grouped_likelihood if np.isfinite(self.curves.grouped_likelihood).any() else None

    def holds_for(self, settings: Mapping[str, Any]) -> bool:
        """Return whether a training with these settings trains as the candidates did.

        Parameters
        ----------
        settings : mapping
            Setting → value, resolved. Those that do not change what a rate does, such as the seed, may differ.
        """
        own = {name: item["value"] for name, item in self.settings.items() if name in SAME}
        return settings.get("start") == "majority" and all(settings.get(name) == value for name, value in own.items())

    def judged(self, smoothing: float) -> tuple[tuple[Verdict, ...], Recommendation]:
        """Return verdicts and recommendation with another smoothing."""
        return _judge(self, smoothing)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values; numbers that are not finite are None."""
        rates = [
            {
                "learning_rate": float(self.rates[r]),
                "n_layers": int(self.n_layers[r]),
                "verdict": verdict.kind,
                "reason": verdict.reason,
                "recommended": r == self.recommendation.index,
                "numbers": {name: _plain(value) for name, value in vars(verdict.numbers).items()},
                "dependence": _plain(self.dependence[r]),
                "shares": _plain(self.curves.shares[r]),
                "failure": self.failures.get(r),
                **{name: _plain(getattr(self.curves, name)[r]) for name in CURVES},
            }
            for r, verdict in enumerate(self.verdicts)
        ]
        chosen = self.recommendation
        return {
            "rates": rates,
            "recommended": chosen.n_layers if self.by_depth else chosen.learning_rate,
            "why": chosen.why,
            "recommendation": {"kind": chosen.kind, "index": chosen.index, "to_try": chosen.to_try},
            "swept": "n_layers" if self.by_depth else "learning_rate",
            "updates": self.updates.tolist(),
            "epochs": self.epochs.tolist(),
            "majority_shares": _plain(self.majority_shares),
            "settings": self.settings,
            "default_rate": self.default_rate,
            "seed": self.seed,
            "rows_measured": self.rows_measured,
            "rows": self.rows,
            "how": self.how,
            "seconds": self.seconds,
            "complete": self.complete,
            "ended": self.ended,
            "notes": list(self.notes),
            "smoothing": self.smoothing,
            "training_start": self.training_start,
        }

    @classmethod
    def from_dict(cls, content: dict[str, Any]) -> Self:
        """Read back what `to_dict` returned.

        Raises
        ------
        InputError
            If something is missing from it or of the wrong kind.
        """
        try:
            return cls._from_dict(content)
        except (KeyError, TypeError, ValueError, OverflowError) as error:
            raise InputError(f"This is not a sweep that was saved here: {type(error).__name__} {error}.") from error

    @classmethod
    def _from_dict(cls, content: dict[str, Any]) -> Self:
        rates, recommendation = content["rates"], content["recommendation"]
        nothing = [None] * len(content["updates"])
        unknown = {"grouped_likelihood": nothing, "seconds": nothing}  # sweeps of earlier versions have none
        items = [unknown | item for item in rates]
        curves = Curves(**{name: _array([item[name] for item in items]) for name in (*CURVES, "shares")})
        layers = [int(item["n_layers"]) for item in rates]
        verdicts = tuple(
            Verdict(
                item["verdict"],
                float(item["learning_rate"]),
                layers[r],
                item["reason"],
                guidance.Numbers.from_dict(item["numbers"]),
                provisional=not content["complete"] and item["verdict"] not in guidance.CERTAIN,
            )
            for r, item in enumerate(rates)
        )
        index = recommendation["index"]
        chosen = Recommendation(
            recommendation["kind"],
            index,
            None if index is None else verdicts[index].learning_rate,
            None if index is None else layers[index],
            content["why"],
            recommendation["to_try"],
        )
        return cls(
            rates=_array([item["learning_rate"] for item in rates]),
            n_layers=np.array(layers, np.intp),
            updates=np.array(content["updates"], np.intp),
            epochs=_array(content["epochs"]),
            curves=curves,
            majority_shares=_array(content["majority_shares"]),
            dependence=_array([item["dependence"] for item in rates]),
            settings=content["settings"],
            default_rate=float(content["default_rate"]),
            seed=int(content["seed"]),
            rows_measured=int(content["rows_measured"]),
            rows=int(content["rows"]),
            how=content["how"],
            seconds=float(content["seconds"]),
            complete=bool(content["complete"]),
            verdicts=verdicts,
            recommendation=chosen,
            notes=tuple(content["notes"]),
            failures={r: item["failure"] for r, item in enumerate(rates) if item["failure"]},
            smoothing=float(content["smoothing"]),
            training_start=content.get("training_start", "majority"),
            ended=bool(content.get("ended", False)),
        )

    def to_frame(self) -> pd.DataFrame:
        """Return the curves, one row per candidate and record."""
        R, T = self.difference.shape
        columns = {
            "learning_rate": np.repeat(self.rates, T),
            "n_layers": np.repeat(self.n_layers, T),
            "update": np.tile(self.updates, R),
            "epoch": np.tile(self.epochs, R),
            **{name: getattr(self.curves, name).ravel() for name in CURVES},
        }
        frame = pd.DataFrame(columns)
        return frame.dropna(subset="difference").reset_index(drop=True)


def finish(sweeper: Sweeper) -> Sweep:
    """Return what a sweeper knows so far."""
    dependences = np.full(len(sweeper.candidates), np.nan)
    for at, dependence in sweeper.dependence.items():
        dependences[at] = dependence.mean
    swept = {"learning_rate", "restarts", "early_stop", "epochs", "draws"}
    if len({candidate.n_layers for candidate in sweeper.candidates}) > 1:
        swept |= {"n_layers", "init_scale", "step_size"}
    unjudged = Sweep(
        rates=np.array([candidate.learning_rate for candidate in sweeper.candidates]),
        n_layers=np.array([candidate.n_layers for candidate in sweeper.candidates], np.intp),
        updates=sweeper.schedule,
        epochs=np.array([sweeper.epoch(update) for update in sweeper.schedule]),
        curves=sweeper.curves.copy(),
        majority_shares=sweeper.measure.majority_shares,
        dependence=dependences,
        settings={name: item for name, item in sweeper.settings.to_dict().items() if name not in swept},
        default_rate=float(sweeper.settings.config.learning_rate or 0),
        seed=sweeper.seed,
        rows_measured=sweeper.measure.n_rows,
        rows=sweeper.votes.n_rows,
        how=sweeper.how,
        seconds=sweeper.seconds,
        complete=sweeper.complete,
        verdicts=(),
        recommendation=guidance.NOTHING,
        notes=tuple(sweeper.sentences),
        failures=dict(sweeper.failures),
        smoothing=sweeper.smoothing,
        training_start=sweeper.plan.training_start,
        ended=sweeper.ended and not sweeper.complete,
    )
    verdicts, chosen = _judge(unjudged, unjudged.smoothing)
    return Sweep(**{**vars(unjudged), "verdicts": verdicts, "recommendation": chosen})


def _judge(sweep: Sweep, smoothing: float) -> tuple[tuple[Verdict, ...], Recommendation]:
    found = _found(sweep, sweep.curves, smoothing)
    if sweep.complete:
        return found
    return guidance.so_far(*found, sweep.share, led=_led(sweep, smoothing, found[1]), ended=sweep.ended)


def _found(sweep: Sweep, curves: Curves, smoothing: float) -> tuple[tuple[Verdict, ...], Recommendation]:
    shown = guidance.Shown(
        rates=sweep.rates,
        n_layers=sweep.n_layers,
        positive=curves.positive,
        negative=curves.negative,
        share_ratio=guidance.latest(curves.share_ratio),
        failures=sweep.failures,
        grouped_likelihood=curves.grouped_likelihood if np.isfinite(curves.grouped_likelihood).any() else None,
    )
    verdicts = tuple(guidance.judge_curves(shown, smoothing=smoothing))
    if sweep.by_depth:
        return guidance.recommend_depth(verdicts, sweep.dependence)
    return guidance.recommend(verdicts, sweep.default_rate)


def _led(sweep: Sweep, smoothing: float, now: Recommendation) -> int:
    """Return how many records the recommendation has lasted, `guidance.LED` at most.

    0 where depths are swept: what a layer takes away is measured at the end.
    """
    if sweep.by_depth or sweep.share < guidance.FIRM:
        return 0
    for back in range(1, guidance.LED):
        earlier = _found(sweep, sweep.curves.without_last(back), smoothing)[1]
        if (earlier.kind, earlier.index) != (now.kind, now.index):
            return back
    return guidance.LED


def _plain(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return [_plain(item) for item in value.tolist()]
    if isinstance(value, (float, np.floating)):
        return float(value) if math.isfinite(value) else None
    return value


def _array(values: Any) -> Floats:
    return np.array(values, np.float64)  # None becomes NaN


CURVES = (
    "positive",
    "negative",
    "difference",
    "energy_positive",
    "energy_negative",
    "acceptance",
    "moved",
    "share_ratio",
    "grouped_likelihood",
    "seconds",
)


@dataclass(frozen=True)
class Curves:
    """What was measured of R candidates at T updates.

    NaN where nothing was.

    Attributes
    ----------
    positive, negative, difference : (R, T)
        Mean free energy of data and samples, and their difference.
    energy_positive, energy_negative : (R, T)
        The same of E at the expected label.
    acceptance, moved : (R, T)
    share_ratio : (R, T)
    grouped_likelihood : (R, T)
        Grouped likelihood of the labels (`deem_core.training.sweep.referee`); NaN throughout where no grouped model
        explains the votes.
    seconds : (R, T)
        Since the sweep began.
    shares : (R, K)
        Latest predicted class shares.
    """

    positive: Floats
    negative: Floats
    difference: Floats
    energy_positive: Floats
    energy_negative: Floats
    acceptance: Floats
    moved: Floats
    share_ratio: Floats
    grouped_likelihood: Floats
    seconds: Floats
    shares: Floats

    @classmethod
    def empty(cls, n_candidates: int, n_records: int, n_classes: int) -> Self:
        """Return curves without any record."""
        curves = {name: np.full((n_candidates, n_records), np.nan) for name in CURVES}
        return cls(**curves, shares=np.full((n_candidates, n_classes), np.nan))

    @property
    def is_timed(self) -> bool:
        """Whether it is known when records were made."""
        return bool(np.isfinite(self.seconds).any())

    @property
    def reached(self) -> NDArray[np.intp]:
        """Records of each candidate, (R,)."""
        return np.asarray(np.isfinite(self.difference).sum(axis=1))

    def put(self, candidate: int, at: int, look: Look, seconds: float) -> None:
        """Enter one record, made so many seconds after the sweep began."""
        own = {"difference": look.positive - look.negative, "seconds": seconds}
        for name in CURVES:
            getattr(self, name)[candidate, at] = own[name] if name in own else getattr(look, name)
        if not np.isfinite(self.difference[candidate, at + 1 :]).any():
            self.shares[candidate] = look.shares

    def known(self, candidate: int, at: int) -> bool:
        """Return whether a record was entered."""
        return bool(np.isfinite(self.difference[candidate, at]))

    def without_last(self, records: int) -> Self:
        """Return the curves as they were so many records ago."""
        kept = np.maximum(self.reached - records, 1)
        there = np.arange(self.difference.shape[1]) < kept[:, None]
        earlier = {name: np.where(there, getattr(self, name), np.nan) for name in CURVES}
        return type(self)(**earlier, shares=self.shares)

    def copy(self) -> Self:
        """Return curves that later records do not change."""
        return type(self)(**{item.name: getattr(self, item.name).copy() for item in fields(self)})
