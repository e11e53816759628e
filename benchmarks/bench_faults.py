"""Faults on purpose: kills, damaged files, and disks that refuse.

``python -m benchmarks.bench_faults PART`` does one part and prints what came of it as Markdown; the parts are
workers, readings, damage, pages, addresses, disks and app. Without a part it does all of them; ``--n`` and ``--seed``
draw other faults. The last figures are in ``benchmarks/results/faults.md``.
"""

from __future__ import annotations

import argparse
import logging
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.faults import damage, disks, kills, outages
from benchmarks.faults.addresses import addresses
from benchmarks.faults.workspaces import full_workspace

MANY = {"workers": 65, "readings": 20_000, "damage": 1500, "pages": 100, "addresses": 400, "disks": 0, "app": 14}
"""Faults of each part."""
_SHOWN = 20  # problems


def main() -> int:
    """Do the parts that were asked for; return 1 if something was not as it should be."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("part", nargs="?", choices=sorted(MANY), help="by default all")
    parser.add_argument("--n", type=int, help="how many faults")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    logging.getLogger("streamlit").setLevel(logging.CRITICAL)
    problems: list[str] = []
    for part in [options.part] if options.part else list(MANY):
        n = MANY[part] if options.n is None else options.n
        with tempfile.TemporaryDirectory() as folder:
            started, root = time.monotonic(), Path(folder).resolve()
            lines, wrong = PARTS[part](root, n, options.seed)
            print(
                f"## {part}, seed {options.seed}, {time.monotonic() - started:.0f} s\n",
                *lines,
                "",
                sep="\n",
                flush=True,
            )
            problems += wrong
    print(*problems[:_SHOWN], sep="\n")
    return 1 if problems else 0


def _tell(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def _workers(root: Path, n: int, seed: int) -> tuple[list[str], list[str]]:
    done = kills.worker_kills(root, n, seed, _tell)
    lines = ["| kind | runs | kills | share done at the kills | truthful | equal |", "|" + "---|" * 6]
    for kind in kills.KINDS:
        own = [kill for kill in done if kill.kind == kind]
        shares = sorted(share for kill in own for share in kill.at)
        told = f"{shares[0]:.0%} to {shares[-1]:.0%}, median {shares[len(shares) // 2]:.0%}" if shares else "–"
        lines.append(
            f"| {kind} | {len(own)} | {len(shares)} | {told} "
            f"| {sum(kill.truthful for kill in own)} of {len(own)} | {sum(kill.equal for kill in own)} of {len(own)} |"
        )
    lines += ["", f"{sum(len(kill.at) for kill in done)} kills of {len(done)} runs, each resumed until it was done."]
    return lines, [str(kill) for kill in done if not (kill.truthful and kill.equal)]


def _readings(root: Path, n: int, seed: int) -> tuple[list[str], list[str]]:
    full_workspace(root / "whole")
    return _tallied(damage.readings(root / "whole", root / "place", n, seed), n, "readings without checksums")


def _damage(root: Path, n: int, seed: int) -> tuple[list[str], list[str]]:
    full_workspace(root / "whole")
    return _tallied(damage.commands(root / "whole", root / "place", n, seed), n, "commands")


def _pages(root: Path, n: int, seed: int) -> tuple[list[str], list[str]]:
    full_workspace(root / "whole")
    return _tallied(damage.pages(root / "whole", root / "place", n, seed), n, "page visits")


def _addresses(root: Path, n: int, seed: int) -> tuple[list[str], list[str]]:
    full_workspace(root / "whole")
    return _tallied(addresses(root / "whole", n, seed), n, "page visits", "addresses")


def _tallied(tally: damage.Tally, n: int, what: str, faults: str = "corruptions") -> tuple[list[str], list[str]]:
    said = ", ".join(f"{number:,} {outcome}" for outcome, number in tally.outcomes.most_common())
    return [f"{n:,} {faults}, {sum(tally.outcomes.values()):,} {what}: {said}; {len(tally.problems)} problems."], (
        tally.problems
    )


def _disks(root: Path, _: int, seed: int) -> tuple[list[str], list[str]]:
    found = disks.all_cases(root, seed)
    lines = ["| case | what came of it |", "|---|---|", *(f"| {case.name} | {case.came} |" for case in found)]
    return lines, [f"{case.name}: {case.came}" for case in found if not case.right]


def _app(root: Path, n: int, seed: int) -> tuple[list[str], list[str]]:
    found = outages.all_cases(root, n, seed, _tell)
    lines = ["| killed | during | what came of it |", "|---|---|---|"]
    lines += [f"| {case.killed} | {case.during} | {case.came} |" for case in found]
    return lines, [str(case) for case in found if not case.right]


PARTS = {
    "workers": _workers,
    "readings": _readings,
    "damage": _damage,
    "pages": _pages,
    "addresses": _addresses,
    "disks": _disks,
    "app": _app,
}


if __name__ == "__main__":
    sys.exit(main())
