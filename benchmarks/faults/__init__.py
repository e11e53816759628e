"""Faults on purpose: damaged files, killed processes, disks that refuse."""
