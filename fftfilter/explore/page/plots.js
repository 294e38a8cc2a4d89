/** Curves: power and gain by period, with cutoffs to drag; the profile of a line; the histogram, with levels to drag. */

import { powerOf } from "./colors.js";
import { button, children, div, draggable, para, put, span, steppable, svg } from "./dom.js";
import { cutoffHandle } from "./outlines.js";
import { cutoffsOf } from "./settings.js";
import { isStale, shownIn } from "./state.js";
import { brief, cutoffAt, decibels, FARTHEST, frequencyOf, lengthOf, saidOf } from "./units.js";

const MARGIN = { left: 40, right: 8, top: 8, bottom: 20 };
/** Pixels between two labels of an axis. */
const APART = 52;
/** A part of the samples that is not worth a word. */
const FEW = 5e-5;

/** A plot that fills its element, in its pixels; `redraw` is called when its size has changed. */
function plotOf(label, redraw, left = MARGIN.left) {
  const root = svg("svg", { class: "plot", role: "group", "aria-label": label });
  const box = { left, top: MARGIN.top, right: left + 1, bottom: MARGIN.top + 1, isShown: false };
  new ResizeObserver(() => {
    box.isShown = root.clientHeight > 0;
    box.right = Math.max(left + 1, root.clientWidth - MARGIN.right);
    box.bottom = Math.max(MARGIN.top + 1, root.clientHeight - MARGIN.bottom);
    redraw();
  }).observe(root);
  return { root, box };
}

/** A line through points, with gaps where y is NaN. */
const path = (points) => {
  const isKnown = (point) => Boolean(point) && !Number.isNaN(point[1]);
  const to = ([x, y], i) => `${isKnown(points[i - 1]) ? "L" : "M"}${x.toFixed(1)} ${y.toFixed(1)}`;
  return points.map((point, i) => (isKnown(point) ? to(point, i) : "")).join("");
};
const clamp = (value, low, high) => Math.min(high, Math.max(low, value));

/** Put labels on an axis: `[x, y, text, anchor]`. */
const labels = (group, found) =>
  children(group, found.length, () => svg("text")).forEach((label, i) => {
    const [x, y, text, anchor = "middle"] = found[i];
    put(label, { x, y, text, "text-anchor": anchor });
  });

/** Power by period, before and after; the gain, and its cutoffs. @param {import("./state.js").Store} store */
export function gainPlot(store, { units, facts }) {
  const { root, box } = plotOf("Power and gain by period", () => draw(store.state, store.got));
  const [grid, area, after, gain] = ["grid", "area", "after", "gain"].map((name) => svg("path", { class: name }));
  const words = svg("g");
  const hands = svg("g");
  root.append(grid, area, after, gain, words, hands);
  const title = span("h");
  const keys = span("row", span("key before", "before"), span("key after", "after"), span("key gain", "gain"));
  const clipped = para("mute small");
  const figure = div("figure", div("row", title, span("sp"), keys), root, clipped);
  let power = { key: null, made: null };

  const lowest = () => 0.7 / Math.max(facts().width, facts().height);
  const x = (f) => box.left + ((box.right - box.left) * Math.log(Math.max(f, lowest()) / lowest())) / Math.log(FARTHEST / lowest());
  const frequencyAt = (px) => lowest() * (FARTHEST / lowest()) ** ((px - box.left) / (box.right - box.left));

  const makeHand = (index) => {
    const hand = svg(
      "g",
      { class: "hand", role: "slider", tabindex: 0, "aria-valuemin": 0, "aria-valuemax": FARTHEST.toFixed(4) },
      svg("rect", { class: "touch", width: 18 }),
      svg("path"),
      svg("circle", { r: 6 }),
      svg("text"),
    );
    const name = () => cutoffsOf(store.state.asked.settings)[index];
    const begin = () => (event) => frequencyAt(event.clientX - root.getBoundingClientRect().left);
    cutoffHandle(hand, store, units, { name, begin, lowest, home: lowest });
    return hand;
  };

  /** @param {import("./state.js").State} state */
  function draw(state, got) {
    if (!box.isShown) return;
    const { asked } = state;
    const spectrum = got.spectrum?.value;
    const map = asked.settings && got.gain ? got.gain.surface.frame : null;
    if (spectrum && (power.key?.[0] !== spectrum || (power.key[1] !== map && !store.isDragged)))
      power = { key: [spectrum, map], made: powerOf(spectrum, map, lowest(), FARTHEST) };
    const curve = asked.settings ? got.words?.curve : null;
    const depth = curve ? 40 : 80;
    const y = (db) => box.top + (box.bottom - box.top) * clamp(-db / depth, 0, 1);
    const made = power.made;
    const highest = made ? Math.max(...made.before.map(({ db }) => db)) : 0;
    const of = (points) => points.map(({ f, db }) => [x(f), y(((db - highest) * depth) / 80)]);
    const closed = (points) => (points.length ? `${path(points)}L${points.at(-1)[0]} ${box.bottom}L${points[0][0]} ${box.bottom}Z` : "");
    put(area, { d: made ? closed(of(made.before)) : "" });
    put(after, { d: made?.after && !curve ? path(of(made.after)) : "" });
    put(gain, { d: curve ? path(curve.frequency.map((f, i) => [x(f), y(decibels(curve.gain[i]))])) : "" });
    const lines = [0, 0.5, 1].map((part) => box.top + part * (box.bottom - box.top));
    put(grid, { d: lines.map((at) => `M${box.left} ${at}H${box.right}`).join("") });
    const ticks = lines.map((at, i) => [box.left - 5, at + 4, i ? `−${(depth * i) / 2}` : "0 dB", "end"]);
    const unit = Object.values(asked.settings ?? {}).find((each) => units()[each?.unit])?.unit ?? facts().unit;
    let edge = Infinity;
    for (let f = 0.5; f > lowest(); f /= 2) {
      if (edge - x(f) < APART) continue;
      edge = x(f);
      const text = edge > box.right - APART ? brief(cutoffAt(f, unit, units()).value) : saidOf(cutoffAt(f, unit, units(), 3), units());
      ticks.push([edge, box.bottom + 15, text]);
    }
    labels(words, ticks);
    const names = cutoffsOf(asked.settings);
    children(hands, names.length, makeHand).forEach((hand, i) => {
      const cutoff = asked.settings[names[i]];
      const at = x(frequencyOf(cutoff, units()) ?? lowest());
      const [touch, line, grip, text] = hand.children;
      put(touch, { x: at - 9, y: box.top, height: box.bottom - box.top + 6 });
      put(line, { d: `M${at} ${box.top}V${box.bottom}` });
      put(grip, { cx: at, cy: box.bottom });
      const isRight = at > box.right - 90 || (i < names.length - 1 && at > box.left + 60); // no text is on the next one's
      put(text, {
        x: at + (isRight ? -8 : 8),
        y: box.top + 0.62 * (box.bottom - box.top),
        "text-anchor": isRight ? "end" : "start",
        text: saidOf(cutoff, units()),
      });
      const value = { "aria-valuenow": frequencyOf(cutoff, units())?.toPrecision(4), "aria-valuetext": saidOf(cutoff, units()) };
      put(hand, { "aria-label": `${names[i]} cutoff in the plot`, ...value });
    });
    put(title, { text: curve ? "Gain by period" : "Power by period" });
    put(keys.children[1], { hidden: Boolean(curve) || !asked.settings });
    put(keys.children[2], { hidden: !curve });
    const told = asked.settings && got.words ? got.words : {};
    const text = told.clipped > FEW ? `${brief(100 * told.clipped, 2)} % of the samples are clipped` : "\u00a0";
    put(clipped, { text, "data-old": isStale(state, got) });
    put(root, { "data-old": isStale(state, got) });
  }
  return { root: figure, draw };
}

/** The gray levels along a line, before and after. @param {import("./state.js").Store} store */
export function profilePlot(store, { facts, ask }) {
  const { root, box } = plotOf("Line profile", () => draw(store.state, store.got), 48);
  const [grid, before, after] = ["grid", "before", "after"].map((name) => svg("path", { class: name }));
  const words = svg("g");
  root.append(grid, before, after, words);
  const figure = div("figure", div("row", span("h", "Line profile"), span("sp"), span("key before", "before"), span("key after", "after")), root);
  let asked = "";

  const follow = (state, got) => {
    const { profile, tray } = state.view;
    const { file, page } = state.asked;
    if (!profile || tray !== "profile") return;
    const shown = got[shownIn(state)];
    const key = JSON.stringify([profile, state.number, file, page, shown?.number, shown?.isFull]);
    if (key === asked) return;
    asked = key;
    const [x0, y0, x1, y1] = profile;
    const count = Math.min(512, Math.max(2, Math.ceil(Math.hypot(x1 - x0, y1 - y0)) + 1));
    ask.values(
      "profile",
      Array.from({ length: count }, (_, i) => [x0 + ((x1 - x0) * i) / (count - 1), y0 + ((y1 - y0) * i) / (count - 1)].map(Math.round)),
    );
  };
  store.atOnce.push(follow);

  /** @param {import("./state.js").State} state */
  function draw(state, got) {
    const { profile } = state.view;
    const found = got.profile;
    if (!box.isShown || !found?.before || !profile) return;
    const mean = (values) => values[0].map((_, i) => values.reduce((sum, each) => sum + (each[i] ?? NaN), 0) / values.length);
    const one = mean(found.before);
    const other = found.after && found.id === state.number ? mean(found.after) : null;
    const all = [...one, ...(other ?? [])].filter((value) => !Number.isNaN(value));
    const [low, high] = all.length ? [Math.min(...all), Math.max(...all)] : [0, 1];
    const y = (value) => box.bottom - ((value - low) / (high - low || 1)) * (box.bottom - box.top);
    const line = (values) => path(values.map((value, i) => [box.left + ((box.right - box.left) * i) / (values.length - 1), y(value)]));
    put(before, { d: line(one) });
    put(after, { d: other ? line(other) : "" });
    put(grid, { d: [low, (low + high) / 2, high].map((value) => `M${box.left} ${y(value)}H${box.right}`).join("") });
    const { across_m: across, down_m: down } = facts().pixel_size ?? { across_m: 1, down_m: 1 };
    const far = Math.hypot((profile[2] - profile[0]) * across, (profile[3] - profile[1]) * down);
    const said = (long) => (facts().pixel_size ? lengthOf(long, 1) : `${brief(long)} px`);
    labels(words, [
      ...[low, (low + high) / 2, high].map((value) => [box.left - 5, y(value) + 4, brief(value), "end"]),
      [box.left, box.bottom + 15, "0", "start"],
      [(box.left + box.right) / 2, box.bottom + 15, said(far / 2)],
      [box.right, box.bottom + 15, said(far), "end"],
    ]);
  }
  return { root: figure, draw };
}

/** Black, gamma and white on the histogram, in the file's own levels. @param {import("./state.js").Store} store */
export function levelsPlot(store) {
  const { root, box } = plotOf("Levels", () => draw(store.state, store.got), 10);
  const [area, after] = ["area", "after"].map((name) => svg("path", { class: name }));
  const words = svg("g");
  const knobs = ["Black", "Gamma", "White"].map((name, i) => {
    const touch = svg("rect", { class: "touch", width: 22, height: 30 });
    const knob = svg("g", { class: "knob", role: "slider", tabindex: 0, "aria-label": name }, touch, svg("path"));
    draggable(store, knob, () => (event) => move(i, valueAt(event.clientX - root.getBoundingClientRect().left), true));
    steppable(knob, (steps, end) => {
      const [low, high] = range();
      const [black, white, gamma] = levels();
      if (!steps) move(i, range()[end], false);
      else if (i === 1) store.look({ levels: [black, white, clamp(gamma * 1.02 ** steps, 0.1, 10)] });
      else move(i, (i ? white : black) + (steps * (high - low)) / 256, false);
    });
    return knob;
  });
  root.append(area, after, words, ...knobs);
  const auto = button("link small", "Auto", () => store.look({ levels: store.got.about?.value?.auto ?? null }));
  const reset = button("link small", "Reset", () => store.look({ levels: null }));
  const figure = div("figure", div("row", span("h", "Levels"), span("mute small", "display only"), span("sp"), auto, reset), root);

  const range = () => store.got.about?.value?.range ?? [0, 255];
  const levels = () => store.state.view.levels ?? store.got.about?.value?.shown ?? [0, 255, 1];
  const x = (value) => box.left + ((box.right - box.left) * (value - range()[0])) / (range()[1] - range()[0] || 1);
  const valueAt = (px) => range()[0] + ((px - box.left) / (box.right - box.left)) * (range()[1] - range()[0]);
  const middle = ([black, white, gamma]) => black + (white - black) * 0.5 ** gamma;
  const move = (i, value, isDragged) => {
    const [low, high] = range();
    let [black, white, gamma] = levels();
    const least = (high - low) / 512;
    if (i === 0) black = clamp(value, low, white - least);
    if (i === 2) white = clamp(value, black + least, high);
    if (i === 1) gamma = clamp(Math.log(clamp((value - black) / (white - black), 0.001, 0.999)) / Math.log(0.5), 0.1, 10);
    store.look({ levels: [black, white, gamma] }, isDragged);
  };

  /** @param {import("./state.js").State} state */
  function draw(state, got) {
    const about = got.about?.value;
    if (!box.isShown || !about) return;
    // The root, so that levels of few samples are seen, too.
    const line = (counts) => {
      const most = Math.sqrt(Math.max(...counts, 1));
      return counts.map((count, i) => [
        box.left + ((box.right - box.left) * (i + 0.5)) / counts.length,
        box.bottom - (Math.sqrt(count) / most) * (box.bottom - box.top),
      ]);
    };
    put(area, { d: path([[box.left, box.bottom], ...line(about.histogram), [box.right, box.bottom]]) + "Z" });
    const own = state.asked.settings && got.words?.histogram && got.words.number === state.number ? got.words.histogram : null;
    put(after, { d: own ? path(line(own)) : "" });
    const now = levels();
    const at = [now[0], middle(now), now[1]].map((value) => clamp(x(value), box.left, box.right));
    knobs.forEach((knob, i) => {
      put(knob.children[0], { x: at[i] - 11, y: box.bottom - 8 });
      put(knob.children[1], { d: `M${at[i]} ${box.bottom}l-6 9h12z`, class: i === 1 ? "mid" : null });
      const value = [now[0], now[2], now[1]][i];
      put(knob, { "aria-valuenow": Math.round((100 * (at[i] - box.left)) / (box.right - box.left)), "aria-valuetext": brief(value, 4) });
    });
    const near = at[2] - at[0] < 60;
    labels(words, [
      [at[0], box.bottom + 20, brief(now[0], 4), at[0] < 30 ? "start" : "middle"],
      [at[1], box.bottom + 20, near ? "" : `γ ${brief(now[2])}`],
      [at[2], box.bottom + 20, brief(now[1], 4), at[2] > box.right - 30 ? "end" : "middle"],
    ]);
  }
  return { root: figure, draw };
}
