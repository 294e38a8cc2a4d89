/**
 * Recipes in: of files, and of presets, which are recipes that the browser keeps under a name. The program's parser reads them all.
 * @typedef {{name: string, goal: string | null, recipe: string}} Preset
 */

import { button, div, fold, h, icon, list, put, span } from "./dom.js";
import { address, get } from "./questions.js";
import { regionIn, settingsOf } from "./settings.js";
import { isCurrent } from "./state.js";

const KEPT = "presets";
/** Bytes of the longest recipe, and characters of the longest name. */
const MOST = 1 << 20;
const LONGEST = 60;

/** Return the presets that the browser keeps. @returns {Preset[]} */
function kept() {
  try {
    const isPreset = (each) => typeof each?.name === "string" && typeof each.recipe === "string";
    return JSON.parse(localStorage.getItem(KEPT) ?? "[]")
      .filter(isPreset)
      .sort((a, b) => a.name.localeCompare(b.name));
  } catch {
    return []; // it keeps nothing, or something else
  }
}

/** Return the goal and the settings that the program describes for a file. */
export async function chosenOf(start, file) {
  const number = (text, unit) => get(address("number", { text, unit, file, pixel_size: start.options.pixel_size }));
  const settings = await settingsOf(start, number);
  return { goal: settings.auto || settings.command === "descreen" ? "dots" : "hand", settings };
}

/** @param {import("./state.js").Store} store */
export function presetsOf(store) {
  const count = span("mute small cut");
  const rows = h("ul", { class: "grp scrolls" });
  const name = h("input", { class: "in", "aria-label": "Name of the preset", placeholder: "Name", maxlength: LONGEST, autocomplete: "off" });
  const keep = h("button", { class: "ol", type: "submit" });
  const form = h("form", { class: "row" }, name, keep);
  const picked = h("input", { type: "file", accept: ".json", hidden: true });
  const open = button("ol", "Load a recipe", () => picked.click(), { title: "A file of --save-recipe; it can be dropped on the page, too" });
  const root = fold("", [h("b", {}, "Presets"), count], div("part", rows, form, div("row", open, picked)));
  /** The one that gets another name. @type {Preset | null} */
  let renamed = null;
  let asked = 0;

  /** Keep presets, and none of another name. @param {Preset[]} presets @param {...string} without */
  const write = (presets, ...without) => {
    try {
      localStorage.setItem(KEPT, JSON.stringify([...kept().filter((each) => !without.includes(each.name)), ...presets]));
    } catch {
      store.say("The browser keeps nothing more: download the recipe", true);
    }
    store.take("presets", kept());
  };

  /** Filter by a recipe; what is wrong with it is said in the program's words. */
  const use = async (recipe, title, goal = null) => {
    const mine = ++asked;
    try {
      const start = await get(address("recipe", { name: title }), { method: "POST", body: recipe });
      const chosen = await chosenOf(start, store.state.asked.file);
      if (mine !== asked) return;
      store.ask({ goal: goal ?? chosen.goal, settings: { ...regionIn(store.state.asked.settings ?? {}), ...chosen.settings } });
      store.look({ wave: null, way: "filter" });
    } catch (error) {
      store.say(error.message, true);
    }
  };
  /** Load the file of a recipe. @param {File} file */
  const load = (file) => {
    if (file.size > MOST) store.say(`${file.name}: has more than ${MOST.toLocaleString("en")} bytes, which no recipe has`, true);
    else use(file, file.name);
  };
  picked.onchange = () => {
    if (picked.files.length) load(picked.files[0]);
    picked.value = "";
  };

  form.onsubmit = (event) => {
    event.preventDefault();
    const { state, got } = store;
    const title = name.value.trim();
    const old = renamed?.name ?? title;
    if (!title) return name.focus();
    if (!renamed && !isCurrent(state, got)) return;
    const preset = { goal: state.asked.goal, recipe: got.words?.preset ?? "", ...renamed, name: title };
    const add = () => {
      write([preset], title, old);
      store.say(`Kept: ${title}`);
      rename(null);
    };
    if (kept().some((each) => each.name === title && title !== renamed?.name)) store.say(`There is a preset ${title}`, true, ["Replace it", add]);
    else add();
  };
  name.onkeydown = ({ key }) => {
    if (key === "Escape") rename(null);
  };
  const rename = (preset) => {
    renamed = preset;
    name.value = preset?.name ?? "";
    store.draw();
    if (preset) name.select();
  };
  const remove = (preset) => {
    write([], preset.name);
    store.say(`Deleted: ${preset.name}`, false, ["Undo", () => write([preset], preset.name)]);
  };
  const rowOf = (preset) =>
    h(
      "li",
      { class: "on one more" },
      button("link plain", span("cut", preset.name), () => use(preset.recipe, preset.name, preset.goal), { title: `Filter by ${preset.name}` }),
      button("link small", "Rename", () => rename(preset), { "aria-label": `Rename ${preset.name}` }),
      button("ic", icon("x"), () => remove(preset), { "aria-label": `Delete ${preset.name}` }),
    );
  root.ontoggle = () => root.open && root.scrollIntoView({ block: "nearest" });
  window.addEventListener("storage", () => store.take("presets", kept()));
  store.got.presets = kept();

  /** @param {import("./state.js").State} state */
  const draw = (state, got) => {
    const { presets } = got;
    const isNow = isCurrent(state, got);
    put(root, { hidden: state.view.way === "learn" });
    put(count, { text: presets.length ? `${presets.length} kept, recipes` : "recipes" });
    put(rows, { hidden: !presets.length });
    list(rows, presets, rowOf);
    put(form, { hidden: !state.asked.settings && !renamed });
    put(keep, { disabled: !isNow && !renamed, text: renamed ? "Rename" : isNow ? "Keep" : "Keep waits" });
  };
  return { root, draw, load };
}
