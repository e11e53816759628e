// A Plotly figure that stays where it is while its data change.
//
// One node is kept for the life of the element and drawn again by Plotly.react, so that zoom, hidden curves and the
// pointer's label survive, and nothing is ever blank. The code of Plotly is the one that Streamlit's own charts load.

let loading;

function plotly(file) {
  loading ??= (async () => {
    const own = [...document.scripts].find((each) => each.src.includes("/static/js/"));
    await import(new URL(file, own.src).href);
    return window.Plotly;
  })();
  return loading;
}

/** Return `one` with what `other` says otherwise; lists are merged place by place. */
function merged(one, other) {
  if (other === null || typeof other !== "object") return other === undefined ? one : other;
  const both = Array.isArray(one) ? [...one] : { ...one };
  for (const [name, value] of Object.entries(other)) both[name] = merged(both[name], value);
  return both;
}

/** Return the layout for a width: that of the narrowest arrangement that is meant for it. */
function arranged(layout, width) {
  const narrower = (layout.meta?.arrangements ?? []).filter((each) => width < each.below);
  narrower.sort((one, other) => one.below - other.below);
  return narrower.length ? merged(layout, narrower[0].layout) : layout;
}

const groupsOff = (node) =>
  new Set((node._fullData ?? []).filter((each) => each.visible === "legendonly").map((each) => each.legendgroup));

/** A name at the end of a curve is seen as long as the curve is. */
function withoutNamesOf(annotations, off) {
  return (annotations ?? []).map((each) => (each.name ? { ...each, visible: !off.has(each.name) } : each));
}

/** Fade all curves but those of one group; of none: show all. */
function isolate(node, group) {
  for (const trace of node._fullData ?? []) {
    const fades = group !== undefined && trace.legendgroup !== group;
    for (const part of node.querySelectorAll(`.scatterlayer .trace${trace.uid}`)) {
      part.style.opacity = fades ? 0.12 : "";
    }
  }
}

class Plot {
  constructor(host) {
    this.host = host;
    this.node = host.querySelector(".deem-plot");
    this.observer = new ResizeObserver(() => this.width !== this.node.clientWidth && this.draw());
    this.observer.observe(this.node);
  }

  take(data, pick) {
    this.pick = pick;
    if (this.said !== data.figure + data.config) {
      this.said = data.figure + data.config;
      this.data = { ...data, figure: JSON.parse(data.figure), config: JSON.parse(data.config) };
      this.draw();
    }
  }

  async draw() {
    this.waiting = true;
    if (this.drawing) return; // whoever is at it will see that there is more to do
    this.drawing = true;
    try {
      while (this.waiting) {
        this.waiting = false;
        await this.paint();
      }
    } finally {
      this.drawing = false;
    }
  }

  async paint() {
    const { figure, config, file, alt } = this.data;
    const { node } = this;
    const Plotly = await plotly(file);
    const width = node.clientWidth;
    if (!width) return; // in a tab that nobody looks at: drawn when it is opened
    const layout = arranged(figure.layout, width);
    const font = { ...layout.font, family: getComputedStyle(node).fontFamily };
    const annotations = withoutNamesOf(layout.annotations, groupsOff(node));
    node.setAttribute("role", "figure");
    node.setAttribute("aria-label", alt);
    node.style.minHeight = `${layout.height}px`;
    this.width = width;
    await Plotly.react(node, figure.data, { ...layout, annotations, width, font }, config);
    if (!this.listening) this.listen(Plotly);
  }

  listen(Plotly) {
    const { node } = this;
    this.listening = true;
    node.on("plotly_click", ({ points }) => {
      const value = points[0]?.customdata;
      if (value !== undefined) this.pick(value);
    });
    node.on("plotly_hover", ({ points }) => {
      if (this.following) return;
      const { fullData, pointNumber } = points[0];
      if (!fullData.legendgroup) return;
      isolate(node, fullData.legendgroup);
      const twins = node._fullData.filter(
        (each) => each.legendgroup === fullData.legendgroup && each.hoverinfo !== "skip" && each.visible === true,
      );
      if (twins.length < 2) return;
      this.following = true; // the labels in the other panels are no hovering of their own
      Plotly.Fx.hover(
        node,
        twins.map((each) => ({ curveNumber: each.index, pointNumber })),
        twins.map((each) => each.xaxis + each.yaxis),
      );
      this.following = false;
    });
    node.on("plotly_unhover", () => isolate(node));
    node.on("plotly_restyle", () => {
      const annotations = withoutNamesOf(node.layout.annotations, groupsOff(node));
      if (JSON.stringify(annotations) !== JSON.stringify(node.layout.annotations)) Plotly.relayout(node, { annotations });
    });
  }

  async end() {
    this.observer.disconnect();
    (await loading)?.purge(this.node);
  }
}

export default function ({ data, parentElement, setTriggerValue }) {
  parentElement.deemPlot ??= new Plot(parentElement);
  const plot = parentElement.deemPlot;
  plot.take(data, (value) => setTriggerValue("picked", value));
  return () => setTimeout(() => parentElement.isConnected || plot.end()); // also called when a newer call overtook this
}
