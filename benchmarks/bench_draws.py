"""E(Y|X) by drawn layers against one pass with their probabilities, on bundled samples.

Usage: python -m benchmarks.bench_draws

One training from the majority vote with seed 0 for each sample; its rows are then labelled with several numbers of
draws. *other labels*: rows whose label is not that of one pass. The same by hand: ``train FILE --start majority
-o MODEL`` and ``apply MODEL FILE --draws N -o FUSED``.
"""

from __future__ import annotations

import time
import warnings
from pathlib import Path

from deem_core import DEEM, apply, read_votes
from deem_core.votes.describe import accuracy

SAMPLES = Path(__file__).parent.parent / "sample_data"
NAMES = ("moderation_missing", "digits_soft")
DRAWS = (0, 1, 10, 100, 1000)


def main() -> None:
    """Print the table."""
    warnings.simplefilter("ignore")
    print(f"{'sample':<20}{'draws':>6}{'right, %':>10}{'other labels, %':>17}{'mean confidence':>17}{'seconds':>9}")
    for name in NAMES:
        votes = read_votes(SAMPLES / f"{name}.csv")
        model = DEEM(start="majority", random_state=0).fit(votes)
        one_pass = model.fuse(votes).codes
        for draws in DRAWS:
            begun = time.perf_counter()
            answer = apply(model, votes, draws=draws)
            seconds = time.perf_counter() - begun
            right, other = 100 * accuracy(answer.codes, votes.truth), 100 * (answer.codes != one_pass).mean()
            sure = answer.confidence.mean()
            print(f"{name:<20}{draws:>6}{right:>10.2f}{other:>17.2f}{sure:>17.3f}{seconds:>9.2f}", flush=True)


if __name__ == "__main__":
    main()
