"""Formats of other programs: from bytes, folders and frames to columns of text."""
