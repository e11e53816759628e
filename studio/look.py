"""Looks of all pages beyond the theme file."""

from __future__ import annotations

import streamlit as st

ACCENT = {"light": "#3b5bdb", "dark": "#91a7ff"}
"""Colour of words that are chosen, and of the outline around what the keyboard is on: AA against page and sidebar.

The theme's own accent is a background for white words, and in the dark too dim for words itself.
"""

_STYLE = """
.stSkillsNudge {{ display: none }}  /* Streamlit's advertising toast for coding agents */

:is(a, button, summary, [role=tab], [role=slider], [role=button], [role=option], [role=radio]):focus-visible,
[data-testid=stSidebarNavLink]:focus-visible,
label:has(input:is([type=checkbox], [type=radio]):focus-visible) {{
  outline: 2px solid {accent} !important;
  outline-offset: 2px !important;
  border-radius: 6px;
}}
[data-testid=stSidebarNavLink]:focus-visible, [role=tab]:focus-visible {{ outline-offset: -2px !important }}

/* The theme's accent is too dim for words on a dark page; buttons take it while the mouse is on them. */
button:is([kind=secondary], [kind=tertiary]):is(:hover, :active, [aria-expanded=true]):not(:disabled) {{
  color: {accent}; border-color: {accent};
}}
button[kind=tertiary]:is(:hover, :active, [aria-expanded=true]):not(:disabled) {{ border-color: transparent }}

:is(button[data-selected=true], [role=tab][aria-selected=true], .stSlider [role=group]) p {{ color: {accent} }}
.stSlider [role=group] [data-testid*=TickBar] p {{ color: inherit }}

.st-key-look {{ display: none }}

.st-key-empty_state [role=img] {{ font-size: 1.8rem }}

/* A tooltip never stands between the mouse and what is beside it. */
[data-testid=stTooltipContent] {{ max-width: min(22rem, 90vw); pointer-events: none }}

/* What is drawn anew every second does not blink: Streamlit fades elements while their block runs. */
[class*=st-key-live_] [data-stale=true] {{ opacity: 1 !important; transition: none !important }}

/* A long value, as the name of a method is, breaks into lines instead of losing its end; so does what is below it. */
[data-testid=stMetricDelta] {{ max-width: 100%; height: auto }}
[data-testid=stMetricDelta] :is(div, p) {{ white-space: normal; overflow-wrap: anywhere }}
[data-testid=stMetricValue] :is(div, p) {{ white-space: normal; overflow-wrap: anywhere; line-height: 1.2 }}

/* On a phone choices break into lines. */
:has(> [data-testid=stButtonGroup]), [data-testid=stButtonGroup], [data-testid=stButtonGroup] * {{ max-width: 100% }}
[data-testid=stButtonGroup] :is([role=radiogroup], [role=toolbar], [role=group]) {{ flex-wrap: wrap }}

/* Streamlit's own button writes cells as they are, and a spreadsheet runs formulas among them; our downloads do not. */
[data-testid=stElementToolbarButton]:has(button[aria-label^="Download as CSV"]) {{ display: none }}

/* An example is there to be seen, not to be taken for a result. */
[class*=st-key-example_] .deem-plot {{ opacity: 0.5; pointer-events: none; filter: saturate(0.6) }}
"""

_SILENCE = """
<script>
if (!window.deemIconsAreSilent) {
  window.deemIconsAreSilent = true;
  let due = false;
  const silence = () => {
    due = false;
    document.querySelectorAll("[role=img][aria-label$=' icon']:not([aria-hidden])").forEach(
      (icon) => icon.setAttribute("aria-hidden", "true"));
  };
  const soon = () => { if (!due) { due = true; requestAnimationFrame(silence); } };
  new MutationObserver(soon).observe(document.body, { childList: true, subtree: true });
  soon();
}
</script>
"""
"""Keeps screen readers from saying "check_circle icon".

Streamlit hides the icons of buttons, tabs and links by itself, but not those in Markdown and badges. They never stand
alone here: words beside them say the same.
"""

_ONCE = """
<script>
if (!window.deemKeysCountOnce) {
  window.deemKeysCountOnce = true;
  window.addEventListener("keydown", (event) => {
    const typing = event.target.closest?.("input, textarea, [contenteditable=true]");
    if (event.repeat && !typing && /^[0-9a-z]$/i.test(event.key)) event.stopImmediatePropagation();
  }, true);
}
</script>
"""
"""Lets a key that is held down press its button once.

Keyboards repeat it after half a second, which would label rows on the Review page that nobody has read.
"""


def apply() -> None:
    """Add the looks to the page."""
    theme = "dark" if st.context.theme.type == "dark" else "light"
    st.html(f"<style>{_STYLE.format(accent=ACCENT[theme])}</style>")
    with st.container(key="look"):
        st.html(_SILENCE + _ONCE, unsafe_allow_javascript=True)
