"""Near-copy guard: find learners that vote alike for no good reason, and give each such clique one voice.

Training is captured by a few near-copies of one learner, even of a random one. `guard` finds cliques by the
conditional kappa of every pair, collapses the tight ones into their own majority vote, and offers a second
table in which the loose ones are collapsed too, for a hedge.
"""

from deem_core.copies.cliques import CUT, TIGHT, Clique, find_cliques
from deem_core.copies.guard import GuardPlan, guard
from deem_core.copies.kappa import conditional_kappa
from deem_core.copies.reduction import Reduction, reduce

__all__ = ["CUT", "TIGHT", "Clique", "GuardPlan", "Reduction", "conditional_kappa", "find_cliques", "guard", "reduce"]
