"""Pictures of the app and the report, made from domain objects."""

from deem_core.figures.pictures.answer import class_shares, confidence, evaluation, label_changes, review_budget
from deem_core.figures.pictures.dependence import correlation, dependence, dependence_over_layers
from deem_core.figures.pictures.examples import (
    example_dependence,
    example_influence,
    example_methods,
    example_rates,
    example_training,
)
from deem_core.figures.pictures.groups import group_opinion, group_tree, learner_in_group
from deem_core.figures.pictures.learners import (
    calibration,
    confusion,
    experts,
    influence,
    influence_of_classes,
    influence_of_groups,
    influence_where_overruled,
    selective_accuracy,
    trust,
    why,
)
from deem_core.figures.pictures.methods import agreement_with_most, class_differences, method_accuracy, method_agreement
from deem_core.figures.pictures.panel import class_coverage, shared_mistakes
from deem_core.figures.pictures.scorecards import scorecard
from deem_core.figures.pictures.training import (
    energies,
    run_energies,
    sampler_health,
    shapes,
    shares_over_time,
    sweep_energies,
    sweep_grouped,
)
from deem_core.figures.pictures.votes import (
    coverage,
    learner_accuracy,
    pair_agreement,
    position_bias,
    row_agreement,
    rules,
    votes_per_class,
    votes_per_label,
)

__all__ = [
    "agreement_with_most",
    "calibration",
    "class_coverage",
    "class_differences",
    "class_shares",
    "confidence",
    "confusion",
    "correlation",
    "coverage",
    "dependence",
    "dependence_over_layers",
    "energies",
    "evaluation",
    "example_dependence",
    "example_influence",
    "example_methods",
    "example_rates",
    "example_training",
    "experts",
    "group_opinion",
    "group_tree",
    "influence",
    "influence_of_classes",
    "influence_of_groups",
    "influence_where_overruled",
    "label_changes",
    "learner_accuracy",
    "learner_in_group",
    "method_accuracy",
    "method_agreement",
    "pair_agreement",
    "position_bias",
    "review_budget",
    "row_agreement",
    "rules",
    "run_energies",
    "sampler_health",
    "scorecard",
    "selective_accuracy",
    "shapes",
    "shared_mistakes",
    "shares_over_time",
    "sweep_energies",
    "sweep_grouped",
    "trust",
    "votes_per_class",
    "votes_per_label",
    "why",
]
