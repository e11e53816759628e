"""Make judges_text.csv: a panel of judges compares two answers to simple questions, and two camps form.

Run ``python sample_data/make_judges.py [-o FILE]`` from the project's folder; without FILE the sample is replaced. The
questions can be checked by anybody, so that a person can label rows on the Review page. The judges are simulated: small
ones like the longer answer, large ones mostly see which is right.
"""

from __future__ import annotations

import argparse
import csv
import sys
from pathlib import Path
from typing import TypeAlias

import numpy as np

HERE = Path(__file__).resolve().parent
Row: TypeAlias = dict[str, str]

SEED = 11
N_ROWS = 400
SMALL = ("mini-a", "mini-b", "mini-c", "mini-d", "mini-e", "mini-f")
LARGE = ("large-a", "large-b", "large-c", "large-d", "large-e")
WRONG_IS_LONGER = 0.55  # share of the questions whose wrong answer is the longer one
FOLLOW = 0.82  # chance that a small judge prefers the longer answer
HARD = 0.15  # share of the questions on which large judges are unsure together
SEES, SEES_HARD = 0.94, 0.45  # chance that a large judge prefers the right answer
WORDS = ("strawberry", "bookkeeper", "committee", "parallel", "mississippi", "successful", "raspberry", "assessment")
LONG = (
    "Let us go through this step by step. First I look at what is asked, then I work it out carefully and check the "
    "result once more. {0} I hope that this explanation helps!",
    "Good question! Many people get this wrong at first, so it is worth taking a moment to look at it closely. {0} "
    "You can verify this yourself with pen and paper.",
)


def question(rng: np.random.Generator) -> tuple[str, str, str]:
    """Return a question, its right answer and a wrong one."""
    a, b = (int(number) for number in rng.integers(12, 98, 2))
    slip = int(rng.choice([-10, -2, 2, 10]))
    kind = int(rng.integers(6))
    if kind == 0:
        return f"What is {a} × {b}?", f"{a} × {b} = {a * b}.", f"{a} × {b} = {a * b + slip}."
    if kind == 1:
        return f"What is {a + b} − {b}?", f"It is {a}.", f"It is {a + slip}."
    if kind == 2:
        word = str(rng.choice(WORDS))
        letter = str(rng.choice(sorted(set(word))))
        n = word.count(letter)
        wrong = n + 1 if n < 2 or rng.random() < 0.5 else n - 1
        asked = f"How many times does the letter “{letter}” occur in “{word}”?"
        return asked, f"It occurs {_times(n)}.", f"It occurs {_times(wrong)}."
    if kind == 3:
        start, minutes = a % 12 + 8, b + 15
        asked = f"A train leaves at {start}:00 and takes {minutes} minutes. When does it arrive?"
        return asked, f"At {_clock(60 * start + minutes)}.", f"At {_clock(60 * start + minutes + 10)}."
    if kind == 4:
        share = int(rng.choice([5, 10, 20, 25, 50]))
        whole = 20 * a
        asked = f"What is {share} % of {whole}?"
        return asked, f"It is {share * whole // 100}.", f"It is {share * whole // 100 + abs(slip)}."
    whole, tenths, hundredths = a % 9 + 1, b % 9 + 1, a + (a == 10 * (b % 9 + 1))
    short, long = f"{whole}.{tenths}", f"{whole}.{hundredths}"
    larger, smaller = (short, long) if 10 * tenths > hundredths else (long, short)
    return f"Which number is larger, {short} or {long}?", f"{larger} is larger.", f"{smaller} is larger."


def _times(n: int) -> str:
    return "once" if n == 1 else f"{n} times"


def _clock(minutes: int) -> str:
    return f"{minutes // 60}:{minutes % 60:02d}"


def rows() -> list[Row]:
    """Return the lines of the file."""
    rng = np.random.default_rng(SEED)
    made = []
    for number in range(1, N_ROWS + 1):
        asked, right, wrong = question(rng)
        wrong_is_longer = rng.random() < WRONG_IS_LONGER
        padded = str(rng.choice(LONG))
        right, wrong = (right, padded.format(wrong)) if wrong_is_longer else (padded.format(right), wrong)
        first_is_right = rng.random() < 0.5
        best, other = ("A", "B") if first_is_right else ("B", "A")
        longer = other if wrong_is_longer else best
        sees = SEES_HARD if rng.random() < HARD else SEES
        votes = {judge: longer if rng.random() < FOLLOW else _other(longer) for judge in SMALL}
        votes |= {judge: best if rng.random() < sees else other for judge in LARGE}
        texts = (right, wrong) if first_is_right else (wrong, right)
        made.append(
            {
                "id": f"q{number:03d}",
                "question": asked,
                "answer_a": texts[0],
                "answer_b": texts[1],
                **votes,
                "label": best,
            }
        )
    return made


def _other(answer: str) -> str:
    return "B" if answer == "A" else "A"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Make the sample of a panel of judges.")
    parser.add_argument("-o", "--output", metavar="FILE", default=HERE / "judges_text.csv", help="file to write")
    with Path(parser.parse_args().output).open("w", encoding="utf-8", newline="") as stream:
        lines = rows()
        writer = csv.DictWriter(stream, list(lines[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(lines)
    sys.stdout.write(f"{len(lines)} rows written.\n")
