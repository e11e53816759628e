"""The page of a report: one file that needs no network, and in which no text of a file can run."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence

from deem_core.figures.html import plotly_code
from deem_core.report.look import SCRIPT, STYLE
from deem_core.report.markup import Html, element, escaped, joined
from deem_core.report.sections import Numbers, Section
from deem_core.report.words import moment


def page(sections: Sequence[Section], numbers: Numbers) -> str:
    """Return the whole page.

    Its policy forbids every fetch, and every script but the two of its own, told by their hashes.
    """
    run, name = numbers["run"], numbers["dataset"]["name"]
    title = f"{name} · {run['method_title']} · report"
    scripts = (plotly_code(), SCRIPT)
    links = [
        element("li", element("a", one.title, href=f"#{one.id}", class_=None if one.computed else "none"))
        for one in sections
    ]
    made = joined(
        element(
            "header",
            element("h1", f"Fused labels of {name}"),
            element(
                "div",
                f"{run['method_title']} · {moment(run['ended'] or run['created'])} · run {run['id'][:12]} · "
                f"seed {run['seed']}",
                class_="faint",
            ),
        ),
        element("nav", element("ol", *links), aria_label="Contents"),
        element(
            "main",
            element("noscript", element("p", "The pictures need JavaScript; all numbers are in the tables.")),
            *(element("section", element("h2", one.title), one.body, id=one.id) for one in sections),
        ),
        element("footer", f"Made by {run['reported_by']}. This page is complete in itself and fetches nothing."),
    )
    head = joined(
        Html('<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">'),
        Html(f'<meta http-equiv="Content-Security-Policy" content="{escaped(_policy(scripts))}">'),
        Html('<meta name="color-scheme" content="light dark"><meta name="referrer" content="no-referrer">'),
        element("title", title),
        element("style", Html(STYLE)),
    )
    body = joined(element("div", made, class_="layout"), *(element("script", Html(text)) for text in scripts))
    return f'<!doctype html>\n<html lang="en"><head>{head}</head><body>{body}</body></html>\n'


def _policy(scripts: Sequence[str]) -> str:
    hashes = " ".join(
        f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'" for text in scripts
    )
    return f"default-src 'none'; script-src {hashes}; style-src 'unsafe-inline'; img-src data: blob:; base-uri 'none'"
