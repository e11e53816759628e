"""Pictures of invented numbers, for pages that have nothing to show yet."""

from __future__ import annotations

import numpy as np

from deem_core.figures import comparison as draw_comparison
from deem_core.figures import dependence as draw_dependence
from deem_core.figures import energies as draw_energies
from deem_core.figures import influence as draw_influence
from deem_core.figures.curves import Curve
from deem_core.figures.picture import PANELS, Picture
from deem_core.typing import Floats

JUDGES = ("judge A", "judge B", "judge C", "judge D", "rule", "annotator")
N_POINTS = 48


def example_rates() -> Picture:
    """Return the curves of three learning rates: too small, good, too large."""
    t = np.linspace(0, 1, N_POINTS)
    curves = [
        _curve(0.05, t, fall=0.25, dip=0.2, back=0.04, wobble=0.02, seed=1),
        _curve(0.5, t, fall=1.6, dip=1.1, back=0.97, wobble=0.04, seed=2),
        _curve(4.0, t, fall=1.2, dip=0.9, back=0.6, wobble=0.16, rise=3.0, seed=3),
    ]
    return Picture(
        question="Example: which rate is safe?",
        draw=lambda theme: draw_energies.energy_panels(curves, recommended=0.5, theme=theme),
        alt="Example: energy curves of three learning rates, of which the middle one dips and recovers.",
        min_width=PANELS,
    )


def example_training() -> Picture:
    """Return the curves of four restarts that agree."""
    t = np.linspace(0, 1, N_POINTS)
    curves = [
        _curve(restart, t, fall=1.6 + 0.05 * restart, dip=1.0, back=0.96, wobble=0.05, seed=restart)
        for restart in range(1, 5)
    ]
    return Picture(
        question="Example: do the restarts learn?",
        draw=lambda theme: draw_energies.energy_panels(curves, ordered=False, theme=theme),
        alt="Example: energy curves of four restarts that fall together.",
        min_width=PANELS,
    )


def example_influence() -> Picture:
    """Return how much the labels depend on each of six learners."""
    values = np.array([1.9, 1.5, 1.2, 0.5, 0.3, 1.0])
    return Picture(
        question="Example: whose votes decide the labels?",
        draw=lambda theme: draw_influence.influence_bars(JUDGES, values, spread=0.12 * values, theme=theme),
        alt="Example: bars of the influence of six learners.",
    )


def example_dependence() -> Picture:
    """Return the dependence of six learners, two of which copy each other."""
    between = np.full((len(JUDGES), len(JUDGES)), 0.02)
    for one, other, nats in ((0, 1, 0.42), (2, 3, 0.16), (1, 2, 0.07)):
        between[one, other] = between[other, one] = nats
    return Picture(
        question="Example: who makes the same mistakes?",
        draw=lambda theme: draw_dependence.dependence_grid(
            [between[None]], JUDGES, ["Learners"], ["average"], averaged=True, theme=theme
        ),
        alt="Example: a heatmap on which judge A and judge B stand out as a pair.",
    )


def example_methods() -> Picture:
    """Return the accuracy of four methods with intervals."""
    names = ("Auto", "DEEM", "Dawid-Skene", "Majority vote")
    values = np.array([0.91, 0.90, 0.88, 0.84])
    return Picture(
        question="Example: which method is right most often?",
        draw=lambda theme: draw_comparison.accuracy_intervals(
            names, values, values - 0.014, values + 0.013, highlight="Auto", reference="Majority vote", theme=theme
        ),
        alt="Example: accuracy of four methods with intervals.",
    )


def _curve(
    key: float, t: Floats, *, fall: float, dip: float, back: float, wobble: float, seed: int, rise: float = 0.0
) -> Curve:
    """Return a curve whose difference dips and comes back by a share."""
    noise = wobble * np.random.default_rng(seed).normal(size=len(t))
    difference = -dip * (t / 0.12) * np.exp(1 - t / 0.12) * back - dip * (1 - back) * (1 - np.exp(-t / 0.1)) + noise
    positive = -fall * (1 - np.exp(-t / 0.2)) + rise * t**2 + 0.3 * noise
    return Curve(
        key=key, name=f"{key:g}", x=60 * t, positive=positive, negative=positive - difference, difference=difference
    )
