"""Simulate: the paper's synthetic ensembles, made with their truth and the exact parameters behind them.

Makers (`condind`, `tree`, `ampdata`, `families`, `crowd`) draw an `Ensemble`; changers (`copies_with_noise`,
`with_experts`, `random_learners`, `drop_votes`, `soften`, `relabel`) turn one into another; `make` and
`build` do both by name, for the command line. Everything random comes from the ``rng`` handed in.
"""

from deem_core.simulate.byname import EXPERT_CLASSES, MAKERS, N_FAMILIES, build, make
from deem_core.simulate.changes import copies_with_noise, drop_votes, random_learners, relabel, soften, with_experts
from deem_core.simulate.ensemble import Ensemble
from deem_core.simulate.makers import ampdata, condind, crowd, families, tree

__all__ = [
    "EXPERT_CLASSES",
    "MAKERS",
    "N_FAMILIES",
    "Ensemble",
    "ampdata",
    "build",
    "condind",
    "copies_with_noise",
    "crowd",
    "drop_votes",
    "families",
    "make",
    "random_learners",
    "relabel",
    "soften",
    "tree",
    "with_experts",
]
