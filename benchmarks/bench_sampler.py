"""Time and memory of one 5-step chain against K, on one thread, beside the authors' package.

Usage: python -m benchmarks.bench_sampler [--seconds 300]

Each figure comes from a process of its own. Memory is the peak beyond what Python and torch need once imported:
parameters, states and everything the chain allocates. The authors' package (deem 0.2.0 from PyPI,
requirements-bench.txt) runs its own sampler from the same kind of start; it is skipped if it is not installed and
given up after ``--seconds``.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import subprocess
import sys
import time
from typing import Any

SHAPES = [(5, 3, 128), (5, 10, 128), (5, 100, 128), (5, 1000, 128), (12, 3, 1024), (15, 10, 1024)]  # d, K, batch
N_STEPS = 5
LIMIT_GB = 1.0
"""One layer at K = 1000 must stay below this."""


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=300, help="give up on a figure after this long")
    parser.add_argument("--one", metavar="JSON", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        print(json.dumps(_measure(**json.loads(options.one))))
        return
    peers = ["deem_core, no layer", "deem_core, 1 layer"]
    if importlib.util.find_spec("deem"):
        peers.append("deem 0.2.0, 1 layer")
    print(f"One chain of {N_STEPS} steps, one thread: milliseconds / peak MB")
    print(f"{'d':>4}{'K':>6}{'batch':>7}" + "".join(f"{peer:>24}" for peer in peers))
    for d, K, batch in SHAPES:
        cells = []
        for peer in peers:
            found = _in_a_process({"peer": peer, "d": d, "K": K, "batch": batch}, options.seconds)
            cells.append(f"{found['ms']:,.1f} / {found['mb']:,.0f}" if found else f"> {options.seconds:g} s")
            if K == 1000 and peer == "deem_core, 1 layer" and found and found["mb"] > 1000 * LIMIT_GB:
                cells[-1] += " (over the limit)"
        print(f"{d:>4}{K:>6}{batch:>7}" + "".join(f"{cell:>24}" for cell in cells), flush=True)


def _in_a_process(job: dict[str, Any], seconds: float) -> dict[str, float] | None:
    command = [sys.executable, "-m", "benchmarks.bench_sampler", "--one", json.dumps(job)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=seconds)
    except subprocess.TimeoutExpired:
        return None
    except subprocess.CalledProcessError as error:
        print(error.stderr.splitlines()[-1] if error.stderr else error, file=sys.stderr)
        return None
    result: dict[str, float] = json.loads(done.stdout)
    return result


def _measure(peer: str, d: int, K: int, batch: int) -> dict[str, float]:
    import torch  # noqa: PLC0415  # the memory it needs is not ours to count

    from deem_core.readers.notes import peak_bytes  # noqa: PLC0415

    torch.set_num_threads(1)
    torch.manual_seed(0)
    votes = torch.randint(K, (batch, d))
    chain = _theirs(d, K, votes) if peer.startswith("deem 0") else _ours(d, K, votes, int("1 layer" in peer))
    before = peak_bytes() or 0
    chain_once = chain()
    times = []
    while len(times) < 2 or (sum(times) < 2 and len(times) < 30):
        start = time.process_time()
        chain_once()
        times.append(time.process_time() - start)
        if times[0] > 20:
            break
    return {"ms": 1000 * min(times), "mb": ((peak_bytes() or 0) - before) / 1e6}


def _ours(d: int, K: int, votes: Any, n_layers: int) -> Any:
    import torch  # noqa: PLC0415

    from deem_core.model.energy import initialise  # noqa: PLC0415
    from deem_core.model.sampler import sample  # noqa: PLC0415

    def make() -> Any:
        rng = torch.Generator().manual_seed(0)
        model = initialise(d, K, n_layers, [rng])
        return lambda: sample(model, votes[None], N_STEPS, rng, alpha=0.2)

    return make


def _theirs(d: int, K: int, votes: Any) -> Any:
    from deem.core.models import MultinomialRBMGwg  # type: ignore[import-not-found]  # noqa: PLC0415
    from deem.core.preprocessing import Multinomial  # type: ignore[import-not-found]  # noqa: PLC0415
    from torch import nn  # noqa: PLC0415

    def make() -> Any:
        layer = Multinomial(K, K, d, d, init_method="identity", use_softmax=True)
        model = MultinomialRBMGwg(
            dx=d, dh=1, k=K, l=K, m=K, device="cpu", deterministic=True, multinomial_net=nn.Sequential(layer),
            sampler_steps=N_STEPS, init_method="mv_rand",
        )  # fmt: skip
        return lambda: model.sampler.generate_samples(model, votes.float().clone(), steps=N_STEPS)

    return make


if __name__ == "__main__":
    main()
