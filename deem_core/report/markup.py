"""Markup: pieces of a web page in which every text is escaped unless it is markup already."""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence
from typing import Any


class Html(str):
    """Text that is markup already."""

    __slots__ = ()


def escaped(part: Any) -> Html:
    """Return markup as it is, and anything else as text that a browser shows letter by letter."""
    return part if isinstance(part, Html) else Html(html.escape(str(part), quote=True))


def joined(*parts: Any) -> Html:
    """Return parts one after another."""
    return Html("".join(escaped(part) for part in parts))


def element(name: str, *parts: Any, **attributes: Any) -> Html:
    """Return an element; attributes with an underscore at the end are spelled without it, others with dashes.

    One whose value is None or False is left out, one that is True stands alone.
    """
    said = ""
    for key, value in attributes.items():
        if value is None or value is False:
            continue
        spelled = key.rstrip("_").replace("_", "-")
        said += f" {spelled}" if value is True else f' {spelled}="{escaped(value)}"'
    return Html(f"<{name}{said}>{joined(*parts)}</{name}>")


def paragraph(*parts: Any, **attributes: Any) -> Html:
    """Return a paragraph."""
    return element("p", *parts, **attributes)


def bullets(items: Iterable[Any], most: int = 40) -> Html:
    """Return a list, cut after so many items with the number of the others; nothing for no items."""
    listed = list(items)
    if not listed:
        return Html("")
    lines = [element("li", item) for item in listed[:most]]
    if len(listed) > most:
        lines.append(element("li", f"… and {len(listed) - most:,} more", class_="faint"))
    return element("ul", *lines)


def table(header: Sequence[str], rows: Sequence[Sequence[Any]], *, numbers: Sequence[int] = (), most: int = 60) -> Html:
    """Return a table that scrolls sideways where it is too wide.

    Parameters
    ----------
    header : sequence of C str
    rows : sequence of rows of C cells
    numbers : sequence of int
        Columns that are set to the right.
    most : int
        Rows beyond this many are counted, not shown.
    """

    def line(name: str, cells: Sequence[Any]) -> Html:
        return element(
            "tr",
            *(element(name, cell, class_="number" if at in numbers else None) for at, cell in enumerate(cells)),
        )

    body = element("tbody", *(line("td", row) for row in rows[:most]))
    made = element("div", element("table", element("thead", line("th", header)), body), class_="scroll")
    if len(rows) <= most:
        return made
    return joined(made, paragraph(f"… and {len(rows) - most:,} more; report.json has more.", class_="faint"))


def facts(pairs: Iterable[tuple[str, Any]]) -> Html:
    """Return names and values in two columns."""
    return element("dl", *(joined(element("dt", name), element("dd", value)) for name, value in pairs))


def command(line: str) -> Html:
    """Return a command line that breaks where the page ends."""
    return element("pre", element("code", line), class_="command")
