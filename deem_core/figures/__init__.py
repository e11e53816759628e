"""Figures: numbers in, Plotly pictures out, for a light and a dark background."""

from plotly.graph_objects import Figure

from deem_core.figures.agreement import agreement_heatmap, agreement_histogram
from deem_core.figures.bars import MOST_LEARNERS
from deem_core.figures.confidence_curves import recovery_scatter, reliability_curve_figure, selective_accuracy_curve
from deem_core.figures.confusion import confusion_matrix, confusion_pair
from deem_core.figures.coverage import accuracy_bars, coverage_bars
from deem_core.figures.curves import Curve, curves_of_records, curves_of_sweep
from deem_core.figures.dependence import dependence_grid
from deem_core.figures.energy import energy_panels
from deem_core.figures.experts import influence_heatmap
from deem_core.figures.importance import influence_bars, influence_panels
from deem_core.figures.labels import class_shares, confidence_histogram, label_changes
from deem_core.figures.methods import accuracy_intervals, class_differences, restart_agreement
from deem_core.figures.panels import asking
from deem_core.figures.shapes import shapes
from deem_core.figures.together import correlation_heatmap, dependence_summary
from deem_core.figures.training import sampler_health, shares_over_time
from deem_core.figures.trust import trust_scatter
from deem_core.figures.votes import votes_per_class
from deem_core.figures.why import why_bars

__all__ = [
    "MOST_LEARNERS",
    "Curve",
    "Figure",
    "accuracy_bars",
    "accuracy_intervals",
    "agreement_heatmap",
    "agreement_histogram",
    "asking",
    "class_differences",
    "class_shares",
    "confidence_histogram",
    "confusion_matrix",
    "confusion_pair",
    "correlation_heatmap",
    "coverage_bars",
    "curves_of_records",
    "curves_of_sweep",
    "dependence_grid",
    "dependence_summary",
    "energy_panels",
    "influence_bars",
    "influence_heatmap",
    "influence_panels",
    "label_changes",
    "recovery_scatter",
    "reliability_curve_figure",
    "restart_agreement",
    "sampler_health",
    "selective_accuracy_curve",
    "shapes",
    "shares_over_time",
    "trust_scatter",
    "votes_per_class",
    "why_bars",
]
