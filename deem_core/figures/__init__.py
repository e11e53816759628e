"""Figures: numbers in, Plotly pictures out, for a light and a dark background."""

from deem_core.figures.agreement import agreement_heatmap, agreement_histogram
from deem_core.figures.coverage import accuracy_bars, coverage_bars
from deem_core.figures.curves import Curve, curves_of_records, curves_of_sweep
from deem_core.figures.energy import energy_panels
from deem_core.figures.labels import class_shares, confidence_histogram, label_changes
from deem_core.figures.methods import accuracy_intervals, class_differences, restart_agreement
from deem_core.figures.shapes import shapes
from deem_core.figures.training import sampler_health, shares_over_time
from deem_core.figures.votes import votes_per_class

__all__ = [
    "Curve",
    "accuracy_bars",
    "accuracy_intervals",
    "agreement_heatmap",
    "agreement_histogram",
    "class_differences",
    "class_shares",
    "confidence_histogram",
    "coverage_bars",
    "curves_of_records",
    "curves_of_sweep",
    "energy_panels",
    "label_changes",
    "restart_agreement",
    "sampler_health",
    "shapes",
    "shares_over_time",
    "votes_per_class",
]
