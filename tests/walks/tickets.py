"""The labelling lead's file: tickets labelled by twelve annotators, as messy as such files are.

Four classes are spelled in twelve ways; a tenth of the cells is empty; the file comes from a German Excel (semicolons,
and a byte order mark or Windows-1252); `annotator_12` says spam on 88% of the rows whatever they are; `annotator_11`
mostly copies `annotator_4`; the column `Gold` holds the known labels of 59 rows.
"""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass

import numpy as np

CLASSES = ("spam", "ham", "phishing", "promo")
SHARES = (0.40, 0.30, 0.18, 0.12)
SKILLS = (0.92, 0.90, 0.88, 0.85, 0.82, 0.80, 0.78, 0.76, 0.74, 0.70)
"""Accuracy of annotator_1 to annotator_10; annotator_4 (0.85) is the one who is copied."""
COPIED, COPY, CONSTANT = "annotator_4", "annotator_11", "annotator_12"
COPY_RATE, CONSTANT_RATE, BLANK_RATE = 0.96, 0.88, 0.10
ANNOTATORS = tuple(f"annotator_{number}" for number in range(1, 13))
SPELLINGS = (str.lower, str.capitalize, str.upper)
SPELLING_RATES = (0.6, 0.3, 0.1)
N_KNOWN = 59
TEXTS = {
    "spam": ("Sie haben gewonnen! Prämie für {0} sofort abholen", "Größte Rabatte aller Zeiten, Code {0}, nur heute"),
    "ham": ("Rückfrage zur Rechnung {0}", "Können wir den Termin Nr. {0} auf nächste Woche verschieben?"),
    "phishing": ("Ihr Konto {0} wurde gesperrt – bitte bestätigen Sie Ihr Passwort", "Paket {0}: Gebühr prüfen"),
    "promo": ("Newsletter {0}: unsere schönsten Frühlingsangebote", "Danke für Ihre Treue, Gutschein {0} für Sie"),
}


@dataclass(frozen=True)
class Tickets:
    """A file of tickets and what it hides.

    Attributes
    ----------
    content : bytes
        The file.
    truth : dict
        Ticket → right class, in lower case.
    known : tuple of str
        Tickets whose label stands in the column ``Gold``.
    """

    content: bytes
    truth: dict[str, str]
    known: tuple[str, ...]


def tickets(n_rows: int = 1200, *, encoding: str = "utf-8-sig", delimiter: str = ";", seed: int = 7) -> Tickets:
    """Make the file.

    Parameters
    ----------
    n_rows : int
    encoding : "utf-8-sig", "cp1252" or another one
    delimiter : str
    seed : int
    """
    rng = np.random.default_rng(seed)
    truth = rng.choice(len(CLASSES), n_rows, p=SHARES)
    votes = _votes(rng, truth)
    known = np.sort(rng.choice(n_rows, min(N_KNOWN, n_rows), replace=False))
    names = [f"T-{20000 + 7 * row}" for row in range(n_rows)]
    gold = dict.fromkeys(known.tolist())
    lines = [["Ticket", "Text", *ANNOTATORS, "Gold"]]
    for row, (name, right) in enumerate(zip(names, truth, strict=True)):
        text = rng.choice(TEXTS[CLASSES[right]]).format(rng.integers(1000, 9999))
        cells = [_spelled(rng, vote) for vote in votes[row]]
        lines.append([name, text, *cells, CLASSES[right] if row in gold else ""])
    stream = io.StringIO(newline="")
    csv.writer(stream, delimiter=delimiter, lineterminator="\r\n").writerows(lines)
    return Tickets(
        stream.getvalue().encode(encoding),
        {name: CLASSES[right] for name, right in zip(names, truth, strict=True)},
        tuple(names[row] for row in known),
    )


def _votes(rng: np.random.Generator, truth: np.ndarray) -> np.ndarray:
    """Return the votes by annotator, shape (n, 12); -1 is an empty cell."""
    columns = [_answers(rng, truth, skill) for skill in SKILLS]
    copied = columns[ANNOTATORS.index(COPIED)]
    columns.append(np.where(rng.random(len(truth)) < COPY_RATE, copied, _answers(rng, truth, 0.7)))
    columns.append(np.where(rng.random(len(truth)) < CONSTANT_RATE, 0, rng.integers(1, len(CLASSES), len(truth))))
    votes = np.column_stack(columns)
    return np.where(rng.random(votes.shape) < BLANK_RATE, -1, votes)


def _answers(rng: np.random.Generator, truth: np.ndarray, skill: float) -> np.ndarray:
    """Return one annotator's answers, shape (n,): right with the chance ``skill``, else any other class."""
    other = (truth + rng.integers(1, len(CLASSES), len(truth))) % len(CLASSES)
    return np.where(rng.random(len(truth)) < skill, truth, other)


def _spelled(rng: np.random.Generator, vote: int) -> str:
    spelling = SPELLINGS[rng.choice(len(SPELLINGS), p=SPELLING_RATES)]
    return "" if vote < 0 else spelling(CLASSES[vote])
