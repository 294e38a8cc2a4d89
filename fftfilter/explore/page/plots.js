/** The curves below the pictures: gain over power by frequency, and the histogram of the result. */

import { cutoffsOf } from "./filter.js";
import { children, set, svg } from "./handles.js";
import { brief, FARTHEST } from "./units.js";

const MARGIN = { left: 34, right: 10, top: 6, bottom: 18 };
/** Decibels below the highest power that are shown. */
const DEPTH = 90;
/** Pixels between two labels of an axis. */
const APART = 56;

/** A plot that fills its SVG element, in its pixels. */
class Plot {
  constructor(element, redraw) {
    this.element = element;
    this.box = { left: MARGIN.left, top: MARGIN.top, right: MARGIN.left + 1, bottom: MARGIN.top + 1 };
    new ResizeObserver(() => {
      const { clientWidth, clientHeight } = element;
      this.box.right = Math.max(MARGIN.left + 1, clientWidth - MARGIN.right);
      this.box.bottom = Math.max(MARGIN.top + 1, clientHeight - MARGIN.bottom);
      redraw();
    }).observe(element);
  }

  label(x, y, text, anchor = "middle") {
    const label = svg("text", { x, y, "text-anchor": anchor });
    label.textContent = text;
    return label;
  }
}

const line = (points) => points.map(([x, y], i) => `${i ? "L" : "M"}${x.toFixed(1)} ${y.toFixed(1)}`).join("");

/** H(f) over the radial power, frequencies in octaves. */
export class RadialPlot extends Plot {
  constructor(element, desk) {
    super(element, () => this.draw());
    this.desk = desk;
    this.power = null;
    this.curve = null;
    this.cutoffs = svg("g");
  }

  #x(f) {
    const { left, right } = this.box;
    const lowest = this.#lowest;
    return left + ((right - left) * Math.log(Math.max(f, lowest) / lowest)) / Math.log(FARTHEST / lowest);
  }

  get #lowest() {
    return 0.7 / this.desk.n;
  }

  /** Get the power of a page. */
  async load(page) {
    this.power = await (await fetch(`radial?page=${page}`)).json();
    this.draw();
  }

  put(curve) {
    this.curve = curve;
    this.draw();
  }

  draw() {
    const { left, top, right, bottom } = this.box;
    const lowest = this.#lowest;
    const x = (f) => this.#x(f);
    const across = (part) => bottom - part * (bottom - top);
    const parts = [svg("path", { class: "axis", d: line([[left, top], [left, bottom], [right, bottom]]) })];
    for (const gain of [0, 0.5, 1]) parts.push(this.label(left - 5, across(gain) + 4, gain, "end"));
    let last = Infinity;
    for (let f = 0.5; f > lowest; f /= 2) {
      if (last - x(f) < APART) continue;
      last = x(f);
      parts.push(svg("path", { class: "tick", d: line([[x(f), top], [x(f), bottom + 3]]) }));
      parts.push(this.label(x(f), bottom + 14, this.desk.units.text(f, this.desk.unit, 3)));
    }
    if (this.power) {
      const highest = Math.max(...this.power.power_db);
      const up = (db) => across(Math.min(1, Math.max(0, 1 + (db - highest) / DEPTH)));
      const points = this.power.frequency.map((f, i) => [x(f), up(this.power.power_db[i])]);
      const area = [[points[0][0], bottom], ...points, [points.at(-1)[0], bottom]];
      parts.push(svg("path", { class: "power", d: line(area) }));
    }
    if (this.curve) {
      const points = this.curve.frequency.map((f, i) => [x(f), across(Math.min(1, this.curve.gain[i]))]);
      parts.push(svg("path", { class: "gain", d: line(points) }));
    }
    this.element.replaceChildren(...parts, this.cutoffs);
    this.drawCutoffs();
  }

  /** Draw the cutoffs alone, as while one is dragged. */
  drawCutoffs() {
    const { top, bottom } = this.box;
    const at = cutoffsOf(this.desk.filter).map((name) => this.#x(this.desk.cutoff(name) ?? 0));
    children(this.cutoffs, at.length, () => svg("path", { class: "cutoff" })).forEach((cutoff, i) =>
      set(cutoff, { d: line([[at[i], top], [at[i], bottom]]) }),
    );
  }
}

/** How often each gray level comes, the root of it, so that few are seen, too. */
export class HistogramPlot extends Plot {
  constructor(element) {
    super(element, () => this.draw());
    this.histogram = null;
  }

  put(histogram) {
    this.histogram = histogram;
    this.draw();
  }

  draw() {
    const { left, top, right, bottom } = this.box;
    const start = left / 3;
    const parts = [svg("path", { class: "axis", d: line([[start, bottom], [right, bottom]]) })];
    if (this.histogram) {
      const { edges, counts } = this.histogram;
      const most = Math.sqrt(Math.max(...counts, 1));
      const x = (i) => start + ((right - start) * i) / counts.length;
      const bars = counts.flatMap((count, i) => {
        const y = bottom - (Math.sqrt(count) / most) * (bottom - top);
        return [[x(i), y], [x(i + 1), y]];
      });
      parts.push(svg("path", { class: "power", d: line([[start, bottom], ...bars, [right, bottom]]) }));
      parts.push(this.label(start, bottom + 14, brief(edges.at(0)), "start"), this.label(right, bottom + 14, brief(edges.at(-1)), "end"));
      set(this.element, { "aria-label": `Histogram of the result, from ${brief(edges.at(0))} to ${brief(edges.at(-1))}` });
    }
    this.element.replaceChildren(...parts);
  }
}
