"""Screens that are shown before the app: passphrase, private link, refusals.

They need nothing from elsewhere, and hold no word of anybody's data.
"""

from __future__ import annotations

import html
import secrets
from dataclasses import dataclass

_STYLE = """
:root { color-scheme: light dark; --page: #ffffff; --card: #f4f6fb; --words: #0b1122; --quiet: #4a5368;
  --edge: #6f7a92; --accent: #3b5bdb; --wrong: #b42318; --ring: #3b5bdb }
@media (prefers-color-scheme: dark) {
  :root { --page: #12151e; --card: #1b2030; --words: #e6e9f2; --quiet: #b3bacb; --edge: #7c869e; --accent: #4263eb;
    --wrong: #ff9c8f; --ring: #91a7ff }
}
* { box-sizing: border-box }
body { margin: 0; min-height: 100vh; display: grid; place-items: center; padding: 1rem; background: var(--page);
  color: var(--words); font: 16px/1.5 "Source Sans 3", "Source Sans Pro", system-ui, sans-serif }
main { width: 100%; max-width: 27rem; padding: 2rem; border-radius: 12px; background: var(--card) }
h1 { margin: 0 0 .5rem; font-size: 1.5rem; line-height: 1.25 }
p { margin: 0 0 1rem; color: var(--quiet) }
.wrong { color: var(--wrong); font-weight: 600 }
label { display: block; margin-bottom: .35rem; font-weight: 600 }
input, button { width: 100%; padding: .6rem .75rem; font: inherit; border-radius: 8px }
input { margin-bottom: 1rem; color: inherit; background: var(--page); border: 1px solid var(--edge) }
button { color: #fff; background: var(--accent); border: 1px solid transparent; font-weight: 600; cursor: pointer }
button:disabled { opacity: .6; cursor: default }
:focus-visible { outline: 2px solid var(--ring); outline-offset: 2px }
"""

_KEEP_PLACE = """
const form = document.querySelector("form");
form.action = form.getAttribute("action") + location.hash;  // so that a private link stays whole
"""

_READ_KEY = """
const key = location.hash.slice(1);
history.replaceState(null, "", location.pathname);  // so that the key stays in no history
document.getElementById("key").value = key;
const known = /^[A-Za-z0-9_-]{43}$/.test(key);
document.getElementById("open").disabled = !known;
document.getElementById("broken").hidden = known;
"""


@dataclass(frozen=True)
class Screen:
    """A page and the rules that a browser shall keep on it.

    Attributes
    ----------
    text : str
        HTML.
    rules : str
        A Content-Security-Policy.
    """

    text: str
    rules: str


def passphrase(action: str, target: str, complaint: str = "") -> Screen:
    """Return the page that asks for the passphrase.

    Parameters
    ----------
    action : str
        Where the form goes.
    target : str
        The address that was asked for, opened afterwards.
    complaint : str
        What was wrong with the last try.
    """
    told = f'<p class="wrong" role="alert" id="wrong">{html.escape(complaint)}</p>' if complaint else ""
    described = ' aria-describedby="wrong" aria-invalid="true"' if complaint else ""
    return _screen(
        "Passphrase needed",
        f"""<h1>DEEM Studio</h1>
<p>This server asks for a passphrase. Whoever runs it can tell you.</p>
{told}<form method="post" action="{html.escape(action)}">
<input type="hidden" name="target" value="{html.escape(target)}">
<label for="words">Passphrase</label>
<input id="words" name="words" type="password" autocomplete="current-password" required autofocus{described}>
<button>Continue</button>
</form>""",
        script=_KEEP_PLACE,
    )


def private_link(action: str) -> Screen:
    """Return the page that a private link leads to.

    The key is in the part of the address that browsers send to nobody, and is taken only after a click: a link from a
    stranger would lead into the stranger's space.
    """
    return _screen(
        "Open a private space",
        f"""<h1>Open this private space?</h1>
<p>This browser will then show the files and runs of the space that the link leads to, instead of its own. Go on only if
you made this link yourself: whoever made it sees everything you add.</p>
<p class="wrong" role="alert" id="broken" hidden>This link is not complete. Copy the whole of it and open it again.</p>
<form method="post" action="{html.escape(action)}">
<input type="hidden" name="key" id="key">
<button id="open" disabled>Open the space</button>
</form>""",
        script=_READ_KEY,
    )


def refusal(title: str, sentence: str) -> Screen:
    """Return a page that says why there is nothing else."""
    return _screen(title, f"<h1>{html.escape(title)}</h1>\n<p>{html.escape(sentence)}</p>")


def _screen(title: str, body: str, script: str = "") -> Screen:
    nonce = secrets.token_urlsafe(16)
    run = f'<script nonce="{nonce}">{script}</script>' if script else ""
    text = f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{html.escape(title)} · DEEM Studio</title>
<link rel="icon" href="data:,">
<style nonce="{nonce}">{_STYLE}</style>
</head>
<body>
<main>
{body}
</main>
{run}
</body>
</html>
"""
    rules = (
        f"default-src 'none'; style-src 'nonce-{nonce}'; script-src 'nonce-{nonce}'; img-src data:; "
        "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    )
    return Screen(text, rules)
