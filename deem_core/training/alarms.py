"""Alarms of a training: what went wrong, and settings to try.

Those about its labels are in `deem_core.answers.alarms`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from deem_core.alarm import Alarm
from deem_core.model.records import Record
from deem_core.training.guidance import judge_restarts
from deem_core.training.health import Restart

LOW_ACCEPTANCE = 0.4
"""Mean acceptance below this in the last quarter of a training: most proposals are refused, chains stand still."""
LOW_MOVED = 0.002
"""Share of votes that chains change below this: samples are copies of the data and teach nothing."""
LARGE_RATE = 2.0
"""Above this the default rate is the remedy, not half the rate."""
MORE_RESTARTS = 10


def alarms(
    records: Sequence[Record],
    settings: Mapping[str, Any],
    restarts: Sequence[Restart] = (),
    *,
    curves: bool = True,
) -> list[Alarm]:
    """Return what is wrong with a training, the worst first.

    Parameters
    ----------
    records : sequence of Record
        Of all restarts, as many as there are so far.
    settings : mapping
        Setting → value, resolved, such as ``learning_rate`` and ``restarts``.
    restarts : sequence of Restart
        Empty while training.
    curves : bool
        Whether energies are judged. What they mean is known of trainings on labels; hidden votes that are drawn anew
        in every update have energies of their own.
    """
    return [
        *_collapse(restarts, settings),
        *_instability(records if curves else (), restarts, settings),
        *_sampler(records, settings),
    ]


def _collapse(restarts: Sequence[Restart], settings: Mapping[str, Any]) -> list[Alarm]:
    dropped = [restart for restart in restarts if not restart.kept]
    if not dropped:
        return []
    reasons = " ".join(dict.fromkeys(restart.reason for restart in dropped))
    return [
        Alarm(
            "collapse",
            f"{len(dropped)} of {len(restarts)} restarts collapsed",
            f"They take no part in the answer. {reasons}",
            "A smaller learning rate is steadier; more restarts leave more survivors.",
            _slower(settings) | _more(settings),
        )
    ]


def _instability(records: Sequence[Record], restarts: Sequence[Restart], settings: Mapping[str, Any]) -> list[Alarm]:
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
        parts.append(f"Restart {', '.join(map(str, apart))} went a way of its own: its labels differ from the others'.")
    return [
        Alarm(
            "instability",
            "Restarts are not of one mind",
            " ".join(parts),
            "Where trainings that differ only by their seed disagree, trust the labels less. A smaller learning rate "
            "is steadier.",
            _slower(settings) | _more(settings),
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
                "The sampler is mostly refused",
                f"Only {acceptance:.0%} of its proposals are accepted, so the samples hardly differ from the data.",
                "A smaller step of the sampler is accepted more often.",
                smaller,
            )
        ]
    if moved < LOW_MOVED:
        larger = {"Train with twice the sampler's step": {"step_size": step * 2}} if step else {}
        return [
            Alarm(
                "sampler",
                "The sampler hardly moves",
                f"Its chains change only {moved:.2%} of the votes, so that the samples are nearly copies of the data.",
                "A larger step or more steps of the sampler move further.",
                larger,
            )
        ]
    return []


def _slower(settings: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    rate = settings.get("learning_rate")
    if not isinstance(rate, (int, float)):
        return {}
    if rate > LARGE_RATE:  # halving would not do
        return {"Train with the default rate": {"learning_rate": None, "updates": None, "epochs": None}}
    half = float(f"{rate / 2:.2g}")
    return {f"Train with the rate {half:g}": {"learning_rate": half, "updates": None, "epochs": None}}


def _more(settings: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    restarts = settings.get("restarts")
    if not isinstance(restarts, int) or restarts >= MORE_RESTARTS:
        return {}
    return {f"Train with {MORE_RESTARTS} restarts": {"restarts": MORE_RESTARTS}}
