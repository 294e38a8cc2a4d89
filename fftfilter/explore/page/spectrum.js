/** The spectrum with the filter over it, and the handles. */

import { fetchFrame, Surface, tintTable } from "./frame.js";
import { listen } from "./gestures.js";
import { Notches } from "./notches.js";
import { angleOf, USUAL_WIDTH } from "./notch.js";
import { Peaks } from "./peaks.js";
import { Rings } from "./rings.js";
import { Stripes } from "./stripes.js";
import { canvasOf } from "./stage.js";
import { brief, NYQUIST } from "./units.js";
import { Placement } from "./view.js";

/** That of what is removed in the pages of --preview. */
const REMOVED = [240, 110, 40];
const STRENGTH = 0.6;
/** The clicks of a double click are at most as many ms apart. */
const DOUBLE = 1000;
/** As near to a peak, in CSS pixels, a click means the peak. */
const NEAR = 12;

export class Spectrum {
  #surface = new Surface();
  #gain = new Surface(tintTable(REMOVED, STRENGTH));
  /** The spectrum as it lies on the stage, without a tint. */
  #plain = new OffscreenCanvas(1, 1);
  #tapped = { time: -Infinity, undo: () => {} };

  /**
   * @param {HTMLElement} viewer
   * @param {import("./desk.js").Desk} desk
   * @param {() => import("./view.js").View} view
   */
  constructor(viewer, desk, view) {
    this.desk = desk;
    this.stage = viewer.querySelector(".stage");
    this.readout = viewer.querySelector(".readout");
    this.view = view;
    this.tint = true;
    this.canvas = canvasOf(this.stage, () => this.draw());
    this.rings = new Rings(desk);
    this.notches = new Notches(desk);
    this.stripes = new Stripes(desk);
    this.peaks = new Peaks(desk);
    const handles = viewer.querySelector("svg");
    handles.append(this.peaks.group, this.stripes.group, this.rings.group, this.notches.group);
    desk.pointed = (event) => {
      const box = this.stage.getBoundingClientRect();
      return this.map().frequency(event.clientX - box.left, event.clientY - box.top);
    };
    this.zoom = listen(this.stage, {
      view,
      placement: () => this.#placement(),
      hover: (point) => this.#hover(point),
      tap: (point) => this.#tap(point),
    });
    // The first click of a double click has added a notch.
    this.stage.addEventListener("dblclick", () => {
      const { time, undo } = this.#tapped;
      if (performance.now() - time < DOUBLE) undo();
    });
  }

  /** Show the spectrum of a page. */
  async load(page) {
    this.#surface.put(await fetchFrame(`spectrum?page=${page}`));
    this.draw();
  }

  /** Take the gains of the filter, DC in the middle. */
  put(frame) {
    this.#gain.put(frame);
    this.#drawTint();
  }

  #placement() {
    return new Placement(this.view(), this.canvas.size, 1, 1);
  }

  /** Where frequencies are on the stage, and the other way round. */
  map() {
    const { x, y, scale } = this.#placement();
    // Of an even number of pixels that of frequency 0 lies right of the middle and below it.
    const width = this.#surface.frame?.width ?? 1;
    const half = width % 2 ? 0 : 0.5 / width;
    const zero = { x: x + (NYQUIST + half) * scale, y: y + (NYQUIST + half) * scale };
    return {
      scale,
      stage: this.canvas.size,
      screen: (fx, fy) => ({ x: zero.x + fx * scale, y: zero.y + fy * scale }),
      frequency: (px, py) => ({ fx: (px - zero.x) / scale, fy: (py - zero.y) / scale }),
    };
  }

  draw() {
    const { canvas, context, clear } = this.canvas;
    clear();
    const map = this.map();
    this.#drawSurface(context, map, this.#surface);
    this.#plain.width = canvas.width;
    this.#plain.height = canvas.height;
    this.#plain.getContext("2d", { alpha: false }).drawImage(canvas, 0, 0);
    this.#drawTint(map);
    this.drawHandles(map);
  }

  /** Draw the tint alone: to reduce the spectrum anew takes longer than all else that a drag changes. */
  #drawTint(map = this.map()) {
    const { context, size } = this.canvas;
    context.drawImage(this.#plain, 0, 0, size.width, size.height);
    if (this.tint) this.#drawSurface(context, map, this.#gain);
  }

  /** Draw the handles alone, as while one is dragged. */
  drawHandles(map = this.map()) {
    for (const part of [this.rings, this.notches, this.stripes, this.peaks]) part.draw(map, this.desk.filter);
  }

  #drawSurface(context, map, surface) {
    if (surface.isEmpty) return;
    const { width } = surface.frame;
    const first = -(Math.floor(width / 2) + 0.5) / width;
    const { x, y } = map.screen(first, first);
    surface.draw(context, x, y, map.scale, map.scale);
  }

  #hover(point) {
    this.readout.textContent = point ? this.#said(this.map().frequency(point.x, point.y)) : "";
  }

  #said({ fx, fy }) {
    if (Math.max(Math.abs(fx), Math.abs(fy)) > NYQUIST) return "";
    const f = Math.hypot(fx, fy);
    const { units, unit } = this.desk;
    const length = units.length(1 / f);
    const parts = [`fx ${fx.toFixed(4)}, fy ${fy.toFixed(4)}`, `period ${brief(1 / f, 3)} px${length && ` = ${length}`}`];
    if (!units.isPeriod(unit)) parts.push(`${brief(units.number(f, unit), 3)} ${unit || "cycles"}`);
    return [...parts, `angle ${angleOf(fx, fy).toFixed(1)}°`].join(" · ");
  }

  #tap(point) {
    const { history } = this.desk;
    const at = this.map().frequency(point.x, point.y);
    if (Math.max(Math.abs(at.fx), Math.abs(at.fy)) > NYQUIST) return;
    const near = this.peaks.nearest(at, NEAR / this.map().scale);
    const before = history.filter.notches;
    const index = this.desk.addNotches([near ?? { ...at, width: USUAL_WIDTH }]);
    this.notches.focus(index);
    this.#tapped = {
      time: performance.now(),
      undo: () => {
        if (history.filter.notches !== before) history.undo();
      },
    };
  }
}
