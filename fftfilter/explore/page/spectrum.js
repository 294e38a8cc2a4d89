/** The spectrum: before or after the filter, by channel, in colors, with outlines over it. */

import { colorsOf, filtered, rangeOf, STEPS } from "./colors.js";
import { button, div, h, para, put, segments, select, span } from "./dom.js";
import { Surface, tintTable } from "./frame.js";
import { listen } from "./gestures.js";
import { outlinesOf } from "./outlines.js";
import { notchesName, rounded, takesNotches } from "./settings.js";
import { isStale } from "./state.js";
import { stageOf } from "./stage.js";
import { angleOf, brief, decibels, lengthOfWave, NYQUIST } from "./units.js";
import { Placement, viewOf } from "./view.js";

/** That of what is removed in the pages of --preview. */
const REMOVED = tintTable([240, 110, 40], 0.6);
/** As near to a peak, in CSS pixels, a click means the peak. */
const NEAR = 12;

/** @param {import("./state.js").Store} store @param {any} page  units and facts of the file */
export function spectrumOf(store, { units, facts }) {
  const painted = new Surface();
  const tint = new Surface();
  /** What the canvas was drawn from: it takes as long as a result, and while something is dragged it stays. @type {any[]} */
  let drawn = [];
  const at = (event) => {
    const box = stage.root.getBoundingClientRect();
    return map().frequency(event.clientX - box.left, event.clientY - box.top);
  };
  const view = viewOf(store, "spectrum");
  const width = () => store.got.spectrum?.value?.width ?? 1;
  const map = () => {
    const { x, y, scale } = new Placement(view.get(), stage.size, 1, 1);
    // If the number of pixels is even, that of frequency 0 lies right of the middle and below it.
    const half = width() % 2 ? 0 : 0.5 / width();
    const zero = { x: x + (NYQUIST + half) * scale, y: y + (NYQUIST + half) * scale };
    return {
      scale,
      stage: stage.size,
      screen: (fx, fy) => ({ x: zero.x + fx * scale, y: zero.y + fy * scale }),
      frequency: (px, py) => ({ fx: (px - zero.x) / scale, fy: (py - zero.y) / scale }),
    };
  };
  const outlines = outlinesOf(store, { units, facts, map, at });
  const wait = para("wait");
  const stage = stageOf("Spectrum", () => ((drawn = drawn.slice(0, 3)), draw(store.state, store.got)), outlines.root, outlines.caption, wait);
  stage.root.classList.add("sq");
  const zooms = listen(stage.root, {
    view,
    size: () => stage.size,
    placement: () => new Placement(view.get(), stage.size, 1, 1),
    hover: (point) => store.take("frequency", point && map().frequency(point.x, point.y)),
    tap: (point) => tap(map().frequency(point.x, point.y)),
  });
  const channel = segments("Channel", { all: "All", red: "R", green: "G", blue: "B" }, (value) => store.look({ channel: value }));
  const side = segments("Spectrum of", { before: "Before", after: "After" }, (value) => store.look({ after: value === "after" }));
  const about = span("mute small wide", "logarithm of the magnitude");
  const fit = button("ol", "Fit", () => zooms.fit());
  const readout = span("");
  const colors = select("Colors", { gray: "Gray", viridis: "Viridis", fire: "Fire" }, (value) => store.look({ colors: value }));
  const removedAs = select("Removed as", { outline: "Outline", area: "Area", none: "Not shown" }, (value) => store.look({ removedAs: value }));
  const choices = div("row wrap", h("label", { class: "lab" }, "Colors ", colors), h("label", { class: "lab" }, "Removed as ", removedAs));
  const head = div("vbar", h("h2", {}, "Spectrum"), span("sp"), about, channel.root, side.root, fit);
  const top = [head, stage.root, div("read", readout)];

  /** A click: a notch by hand, near a peak that peak; else the wave of the point. */
  const tap = ({ fx, fy }) => {
    if (Math.max(Math.abs(fx), Math.abs(fy)) > NYQUIST) return;
    const { asked, view: looks } = store.state;
    const peaks = store.got.peaks?.value?.peaks ?? [];
    const away = (peak) => Math.min(Math.hypot(fx - peak.fx, fy - peak.fy), Math.hypot(fx + peak.fx, fy + peak.fy));
    const near = peaks.filter((peak) => away(peak) <= NEAR / map().scale).sort((a, b) => away(a) - away(b))[0];
    if (asked.goal === "hand" && asked.settings && looks.way === "filter" && takesNotches(asked.settings, facts().commands)) {
      const name = notchesName(asked.settings);
      const notches = asked.settings[name] ?? [];
      const notch = near ? { ...rounded(near), width: { value: Number(near.width_cyc.toPrecision(3)), unit: "cyc" } } : rounded({ fx, fy });
      store.set({ [name]: [...notches, notch] });
      store.draw();
      outlines.focusNotch(notches.length);
    } else store.look({ wave: near ? { fx: near.fx, fy: near.fy } : rounded({ fx, fy }) });
  };

  const place = (context, surface) => {
    const shown = map();
    const size = surface.frame.width;
    const first = -(Math.floor(size / 2) + 0.5) / size;
    const { x, y } = shown.screen(first, first);
    surface.draw(context, x, y, shown.scale, shown.scale);
  };

  /** Paint the spectrum, and what covers it, if what it is painted from has changed. */
  const paint = ({ asked, view: { after, colors: name, removedAs, spectrum: zoom } }, got) => {
    const { value: spectrum, isOld } = got.spectrum ?? {};
    const gain = after ? got.gain?.surface.frame : null;
    const area = removedAs === "area" && asked.settings && !after ? got.gain?.surface.frame : null;
    const key = [spectrum, gain, name, area, zoom, isOld];
    if (key.every((each, i) => each === drawn[i])) return;
    if (spectrum && key.some((each, i) => i < 3 && each !== drawn[i])) {
      spectrum.range ??= rangeOf(spectrum.pixels);
      painted.put({ ...spectrum, pixels: gain ? filtered(spectrum, gain) : spectrum.pixels }, colorsOf(name, spectrum.range));
    }
    drawn = key;
    stage.clear();
    if (!painted.frame) return;
    place(stage.context, painted);
    if (area) place(stage.context, tint.frame === area ? tint : tint.put(area, REMOVED));
    stage.context.fillStyle = "rgba(12, 14, 16, 0.6)";
    if (isOld) stage.context.fillRect(0, 0, stage.size.width, stage.size.height);
  };

  const drawReadout = (state, got) => {
    const point = got.frequency;
    if (!point || Math.max(Math.abs(point.fx), Math.abs(point.fy)) > NYQUIST) {
      const isByHand = state.asked.goal === "hand";
      return put(readout, { text: isByHand ? "Click a spot to take it out" : "Click a point to see its wave" });
    }
    const f = Math.hypot(point.fx, point.fy);
    const length = lengthOfWave(point.fx, point.fy, facts().pixel_size);
    const period = length ? `${length} · ${brief(1 / f)} px` : `${brief(1 / f)} px`;
    const spectrum = got.spectrum?.value;
    const pixel = (size) => [point.fx, point.fy].map((each) => Math.min(size - 1, Math.max(0, Math.round(each * size) + Math.floor(size / 2))));
    const [x, y] = spectrum ? pixel(spectrum.width) : [0, 0];
    const level = spectrum ? `   ${(spectrum.pixels[y * spectrum.width + x] - 255) / STEPS} dB` : "";
    const gain = got.gain?.number === state.number && state.asked.settings ? got.gain.surface.frame : null;
    const [gx, gy] = gain ? pixel(gain.width) : [0, 0];
    const loss = gain ? `   gain ${brief(decibels(gain.pixels[gy * gain.width + gx] / 255))} dB`.replace("-", "−").replace("−180 dB", "−∞ dB") : "";
    put(readout, { text: `period ${f > 1e-4 ? period : "∞"}   angle ${angleOf(point.fx, point.fy).toFixed(1)}°${level.replace("-", "−")}${loss}` });
  };

  /** @param {import("./state.js").State} state */
  function draw(state, got) {
    const { asked, view: looks } = state;
    paint(state, got);
    put(wait, { text: got.spectrum?.error ?? "Computing the spectrum", hidden: Boolean(painted.frame) && !got.spectrum?.error });
    outlines.draw(state, got);
    put(outlines.root, { "data-old": isStale(state, got) });
    channel.draw(looks.channel);
    side.draw(looks.after ? "after" : "before");
    const isFiltered = Boolean(asked.settings) && looks.way === "filter";
    put(channel.root, { hidden: !isFiltered || facts().channels < 3 });
    put(side.root, { hidden: !isFiltered });
    put(about, { hidden: isFiltered });
    put(colors, { value: looks.colors });
    put(removedAs, { value: looks.removedAs });
    drawReadout(state, got);
  }
  return { top, choices, draw, zooms, focusNotch: outlines.focusNotch };
}
