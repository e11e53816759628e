"""The thresholds behind verdicts, in words for people who look at them."""

from __future__ import annotations

from deem_core.diagnostics.health import DROP
from deem_core.guidance.curves import (
    DIP,
    EXPLOSION,
    MIN_RECORDS,
    RECOVERY,
    RECOVERY_LEAST,
    RELAPSE,
    RISE,
    SMOOTHING,
    TAIL,
)
from deem_core.guidance.recommend import FLOOR

THRESHOLDS: tuple[tuple[str, float, str], ...] = (
    ("smoothing", SMOOTHING, "weight of the past in the moving average that verdicts are drawn from"),
    ("dip", DIP, "margins: a difference that never dips this deep has not begun to learn (too small)"),
    ("recovery", RECOVERY, "of the best recovery of any safe rate: a curve that comes back less has not settled"),
    ("least recovery", RECOVERY_LEAST, "share of its dip that a curve must make good in any case"),
    ("relapse", RELAPSE, "margins: a tail that leaves its best level by this much has exploded late"),
    ("explosion", EXPLOSION, "margins: a difference larger than this has exploded"),
    ("rise", RISE, "margins: an energy that ends this far above its start has risen"),
    ("smallest class share", DROP, "of its majority-vote share: a class that keeps less has died"),
    ("tail", TAIL, "share of the records, the last ones, that say where a curve ends"),
    ("records", MIN_RECORDS, "fewer than this say nothing about a rate"),
    ("floor", FLOOR, "times the default rate: smaller rates are taken only if none above settles"),
)
"""Name, value, meaning. The margin is the typical size of the difference over all rates, so that none of this depends
on the scale of the energies."""
