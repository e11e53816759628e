"""Writing: an outcome as Markdown, JSON and a page of figures; all outcomes as one overview."""

from __future__ import annotations

import datetime
import html
import importlib.metadata
import json
import platform
from pathlib import Path
from typing import Any

import deem_core
from benchmarks.paper import published
from benchmarks.paper.context import Context, hours_taken
from benchmarks.paper.data import UNREPRODUCIBLE
from benchmarks.paper.findings import at_a_glance
from benchmarks.paper.outcome import Outcome, Pivot, Table
from benchmarks.paper.pictures import photograph
from deem_core.engine import cores
from deem_core.figures import plotly_code
from deem_core.files.atomic import whole_file, write_json
from deem_core.model.devices import devices

ROUNDING = 1e-9
LIBRARIES = ("torch", "numpy", "scipy", "scikit-learn", "plotly")


def write(name: str, purpose: str, outcome: Outcome, context: Context) -> None:
    """Write NAME.json, NAME.html with all figures, and NAME.md with pictures of them unless the run is quick."""
    context.folder.mkdir(parents=True, exist_ok=True)
    about = {"experiment": name, "purpose": purpose, **circumstances(context)}
    tables = [{"name": table.name, "title": table.title, "rows": table.rows} for table in outcome.tables]
    told = {**about, "findings": outcome.findings, "notes": outcome.notes, "tables": tables}
    write_json(told, context.folder / f"{name}.json")
    page = context.folder / f"{name}.html"
    write_text(_page(about, outcome), page)
    pictures = [] if context.quick else photograph(page)
    write_text(_markdown(about, outcome, pictures), context.folder / f"{name}.md")


def circumstances(context: Context) -> dict[str, Any]:
    """Return what a reader must know to judge or repeat the numbers."""
    versions = {name: importlib.metadata.version(name) for name in LIBRARIES}
    return {
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "quick": context.quick,
        "seeds": sorted(context.used_seeds),
        "seconds": round(context.seconds, 1),
        "device": f"{devices()[0].title}, {cores()} cores",
        "versions": {"deem_core": deem_core.__version__, "python": platform.python_version(), **versions},
    }


def write_text(text: str, path: Path) -> None:
    """Write a text file whole."""
    with whole_file(path) as stream:
        stream.write(text.encode())


def overview(results: Path, experiments: dict[str, str]) -> str:
    """Return the overview page from the JSON files that are there."""
    lines = ["| experiment | what | the paper's | state | date | seconds | seeds |", "|---|---|---|---|---|---|---|"]
    for name, purpose in experiments.items():
        full, quick = (_read(folder / f"{name}.json") for folder in (results, results / "quick"))
        told = full or quick
        state = f"full: [tables and figures]({name}.md)" if full else "only quick" if quick else "not yet"
        seeds = ", ".join(map(str, told["seeds"])) or "none" if told else ""
        facts = [told["date"], f"{told['seconds']:,.0f}", seeds] if told else [""] * 3
        theirs = ", ".join(published.WHERE[name]) or "text"
        lines.append(f"| {name} | {purpose} | {theirs} | {state} | {' | '.join(facts)} |")
    whole = [told for name in experiments if (told := _read(results / f"{name}.json"))]
    total = sum(told["seconds"] for told in whole) / 3600
    done = f"{len(whole)} of {len(experiments)} experiments ran in full; their work took {total:.1f} hours"
    taken = hours_taken(results)
    where = "; ".join(sorted({told["device"] for told in whole}))
    done += f", and `make paper`, which runs some side by side, {taken:.1f} hours" if taken else ""
    done += f" ({where})." if where else "."
    found = [line for told in whole for line in _found(told)]
    glance = _glance(results)
    cannot = [f"- **{what}**: {why}." for what, why in UNREPRODUCIBLE.items()]
    intro = (
        "Made by `python -m benchmarks.paper NAME` (`all` for everything; `--quick` for a trial in seconds, whose "
        "numbers mean nothing and stay in `quick/`); interactive figures are in NAME.html then. Every table says "
        "which data it used: sets under `DEEM_DATA`, draws of the paper's simulations, or a named stand-in. The paper "
        "scores on the rows it trains on, and so does this; truth is used for scoring only. The paper's tables and "
        "figures are called by the labels of its source."
    )
    page = [
        "# The paper's experiments",
        "",
        intro,
        "",
        done,
        "",
        *lines,
        "",
        *glance,
        "## What came out",
        "",
        "Sentences made from the tables. A place counts methods more than 0.05 points ahead. The paper's numbers are "
        "of its own draws and learners.",
        *found,
        "",
        "## Not reproducible here",
        "",
        *cannot,
        f"- **{', '.join(published.DRAWINGS)}** are drawings of the model: there is nothing to measure.",
        "",
    ]
    return "\n".join(page)


def _glance(results: Path) -> list[str]:
    """Return the main table in short, which the project's first page shows too; nothing before it was made."""
    told = _read(results / "main.json")
    if not told or not told.get("tables"):
        return []
    caption = (
        "Accuracy in per cent, mean ± spread over runs. The best other method is named by the truth: nobody could have "
        "chosen it."
    )
    return ["## At a glance", "", caption, "", *at_a_glance(told["tables"][0]["rows"]), ""]


def _found(told: dict[str, Any]) -> list[str]:
    """Return the findings of an experiment as a part of the overview."""
    return ["", f"### [{told['experiment']}]({told['experiment']}.md)", "", *(f"- {one}" for one in told["findings"])]


def _read(file: Path) -> dict[str, Any] | None:
    return json.loads(file.read_text(encoding="utf-8")) if file.exists() else None


# ---------------------------------------------------------------------- Markdown


def _markdown(about: dict[str, Any], outcome: Outcome, pictures: list[Path]) -> str:
    lines = [f"# {about['experiment']}", "", f"{about['purpose']}.", "", _facts(about), ""]
    if about["quick"]:
        lines += ["**A quick run: tiny sizes, numbers without meaning.**", ""]
    lines += ["## What came out", "", *(f"- {finding}" for finding in outcome.findings), ""]
    lines += ["## What to know", "", *(f"- {note}" for note in outcome.notes)]
    for table in outcome.tables:
        for pivot in table.pivots:
            lines += ["", f"## {pivot.title}", "", *_pivoted(table, pivot)]
        lines += ["", f"## {table.title}", "", *_listed(table)]
    for heading, picture in zip(outcome.figures, pictures, strict=False):
        lines += ["", f"## {heading}", "", f"![{heading}]({picture.name})"]
    return "\n".join([*lines, ""])


def _facts(about: dict[str, Any]) -> str:
    versions = ", ".join(f"{name} {version}" for name, version in about["versions"].items())
    seeds = ", ".join(map(str, about["seeds"])) or "none"
    return f"{about['date']} · {about['seconds']:,.0f} s of work · seeds {seeds} · {about['device']} · {versions}"


def _listed(table: Table) -> list[str]:
    if not table.rows:
        return ["No rows."]
    names = [name for name in table.rows[0] if name != "key"]
    return _grid(names, [[_text(row.get(name)) for name in names] for row in table.rows])


def _pivoted(table: Table, pivot: Pivot) -> list[str]:
    across = list(dict.fromkeys(row[pivot.across] for row in table.rows))
    down = list(dict.fromkeys(row[pivot.down] for row in table.rows))
    cells = {(row[pivot.down], row[pivot.across]): _cell(row, pivot) for row in table.rows}
    rows = [[str(one), *(cells.get((one, other), "") for other in across)] for one in down]
    return _grid([pivot.down, *map(str, across)], rows)


def _cell(row: dict[str, Any], pivot: Pivot) -> str:
    """Return our number with its spread, and the paper's in brackets."""
    value, off = row.get(pivot.value), row.get(pivot.spread)
    text = _text(value)
    if off is not None and value is not None:
        text += f" ± {off:.2f}" if abs(value) >= 1 else f" ± {_text(off)}"  # as many decimals as the value has
    theirs = row.get(f"paper {pivot.value}")
    return f"{text} ({_text(theirs)})" if theirs is not None else text


def _grid(names: list[str], rows: list[list[str]]) -> list[str]:
    head = ["| " + " | ".join(names) + " |", "|" + "---|" * len(names)]
    return [*head, *("| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in rows)]


def _text(value: Any) -> str:
    if value is None:
        return "–"
    if isinstance(value, float):
        return f"{value:.2f}" if abs(value) >= 1 or abs(value) < ROUNDING else f"{value:.3g}"
    return str(value)


# ---------------------------------------------------------------------- figures


def _page(about: dict[str, Any], outcome: Outcome) -> str:
    """Return all figures under each other, with Plotly's code, so that the page needs no network."""
    parts = [
        f"<h2>{html.escape(heading)}</h2>\n{figure.to_html(full_html=False, include_plotlyjs=False)}"
        for heading, figure in outcome.figures.items()
    ]
    warning = "<p><b>A quick run: tiny sizes, numbers without meaning.</b></p>" if about["quick"] else ""
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{about["experiment"]}</title>'
        "<style>body{font-family:sans-serif;max-width:1100px;margin:2em auto;padding:0 1em}</style>"
        f"<script>{plotly_code()}</script></head>\n"
        f"<body><h1>{html.escape(about['purpose'])}</h1>{warning}\n<p>{html.escape(_facts(about))}</p>\n"
        f"{chr(10).join(parts)}\n</body></html>\n"
    )
