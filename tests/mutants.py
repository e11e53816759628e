"""Mutations: one wrong line each, and the tests that must notice it.

    python -m tests.mutants                 # all of mutants.toml; prints the survivors, exit code 1 if there are any
    python -m tests.mutants NAME…           # those whose names contain one of these
    python -m tests.mutants --at-once 4     # as many at a time

Each mutation is made in a copy of the tree, never in the tree itself. First all tests named must pass without any
mutation, else they prove nothing. The kernel's own tests run uncompiled: compiling each mutation takes longer.
"""

from __future__ import annotations

import argparse
import ast
import os
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from itertools import count
from pathlib import Path
from queue import SimpleQueue

ROOT = Path(__file__).parents[1]
LIST = Path(__file__).with_suffix(".toml")
KERNEL = "tests/core/model/kernel/"
LEFT_OUT = (".git", ".venv", "__pycache__", ".*_cache", "results", "*.egg-info", "test-results", "htmlcov")
"""What tests do not need of the tree."""

MOST_SECONDS = 600.0
"""A mutation may make a loop endless: what takes longer has been noticed."""

FAILED = 1
"""Exit code of pytest where tests failed; others mean that they did not run."""


@dataclass(frozen=True)
class Mutation:
    """A wrong line.

    Attributes
    ----------
    name : str
    file : str
        Path from the root.
    old, new : str
        Text within one line, found once in the file, and what takes its place.
    tests : tuple of str
        Ids of tests, of which one at least must fail.
    """

    name: str
    file: str
    old: str
    new: str
    tests: tuple[str, ...]

    def fault(self, root: Path = ROOT) -> str:
        """Return why the mutation cannot be made; empty if it can."""
        path = root / self.file
        if not path.is_file():
            return f"there is no file {self.file}"
        text = path.read_text(encoding="utf-8")
        if (found := text.count(self.old)) != 1:
            return f"{self.old!r} stands {found} times in {self.file}, not once"
        if "\n" in self.old + self.new or self.old == self.new:
            return "it must change one line"
        try:
            same = _meaning(text) == ast.dump(ast.parse(self.mutated(text)))
        except SyntaxError as error:
            return f"the mutated file is no Python: {error}"
        return "it changes nothing but layout or comments" if same else ""

    @property
    def interpreted(self) -> bool:
        """Whether its tests run the kernel uncompiled: they are small, and compiling takes longer."""
        return any(test.startswith(KERNEL) for test in self.tests)

    def mutated(self, text: str) -> str:
        """Return the text of the file with the wrong line."""
        return text.replace(self.old, self.new)


@cache
def _meaning(text: str) -> str:
    """Return the syntax tree of a file, without layout and comments."""
    return ast.dump(ast.parse(text))


def mutations(path: Path = LIST) -> list[Mutation]:
    """Return the mutations of a list."""
    items = tomllib.loads(path.read_text(encoding="utf-8"))["mutation"]
    return [Mutation(**{**item, "tests": tuple(item["tests"])}) for item in items]


class Tree:
    """A copy of the tree to mutate.

    Parameters
    ----------
    folder : Path
        Made here; must not exist.
    """

    _seconds = count(1_000_000_000)  # Python takes a compiled file for current if size and second of change are equal

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        shutil.copytree(ROOT, folder, ignore=shutil.ignore_patterns(*LEFT_OUT))

    @contextmanager
    def mutation(self, wrong: Mutation) -> Iterator[None]:
        """Hold a mutation in the tree."""
        path = self.folder / wrong.file
        right = path.read_text(encoding="utf-8")
        try:
            self._write(path, wrong.mutated(right))
            yield
        finally:
            self._write(path, right)

    def _write(self, path: Path, text: str) -> None:
        path.write_text(text, encoding="utf-8")
        second = next(self._seconds)
        os.utime(path, (second, second))

    def run(self, tests: Sequence[str], *, interpreted: bool = False) -> tuple[int | None, str]:
        """Run tests; return pytest's exit code, None if it took too long, and what it said."""
        command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", *tests]
        environment = {**os.environ, "CI": "1", "OMP_NUM_THREADS": "1"}
        if interpreted:
            environment["NUMBA_DISABLE_JIT"] = "1"
        try:
            done = subprocess.run(
                command,
                cwd=self.folder,
                env=environment,
                capture_output=True,
                text=True,
                timeout=MOST_SECONDS,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return None, ""
        return done.returncode, done.stdout + done.stderr


def judge(wrong: Mutation, tree: Tree) -> str:
    """Return what is wrong with the tests of a mutation; empty if they noticed it."""
    with tree.mutation(wrong):
        code, said = tree.run(wrong.tests, interpreted=wrong.interpreted)
    if code == 0:
        return f"survived {', '.join(wrong.tests)}"
    if code not in (FAILED, None):
        return f"its tests did not run (pytest ended with {code}):\n{said[-2000:]}"
    return ""


def main(arguments: Sequence[str] | None = None) -> int:
    """Try the mutations; return 1 if one survived or could not be tried."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("names", nargs="*", help="parts of names; all mutations by default")
    parser.add_argument("--at-once", type=int, default=os.cpu_count() or 1, help="mutations tried at a time")
    options = parser.parse_args(arguments)
    chosen = [one for one in mutations() if not options.names or any(name in one.name for name in options.names)]
    faults = [f"{one.name}: {why}" for one in chosen if (why := one.fault())]
    if faults or not chosen:
        _say("\n".join(faults) or "There is no such mutation.")
        return 1
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        trees: SimpleQueue[Tree] = SimpleQueue()
        for at in range(min(options.at_once, len(chosen))):
            trees.put(Tree(Path(folder) / str(at)))
        bad = _try_all(chosen, trees, options.at_once)
    _say(f"{len(chosen)} mutations, {len(bad)} survivors{':' if bad else ''}", *bad)
    return int(bool(bad))


def _try_all(chosen: Sequence[Mutation], trees: SimpleQueue[Tree], at_once: int) -> list[str]:
    """Return a line for each mutation that was not noticed."""

    def unharmed(part: Sequence[str], interpreted: bool) -> str:
        tree = trees.get()
        try:
            code, said = tree.run(part, interpreted=interpreted) if part else (0, "")
            return "" if code == 0 else said[-4000:]
        finally:
            trees.put(tree)

    def attempt(wrong: Mutation) -> str:
        tree, begun = trees.get(), time.monotonic()
        try:
            found = judge(wrong, tree)
        finally:
            trees.put(tree)
        _say(f"{'NOT KILLED' if found else 'killed':<11}{time.monotonic() - begun:5.0f} s  {wrong.name}")
        return f"{wrong.name}: {found}" if found else ""

    with ThreadPoolExecutor(at_once) as pool:
        how = (False, True)
        tests = [sorted({test for one in chosen if one.interpreted == way for test in one.tests}) for way in how]
        before = [said for said in pool.map(unharmed, tests, how) if said]
        if before:
            return [f"these tests fail without any mutation:\n{said}" for said in before]
        return [line for line in pool.map(attempt, chosen) if line]


def _say(*lines: str) -> None:
    print(*lines, sep="\n", flush=True)  # noqa: T201


if __name__ == "__main__":
    sys.exit(main())
