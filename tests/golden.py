"""Outputs of every command on the bundled samples: make them with one version, compare them with another.

    python -m tests.golden make FOLDER            # a few minutes; runs this checkout's command line
    python -m tests.golden compare BEFORE AFTER   # exit code 1 and a line for each difference

Labels, probabilities, words and the keys of JSON must be the same; seconds, bytes, ids and dates may differ. Bits of
floating-point numbers depend on the processor, so both folders come from the same machine.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd

ROOT = Path(__file__).parents[1]
SAMPLES = ROOT / "sample_data"
QUICK = ["--updates", "120", "--restarts", "3", "--seed", "7"]
METHODS = (
    "auto,mv,weighted_mv,ds,fds,hds,onecoin,lsml,ebcc,gds,safe,rules,la1,la2,flyingsquid,dnn_det,dnn_sto,irbm,"
    "mean_prob,geo_pool,log_pool,cal_pool"
)
"""Every method that is quick; `fuse --method deem` covers the rest."""

VOLATILE = re.compile(
    r"(^|[._])(seconds\w*|memory_bytes|peak_bytes|held_bytes|created|started|ended|finished|id|run|version|versions"
    r"|machine|host|pid|platform|python|path|folder|date|made|processor|digest)($|[._\[])"
)
"""Keys whose values belong to the moment or the machine."""


def main() -> int:
    """Make or compare."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("make").add_argument("folder", type=Path)
    compare = commands.add_parser("compare")
    compare.add_argument("before", type=Path)
    compare.add_argument("after", type=Path)
    options = parser.parse_args()
    if options.command == "make":
        make(options.folder)
        return 0
    lines = list(differences(options.before, options.after))
    for line in lines:
        print(line)  # noqa: T201
    print(f"{len(lines)} differences")  # noqa: T201
    return int(bool(lines))


# ---------------------------------------------------------------------- making


def make(folder: Path) -> None:
    """Run every command on every sample; outputs go to ``folder``."""
    folder.mkdir(parents=True, exist_ok=True)
    for item in json.loads((SAMPLES / "samples.json").read_text(encoding="utf-8")):
        file = SAMPLES / item["file"]
        stem = folder / file.stem
        reading = [str(file)]
        if "truth_file" in item:
            reading += ["--truth-file", str(SAMPLES / item["truth_file"])]
        model = f"{stem}.model.safetensors"
        _run(stem, "describe", *reading, "--json", f"{stem}.describe.json")
        _run(stem, "fuse", *reading, "-o", f"{stem}.fuse.csv", "--json", f"{stem}.fuse.json", "--seed", "7")
        for method in ("gds", "ds", "irbm", "irbm_cd", "deem", "deem_soft"):
            if method == "deem_soft" and item["layout"] != "soft":
                continue
            options = QUICK if method in ("irbm_cd", "deem") else []
            name = f"{stem}.fuse_{method}"
            _run(stem, "fuse", *reading, "--method", method, "-o", f"{name}.csv", "--json", f"{name}.json", *options)
        _run(stem, "train", *reading, "-o", model, "--json", f"{stem}.train.json", *QUICK)
        _run(stem, "apply", model, *reading, "-o", f"{stem}.apply.csv", "--json", f"{stem}.apply.json")
        _run(stem, "sweep", *reading, "--rates", "0.1,0.5,2", "--updates", "150", "--json", f"{stem}.sweep.json")
        _run(stem, "compare", *reading, "--methods", METHODS, "--seeds", "2", "--json", f"{stem}.compare.json")
    _reports(folder)


def _run(stem: Path, *words: str) -> None:
    said = subprocess.run(
        [sys.executable, "-m", "deem_core", *words], cwd=ROOT, capture_output=True, text=True, check=False
    )
    text = f"exit {said.returncode}\n{said.stdout}{said.stderr}".replace(str(stem.parent), "OUT").replace(
        str(ROOT), "ROOT"
    )
    Path(f"{stem}.{words[0]}.{words[words.index('--method') + 1] if '--method' in words else 'said'}.txt").write_text(
        text, encoding="utf-8"
    )


def _reports(folder: Path) -> None:
    """Train, inspect and compare as runs, and write the report of the training."""
    script = (
        "import sys; sys.path.insert(0, '.')\n"
        "from pathlib import Path\n"
        "from deem_core.runs import Workspace\n"
        "import time\n"
        "def wait(run):\n"
        "    while run.is_active(): time.sleep(0.2)\n"
        "    assert run.state().state == 'done', run.state()\n"
        "    return run\n"
        "space = Workspace()\n"
        "data = space.add_dataset('experts_wide.csv', Path('sample_data/experts_wide.csv').read_bytes())\n"
        "config = {'method': 'deem', 'random_state': 7, 'restarts': 3, 'updates': 120}\n"
        "run = wait(space.start_run('train', data, config, 'Golden'))\n"
        "model = space.store(run.path / 'model.safetensors')\n"
        "how = {'model': model, 'training': run.id, 'random_state': 0}\n"
        "wait(space.start_run('inspect', data, how, 'Inspection'))\n"
        "wait(space.start_run('compare', data, {'methods': ['mv', 'ds', 'lsml'], 'random_state': 7}, 'Rivals'))\n"
        "wait(space.start_run('sweep', data, {'rates': [0.1, 0.5, 2], 'updates': 150, 'random_state': 7}, 'Rates'))\n"
        "print(run.id)\n"
    )
    home = folder / "home"
    environment = os.environ | {"DEEM_HOME": str(home)}
    said = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, env=environment, capture_output=True, text=True, check=True
    )
    run = said.stdout.split()[-1]
    outputs = ["-o", str(folder / "report.html"), "--json", str(folder / "report.json")]
    subprocess.run([sys.executable, "-m", "deem_core", "report", run, *outputs], cwd=ROOT, env=environment, check=True)
    runs = home / "runs"
    for number, path in enumerate(sorted(runs.iterdir(), key=lambda run: (run / "spec.json").stat().st_mtime)):
        for name in ("summary.json", "result.json", "sweep.json", "comparison.json"):
            if (path / name).exists():
                (folder / f"run_{number}.{name}").write_bytes((path / name).read_bytes())
        if (path / "result.parquet").exists():
            pd.read_parquet(path / "result.parquet").to_csv(folder / f"run_{number}.result.csv", index=False)


# ---------------------------------------------------------------------- comparing


def differences(before: Path, after: Path) -> Iterator[str]:
    """Yield a line for each output that is not the same."""
    names = sorted(path.name for path in before.iterdir() if path.suffix in (".csv", ".json", ".txt"))
    if not names:
        yield f"{before} holds nothing to compare"
    for name in names:
        old, new = before / name, after / name
        if not new.exists():
            yield f"{name}: missing"
        elif name.endswith(".json"):
            first, second = (json.loads(path.read_text(encoding="utf-8")) for path in (old, new))
            yield from (f"{name}: {line}" for line in _values(first, second, ""))
        elif name.endswith(".csv"):
            if old.read_bytes() != new.read_bytes():
                yield f"{name}: cells differ"
        else:
            first, second = (_timeless(path.read_text(encoding="utf-8")) for path in (old, new))
            if first != second:
                yield f"{name}: words differ"


def _timeless(text: str) -> str:
    text = re.sub(r"\d+\.\d+ s\b", "T s", text)
    text = re.sub(r"[\d.,]+ [kMG]B", "B", text)
    return re.sub(r"(?m)^(  \S.*?)\s+\d+\.\d\d\s+\+B", r"\1 T B", text)


def _values(old: Any, new: Any, place: str) -> Iterator[str]:
    if VOLATILE.search(place):
        return
    if isinstance(old, dict) and isinstance(new, dict):
        for key in old:
            if key not in new:
                yield f"{place}.{key} is gone"
            else:
                yield from _values(old[key], new[key], f"{place}.{key}")
        for key in new.keys() - old.keys():
            yield f"{place}.{key} is new"
    elif isinstance(old, list) and isinstance(new, list):
        if len(old) != len(new):
            yield f"{place} has {len(new)} items instead of {len(old)}"
        for at, (one, other) in enumerate(zip(old, new, strict=False)):
            yield from _values(one, other, f"{place}[{at}]")
    elif isinstance(old, float) and isinstance(new, float):
        if not math.isclose(old, new, rel_tol=1e-9, abs_tol=1e-12):
            yield f"{place}: {old} → {new}"
    elif old != new:
        yield f"{place}: {str(old)[:80]!r} → {str(new)[:80]!r}"


if __name__ == "__main__":
    sys.exit(main())
