"""Make topics_multilabel.csv: six annotators name the topics of 300 short news items.

Usage: python sample_data/make_topics.py [-o FILE]
"""

import argparse
import csv
from pathlib import Path

import numpy as np

TOPICS = ("economy", "health", "politics", "science", "sport")
SHARES = np.array([0.35, 0.25, 0.4, 0.2, 0.15])
ANNOTATORS = {  # share of the topics that each sees, and of those it names by mistake
    "annotator_amy": (0.95, 0.03),
    "annotator_bo": (0.7, 0.02),
    "annotator_cy": (0.9, 0.15),
    "annotator_di": (0.65, 0.04),
    "annotator_ed": (0.6, 0.05),
    "annotator_flo": (0.5, 0.3),
}
ROWS, MISSING = 300, 0.15


def main() -> None:
    """Write the file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-o", "--output", default=Path(__file__).with_name("topics_multilabel.csv"), type=Path)
    target = parser.parse_args().output
    rng = np.random.default_rng(11)
    truth = rng.random((ROWS, len(TOPICS))) < SHARES
    bare = ~truth.any(axis=1)
    truth[bare, rng.integers(0, len(TOPICS), bare.sum())] = True
    seen, invented = np.array(list(ANNOTATORS.values())).T
    chance = np.where(truth[:, None], seen[None, :, None], invented[None, :, None])
    named = rng.random((ROWS, len(ANNOTATORS), len(TOPICS))) < chance
    absent = rng.random((ROWS, len(ANNOTATORS))) < MISSING
    with target.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(["item", *ANNOTATORS, "label"])
        for n in range(ROWS):
            cells = ["" if gone else spelled(topics) for topics, gone in zip(named[n], absent[n], strict=True)]
            writer.writerow([f"item_{n + 1}", *cells, spelled(truth[n])])


def spelled(chosen: np.ndarray) -> str:
    """Return topics as a cell, an empty list for none."""
    return "|".join(topic for topic, is_in in zip(TOPICS, chosen, strict=True) if is_in) or "[]"


if __name__ == "__main__":
    main()
