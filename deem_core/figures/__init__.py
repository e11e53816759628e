"""Figures: numbers in, Plotly pictures out, for a light and a dark background."""

from deem_core.figures.agreement import agreement_heatmap, agreement_histogram
from deem_core.figures.coverage import accuracy_bars, coverage_bars
from deem_core.figures.votes import votes_per_class

__all__ = ["accuracy_bars", "agreement_heatmap", "agreement_histogram", "coverage_bars", "votes_per_class"]
