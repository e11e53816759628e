"""The thresholds behind verdicts, in words for people who look at them."""

from __future__ import annotations

from deem_core.diagnostics.health import ALARM
from deem_core.guidance.curves import DIP, EXPLOSION, RECOVERY, RELAPSE, RISE, SMOOTHING, TAIL

THRESHOLDS: tuple[tuple[str, float, str], ...] = (
    ("smoothing", SMOOTHING, "weight of the past in the moving average that verdicts are drawn from"),
    ("dip", DIP, "margins: a difference that never dips this deep has not begun to learn (too small)"),
    ("recovery", RECOVERY, "share of the dip that must be made good for a curve to have settled"),
    ("relapse", RELAPSE, "margins: a tail that leaves its best level by this much drops again (not settled)"),
    ("explosion", EXPLOSION, "margins: a difference larger than this has exploded"),
    ("rise", RISE, "margins: an energy that ends this far above its start has risen"),
    ("tail", TAIL, "share of the records, the last ones, that say where a curve ends"),
    ("smallest class share", ALARM, "of its majority-vote share: a class that keeps less has died"),
)
"""Name, value, meaning. The margin is the typical size of the difference over all rates, so that none of this depends
on the scale of the energies."""
