"""Guidance: energy curves to verdicts, verdicts to a recommendation.

`judge_curves` judges, `recommend` and `recommend_depth` choose, `so_far` holds back what is too early to say,
`judge_restarts` watches the restarts of one rate. Pure functions of curves: nothing here trains, and no truth is read.
"""

from deem_core.training.guidance.judge import (
    BEHIND,
    EXPLOSION,
    NOISE,
    RISE,
    SMOOTHING,
    TAIL,
    RestartsJudged,
    judge_curves,
    judge_restarts,
    latest,
    smooth,
)
from deem_core.training.guidance.provisional import CERTAIN, EARLIEST, FIRM, LED, NOT_ENOUGH, so_far
from deem_core.training.guidance.recommend import (
    NOTHING,
    PREFERRED,
    RULE,
    THRESHOLDS,
    TIMES,
    WORTH,
    Recommendation,
    recommend,
    recommend_depth,
    unlucky_start,
)
from deem_core.training.guidance.verdicts import REJECTED, Kind, Numbers, Shown, Verdict

__all__ = [
    "BEHIND",
    "CERTAIN",
    "EARLIEST",
    "EXPLOSION",
    "FIRM",
    "LED",
    "NOISE",
    "NOTHING",
    "NOT_ENOUGH",
    "PREFERRED",
    "REJECTED",
    "RISE",
    "RULE",
    "SMOOTHING",
    "TAIL",
    "THRESHOLDS",
    "TIMES",
    "WORTH",
    "Kind",
    "Numbers",
    "Recommendation",
    "RestartsJudged",
    "Shown",
    "Verdict",
    "judge_curves",
    "judge_restarts",
    "latest",
    "recommend",
    "recommend_depth",
    "smooth",
    "so_far",
    "unlucky_start",
]
