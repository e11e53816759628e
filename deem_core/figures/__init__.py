"""Figures: numbers in, Plotly pictures out, for a light and a dark background."""

from deem_core.figures.votes import votes_per_class

__all__ = ["votes_per_class"]
