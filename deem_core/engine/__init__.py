"""Engine: where independent pieces of work run, here or on a cluster."""

from deem_core.engine.choice import ENGINE_VARIABLE, LOCAL, check_wish, engine_of, stays_here, wish_of
from deem_core.engine.contract import Crew, Done, Engine, Node, Told, Work
from deem_core.engine.local import Local, cores

__all__ = [
    "ENGINE_VARIABLE",
    "LOCAL",
    "Crew",
    "Done",
    "Engine",
    "Local",
    "Node",
    "Told",
    "Work",
    "check_wish",
    "cores",
    "engine_of",
    "stays_here",
    "wish_of",
]
