"""Make ratings_wide.csv: ten raters grade 400 answers from 1 to 5, each in a style of its own.

Usage: python sample_data/make_ratings.py [-o FILE]
"""

import argparse
import csv
from pathlib import Path

import numpy as np

STYLES = {  # bias and gain around the middle of the scale, noise
    "rater_ana": (0.0, 1.0, 0.5),
    "rater_ben": (0.7, 1.0, 0.5),
    "rater_cem": (-0.8, 1.0, 0.6),
    "rater_dua": (0.1, 0.5, 0.4),
    "rater_eli": (0.9, 0.8, 0.7),
    "rater_fay": (0.8, 0.9, 0.9),
    "rater_gus": (0.0, 1.3, 1.0),
    "rater_hua": (-0.2, 0.6, 0.8),
    "rater_ida": (0.0, 0.0, 1.2),
    "rater_jon": (1.1, 0.7, 0.6),
}
ROWS, VOTES = 400, 5


def main() -> None:
    """Write the file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-o", "--output", default=Path(__file__).with_name("ratings_wide.csv"), type=Path)
    target = parser.parse_args().output
    rng = np.random.default_rng(7)
    truth = rng.choice(5, ROWS, p=[0.12, 0.2, 0.3, 0.25, 0.13]) + 1
    bias, gain, noise = np.array(list(STYLES.values())).T
    seen = 3 + gain * (truth[:, None] - 3) + bias + noise * rng.standard_normal((ROWS, len(STYLES)))
    given = np.clip(np.rint(seen), 1, 5).astype(int)
    asked = np.argsort(rng.random(given.shape), axis=1)[:, :VOTES]
    with target.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(["answer", *STYLES, "label"])
        for n in range(ROWS):
            cells = [str(given[n, j]) if j in asked[n] else "" for j in range(len(STYLES))]
            writer.writerow([f"answer_{n + 1}", *cells, truth[n]])


if __name__ == "__main__":
    main()
