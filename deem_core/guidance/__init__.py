"""Guidance: from energy curves to a verdict per learning rate, depth or restart, and from verdicts to a recommendation.

`judge_curves` judges, `recommend` and `recommend_depth` choose, `judge_restarts` watches the restarts of one rate.
Pure functions of curves: nothing here trains, and no truth is read.
"""

from deem_core.guidance.curves import SMOOTHING, judge_curves, latest, smooth
from deem_core.guidance.recommend import FLOOR, NOTHING, Recommendation, recommend, recommend_depth, unlucky_start
from deem_core.guidance.restarts import RestartsJudged, judge_restarts
from deem_core.guidance.verdicts import REJECTED, Kind, Numbers, Shown, Verdict

__all__ = [
    "FLOOR",
    "NOTHING",
    "REJECTED",
    "SMOOTHING",
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
    "unlucky_start",
]
