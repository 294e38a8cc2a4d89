/** The right column: goals, then the fields of the one that is chosen, what else there is, and the code. */

import { cover } from "./frame.js";
import { button, div, fold, giveFile, h, icon, para, put, segments, span } from "./dom.js";
import { choiceField, cutoffField, notchList, sliderField, textField } from "./fields.js";
import { groupsOf, strengthField } from "./groups.js";
import { get } from "./questions.js";
import { regionOf } from "./region.js";
import { presetsOf } from "./presets.js";
import { BY_HAND, GOALS, goalOf, isBand, isPass, otherWords, regionIn, requestOf, takesNotches, WAYS_OF_DOTS, withCommand } from "./settings.js";
import { isCurrent, WHOLE } from "./state.js";
import { frequencyOf } from "./units.js";

/** Cycles per pixel of a ring that is enlarged. */
const SMALL = 0.03;
const DETAIL = { ends: { min: -50, max: 100, dir: "rtl" }, usual: 0, unit: "%", words: ["less: only the dots go", "more: the smoothest"] };

/** @param {import("./state.js").Store} store @param {any} page  units and facts of the file */
export function choicesOf(store, page, { focusNotch }) {
  const { facts } = page;
  const choose = (id) => {
    const goal = goalOf(id);
    const { settings } = store.state.asked;
    if (goal === BY_HAND) store.ask({ goal: "hand", settings: settings && !settings.auto ? settings : withCommand(settings, "lowpass", facts()) });
    else store.ask({ goal: id, settings: { ...goal.begin(facts(), store.got), ...regionIn(settings ?? {}) } });
    const { radius } = store.state.asked.settings;
    const frequency = radius ? (frequencyOf(radius, page.units()) ?? 1) : 1;
    // A small ring is enlarged, so that it can be dragged.
    const zoom = frequency < SMALL ? { zoom: Math.min(5, (2 * SMALL) / frequency), x: 0.5, y: 0.5 } : WHOLE;
    store.look({ wave: null, spectrum: zoom, way: "filter" });
    scrollTo(0, 0); // on a phone, the first field is in sight
  };
  const start = startOf(store, choose, page.learn);
  const rail = h(
    "nav",
    { class: "rail", "aria-label": "Goals" },
    ...[...GOALS, BY_HAND].map(({ id, short, name }) =>
      h("button", { type: "button", title: name, "data-goal": id, onclick: () => choose(id) }, icon(id, 18), span("", short)),
    ),
  );
  const title = h("h2", { class: "title" });
  const text = para("mute");

  /** Return the values of the program as words. */
  const worded = (values) => Object.fromEntries(values.map((value) => [value, value[0].toUpperCase() + value.slice(1)]));
  const shapes = Object.keys(facts().shapes);
  const takes = () => facts().shapes[store.state.asked.settings?.shape ?? "ideal"];
  const cutoff = cutoffField(store, page, "radius", "Cutoff");
  const label = cutoff.root.querySelector(".lb");
  const takesOption = (name) => (settings) => name in page.commands[settings.command];
  const usualOf = (name) => (settings) => page.commands[settings.command][name];
  const outputField = () => choiceField(store, "output", "Output", worded(facts().outputs), usualOf("output"));
  const angle = textField(store, "angle", "Direction", { type: "number", suffix: "°" });
  const turn = segments("Direction", { auto: "Found", 0: "Horizontal", 90: "Vertical" }, (angle) => store.set({ angle, waves: undefined }));
  const ways = segments("What is removed", { descreen: "A print's screen", waves: "Waves, one by one" }, (way) =>
    store.ask({ settings: { ...WAYS_OF_DOTS[way], ...regionIn(store.state.asked.settings) } }),
  );
  const isDescreen = (s) => s.command === "descreen";
  /** Fields, and whether they are for settings and a goal. @typedef {[{root: any, draw: Function}, (settings: any, goal: string | null) => any]} Field */
  /** @type {Field[]} */
  const fields = [
    [
      choiceField(store, "command", "Filter", worded(Object.keys(page.commands)), undefined, (command) =>
        withCommand(store.state.asked.settings, command, facts()),
      ),
      (s, goal) => goal === "hand",
    ],
    [cutoff, (s) => isPass(s) && !isBand(s)],
    [cutoffField(store, page, "inner", "Inner cutoff"), isBand],
    [cutoffField(store, page, "outer", "Outer cutoff"), isBand],
    [choiceField(store, "shape", "Shape", worded(shapes), usualOf("shape")), (s, goal) => isPass(s) || (s.command === "notch" && goal === "hand")],
    [textField(store, "order", "Order", { placeholder: "2", type: "number" }), (s) => isPass(s) && takes() === "order"],
    [textField(store, "width", "Edge width", { placeholder: "usual" }), (s) => isPass(s) && takes() === "width"],
    [outputField(), (s, goal) => isPass(s) && (goal === "hand" || goal === "flat")],
    [
      { root: div("f", span("lb", "Stripes are"), turn.root), draw: ({ asked: { settings } }) => turn.draw(String(settings.angle)) },
      (s) => s.command === "stripes",
    ],
    [angle, (s) => s.command === "stripes"],
    [cutoffField(store, page, "spare", "Keep larger than"), (s) => s.command === "stripes"],
    [textField(store, "width", "Width", { placeholder: "by the picture" }), (s) => s.command === "stripes"],
    [{ root: ways.root, draw: ({ asked: { settings } }) => ways.draw(settings.auto ? "waves" : "descreen") }, (s, goal) => goal === "dots"],
    [strengthField(store), (s) => s.auto || isDescreen(s)],
    [sliderField(store, "keep_detail", "Keep detail", DETAIL), isDescreen],
    [textField(store, "noise", "Noise", { placeholder: "auto", type: "number" }), (s) => s.command === "wiener"],
    [groupsOf(store, page), (s) => s.auto],
    [notchList(store, page, focusNotch), (s, goal) => goal === "hand" && !s.auto && takesNotches(s, page.commands)],
    [
      textField(store, "harmonics", "Multiples", { placeholder: "1", type: "number" }),
      (s, goal) => s.command === "notch" && goal === "hand" && !s.auto,
    ],
  ];
  /** @type {Field[]} */
  const others = [
    [choiceField(store, "edges", "Edges", worded(facts().edges), usualOf("edges")), takesOption("edges")],
    [outputField(), (s) => !isPass(s) && takesOption("output")(s)],
    [textField(store, "scale", "Range", { placeholder: "each" }), (s) => facts().scaled.includes(s.output ?? usualOf("output")(s))],
    [textField(store, "pixel_size", "Pixel size", { placeholder: facts().pixel_size?.text ?? "unknown" }), () => true],
    [textField(store, "stripes", "Stripes, too", { placeholder: "none", suffix: "°" }), (s, goal) => goal === "hand" && takesOption("stripes")(s)],
  ];
  const pages = para("mute small");
  const summary = span("mute small cut");
  const more = fold("", [h("b", {}, "More"), summary], div("part", ...others.map(([field]) => field.root), pages));
  const code = codeOf(store, page);
  const region = regionOf(store, page);
  const presets = presetsOf(store);
  const body = div("part", h("div", {}, title, text), ...fields.map(([field]) => field.root), div("folds", region.root, more, code.root));
  const root = div("body", start.root, body, div("folds", presets.root));

  /** @param {import("./state.js").State} state */
  const draw = (state, got) => {
    const { asked, view } = state;
    const goal = goalOf(asked.goal);
    const isChosen = Boolean(goal && asked.settings);
    put(rail, { hidden: !isChosen });
    const chosen = [...rail.children].find((button) => button.dataset.goal === asked.goal);
    if (chosen && chosen.ariaPressed !== "true") rail.scrollLeft = chosen.offsetLeft - rail.offsetLeft - 60; // into sight on a phone
    for (const button of rail.children) put(button, { "aria-pressed": String(button === chosen) });
    put(start.root, { hidden: isChosen || view.way === "learn" });
    put(body, { hidden: !isChosen || view.way === "learn" });
    start.draw(state, got);
    presets.draw(state, got);
    if (!isChosen) return;
    put(title, { text: goal.name });
    put(text, { text: goal.text });
    put(label, { text: goal.cutoff ?? "Cutoff" });
    for (const [field, isFor] of [...fields, ...others]) {
      const isShown = Boolean(isFor(asked.settings, asked.goal));
      put(field.root, { hidden: !isShown });
      if (isShown) field.draw(state, got);
    }
    put(summary, { text: otherWords(asked.settings, page.commands) });
    put(pages, { text: `All ${facts().pages} pages are saved with these settings.`, hidden: facts().pages < 2 });
    region.draw(state, got);
    code.draw(state, got);
  };
  return { root, rail, draw, choose, load: presets.load };
}

/** The command, the Python and the recipe of what is shown. Copy waits until they are those of the state. */
function codeOf(store, { facts, commands }) {
  let language = "command";
  const tabs = segments("Language", { command: "Command", python: "Python", recipe: "Recipe" }, (value) => {
    language = value;
    store.changed();
  });
  const copy = button("ol", "Copy", null);
  const file = button("ol ic", icon("dl"), () => giveFile(new Blob([pre.textContent]), facts().out.replace(/(\.\w+)?$/, ".json")), {
    "aria-label": "Download the recipe",
    title: "Download the recipe: fftfilter apply reads it",
  });
  const pre = h("pre", { tabindex: "0", "aria-label": "Code" });
  const root = fold(
    "code",
    [h("b", {}, "As code"), span("mute small", "command, Python, recipe")],
    div("row wrap", tabs.root, span("sp"), file, copy),
    pre,
  );
  root.ontoggle = () => root.open && root.scrollIntoView({ block: "nearest" });
  copy.onclick = async () => {
    if (!isCurrent(store.state, store.got)) return;
    const { mask } = store.got.words;
    try {
      if (mask) await get("mask", { method: "POST", body: JSON.stringify({ request: requestOf(store.state, commands, facts()) }) });
    } catch (error) {
      return store.say(error.message, true);
    }
    try {
      await navigator.clipboard.writeText(pre.textContent);
      store.say(mask ? `Copied. The shapes are in ${mask}` : "Copied");
    } catch {
      getSelection()?.selectAllChildren(pre);
      store.say("The browser does not let pages copy: the code is selected, press Ctrl+C");
    }
  };
  const draw = (state, got) => {
    tabs.draw(language);
    const isNow = isCurrent(state, got);
    put(file, { hidden: language !== "recipe", disabled: !isNow });
    put(copy, { disabled: !isNow, text: isNow ? "Copy" : "Copy waits" });
    put(pre, { text: got.words?.[language] ?? "", "data-old": !isNow, class: language });
  };
  return { root, draw };
}

/** What the cards of searches promise: what their click does. */
const promises = {
  dots: ({ peaks, found_dots: screen, facts }) => {
    if (facts.pages > 1 || peaks?.error || screen?.error) return null;
    const count = peaks?.isOld ? undefined : peaks?.value?.peaks.length;
    if (count === undefined || (count && (!screen?.value || screen.isOld))) return "Looking for patterns";
    const patterns = screen?.value?.any ? "a screen" : `${count} pattern${count > 1 ? "s" : ""}`;
    return count ? `${patterns} found here` : "none found here";
  },
  stripes: ({ found_stripes: stripes }) => {
    if (stripes?.error) return null;
    if (!stripes?.value || stripes.isOld) return "Looking for stripes";
    return stripes.value.any ? "stripes found here" : "none found here";
  },
};

/** The goals at the start, each with the picture's own result. */
function startOf(store, choose, learn) {
  const cards = GOALS.map((goal, i) => {
    const canvas = h("canvas", { width: 168, height: 120, "aria-hidden": "true" });
    const about = span("", goal.about);
    const content = [canvas, span("", h("b", {}, goal.name), about), h("kbd", {}, String(i + 1))];
    return { goal, canvas, about, button: button("", content, () => choose(goal.id), { "data-goal": goal.id }), drawn: null };
  });
  const about = para("mute", "Choose a goal and see the result at once, or drop another picture here. Nothing is saved until you say so.");
  const root = div(
    "part",
    div("", h("h2", { class: "title big" }, "What should change?"), about),
    div("goals", ...cards.map(({ button }) => button)),
    para(
      "row wrap links",
      button("link", "Set a filter by hand", () => choose("hand"), { "data-goal": "hand" }),
      button("link", "First lesson: step by step", learn),
    ),
  );
  const draw = (_, got) => {
    for (const card of cards) {
      const { value: surface = null, isOld } = got[`small_${card.goal.id}`] ?? {};
      if (card.drawn !== surface || isOld) {
        card.drawn = isOld ? null : surface;
        card.canvas.width = card.canvas.width; // which clears it
        if (card.drawn) cover(card.canvas, surface);
      }
      const said = promises[card.goal.id]?.(got);
      put(card.about, { text: said ?? card.goal.about, class: said?.includes("found here") && !said.startsWith("none") ? "em" : null });
      put(card.button, { class: card.about.className === "em" ? "sug" : null });
    }
  };
  return { root, draw };
}
