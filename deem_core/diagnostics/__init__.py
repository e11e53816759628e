"""Diagnostics: numbers about votes and fitted models.

Names are imported when they are used, so that looking at votes costs little; torch is loaded only when a model is
asked. `checkup` comes at once, because its package has the same name.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from deem_core.diagnostics.checkup import Finding, checkup, unused_probabilities

if TYPE_CHECKING:
    from deem_core.answers.review import Queue, review_queue, review_reasons
    from deem_core.diagnostics.calibration import (
        ReliabilityCurve,
        Temperature,
        fit_temperature,
        reliability_curve,
        selective_accuracy,
    )
    from deem_core.diagnostics.certainty import restart_support
    from deem_core.diagnostics.confusion import (
        Confusion,
        Recovery,
        estimated_confusion,
        exact_confusion,
        real_confusion,
        recovery,
    )
    from deem_core.diagnostics.disentanglement import Dependence, dependence
    from deem_core.diagnostics.evaluation import Evaluation, evaluate
    from deem_core.diagnostics.experts import Expert, clearest_experts
    from deem_core.diagnostics.groups import GroupTree, group_tree
    from deem_core.diagnostics.influence import CLASS_ROWS, Importance, importance
    from deem_core.diagnostics.inspection import Inspection, inspect
    from deem_core.diagnostics.layer_dependence import DependentPair
    from deem_core.diagnostics.panel import true_effective_votes
    from deem_core.diagnostics.reasons import Why, why
    from deem_core.diagnostics.reliability import (
        Correlation,
        Reliability,
        correlation,
        estimated_reliability,
        real_reliability,
    )
    from deem_core.diagnostics.rows import RowFilter, RowTable
    from deem_core.diagnostics.rules import Rule, RuleTable, find_rules, rule_table
    from deem_core.diagnostics.scorecards import Flag, Scorecard, scorecard
    from deem_core.diagnostics.unanimity import Overruled, overruled_rows
    from deem_core.groups.panel import PanelHealth, panel_health
    from deem_core.votes.concordance import Coefficient, Concordance, concordance

__all__ = [
    "CLASS_ROWS",
    "Coefficient",
    "Concordance",
    "Confusion",
    "Correlation",
    "Dependence",
    "DependentPair",
    "Evaluation",
    "Expert",
    "Finding",
    "Flag",
    "GroupTree",
    "Importance",
    "Inspection",
    "Overruled",
    "PanelHealth",
    "Queue",
    "Recovery",
    "Reliability",
    "ReliabilityCurve",
    "RowFilter",
    "RowTable",
    "Rule",
    "RuleTable",
    "Scorecard",
    "Temperature",
    "Why",
    "checkup",
    "clearest_experts",
    "concordance",
    "correlation",
    "dependence",
    "estimated_confusion",
    "estimated_reliability",
    "evaluate",
    "exact_confusion",
    "find_rules",
    "fit_temperature",
    "group_tree",
    "importance",
    "inspect",
    "overruled_rows",
    "panel_health",
    "real_confusion",
    "real_reliability",
    "recovery",
    "reliability_curve",
    "restart_support",
    "review_queue",
    "review_reasons",
    "rule_table",
    "scorecard",
    "selective_accuracy",
    "true_effective_votes",
    "unused_probabilities",
    "why",
]

_HOMES = {
    "CLASS_ROWS": "deem_core.diagnostics.influence",
    "Queue": "deem_core.answers.review",
    "review_queue": "deem_core.answers.review",
    "review_reasons": "deem_core.answers.review",
    "ReliabilityCurve": "deem_core.diagnostics.calibration",
    "Coefficient": "deem_core.votes.concordance",
    "Concordance": "deem_core.votes.concordance",
    "Confusion": "deem_core.diagnostics.confusion",
    "Correlation": "deem_core.diagnostics.reliability",
    "Dependence": "deem_core.diagnostics.disentanglement",
    "DependentPair": "deem_core.diagnostics.layer_dependence",
    "Evaluation": "deem_core.diagnostics.evaluation",
    "Expert": "deem_core.diagnostics.experts",
    "Flag": "deem_core.diagnostics.scorecards",
    "GroupTree": "deem_core.diagnostics.groups",
    "group_tree": "deem_core.diagnostics.groups",
    "Importance": "deem_core.diagnostics.influence",
    "Inspection": "deem_core.diagnostics.inspection",
    "Overruled": "deem_core.diagnostics.unanimity",
    "PanelHealth": "deem_core.groups.panel",
    "Recovery": "deem_core.diagnostics.confusion",
    "Reliability": "deem_core.diagnostics.reliability",
    "RowFilter": "deem_core.diagnostics.rows",
    "RowTable": "deem_core.diagnostics.rows",
    "Rule": "deem_core.diagnostics.rules",
    "RuleTable": "deem_core.diagnostics.rules",
    "Scorecard": "deem_core.diagnostics.scorecards",
    "Temperature": "deem_core.diagnostics.calibration",
    "Why": "deem_core.diagnostics.reasons",
    "clearest_experts": "deem_core.diagnostics.experts",
    "concordance": "deem_core.votes.concordance",
    "correlation": "deem_core.diagnostics.reliability",
    "dependence": "deem_core.diagnostics.disentanglement",
    "estimated_confusion": "deem_core.diagnostics.confusion",
    "estimated_reliability": "deem_core.diagnostics.reliability",
    "evaluate": "deem_core.diagnostics.evaluation",
    "exact_confusion": "deem_core.diagnostics.confusion",
    "find_rules": "deem_core.diagnostics.rules",
    "fit_temperature": "deem_core.diagnostics.calibration",
    "rule_table": "deem_core.diagnostics.rules",
    "importance": "deem_core.diagnostics.influence",
    "inspect": "deem_core.diagnostics.inspection",
    "overruled_rows": "deem_core.diagnostics.unanimity",
    "panel_health": "deem_core.groups.panel",
    "real_confusion": "deem_core.diagnostics.confusion",
    "real_reliability": "deem_core.diagnostics.reliability",
    "recovery": "deem_core.diagnostics.confusion",
    "reliability_curve": "deem_core.diagnostics.calibration",
    "restart_support": "deem_core.diagnostics.certainty",
    "scorecard": "deem_core.diagnostics.scorecards",
    "selective_accuracy": "deem_core.diagnostics.calibration",
    "true_effective_votes": "deem_core.diagnostics.panel",
    "why": "deem_core.diagnostics.reasons",
}


def __getattr__(name: str) -> Any:
    """Import a name from its module."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)
