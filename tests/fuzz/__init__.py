"""Fuzzing: files that are nearly right, and what comes of them.

``python -m tests.fuzz`` (or ``make fuzz``) makes any number of them; docs/development.md says more.
"""
