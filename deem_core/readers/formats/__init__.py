"""Formats of other programs, read as columns of text."""
