/** Fields: a number with its unit, read by the program; a number alone; a choice; a notch among its equals. */

import { button, div, h, icon, list, para, put, select, span } from "./dom.js";
import { notchesName } from "./settings.js";
import { address, get } from "./questions.js";
import { cutoffAt, firstUnit, frequencyOf, saidOf } from "./units.js";

/** After as many ms without a key what is typed is read. */
const TYPED = 250;

/** The line below a field that says what is wrong with it, else `text`, such as other units. */
export function hintOf(name, input) {
  const root = para("w s small mute");
  const draw = (state, got, text = "") => {
    const wrong = wrongOf(name, state, got);
    put(root, { text: wrong ?? text, class: wrong ? "w small error" : "w s small mute", role: wrong ? "alert" : null, hidden: !wrong && !text });
    put(input, { "aria-invalid": wrong ? "true" : null });
    return wrong;
  };
  return { root, draw };
}

/** Return what is wrong with a field of the state, or of the answer. */
const wrongOf = (name, { number, asked }, { error }) => {
  if (asked.wrong?.field === name) return asked.wrong.reason;
  return error?.number === number && error.field === name ? error.text : null;
};

/**
 * A cutoff: a unit typed in the number changes the one beside it, a bare number takes it.
 * @param {import("./state.js").Store} store @param {{units: () => import("./units.js").Units, facts: () => any}} page
 */
export function cutoffField(store, { units, facts }, name, label, { hasSlider = true } = {}) {
  const input = h("input", { "aria-label": label, spellcheck: "false", autocomplete: "off", inputmode: "text", name: hasSlider ? name : null });
  const unit = h("select", { "aria-label": `Unit of ${label}` });
  const hint = hintOf(name, input);
  const slider = h("input", { type: "range", min: "0", max: "1000", step: "1", "aria-label": `${label}, slider` });
  const ends = [span(""), span("")];
  const below = div("w s row mute small", ends[0], span("sp"), ends[1]);
  const root = div("f", span("lb", label), span("unit", input, unit), ...(hasSlider ? [slider, below] : []), hint.root);
  const now = () => store.state.asked.settings[name];
  const lowest = () => 1 / Math.max(facts().width, facts().height);
  let timer = 0;
  let reading = 0;
  let isTyped = false;
  /** The newest reading, which ends in any case. */
  let underWay = Promise.resolve();

  const read = () => (underWay = readNow());
  /** Change the cutoff as it is once all that was typed is read; it may be another filter's by then. */
  const change = async (changed, how) => {
    await (isTyped ? read() : underWay);
    if (now()) store.set({ [name]: changed(now()) }, how);
  };
  const readNow = async () => {
    clearTimeout(timer);
    const text = input.value;
    isTyped = false;
    const mine = ++reading;
    if (text === String(now()?.value)) return store.ask({});
    const { file, settings } = store.state.asked;
    try {
      const { value, unit: own } = await get(
        address("number", { text, unit: now()?.unit ?? firstUnit(units(), facts().pixel_size?.across_m), pixel_size: settings.pixel_size, file }),
      );
      if (mine === reading) store.set({ [name]: { value, unit: own } });
    } catch (error) {
      if (mine === reading) store.ask({ wrong: { field: name, text, reason: error.message } }, { drag: true });
    }
  };
  input.oninput = () => {
    isTyped = true;
    // Until it is read, the result is not that of what stands here.
    store.ask({ wrong: { field: name, text: input.value, reason: "" } }, { drag: true });
    clearTimeout(timer);
    timer = window.setTimeout(read, TYPED);
  };
  input.onchange = read;
  input.onkeydown = (event) => {
    const step = { ArrowUp: 1, ArrowDown: -1 }[event.key];
    if (!step || !now()) return;
    event.preventDefault();
    const factor = 1.01 ** (step * (event.shiftKey ? 10 : 1));
    change((cutoff) => ({ ...cutoff, value: Number((cutoff.value * factor).toPrecision(4)) }), { nudge: true });
  };
  unit.onchange = () => {
    const wanted = unit.value;
    change((cutoff) => {
      const frequency = frequencyOf(cutoff, units());
      return frequency ? cutoffAt(frequency, wanted, units(), 4) : { ...cutoff, unit: wanted };
    });
  };
  const toSlider = (f) => 1000 * (1 - Math.log(f / lowest()) / Math.log(0.5 / lowest()));
  slider.oninput = () =>
    store.set({ [name]: cutoffAt(lowest() * (0.5 / lowest()) ** (1 - Number(slider.value) / 1000), now().unit, units(), 3) }, { drag: true });
  slider.onchange = () => store.commit();

  /** @param {import("./state.js").State} state */
  const draw = (state, got) => {
    const cutoff = state.asked.settings?.[name];
    put(root, { hidden: !cutoff });
    if (!cutoff) return;
    list(unit, [...new Set([...Object.keys(units()), cutoff.unit])], (value) => h("option", { value }, units()[value]?.label ?? value));
    if (!isTyped && state.asked.wrong?.field !== name) put(input, { value: String(cutoff.value) });
    put(unit, { value: cutoff.unit });
    const { isLarger, words } = moreOf(state.asked.settings, name);
    put(slider, { dir: isLarger ? null : "rtl" });
    ends.forEach((end, i) => put(end, { text: words[i] }));
    const frequency = frequencyOf(cutoff, units());
    const others = ["px", "bins"].filter((each) => each !== cutoff.unit);
    hint.draw(state, got, frequency ? `= ${others.map((each) => saidOf(cutoffAt(frequency, each, units()), units())).join(", ")}` : "");
    if (document.activeElement !== slider) put(slider, { value: String(Math.round(toSlider(frequency ?? 0.1))) });
  };
  return { root, draw };
}

/** Return whether more is removed with a larger period, and the words at the ends of the slider: more is on the right. */
function moreOf({ command }, name) {
  const isLarger =
    name === "spare" || command === "lowpass" || `${command} ${name}` === "bandpass outer" || `${command} ${name}` === "bandstop inner";
  return { isLarger, words: isLarger ? ["less: the finest detail", "more: coarser, too"] : ["less: the largest shapes", "more: smaller, too"] };
}

/** A number or a text as the program takes it; empty is the program's default. */
export function textField(store, name, label, { placeholder = "", type = "text", suffix = "" } = {}) {
  const inputmode = type === "number" ? "decimal" : null;
  const input = h("input", {
    class: suffix ? null : "in",
    "aria-label": label,
    spellcheck: "false",
    autocomplete: "off",
    placeholder,
    inputmode,
    name,
  });
  const hint = hintOf(name, input);
  const root = div("f", span("lb", label), suffix ? span("unit", input, span("", suffix)) : input, hint.root);
  input.oninput = () => store.set({ [name]: input.value.trim() || undefined }, { nudge: true });
  const draw = (state, got) => {
    const value = state.asked.settings?.[name];
    if (document.activeElement !== input) put(input, { value: value === undefined || value === null ? "" : String(value) });
    hint.draw(state, got);
  };
  return { root, draw };
}

/**
 * A number with a slider; without one it is `usual`. `ends` are the slider's, `words` stand below them, and `marks` on it.
 * @param {import("./state.js").Store} store @param {string} name @param {string} label
 * @param {{ends: Record<string, any>, usual: number, unit: string, words: string[], marks?: Node | null}} how
 */
export function sliderField(store, name, label, { ends, usual, unit, words, marks = null }) {
  const number = h("input", { "aria-label": label, inputmode: "decimal", name });
  const slider = h("input", { type: "range", ...ends, "aria-label": `${label}, slider` });
  const hint = hintOf(name, number);
  const below = div("w s row mute small", span("", words[0]), span("sp"), span("", words[1]));
  const root = div("f", span("lb", label), span("unit", number, span("", unit)), slider, marks, below, hint.root);
  slider.oninput = () => store.set({ [name]: Number(slider.value) }, { drag: true });
  slider.onchange = () => store.commit();
  number.oninput = () => store.set({ [name]: number.value.trim() || undefined }, { nudge: true });
  const part = (value) => {
    const at = (100 * (Math.min(ends.max, Math.max(ends.min, value)) - ends.min)) / (ends.max - ends.min);
    return ends.dir === "rtl" ? 100 - at : at;
  };
  const draw = (state, got) => {
    const value = String(state.asked.settings?.[name] ?? usual);
    if (document.activeElement !== number) put(number, { value });
    put(slider, { value });
    return hint.draw(state, got);
  };
  return { root, draw, part };
}

/** A choice among words; `choices` are values and their words, `usual` the default. */
export function choiceField(store, name, label, choices, usual = (_) => Object.keys(choices)[0], changes = (value) => ({ [name]: value })) {
  const box = select(label, choices, (value) => store.set(changes(value)), { name });
  const hint = hintOf(name, box);
  const root = div("f", span("lb", label), box, hint.root);
  const draw = (state, got) => {
    put(box, { value: String(state.asked.settings?.[name] ?? usual(state.asked.settings)) });
    hint.draw(state, got);
  };
  return { root, draw };
}

/** The notches that were set by hand, sorted by period, at most a screen of them. @param {import("./state.js").Store} store */
export function notchList(store, { units, facts }, focus) {
  const rows = h("ul", { class: "grp scrolls" });
  const none = para("mute small", "Click a bright spot in the spectrum to take it out.");
  const clear = button("link small", "Clear all", () => store.set({ [notchesName(store.state.asked.settings)]: [] }));
  const count = span("mute small");
  const root = div("part", div("row", span("h", "Notches"), count, span("sp"), clear), none, rows);
  const remove = (index) => {
    const name = notchesName(store.state.asked.settings);
    store.set({ [name]: store.state.asked.settings[name].toSpliced(index, 1) });
  };
  const draw = ({ asked: { settings } }) => {
    if (!settings) return;
    const notches = settings[notchesName(settings)] ?? [];
    const shown = notches.map((notch, index) => ({ ...notch, index, f: Math.hypot(notch.fx, notch.fy) })).sort((a, b) => a.f - b.f);
    const said = ({ f, width }) => `${saidOf(cutoffAt(f, facts().unit, units(), 3), units())}${width ? ` · width ${saidOf(width, units())}` : ""}`;
    put(none, { hidden: notches.length > 0 });
    put(clear, { hidden: notches.length < 2 });
    put(count, { text: notches.length > 1 ? String(notches.length) : "" });
    put(rows, { hidden: notches.length === 0 });
    const items = shown.map((each) => ({ text: said(each), index: each.index }));
    list(rows, items, ({ text, index }) =>
      h(
        "li",
        { class: "on one" },
        button("link plain", text, () => focus(index)),
        button("ic", icon("x"), () => remove(index), { "aria-label": `Remove the notch ${text}` }),
      ),
    );
  };
  return { root, draw };
}
