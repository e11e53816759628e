"""Diagnostics: what can be known about votes, models and labels, as plain numbers; nothing here draws."""
