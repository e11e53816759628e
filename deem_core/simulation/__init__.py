"""Simulation of the paper's ensembles, with truth and exact parameters.

Makers (`condind`, `tree`, `ampdata`, `families`, `crowd`, `rules`) draw an `Ensemble`; changers (`copies_with_noise`,
`with_experts`, `random_learners`, `drop_votes`, `soften`, `relabel`) turn one into another; `make` and
`simulate` do both by name, for the command line. Everything random comes from the ``rng`` handed in.
"""

from deem_core.simulation.changes import copies_with_noise, drop_votes, random_learners, relabel, soften, with_experts
from deem_core.simulation.ensemble import Ensemble
from deem_core.simulation.makers import ampdata, condind, crowd, families, rules, tree
from deem_core.simulation.presets import EXPERT_CLASSES, MAKERS, N_FAMILIES, make, simulate

__all__ = [
    "EXPERT_CLASSES",
    "MAKERS",
    "N_FAMILIES",
    "Ensemble",
    "ampdata",
    "condind",
    "copies_with_noise",
    "crowd",
    "drop_votes",
    "families",
    "make",
    "random_learners",
    "relabel",
    "rules",
    "simulate",
    "soften",
    "tree",
    "with_experts",
]
