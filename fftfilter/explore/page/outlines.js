/** What the filter takes out, as outlines over the spectrum, and the handles by which it is changed. */

import { children, draggable, listenToKeysOf, movable, para, put, steppable, svg } from "./dom.js";
import { cutoffsOf, isBand, notchesName, rounded } from "./settings.js";
import { shownIn } from "./state.js";
import { brief, cutoffAt, FARTHEST, frequencyOf, NYQUIST, saidOf } from "./units.js";

const LABEL = { radius: "Cutoff", inner: "Inner cutoff", outer: "Outer cutoff", spare: "What stays" };
/** One press of a key, as a part of a cutoff or of a notch's width. */
const STEP = 1.01;
const SIZE_STEP = 1.1;
/** The least radius of a circle, in a spectrum that is large and in a small one. */
const least = (scale) => Math.min(6, 2 + 0.012 * scale);
const USUAL_WIDTH = 0.006;

/**
 * @param {import("./state.js").Store} store
 * @param {{units: () => import("./units.js").Units, facts: () => any, map: () => any, at: (event: PointerEvent) => {fx: number, fy: number}}} page
 */
export function outlinesOf(store, { units, facts, map, at }) {
  const groups = svg("g", { class: "groups" });
  const ridge = svg(
    "g",
    { class: "handle ridge", role: "slider", tabindex: 0, "aria-label": "Angle of the stripes" },
    svg("path", { class: "touch" }),
    svg("path", { class: "line" }),
  );
  const rings = svg("g");
  const notches = svg("g");
  const wave = svg("g", { class: "wave" }, svg("circle", { r: 8 }), svg("circle", { r: 8, class: "twin" }));
  const callout = svg("g", { class: "wave" }, svg("circle", { r: 10 }), svg("path"));
  const root = svg("svg", { class: "over", role: "group", "aria-label": "Handles of the filter" }, groups, ridge, rings, notches, wave, callout);
  const caption = para("cap");
  const settings = () => store.state.asked.settings;
  const n = () => Math.max(facts().width, facts().height);
  const ringNames = (given) => [...cutoffsOf(given), ...(given?.command === "stripes" && given.spare ? ["spare"] : [])];

  const makeRing = (index) => {
    const ring = svg(
      "g",
      { class: "handle ring", role: "slider", tabindex: 0, "aria-valuemin": 0, "aria-valuemax": FARTHEST.toFixed(4) },
      svg("ellipse", { class: "touch" }),
      svg("ellipse", { class: "casing" }),
      svg("ellipse", { class: "line" }),
      svg("circle", { class: "grip", r: 6 }),
      svg("text", { class: "label" }),
    );
    const name = () => ringNames(settings())[index];
    const begin = (event, now) => {
      const offset = now - distance(at(event));
      return (moved) => distance(at(moved)) + offset;
    };
    cutoffHandle(ring, store, units, { name, begin, lowest: () => 0.5 / n(), home: () => 1 / n() });
    return ring;
  };

  const drawRings = (place, given) => {
    const names = ringNames(given);
    children(rings, names.length, makeRing).forEach((ring, index) => {
      const cutoff = given[names[index]];
      const frequency = frequencyOf(cutoff, units()) ?? 0;
      const { x, y } = place.screen(0, 0);
      const r = frequency * place.scale;
      const [touch, casing, line, grip, label] = ring.children;
      const stretch = units()[cutoff.unit]?.stretch ?? 1;
      for (const ellipse of [touch, casing, line]) put(ellipse, { cx: x, cy: y, rx: r, ry: r * stretch });
      const spot = gripAt(place, { x, y }, r, index, stretch);
      put(grip, { cx: spot.x, cy: spot.y });
      put(label, { x: spot.x + 9, y: spot.y - 9, text: saidOf(cutoff, units()) });
      const said = `${saidOf(cutoff, units())}, period ${brief(1 / frequency)} pixels`;
      put(ring, { "aria-label": LABEL[names[index]], "aria-valuenow": frequency.toPrecision(4), "aria-valuetext": said });
    });
  };

  const widthOf = ({ width }) => (width && frequencyOf(width, units())) ?? USUAL_WIDTH;
  const makeNotch = (index) => {
    const handle = svg(
      "g",
      { class: "handle notch", role: "button", "aria-roledescription": "notch", tabindex: 0 },
      svg("circle", { class: "touch" }),
      svg("g"),
      svg("circle", { class: "casing" }),
      svg("circle", { class: "line" }),
    );
    const all = () => settings()[notchesName(settings())] ?? [];
    const changed = (changes, how) => store.set({ [notchesName(settings())]: all().with(index, { ...all()[index], ...changes }) }, how);
    const sized = (factor) => {
      const width = Math.min(NYQUIST, Math.max(1e-4, widthOf(all()[index]) * factor));
      changed({ width: { value: Number(width.toPrecision(3)), unit: "cyc" } }, { nudge: true });
    };
    const remove = () => store.set({ [notchesName(settings())]: all().toSpliced(index, 1) });
    draggable(store, handle, (event) => {
      const from = at(event);
      const { fx, fy } = all()[index];
      return (move) => changed(within({ fx: fx + at(move).fx - from.fx, fy: fy + at(move).fy - from.fy }), { drag: true });
    });
    handle.onwheel = (event) => {
      event.preventDefault();
      event.stopPropagation();
      sized(SIZE_STEP ** Math.sign(-event.deltaY));
    };
    movable(handle, (dx, dy) => {
      const { fx, fy } = all()[index];
      changed(within({ fx: fx + dx / facts().width, fy: fy + dy / facts().height }), { nudge: true });
    });
    const [more, less] = [() => sized(SIZE_STEP), () => sized(1 / SIZE_STEP)];
    listenToKeysOf(handle, { "+": more, "=": more, "-": less, Delete: remove, Backspace: remove });
    return handle;
  };

  const drawNotches = (place, given) => {
    const found = given ? (given[notchesName(given)] ?? []) : [];
    const count = given?.command === "notch" ? Math.max(1, Number(given.harmonics ?? 1)) : 1;
    children(notches, found.length, makeNotch).forEach((handle, index) => {
      const notch = found[index];
      const r = Math.max(least(place.scale), widthOf(notch) * place.scale);
      const { x, y } = place.screen(notch.fx, notch.fy);
      const [touch, echoes, casing, line] = handle.children;
      put(touch, { cx: x, cy: y, r: Math.max(16, r) });
      for (const circle of [casing, line]) put(circle, { cx: x, cy: y, r });
      const others = multiples(notch, count).map((each) => place.screen(each.fx, each.fy));
      children(echoes, others.length, () => svg("circle", { class: "echo" })).forEach((circle, i) =>
        put(circle, { cx: others[i].x, cy: others[i].y, r }),
      );
      put(handle, {
        "aria-label": `Notch ${index + 1} at ${brief(notch.fx, 4)}, ${brief(notch.fy, 4)}, period ${brief(1 / Math.hypot(notch.fx, notch.fy))} pixels. Arrow keys move it, + and − size it, Delete removes it.`,
      });
    });
  };

  const drawGroups = (place, state, got) => {
    const given = state.asked.settings;
    const screen = given?.command === "descreen" && got.words?.number === got[shownIn(state)]?.number ? got.words?.waves : null;
    const found = given?.auto ? (got.peaks?.value?.peaks ?? []) : (screen ?? []);
    const spots = found.flatMap((peak, index) => {
      const isKept = (given.keep ?? []).some((each) => isSame(each, peak));
      const kind = `${isKept ? "keep" : "out"}${state.view.lit === index ? " lit" : ""}`;
      const both = [1, -1].flatMap((sign) => [peak, ...(peak.harmonics ?? [])].map((each) => ({ sign, each })));
      return both.map(({ sign, each: { fx, fy, width_cyc: r } }) => ({ fx: sign * fx, fy: sign * fy, r, kind }));
    });
    children(groups, spots.length, () => svg("circle")).forEach((circle, i) => {
      const { x, y } = place.screen(spots[i].fx, spots[i].fy);
      put(circle, { cx: x, cy: y, r: Math.max(least(place.scale), spots[i].r * place.scale), class: spots[i].kind });
    });
  };

  const drawRidge = (place, given) => {
    const angle = Number(given?.command === "stripes" ? given.angle : given?.stripes);
    put(ridge, { hidden: !Number.isFinite(angle) });
    if (!Number.isFinite(angle)) return;
    const turned = ((angle + 90) * Math.PI) / 180;
    const [dx, dy] = [Math.cos(turned) * NYQUIST, -Math.sin(turned) * NYQUIST];
    const [a, b] = [place.screen(dx, dy), place.screen(-dx, -dy)];
    for (const path of ridge.children) put(path, { d: `M${a.x} ${a.y}L${b.x} ${b.y}` });
    put(ridge, { "aria-valuenow": angle, "aria-valuetext": `${angle} degrees` });
  };
  const angleName = () => (settings().command === "stripes" ? "angle" : "stripes");
  const turned = (angle) => ({ [angleName()]: Number((((angle % 180) + 180) % 180).toFixed(1)) });
  draggable(store, ridge, () => (event) => {
    const { fx, fy } = at(event);
    store.set(turned((Math.atan2(-fy, fx) * 180) / Math.PI - 90), { drag: true });
  });
  steppable(ridge, (steps, end) => store.set(turned(steps ? Number(settings()[angleName()]) + steps / 2 : 90 * end), { nudge: true }));

  /** @param {import("./state.js").State} state */
  const draw = (state, got) => {
    const { asked, view } = state;
    const place = map();
    const given = asked.settings;
    const isShown = view.removedAs !== "none";
    for (const part of [groups, ridge, rings, notches]) put(part, { visibility: isShown ? null : "hidden" });
    drawGroups(place, state, got);
    drawRidge(place, given);
    drawRings(place, given);
    drawNotches(place, given);
    put(wave, { hidden: !view.wave });
    if (view.wave) {
      const sign = [1, -1];
      [...wave.children].forEach((circle, i) => {
        const { x, y } = place.screen(sign[i] * view.wave.fx, sign[i] * view.wave.fy);
        put(circle, { cx: x, cy: y });
      });
    }
    const [peak] = !given && !view.wave && !got.peaks?.isOld ? (got.peaks?.value?.peaks ?? []) : [];
    put(callout, { hidden: !peak });
    const said = peak && saidOf(cutoffAt(1 / peak.period_px, facts().unit, units(), 3), units());
    put(caption, { hidden: !peak, text: `This spot repeats every ${said}: dots, weave or moire` });
    if (peak) {
      const { x, y } = place.screen(peak.fx, peak.fy);
      put(callout.children[0], { cx: x, cy: y });
      put(callout.children[1], { d: `M${x + 7} ${y + 7}l22 30` });
      caption.style.left = `${Math.min(x + 10, place.stage.width - 205)}px`;
      caption.style.top = `${Math.min(y + 40, place.stage.height - 60)}px`;
    }
  };
  return { root, caption, draw, focusNotch: (index) => notches.children[index]?.focus() };
}

/**
 * Let a handle set a cutoff, by dragging and by keys. `begin(event, frequency)` returns the frequency of each move.
 * @param {HTMLElement} handle @param {import("./state.js").Store} store @param {() => import("./units.js").Units} units
 * @param {{name: () => string, begin: Function, lowest: () => number, home: () => number}} how
 */
export function cutoffHandle(handle, store, units, { name, begin, lowest, home }) {
  const cutoff = () => store.state.asked.settings[name()];
  const now = () => frequencyOf(cutoff(), units()) ?? 0.1;
  const set = (frequency, how) => store.set({ [name()]: cutoffAt(Math.min(FARTHEST, Math.max(lowest(), frequency)), cutoff().unit, units()) }, how);
  const settle = () => {
    const { settings } = store.state.asked;
    // If it was dragged past the other one, they change names.
    const crossed = isBand(settings) && frequencyOf(settings.inner, units()) > frequencyOf(settings.outer, units());
    if (crossed) store.set({ inner: settings.outer, outer: settings.inner });
    else store.ask({});
  };
  const start = (event) => {
    const moved = begin(event, now());
    return (move) => set(moved(move), { drag: true });
  };
  draggable(store, handle, start, settle);
  steppable(handle, (steps, end) => set(steps ? now() * STEP ** steps : end ? NYQUIST : home(), { nudge: steps !== 0 }));
}

/** Whether a wave that is kept is this peak. */
export const isSame = (wave, peak) => Math.hypot(wave.fx - peak.fx, wave.fy - peak.fy) < 1e-4;

/** Right of the middle, the inner one's above; of a larger ring where it crosses the part on the screen. */
function gripAt(place, center, r, index, stretch) {
  const inside = ({ x, y }) => x > 12 && y > 22 && x < place.stage.width - 64 && y < place.stage.height - 12;
  const spot = (degrees) => ({ x: center.x + r * Math.cos((degrees * Math.PI) / 180), y: center.y - r * stretch * Math.sin((degrees * Math.PI) / 180) });
  const first = 45 - 90 * index;
  return spot(Array.from({ length: 72 }, (_, turn) => first + 5 * turn).find((degrees) => inside(spot(degrees))) ?? first);
}

const distance = ({ fx, fy }) => Math.hypot(fx, fy);
const within = ({ fx, fy }) => rounded({ fx: Math.min(NYQUIST, Math.max(-NYQUIST, fx)), fy: Math.min(NYQUIST, Math.max(-NYQUIST, fy)) });

/** Return where else a notch takes out: its conjugate, its multiples, and theirs. */
function multiples({ fx, fy }, count) {
  const most = Math.min(count, Math.floor(NYQUIST / Math.max(Math.abs(fx), Math.abs(fy), 1e-6)));
  const all = Array.from({ length: Math.max(1, most) }, (_, m) => [m + 1, -(m + 1)]).flat();
  return all.slice(1).map((m) => ({ fx: m * fx, fy: m * fy }));
}
