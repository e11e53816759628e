"""How long verdicts of a sweep last: those before the end against those at the end.

Usage: python -m benchmarks.bench_early_verdicts

Sweeps of the bundled samples and of simulated draws with default settings. Their curves are cut at shares of the way,
and judged by the rules for whole curves without what `deem_core.training.guidance.provisional` holds back. *lasted*:
the candidate had the same verdict at the end; *refused*: it was rejected at the end, for whatever reason.
"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Iterator
from dataclasses import fields, replace
from pathlib import Path

import numpy as np

from deem_core import Votes, read_votes, simulate, sweep
from deem_core.training.guidance import REJECTED
from deem_core.training.sweep import Sweep

SAMPLES = Path(__file__).parent.parent / "sample_data"
SHARES = (0.1, 0.25, 0.5, 0.75, 0.9)
DRAWS = 5


def main() -> None:
    """Print how many verdicts of each kind lasted."""
    warnings.simplefilter("ignore")
    told: Counter[tuple[float, str]] = Counter()
    lasted: Counter[tuple[float, str]] = Counter()
    refused: Counter[tuple[float, str]] = Counter()
    n_sweeps = 0
    for votes in tables():
        whole, n_sweeps = sweep(votes, random_state=0), n_sweeps + 1
        for share in SHARES:
            for r, verdict in enumerate(cut(whole, share).judged(whole.smoothing)[0]):
                if r in whole.failures:
                    continue
                end = whole.verdicts[r].kind
                told[share, verdict.kind] += 1
                lasted[share, verdict.kind] += end == verdict.kind
                refused[share, verdict.kind] += end in REJECTED
    print(f"Verdicts of {n_sweeps} sweeps before their end")
    print(f"{'of the way':>10}  {'verdict':<22}{'told':>6}{'lasted':>8}{'refused':>9}")
    for share, kind in sorted(told):
        print(f"{share:>10.0%}  {kind:<22}{told[share, kind]:>6}{lasted[share, kind]:>8}{refused[share, kind]:>9}")


def tables() -> Iterator[Votes]:
    """Yield the votes of the samples and of the draws."""
    for path in sorted(SAMPLES.glob("*.csv")):
        if not path.stem.endswith("_truth"):
            yield read_votes(path).without_truth()
    for seed in range(DRAWS):
        yield simulate("tree", 5000, seed=seed).votes.without_truth()
        yield simulate("condind", 4000, seed=seed).votes.without_truth()


def cut(whole: Sweep, share: float) -> Sweep:
    """Return a sweep with the first records only, to be judged as if that were all."""
    curves = whole.curves.copy()
    known = max(2, round(share * len(whole.updates)))
    for item in fields(curves):
        if item.name != "shares":
            getattr(curves, item.name)[:, known:] = np.nan
    return replace(whole, curves=curves, failures={})


if __name__ == "__main__":
    main()
