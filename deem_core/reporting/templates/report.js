// Draws every picture for the page as it is now, and on paper for a light one.
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
