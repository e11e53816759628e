"""Alarms of a training: what went wrong, and settings to try.

Those about its labels are in `deem_core.answers.alarms`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from deem_core.alarm import Alarm, cause_first
from deem_core.model.config import AUTO
from deem_core.model.records import Record
from deem_core.training.guidance import judge_restarts
from deem_core.training.health import Restart
from deem_core.training.sweep.result import Sweep

LOW_ACCEPTANCE = 0.4
"""Mean acceptance below this in the last quarter of a training: most proposals are refused, chains stand still."""
LOW_MOVED = 0.002
"""Share of votes that chains change below this: samples are copies of the data and teach nothing."""
MORE_RESTARTS = 10

ON_PROBABILITIES = "deem_soft"
"""The method whose curves are not judged, and that no sweep speaks for: what energies mean is known of labels alone.

Hidden votes that are drawn anew in every update have energies of their own.
"""


def alarms(
    records: Sequence[Record],
    settings: Mapping[str, Any],
    restarts: Sequence[Restart] = (),
    sweep: Sweep | None = None,
    labels: Iterable[Alarm] = (),
) -> list[Alarm]:
    """Return what is wrong with a training, the worst first.

    What to do about the learning rate is left to sweeps; see `rate_advice`. Curves from a start at groups are noise
    around a model that fits: they have no dip to measure an explosion by, and are not judged.

    Parameters
    ----------
    records : sequence of Record
        Of all restarts, as many as there are so far.
    settings : mapping
        Setting → value, resolved, such as ``learning_rate`` and ``restarts``, and the ``method``.
    restarts : sequence of Restart
        Empty while training.
    sweep : Sweep, optional
        Of the same votes.
    labels : iterable of Alarm
        Those about its labels and the file, which come after unless they name the cause.
    """
    rate = rate_advice(settings, sweep)
    judged = curves_judged(settings.get("method")) and settings.get("start") != "groups"
    own = [
        *_collapse(restarts, settings, rate),
        *_instability(records if judged else (), restarts, settings, rate),
        *_sampler(records, settings),
    ]
    return cause_first([*own, *labels])


def curves_judged(method: str | None) -> bool:
    """Return whether the energy curves of a method's training are judged."""
    return method != ON_PROBABILITIES


class RateAdvice(NamedTuple):
    """What to do about the learning rate of a training.

    Attributes
    ----------
    sentence : str
    remedies : dict
        See `Alarm.remedies`.
    """

    sentence: str
    remedies: dict[str, dict[str, Any]]


def rate_advice(settings: Mapping[str, Any], sweep: Sweep | None = None) -> RateAdvice:
    """Return what a sweep says about the rate, else to make one.

    The one place where a training is told another rate, so that it is never told two.

    Parameters
    ----------
    settings : mapping
        Of the training, as in `alarms`.
    sweep : Sweep, optional
        It counts if it is finished, compared rates, and holds for these settings.
    """
    if settings.get("method") == ON_PROBABILITIES:
        return RateAdvice("A sweep trains on labels, so it says nothing about training on probabilities.", {})
    if settings.get("start") == "groups":
        return RateAdvice("The rate from the grouped model is small already, and no sweep chooses it.", {})
    if sweep is None or not sweep.complete or sweep.by_depth or not sweep.holds_for(settings):
        sentence = "A sweep shows which learning rates are steady on these votes."
        return RateAdvice(sentence, _with_rate("Train with a rate from a sweep", AUTO))
    chosen, used = sweep.recommendation, settings.get("learning_rate")
    if chosen.learning_rate is None:
        return RateAdvice(f"A sweep of these votes found no safe learning rate. {chosen.to_try}", {})
    best = f"{chosen.learning_rate:g}"
    if isinstance(used, (int, float)) and math.isclose(used, chosen.learning_rate, rel_tol=1e-4):
        return RateAdvice(f"A sweep of these votes recommends the same learning rate, {best}.", {})
    sentence = (
        f"A sweep of these votes recommends the learning rate {best}."
        if chosen.kind == "recommended"
        else f"In a sweep of these votes no learning rate settled; {best} came closest."
    )
    return RateAdvice(sentence, _with_rate(f"Train with the rate {best}", chosen.learning_rate))


def _with_rate(words: str, rate: float | str) -> dict[str, dict[str, Any]]:
    return {words: {"learning_rate": rate, "updates": None, "epochs": None}}  # the length follows from the rate


def _collapse(restarts: Sequence[Restart], settings: Mapping[str, Any], rate: RateAdvice) -> list[Alarm]:
    dropped = [restart for restart in restarts if not restart.kept]
    if not dropped:
        return []
    reasons = " ".join(dict.fromkeys(restart.reason for restart in dropped))
    return [
        Alarm(
            "collapse",
            f"{len(dropped)} of {len(restarts)} restarts collapsed",
            f"They are excluded from the result. {reasons}",
            f"{rate.sentence} More restarts make it likelier that some succeed.",
            rate.remedies | more_restarts(settings),
        )
    ]


def _instability(
    records: Sequence[Record], restarts: Sequence[Restart], settings: Mapping[str, Any], rate: RateAdvice
) -> list[Alarm]:
    apart = [number for number, restart in enumerate(restarts, start=1) if restart.kept and restart.reason]
    judged = judge_restarts(records)
    survivors = {number for number, restart in enumerate(restarts) if restart.kept}
    unstable = [number for number in judged.unstable if not restarts or number in survivors]
    if not apart and not unstable:
        return []
    parts = []
    if unstable:
        parts.append(judged.sentence)
    if apart:
        parts.append(f"Labels differ from those of the others in restart {', '.join(map(str, apart))}.")
    return [
        Alarm(
            "instability",
            "The restarts disagree",
            " ".join(parts),
            f"Where runs that differ only in their seed disagree, trust the labels less. {rate.sentence}",
            rate.remedies | more_restarts(settings),
        )
    ]


def _sampler(records: Sequence[Record], settings: Mapping[str, Any]) -> list[Alarm]:
    last = max((record.update for record in records), default=0)
    late = [record for record in records if record.update >= 0.75 * last]
    if len(late) < 3:
        return []
    acceptance = float(np.nanmean([record.acceptance for record in late]))
    moved = float(np.nanmean([record.moved for record in late]))
    step = settings.get("step_size")
    if acceptance < LOW_ACCEPTANCE:
        smaller = {"Train with half the sampler's step": {"step_size": step / 2}} if step else {}
        return [
            Alarm(
                "sampler",
                "Most sampler proposals are rejected",
                f"Only {acceptance:.0%} of its proposals are accepted, so the samples hardly differ from the data.",
                "Smaller sampler steps are accepted more often.",
                smaller,
            )
        ]
    if moved < LOW_MOVED:
        larger = {"Train with twice the sampler's step": {"step_size": step * 2}} if step else {}
        return [
            Alarm(
                "sampler",
                "The sampler hardly moves",
                f"Its chains change only {moved:.2%} of the votes, so the samples are nearly copies of the data.",
                "Larger or more sampler steps move further.",
                larger,
            )
        ]
    return []


def more_restarts(settings: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the remedy of more restarts, if there are few."""
    restarts = settings.get("restarts")
    if not isinstance(restarts, int) or restarts >= MORE_RESTARTS:
        return {}
    return {f"Train with {MORE_RESTARTS} restarts": {"restarts": MORE_RESTARTS}}
