"""Figures: Plotly drawings of numbers, for a light and a dark background.

Functions here draw; `deem_core.figures.pictures` has every picture of the app, with its question and words.
"""

from plotly.graph_objects import Figure

from deem_core.figures._axes import MOST_LEARNERS
from deem_core.figures._cells import written_width
from deem_core.figures._names import bar_names
from deem_core.figures.agreement import agreement_heatmap, agreement_histogram
from deem_core.figures.answer import class_shares, confidence_histogram, label_changes
from deem_core.figures.certainty import recovery_scatter, reliability_curve_figure, selective_accuracy_curve
from deem_core.figures.class_bars import class_coverage_bars
from deem_core.figures.comparison import accuracy_intervals, class_differences
from deem_core.figures.confusion import confusion_matrix, confusion_pair
from deem_core.figures.correlation import correlation_heatmap, dependence_summary
from deem_core.figures.curves import Along, Curve, curves_of_records, curves_of_sweep
from deem_core.figures.dependence import dependence_grid
from deem_core.figures.energies import energy_panels
from deem_core.figures.expert_finder import influence_heatmap
from deem_core.figures.groups import group_tree
from deem_core.figures.influence import influence_bars, influence_panels
from deem_core.figures.learner_bars import accuracy_bars, coverage_bars
from deem_core.figures.marks import MOST_MARKS, has_numbers, numbers
from deem_core.figures.picture import Cells, Picture, plotly_code
from deem_core.figures.referee import grouped_likelihood
from deem_core.figures.rules import rule_bars
from deem_core.figures.run_curves import curve_of_run, run_panels
from deem_core.figures.shapes import shapes
from deem_core.figures.training import sampler_health, shares_over_time
from deem_core.figures.trust import trust_scatter
from deem_core.figures.votes import votes_per_class
from deem_core.figures.why import why_bars

__all__ = [
    "MOST_LEARNERS",
    "MOST_MARKS",
    "Along",
    "Cells",
    "Curve",
    "Figure",
    "Picture",
    "accuracy_bars",
    "accuracy_intervals",
    "agreement_heatmap",
    "agreement_histogram",
    "bar_names",
    "class_coverage_bars",
    "class_differences",
    "class_shares",
    "confidence_histogram",
    "confusion_matrix",
    "confusion_pair",
    "correlation_heatmap",
    "coverage_bars",
    "curve_of_run",
    "curves_of_records",
    "curves_of_sweep",
    "dependence_grid",
    "dependence_summary",
    "energy_panels",
    "group_tree",
    "grouped_likelihood",
    "has_numbers",
    "influence_bars",
    "influence_heatmap",
    "influence_panels",
    "label_changes",
    "numbers",
    "plotly_code",
    "recovery_scatter",
    "reliability_curve_figure",
    "rule_bars",
    "run_panels",
    "sampler_health",
    "selective_accuracy_curve",
    "shapes",
    "shares_over_time",
    "trust_scatter",
    "votes_per_class",
    "why_bars",
    "written_width",
]
