/** The lesson: six steps of the book's pipeline on this picture, one at a time; and the wave that a point of the spectrum is. */

import { button, div, fold, h, icon, list, para, put, segments, span, svg, symbol } from "./dom.js";
import { cutoffField } from "./fields.js";
import { cover } from "./frame.js";
import { cutoffsOf, takesNotches, withCommand } from "./settings.js";
import { angleOf, brief, lengthOfWave } from "./units.js";

/** The steps: which results of the pipeline belong to each, and the one that its thumbnail shows; symbols.svg has their drawings. */
const STEPS = [
  { name: "Read the picture", short: "Picture", of: ["image"], shows: "image" },
  { name: "Continue it past its edges", short: "Edges", of: [], shows: "image" },
  { name: "Split it into waves", short: "Waves", of: ["rows", "rows-transposed", "spectrum"], shows: "spectrum" },
  { name: "Weaken some waves", short: "Gain", of: ["spectrum-masked"], shows: "spectrum-masked" },
  { name: "Put the waves together", short: "Sum", of: ["columns-inverse", "columns-transposed", "filtered"], shows: "filtered" },
  { name: "Round to gray levels", short: "Levels", of: ["magnitude", "output"], shows: "output" },
];
const TEXTS = [
  "The picture is a table of gray levels, one number a pixel. A color picture has three tables, which go the same way.",
  "Waves do not end at a border. So the picture goes on behind it: wrapped, as on a tiled wall, or mirrored, which keeps a bright border from showing on the opposite, dark one.",
  "The fast Fourier transform writes the picture as a sum of waves: first each row, then each column. Each wave has two points in the spectrum, opposite to each other: a wave that runs to the right is the same as one that runs to the left. The spectrum shows the logarithm of the magnitude, as the strongest wave is a million times as strong as the weakest.",
  "Each wave is multiplied by the gain at its distance from the middle. The ideal filter cuts off at once, and then waves are missing where an edge needs them: it rings. The Gaussian fades out, and does not.",
  "The inverse transform adds the waves up again. Nothing is lost on the way: without step 4 the picture would come back.",
  "The sums have fractions, and some lie below black or above white. They are rounded, and cut off at both ends, to fit into the file.",
];
/** The most waves of the sum: as many as the coarsest picture has; half of its pixels. */
const mostWaves = ({ width, height, levels }) => Math.max(1, Math.floor((width * height) / levels.at(-1) ** 2 / 2));

/** @param {import("./state.js").Store} store @param {any} page */
export function learnOf(store, page) {
  const { facts } = page;
  const shape = segments("Shape", { ideal: "Ideal", gaussian: "Gaussian", both: "Both" }, (value) => {
    store.set({ shape: value === "both" ? "gaussian" : value });
    store.look({ both: value === "both" });
  });
  const cutoff = cutoffField(store, page, "radius", "Cutoff", { hasSlider: false });
  const count = h("input", { type: "range", min: 0, max: 100, step: 1, "aria-label": "Waves in the sum" });
  count.oninput = () => store.look({ waves: Math.round(mostWaves(facts()) ** (count.value / 100)) }, true);
  count.onchange = () => store.commit();
  const counted = span("mute small");
  const fields = { 3: div("", div("row", span("", "Add the strongest waves"), span("sp"), counted), count), 4: div("row wrap", shape.root, cutoff.root) };
  const [number, name, text, kernels] = [para("mute small"), h("h3"), para(""), h("div")];
  const drawing = svg("svg", { class: "draw", viewBox: "0 0 260 84", "aria-hidden": "true" });
  const to = (step) => store.look({ step: Math.min(STEPS.length, Math.max(1, step)) });
  const back = button("ol", "Back", () => to(store.state.view.step - 1));
  const next = button("ol", "Next", () => (store.state.view.step === STEPS.length ? store.look({ way: "filter" }) : to(store.state.view.step + 1)));
  const side = div(
    "body part lesson",
    div("row", h("h2", { class: "title" }, "What a filter does"), span("sp"), button("link", "Back to the filter", () => store.look({ way: "filter" }))),
    number,
    name,
    text,
    drawing,
    ...Object.values(fields),
    div("row", back, next),
    kernels,
  );
  const large = h("dialog", { class: "large", onclick: () => large.close() }, h("img", { alt: "" }));
  const frames = STEPS.map((step, i) => {
    const enlarge = ({ currentTarget }) => {
      if (store.state.view.step !== i + 1) return to(i + 1);
      put(large.firstChild, { src: currentTarget.firstChild.src });
      large.showModal();
    };
    return h("button", { type: "button", onclick: enlarge, title: "Again: enlarge" }, h("img", { alt: "" }), span("", `${i + 1} ${step.short}`));
  });
  const film = h("div", { class: "film", role: "group", "aria-label": "What each step leaves" }, ...frames);
  const note = para("mute");
  const tray = div("tray", note, film, large);

  /** Begin with a low-pass, if nothing is chosen: its ringing is seen before it is named. */
  const begin = () => {
    if (!store.state.asked.settings || store.state.asked.settings.auto || cutoffsOf(store.state.asked.settings)[0] !== "radius") {
      const settings = { ...withCommand(null, "lowpass", facts()), shape: "gaussian", radius: { value: 12, unit: "px" } };
      store.ask({ goal: "smooth", settings });
    }
    store.look({ way: "learn", both: true, step: 1 });
  };

  /** @param {import("./state.js").State} state */
  const draw = (state, got) => {
    const { view, asked } = state;
    const isShown = view.way === "learn";
    for (const part of [side, tray]) put(part, { hidden: !isShown });
    if (!isShown || !asked.settings) return;
    const told = got.steps?.value;
    put(note, { text: got.steps?.error ?? "Going through the steps", hidden: Boolean(told) && !got.steps.error });
    put(film, { "data-old": Boolean(got.steps?.isOld), hidden: !told });
    const step = STEPS[view.step - 1];
    const own = told?.steps.filter(({ name: each }) => step.of.includes(each)) ?? [];
    const ms = own.reduce((sum, { seconds }) => sum + 1e3 * seconds, 0);
    put(number, { text: `Step ${view.step} of ${STEPS.length}${own.length ? ` · ${brief(ms, 2)} ms on the device` : ""}` });
    put(name, { text: step.name });
    put(text, { text: TEXTS[view.step - 1] });
    list(drawing, [`step${view.step}`], symbol);
    if (cutoffsOf(asked.settings)[0] === "radius") cutoff.draw(state, got);
    shape.draw(view.both ? "both" : (asked.settings.shape ?? "ideal"));
    for (const [at, field] of Object.entries(fields)) put(field, { hidden: Number(at) !== view.step });
    const most = mostWaves(facts());
    put(count, { value: String(Math.round((100 * Math.log(Math.min(view.waves, most))) / Math.log(Math.max(2, most)))) });
    put(counted, { text: view.waves >= most ? "all" : `${view.waves.toLocaleString("en")} of ${most.toLocaleString("en")}` });
    put(back, { disabled: view.step === 1 });
    put(next, { text: view.step === STEPS.length ? "To the filter" : "Next" });
    const found = own.flatMap((each) => each.kernels).filter(({ source }) => source);
    list(kernels, [...new Map(found.map(({ kernel, source }) => [source, kernel]))], ([source, kernel]) =>
      fold("", [span("mute", "Kernel ", h("code", {}, kernel), `, ${source.trim().split("\n").length} lines`)], h("pre", { tabindex: "0" }, source)),
    );
    frames.forEach((frame, i) => {
      put(frame, { "aria-current": view.step === i + 1 ? "step" : null });
      const made = told?.steps.find((each) => each.name === STEPS[i].shows) ?? told?.steps.at(-1);
      if (made && film.told !== told) frame.firstChild.src = made.picture;
    });
    film.told = told;
  };
  return { side, tray, draw, begin };
}

/** The wave that a point of the spectrum is, and the picture without it. @param {import("./state.js").Store} store */
export function waveOf(store, { facts }) {
  const canvas = h("canvas", { width: 160, height: 160, role: "img" });
  const without = h("canvas", { width: 160, height: 160, role: "img", "aria-label": "The picture without the wave" });
  const itself = h("figcaption");
  const changed = h("figcaption");
  const numbers = h("dl", { class: "nums" });
  const out = button("ol", "Take this wave out", null);
  const close = button("ic", icon("x"), () => store.look({ wave: null }), { "aria-label": "Close the wave" });
  const root = div(
    "part",
    div("row", span("h", "The point that you clicked is one wave"), span("sp"), close),
    div("waves", h("figure", {}, canvas, itself), h("figure", {}, without, changed)),
    numbers,
    div("row wrap", out),
  );
  let drawn = "";
  out.onclick = () => {
    const { settings } = store.state.asked;
    const notch = store.state.view.wave;
    const isNotch = settings?.command === "notch" && !settings.auto;
    if (settings && !isNotch && takesNotches(settings, facts().commands) && !settings.auto)
      store.ask({ goal: "hand", settings: { ...settings, notch: [...(settings.notch ?? []), notch] } });
    else store.ask({ goal: "hand", settings: { command: "notch", edges: settings?.edges, at: [...(isNotch ? (settings.at ?? []) : []), notch] } });
    store.look({ way: "filter", wave: null });
  };

  /** @param {import("./state.js").State} state */
  const draw = ({ view }, got) => {
    put(root, { hidden: !view.wave });
    if (!view.wave) return;
    const { fx, fy } = view.wave;
    const f = Math.hypot(fx, fy);
    const found = got.wave?.value;
    const isOld = !found || got.wave.isOld;
    const levels = isOld ? "" : `${brief(found.amplitude, 2)}${facts().maxval === 255 ? " levels" : ""}`;
    const key = JSON.stringify([fx, fy, found?.phase]);
    if (drawn !== key) {
      drawn = key;
      paintWave(canvas, fx, fy, found?.phase ?? 0);
      root.scrollIntoView({ block: "nearest" });
    }
    if (got.without?.value && without.shown !== got.without.value) {
      without.shown = got.without.value;
      cover(without, got.without.value);
    }
    put(without, { "data-old": Boolean(got.without?.isOld) });
    put(canvas, { "aria-label": `A wave: stripes at ${angleOf(fx, fy).toFixed(0)} degrees, ${brief(1 / f)} pixels apart` });
    put(itself, { text: "The wave itself, made stronger" });
    put(changed, { text: levels ? `The picture without it: up to ${levels} more or less` : "The picture without it" });
    const length = lengthOfWave(fx, fy, facts().pixel_size);
    const rows = [
      ["Period", `${length ? `${length} · ` : ""}${brief(1 / f)} px`],
      ["Along", `${angleOf(fx, fy).toFixed(1)}°`],
      ["Amplitude", levels || "…"],
    ];
    list(numbers, rows, ([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, value)));
  };
  return { root, draw };
}

/** Paint a wave over the middle of a picture, at most so fine that it can be seen. */
function paintWave(canvas, fx, fy, phase) {
  const context = canvas.getContext("2d");
  const image = context.createImageData(canvas.width, canvas.height);
  const zoom = Math.max(1, Math.min(4, Math.round(10 * Math.hypot(fx, fy))));
  for (let y = 0, i = 0; y < canvas.height; y++) {
    for (let x = 0; x < canvas.width; x++, i += 4) {
      const gray = 128 + 76 * Math.cos(2 * Math.PI * ((fx * x) / zoom + (fy * y) / zoom) + phase);
      image.data.set([gray, gray, gray, 255], i);
    }
  }
  context.putImageData(image, 0, 0);
}
