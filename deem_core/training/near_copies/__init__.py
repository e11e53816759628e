"""Near-copy guard: cliques of learners that vote alike get one voice.

Training is captured by a few near-copies of one learner, even of a random one. `guard` finds cliques by the
conditional kappa of every pair, collapses the tight ones into their own majority vote, and offers a second
table in which the loose ones are collapsed too, for a hedge.
"""

from deem_core.groups.cliques import CUT, TIGHT, Clique, find_cliques
from deem_core.groups.kappa import conditional_kappa
from deem_core.groups.reduction import Reduction
from deem_core.training.near_copies.guard import GuardPlan, guard

__all__ = ["CUT", "TIGHT", "Clique", "GuardPlan", "Reduction", "conditional_kappa", "find_cliques", "guard"]
