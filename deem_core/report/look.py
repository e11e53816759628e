"""The look of a report and the few lines of script that draw its pictures."""

STYLE = """
:root {
  --page: #f4f6fb; --card: #ffffff; --text: #1c2333; --faint: #5b6479; --line: #dfe4ef; --accent: #3b5bdb;
  --good: #0f7a66; --bad: #c0400d; --warn: #9a5b00; --tint: #eef1fb; --warn-tint: #fff4e0; color-scheme: light;
}
@media (prefers-color-scheme: dark) {
  :root {
    --page: #0b0d14; --card: #12151e; --text: #e6e9f2; --faint: #9aa3b8; --line: #2b3246; --accent: #91a7ff;
    --good: #35c4a6; --bad: #ff8a4c; --warn: #ffb454; --tint: #1a2136; --warn-tint: #2a2113; color-scheme: dark;
  }
}
* { box-sizing: border-box; }
html { scroll-behavior: smooth; -webkit-text-size-adjust: 100%; }
body {
  margin: 0; background: var(--page); color: var(--text); line-height: 1.55; overflow-wrap: anywhere;
  font-family: system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif; font-size: 16px;
}
a { color: var(--accent); }
.layout { display: grid; grid-template-columns: 220px minmax(0, 940px); gap: 32px; max-width: 1240px; margin: 0 auto;
  padding: 28px 24px 64px; justify-content: center; }
header { grid-column: 1 / -1; border-bottom: 1px solid var(--line); padding-bottom: 16px; }
h1 { font-size: 1.75rem; line-height: 1.25; margin: 0 0 4px; }
h2 { font-size: 1.3rem; margin: 0 0 12px; }
h3 { font-size: 1.02rem; margin: 26px 0 8px; }
nav { position: sticky; top: 20px; align-self: start; font-size: .93rem; }
nav ol { list-style: none; margin: 0; padding: 0; }
nav a { display: block; padding: 4px 10px; text-decoration: none; color: var(--text);
  border-left: 2px solid var(--line); }
nav a:hover { border-color: var(--accent); color: var(--accent); }
nav a.none { color: var(--faint); }
section { background: var(--card); border: 1px solid var(--line); border-radius: 12px; padding: 22px 24px;
  margin-bottom: 20px; scroll-margin-top: 16px; }
p { margin: 0 0 12px; }
.lead { font-size: 1.08rem; }
.faint, figcaption, small { color: var(--faint); }
.absent { background: var(--tint); border-radius: 8px; padding: 12px 14px; }
.alarm { background: var(--warn-tint); border-left: 4px solid var(--bad); border-radius: 6px; padding: 10px 14px;
  margin: 12px 0; }
.cards { display: grid; grid-template-columns: repeat(auto-fit, minmax(128px, 1fr)); gap: 12px; margin: 16px 0 8px; }
.card { background: var(--tint); border-radius: 10px; padding: 12px 14px; display: flex; flex-direction: column; }
.card span { font-size: .85rem; color: var(--faint); }
.card b { font-size: 1.35rem; line-height: 1.3; }
dl { display: grid; grid-template-columns: 110px minmax(0, 1fr); gap: 6px 16px; margin: 0 0 16px; }
dt { color: var(--faint); }
dd { margin: 0; }
ul { padding-left: 20px; margin: 0 0 12px; }
li { margin-bottom: 6px; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-size: .92rem; margin: 8px 0 14px; }
th, td { text-align: left; padding: 7px 18px 7px 0; border-bottom: 1px solid var(--line); vertical-align: top; }
th { color: var(--faint); font-weight: 600; overflow-wrap: normal; }
td { min-width: 4.5em; overflow-wrap: break-word; }
.number { text-align: right; font-variant-numeric: tabular-nums; }
.badge { display: inline-block; font-size: .82rem; border-radius: 999px; padding: 1px 10px; background: var(--tint);
  color: var(--text); white-space: nowrap; }
.badge.good { color: var(--good); font-weight: 600; }
.badge.bad { color: var(--bad); font-weight: 600; }
.badge.warning { color: var(--warn); background: var(--warn-tint); font-weight: 600; white-space: normal; }
code, pre { font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; font-size: .88em; }
.long { overflow-wrap: anywhere; }
.command { background: var(--tint); border-radius: 8px; padding: 12px 14px; white-space: pre-wrap; margin: 0 0 12px; }
figure { margin: 14px 0 20px; }
figcaption { font-size: .88rem; margin-top: 6px; }
.plot { min-height: 120px; }
footer { grid-column: 1 / -1; color: var(--faint); font-size: .88rem; text-align: center; }
@media (max-width: 860px) {
  .layout { grid-template-columns: minmax(0, 1fr); gap: 16px; padding: 16px 12px 40px; }
  nav { position: static; }
  nav ol { display: flex; flex-wrap: wrap; gap: 4px; }
  nav a { border: 1px solid var(--line); border-radius: 999px; padding: 2px 12px; }
  section { padding: 16px 14px; border-radius: 10px; }
  h1 { font-size: 1.4rem; }
  table { min-width: 500px; }
  dl { grid-template-columns: minmax(0, 1fr); gap: 0; }
  dd { margin-bottom: 8px; }
}
@media print {
  :root {
    --page: #ffffff; --card: #ffffff; --text: #1c2333; --faint: #5b6479; --line: #dfe4ef; --accent: #3b5bdb;
    --good: #0f7a66; --bad: #c0400d; --warn: #9a5b00; --tint: #eef1fb; --warn-tint: #fff4e0; color-scheme: light;
  }
  body { font-size: 11pt; }
  .layout { display: block; padding: 0; max-width: none; }
  nav { position: static; margin: 12px 0 20px; }
  nav ol { columns: 2; }
  section { border: 0; padding: 8px 0; }
  h2, h3 { break-after: avoid; }
  figure, .card, tr, .alarm { break-inside: avoid; }
  .scroll { overflow: visible; }
  .plot { min-width: 0 !important; zoom: .76; }
}
"""
"""One sheet for screens, phones and paper, light and dark."""

SCRIPT = """
(function () {
  "use strict";
  var dark = window.matchMedia("(prefers-color-scheme: dark)");
  var figures = Array.prototype.slice.call(document.querySelectorAll("figure"));
  var options = {displaylogo: false, displayModeBar: false, responsive: true, showSendToCloud: false};
  var paper = 880;  // pixels; the sheet for print makes them fit
  function draw(figure, theme, width) {
    var data = figure.querySelector("script." + theme), place = figure.querySelector(".plot");
    if (!data || !place) { return; }
    var made = JSON.parse(data.textContent);
    if (width) { made.layout.width = width; made.layout.autosize = false; }
    Plotly.react(place, made.data, made.layout, options);
  }
  function drawAll(theme, width) { figures.forEach(function (figure) { draw(figure, theme, width); }); }
  function fitting() { return dark.matches ? "dark" : "light"; }
  drawAll(fitting());
  dark.addEventListener("change", function () { drawAll(fitting()); });
  window.addEventListener("beforeprint", function () { drawAll("light", paper); });
  window.addEventListener("afterprint", function () { drawAll(fitting()); });
})();
"""
"""Draws every picture for the page as it is now, and on paper for a light one."""
