"""Agreement figures of a panel: Krippendorff's α and Fleiss' κ, with intervals.

Both ask how much less the votes of a row differ than votes of different rows do: 1 is perfect agreement, 0 is what
chance alone would give. Neither needs the truth, and neither says who is right: copies agree perfectly.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np
from scipy.special import ndtri

from deem_core.text import DASH, count, listing
from deem_core.typing import Codes, Floats
from deem_core.votes import NO_VOTE, Votes
from deem_core.votes.arrays import chunks
from deem_core.votes.intervals import LEVEL, exact

Name = Literal["alpha_nominal", "alpha_ordinal", "alpha_interval", "fleiss_kappa"]

TITLES: dict[Name, str] = {
    "alpha_nominal": "Krippendorff's α",
    "alpha_ordinal": "Krippendorff's α, ordinal",
    "alpha_interval": "Krippendorff's α, interval",
    "fleiss_kappa": "Fleiss' κ",
}
"""What people call each figure, in the order in which they are shown."""

SCALE_CLASSES = 3
"""Classes from which an order matters: with two every order tells the same."""

_CELLS = 1 << 20  # votes looked at at once


@dataclass(frozen=True)
class Coefficient:
    """One figure of agreement with its 95% interval over rows.

    Attributes
    ----------
    name, title : str
    value, low, high : float, optional
        None where it is not defined.
    reason : str
        Why there is none; empty otherwise.
    """

    name: Name
    title: str
    value: float | None
    low: float | None
    high: float | None
    reason: str = ""

    @property
    def text(self) -> str:
        """The figure in words: "0.743 (95% interval 0.55 to 0.85)"."""
        if self.value is None or self.low is None or self.high is None:
            return f"{DASH} ({self.reason})"
        return f"{self.value:.3f} (95% interval {_decimal(self.low, -1)} to {_decimal(self.high, 1)})"


@dataclass(frozen=True)
class Concordance:
    """Figures of agreement of a panel.

    Attributes
    ----------
    coefficients : tuple of Coefficient
        Nominal α and κ always, the ordinal and interval α only where the labels have an order.
    n_rows, n_votes : int
        Rows with two votes or more, which the figures rest on, and their votes.
    scale : tuple of str
        The labels in the order that was taken for a scale; empty where there is none.
    declared : bool
        Whether somebody said that they are a scale; else they only look like one.
    """

    coefficients: tuple[Coefficient, ...]
    n_rows: int
    n_votes: int
    scale: tuple[str, ...] = ()
    declared: bool = False

    def __getitem__(self, name: Name) -> Coefficient:
        """Return a figure by its name.

        Raises
        ------
        KeyError
            If it was not computed.
        """
        for each in self.coefficients:
            if each.name == name:
                return each
        raise KeyError(name)

    @property
    def sentence(self) -> str:
        """What the figures rest on, and the scale, if any."""
        rest = f"From {count(self.n_rows, 'row')} with two votes or more."
        if not self.scale:
            return rest
        if self.declared:
            kinds = [each for each in ("ordinal", "interval") if any(each in own.name for own in self.coefficients)]
            which, verb = " and ".join(kinds), "figures count" if len(kinds) > 1 else "figure counts"
            return f"{rest} The {which} {verb} how far apart labels are on the scale; the others, only if they differ."
        return f"{rest} Ordinal and interval figures mean something only if the labels are a scale: " + (
            f"{listing(self.scale, 6)}."
        )

    @property
    def text(self) -> str:
        """All figures in a line."""
        return "; ".join(f"{each.title} {each.text}" for each in self.coefficients)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        figures = {each.name: {**asdict(each), "text": each.text} for each in self.coefficients}
        return {
            "figures": figures,
            "n_rows": self.n_rows,
            "n_votes": self.n_votes,
            "scale": list(self.scale),
            "text": self.text,
        }


def concordance(votes: Votes, *, ordered: bool | None = None) -> Concordance:
    """Return the agreement figures of a panel.

    Computed on distinct rows with their counts, so that a million rows take what their patterns take. Intervals are
    those of the infinitesimal jackknife over rows on the scale of log(1 − figure), which no end leaves; no interval is
    narrower than a row's worth, and where no row disagrees, the lower end is that of the exact interval of the share of
    rows that do.

    Parameters
    ----------
    votes : Votes
    ordered : bool, optional
        Whether the classes, in their order, are a scale. By default they are if there are three or more, and either
        the votes say so (`Votes.ordered`) or all of them are numbers; interval figures need numbers in any case.

    Examples
    --------
    >>> from deem_core import Votes
    >>> from deem_core.votes.concordance import concordance
    >>> votes = Votes.from_labels([["a", "a", "a"], ["a", "b", "b"], ["b", "b", None], ["b", "b", "b"]])
    >>> round(concordance(votes)["alpha_nominal"].value, 3)
    0.642
    """
    rows = _Rows.of(votes)
    numbers = _numbers(votes)
    looks_like_one = votes.ordered or numbers is not None
    on_scale = votes.n_classes >= SCALE_CLASSES and (looks_like_one if ordered is None else ordered)
    found = [_alpha(rows, "alpha_nominal", None)]
    if on_scale:
        found.append(_alpha(rows, "alpha_ordinal", None))
        if numbers is not None:
            found.append(_alpha(rows, "alpha_interval", numbers))
    found.append(_fleiss(rows))
    scale = tuple(str(label) for label in votes.classes.tolist()) if on_scale else ()
    return Concordance(tuple(found), round(rows.n), round(float(rows.counts @ rows.cast)), scale, votes.ordered)


def _numbers(votes: Votes) -> Floats | None:
    """Return the values of the classes, (K,); None unless all are numbers."""
    if votes.classes.dtype.kind == "b":
        return None
    try:
        values = np.array([float(label) for label in votes.classes.tolist()])
    except ValueError:
        return None
    return values if np.isfinite(values).all() else None


# ---------------------------------------------------------------------- rows


@dataclass(frozen=True, eq=False)
class _Rows:
    """Distinct rows with at least two votes.

    Attributes
    ----------
    codes : (u, d)
    counts : (u,) rows that each stands for
    cast : (u,) votes of each, m
    squares : (u,) Σ_c n_c², with n_c of its votes for class c
    totals : (K,) votes for each class in all rows
    """

    codes: Codes
    counts: Floats
    cast: Floats
    squares: Floats
    totals: Floats

    @classmethod
    def of(cls, votes: Votes) -> _Rows:
        """Return the rows of votes."""
        distinct = votes.distinct
        cast = (distinct.codes != NO_VOTE).sum(axis=1)
        paired = cast >= 2
        codes, counts = distinct.codes[paired], distinct.counts[paired].astype(np.float64)
        totals = np.zeros(votes.n_classes)
        for learner in codes.T:
            totals += np.bincount(learner + 1, counts, minlength=votes.n_classes + 1)[1:]
        squares = np.concatenate([np.zeros(0), *(_squares(codes[part]) for part in _parts(codes))])
        return cls(codes, counts, cast[paired].astype(np.float64), squares, totals)

    @property
    def n(self) -> float:
        """Rows that all of these stand for."""
        return float(self.counts.sum())

    def sums(self, values: Floats) -> Floats:
        """Return Σ over a row's votes of a value of their class, (u,)."""
        padded, total = np.append(values, 0.0), np.zeros(len(self.codes))  # a missing vote, -1, looks at the last
        for part in _parts(self.codes):
            for learner in self.codes[part].T:
                total[part] += padded[learner]
        return total


def _parts(codes: Codes) -> Iterator[slice]:
    return chunks(len(codes), _CELLS // max(codes.shape[1], 1))


def _squares(codes: Codes) -> Floats:
    """Return Σ_c n_c² of rows, (b,): votes in order, a run of r votes adds 1 + 3 + … + (2r − 1)."""
    ordered = np.ascontiguousarray(np.sort(codes, axis=1).T)  # (d, b)
    total, run = np.zeros(len(codes)), np.zeros(len(codes))
    previous = np.full(len(codes), NO_VOTE)
    for vote in ordered:
        run = np.where(vote == previous, run + 1, 1) * (vote != NO_VOTE)
        total += np.maximum(2 * run - 1, 0)
        previous = vote
    return total


# ---------------------------------------------------------------------- Krippendorff's α


def _alpha(rows: _Rows, name: Name, numbers: Floats | None) -> Coefficient:
    """Return α = 1 − (N − 1) Σ o_ck δ²_ck / Σ n_c n_k δ²_ck.

    o is the coincidence matrix, in which a row of m votes counts each of its ordered pairs 1 / (m − 1); n_c are its
    margins and N their sum. δ² is 1 for different classes (nominal), or the squared distance of ``numbers`` or of the
    middle ranks Σ_{g<c} n_g + n_c / 2 (ordinal), which depend on the margins themselves.
    """
    totals, N = rows.totals, float(rows.totals.sum())
    if name == "alpha_nominal":
        inside = (rows.cast**2 - rows.squares) / (rows.cast - 1)  # Σ o δ² of each row
        expected = N**2 - float((totals**2).sum())
        slope = 2 * (N - totals)  # of the expected sum, by margin
        through_ranks = np.zeros_like(totals)
    else:
        values = np.cumsum(totals) - totals / 2 if numbers is None else numbers
        values = (values - values.mean()) / max(float(np.abs(values).max()), 1.0)  # δ² may be scaled; sums stay exact
        one, two = rows.sums(values), rows.sums(values**2)
        inside = np.maximum(2 * (rows.cast * two - one**2) / (rows.cast - 1), 0)
        first, second = float(totals @ values), float(totals @ values**2)
        expected = 2 * (N * second - first**2)
        slope = 2 * (N * values**2 - 2 * first * values + second)
        through_ranks = np.zeros_like(totals)
        if numbers is None:
            through_ranks = _through_ranks(rows, values, expected)
    observed = float(rows.counts @ inside)
    if reason := _undefined(rows, expected):
        return _none(name, reason)
    ratio = (N - 1) * observed / expected  # 1 − α
    if observed == 0:
        return _unanimous(rows, name, N**2 / max(float(N**2 - (totals**2).sum()), 1e-300))
    # What a row more would add to log(1 − α).
    moved = rows.cast / (N - 1) + inside / observed + rows.sums(through_ranks - slope / expected)
    return _coefficient(rows, name, ratio, moved)


def _through_ranks(rows: _Rows, values: Floats, expected: float) -> Floats:
    """Return what moved ranks add to log(Σ o δ² / Σ n n δ²), (K,).

    One value for a vote more for each class.
    """
    totals = rows.totals
    sums = rows.sums(values)
    K = len(totals)
    other = np.zeros(K)  # Σ_k o_ck (v_c − v_k), by class
    observed = 0.0
    for part in _parts(rows.codes):
        codes, cast = rows.codes[part], rows.cast[part, None]
        own = np.append(values, 0.0)[codes]
        gap = (cast * own - sums[part, None]) / (cast - 1) * rows.counts[part, None]
        there = codes != NO_VOTE
        other += np.bincount(codes[there], gap[there], minlength=K)
        observed += float((gap * own)[there].sum()) * 2
    by_value_observed = 4 * other
    by_value_expected = 4 * totals * (totals.sum() * values - float(totals @ values))
    by_value = by_value_observed / observed - by_value_expected / expected if observed and expected else other * 0
    by_value /= max(_rank_scale(totals), 1.0)
    later = by_value.sum() - np.cumsum(by_value)  # a vote for c moves later classes by 1 and c itself by ½
    return np.asarray(later + by_value / 2)


def _rank_scale(totals: Floats) -> float:
    ranks = np.cumsum(totals) - totals / 2
    return float(np.abs(ranks).max())


# ---------------------------------------------------------------------- Fleiss' κ


def _fleiss(rows: _Rows) -> Coefficient:
    """Return Fleiss' κ, where rows may have different numbers of votes.

    κ = (P − P_e) / (1 − P_e): P is the mean over rows of the share of pairs of votes that agree, and P_e = Σ_k π_k²
    with π_k the mean over rows of the share of votes for k (Gwet 2014). With equally many votes in all rows it is
    Fleiss' own.
    """
    if not rows.n:
        return _none("fleiss_kappa", _undefined(rows, 0.0))
    weights = rows.counts / rows.n
    agreeing = (rows.squares - rows.cast) / (rows.cast * (rows.cast - 1))
    mean = float(weights @ agreeing)
    shares = np.zeros(len(rows.totals))
    per_vote = weights / rows.cast
    for learner in rows.codes.T:
        shares += np.bincount(learner + 1, per_vote, minlength=len(shares) + 1)[1:]
    chance = float((shares**2).sum())
    if reason := _undefined(rows, 0.0 if (shares > 0).sum() < 2 else 1.0):
        return _none("fleiss_kappa", reason)
    if mean >= 1:
        return _unanimous(rows, "fleiss_kappa", 1 / (1 - chance))
    ratio = (1 - mean) / (1 - chance)  # 1 − κ
    moved = -agreeing / (1 - mean) + 2 * rows.sums(shares) / rows.cast / (1 - chance)
    return _coefficient(rows, "fleiss_kappa", ratio, moved / rows.n)


# ---------------------------------------------------------------------- intervals


def _undefined(rows: _Rows, spread: float) -> str:
    """Return why a figure is not defined, if it is not."""
    if not rows.n:
        return "no row has two votes"
    return "" if spread > 0 else "all votes are for one class"


def _none(name: Name, reason: str) -> Coefficient:
    return Coefficient(name, TITLES[name], None, None, None, reason)


def _coefficient(rows: _Rows, name: Name, ratio: float, moved: Floats) -> Coefficient:
    """Return 1 − ratio with its interval.

    ``moved`` (u,) is what one row more of each kind adds to log(ratio).
    """
    if rows.n < 2:
        return Coefficient(name, TITLES[name], 1 - ratio, -1.0, 1.0)
    centred = moved - rows.counts @ moved / rows.n
    variance = max(float(rows.counts @ centred**2) * rows.n / (rows.n - 1), rows.n**-2)  # never without width
    z: Any = ndtri(0.5 + LEVEL / 2)
    wide = math.exp(min(z * math.sqrt(variance), 700.0))
    return Coefficient(name, TITLES[name], 1 - ratio, max(1 - ratio * wide, -1.0), 1 - ratio / wide)


def _unanimous(rows: _Rows, name: Name, scale: float) -> Coefficient:
    """Return 1 with the interval that rests on no row that disagrees."""
    share = float(exact(0, rows.n)[1])
    return Coefficient(name, TITLES[name], 1.0, max(1 - share * scale, -1.0), 1.0)


def _decimal(value: float, side: int) -> str:
    """Return the end of an interval with two decimals, rounded outwards."""
    scaled = value * 100
    return f"{(math.floor(scaled + 1e-9) if side < 0 else math.ceil(scaled - 1e-9)) / 100:.2f}"
