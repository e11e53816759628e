"""Ensembles that no model explains, and attempts to answer them better than the majority vote."""
