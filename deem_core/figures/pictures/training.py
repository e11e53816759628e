"""Pictures of training: energy curves, class shares, sampler."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from numpy.typing import ArrayLike

from deem_core.figures import energies as draw_energies
from deem_core.figures import referee as draw_referee
from deem_core.figures import training as draw_training
from deem_core.figures.curves import Along, curves_of_records, curves_of_sweep
from deem_core.figures.picture import PANELS, Picture
from deem_core.figures.run_curves import run_panels
from deem_core.figures.shapes import shapes as draw_shapes
from deem_core.model.records import Record
from deem_core.training.guidance import BEHIND
from deem_core.training.health import Restart
from deem_core.training.sweep import Sweep


def shapes() -> Picture:
    """Return the four shapes of energy curves to know."""
    return Picture(
        question="Which shapes do energy curves have?",
        draw=lambda theme: draw_shapes(columns=2, theme=theme),
        alt="Four shapes of curves.",
    )


def sweep_energies(
    sweep: Sweep,
    *,
    selected: float | None = None,
    recommended: float | None = None,
    smoothing: float,
    x: Along = "epoch",
    log: bool = False,
    zoom: bool = False,
    hidden: Collection[float] = (),
) -> Picture:
    """Return the energy curves of all candidates of a sweep; see `deem_core.figures.energy_panels`."""
    return Picture(
        question="Which candidate learns safely?",
        draw=lambda theme: draw_energies.energy_panels(
            curves_of_sweep(sweep, x=x),
            selected=selected,
            recommended=recommended,
            smoothing=smoothing,
            x=x,
            until={"epoch": float(sweep.epochs[-1]), "update": float(sweep.updates[-1])}.get(x),
            log=log,
            zoom=zoom,
            hidden=hidden,
            theme=theme,
        ),
        alt="Three panels: positive energy, negative energy and their difference for every candidate.",
        caption=(
            f"Mean free energy per row on {sweep.rows_measured:,} of {sweep.rows:,} rows, evenly spread, and on "
            "samples that the model draws from them. **Good:** the difference dips and comes back to the dashed line. "
            "**Bad:** it never moves, it runs away, or an energy ends far above its start. Dotted curves were rejected"
            f"{' and may leave the picture' if zoom else ''}."
        ),
        min_width=PANELS,
    )


def sweep_grouped(
    sweep: Sweep,
    *,
    selected: float | None = None,
    recommended: float | int | None = None,
    smoothing: float,
    hidden: Collection[float] = (),
) -> Picture:
    """Return the grouped likelihood of every candidate's labels."""
    return Picture(
        question="Which candidate's labels does the grouped model support?",
        draw=lambda theme: draw_referee.grouped_likelihood(
            sweep, selected=selected, recommended=recommended, smoothing=smoothing, hidden=hidden, theme=theme
        ),
        alt="Lines: the mean log-probability of every candidate's labels by the grouped model.",
        caption=(
            "The grouped model explains these votes, so it can judge labels without truth. **Good:** near 0. **Bad:** "
            f"more than {BEHIND:g} below the best curve: such a rate is not recommended. It judges these runs; "
            "another seed at the same rate may end differently."
        ),
        min_width=PANELS,
    )


def energies(
    records: Sequence[Record],
    restarts: Sequence[Restart],
    *,
    smoothing: float,
    from_groups: bool = False,
    judged: bool = True,
    x: Along = "epoch",
) -> Picture:
    """Return the energy curves of all restarts.

    Parameters
    ----------
    records : sequence of Record
    restarts : sequence of Restart
        Empty while the training runs.
    smoothing : float in [0, 1)
    from_groups : bool
        Whether training started from groups of learners, where curves hardly move.
    judged : bool
        Whether it is known what good curves look like; see `deem_core.training.alarms.curves_judged`.
    x : "epoch", "update" or "second"
    """
    good = "all restarts fall together and their difference comes back towards zero"
    if from_groups:
        good = (
            "energies stay near where they begin and their difference near zero, since training starts from a model "
            "that fits"
        )
    reading = f"**Good:** {good}. **Bad:** a curve that leaves the others, or rises."
    if not judged:
        reading = (
            "The hidden votes are drawn anew in every update, and what good curves of their energies look like is not "
            "known. So these are shown but not judged; a rise is no reason for alarm."
        )
    dotted = "" if all(restart.kept for restart in restarts) else " Dashed in red: left out of the answer."
    return Picture(
        question="Do the restarts learn?",
        draw=lambda theme: draw_energies.energy_panels(
            curves_of_records(records, restarts=restarts, x=x), ordered=False, smoothing=smoothing, x=x, theme=theme
        ),
        alt="Three panels: positive energy, negative energy and their difference for every restart.",
        caption=f"{reading}{dotted}{_second_training(restarts)}",
        min_width=PANELS,
    )


def run_energies(
    runs: Mapping[str, tuple[Sequence[Record], Sequence[Restart]]], *, smoothing: float, x: Along = "epoch"
) -> Picture:
    """Return the energy curves of several trainings; see `deem_core.figures.run_panels`."""
    return Picture(
        question="Which run learns differently?",
        draw=lambda theme: run_panels(runs, smoothing=smoothing, x=x, theme=theme),
        alt="Three panels: positive energy, negative energy and their difference, one line for each run.",
        caption=(
            "Each line is the mean of a run's kept restarts. Compare the differences, and the shapes of the "
            "energies; their heights can be compared only between runs of the same model."
        ),
        min_width=PANELS,
    )


def _second_training(restarts: Sequence[Restart]) -> str:
    """Return which restarts had near-copies merged, after two trainings."""
    second = next((number for number, restart in enumerate(restarts, start=1) if restart.training), None)
    if second is None:
        return ""
    return (
        f" Restarts from {second} on were trained with each group of near-copies counted once: another model, so "
        "their energies differ."
    )


def shares_over_time(records: Sequence[Record], classes: Sequence[Any], majority_shares: ArrayLike) -> Picture:
    """Return what each class keeps of its share while training."""
    return Picture(
        question="Does every class survive the training?",
        draw=lambda theme: draw_training.shares_over_time(records, classes, majority_shares, theme=theme),
        alt="Lines: the predicted share of each class while training.",
        caption="**Bad:** a line that falls to zero: that class is dying.",
        min_width=560,
    )


def sampler_health(records: Sequence[Record]) -> Picture:
    """Return the acceptance and the moves of the sampler."""
    return Picture(
        question="Does the sampler move?",
        draw=lambda theme: draw_training.sampler_health(records, theme=theme),
        alt="Lines: how many proposals are accepted and how many votes the chains move.",
        caption="**Good:** both within the shaded bands. **Bad:** acceptance near zero, or chains that never move.",
        min_width=640,
    )
