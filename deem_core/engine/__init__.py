"""Engine: where independent pieces of work run, here or on a cluster."""

from deem_core.engine.choice import (
    CLUSTER,
    ENGINE_VARIABLE,
    LOCAL,
    check_wish,
    engine_of,
    place_in_words,
    stays_here,
    survey,
    wish_of,
)
from deem_core.engine.contract import Crew, Done, Engine, Node, Survey, Told, Work
from deem_core.engine.local import Local, cores, threads

__all__ = [
    "CLUSTER",
    "ENGINE_VARIABLE",
    "LOCAL",
    "Crew",
    "Done",
    "Engine",
    "Local",
    "Node",
    "Survey",
    "Told",
    "Work",
    "check_wish",
    "cores",
    "engine_of",
    "place_in_words",
    "stays_here",
    "survey",
    "threads",
    "wish_of",
]
