/** The bar at the top: the file, its facts, the way of working, undo, theme and keys; and the sheet of keys. */

import { button, div, h, icon, para, put, segments, span } from "./dom.js";
import { factsText } from "./settings.js";

const KEYS = [
  ["1 to 5", "goals"],
  ["0, + and −, Z", "fit, zoom, one to one"],
  ["M", "loupe: before and after at 1:1"],
  ["hold B", "before"],
  ["W, S, A, R", "wipe, side by side, after, removed"],
  ["L, P, O", "levels, profile, files"],
  ["[ and ]", "weaker, stronger; or the cutoff"],
  ["arrows, Shift", "move what has the focus, ten times as far"],
  ["Page Up, Page Down", "pages of a stack"],
  ["Home, End", "first and last"],
  ["Delete", "drop a notch"],
  ["Ctrl+Z, Ctrl+Shift+Z", "undo, redo"],
  ["Ctrl+S", "save"],
  ["Escape", "cancel what runs, then close what is open"],
  ["?", "this sheet"],
];

/** @param {import("./state.js").Store} store @param {{facts: () => any, theme: () => void, learn: (isOn: boolean) => void, files: () => void}} page */
export function topOf(store, { facts, theme, learn, files }) {
  const name = h("b");
  const file = h("button", { class: "file", type: "button", title: "Files of this folder (O)", onclick: files }, name, icon("dn"));
  const about = span("meta wide nophone");
  const way = segments("Way of working", { filter: "Filter", learn: "Step by step" }, (value) => learn(value === "learn"));
  way.root.classList.add("nophone");
  const undo = button("ic", icon("undo"), () => store.undo(), { "aria-label": "Undo", title: "Undo (Ctrl+Z)" });
  const redo = button("ic", icon("redo"), () => store.redo(), { "aria-label": "Redo", title: "Redo (Ctrl+Shift+Z)" });
  const moon = button("ic", icon("moon"), theme, { "aria-label": "Light or dark", title: "Light or dark" });
  const close = button("ic", icon("x"), () => sheet.close(), { "aria-label": "Close" });
  const sheet = h(
    "dialog",
    { class: "keys", "aria-label": "Keys" },
    div("row", h("h2", { class: "title sp" }, "Keys"), close),
    h("dl", {}, ...KEYS.map(([keys, what]) => h("div", {}, h("dt", {}, h("kbd", {}, keys)), h("dd", {}, what)))),
    para("mute small", "Single letters do nothing inside fields."),
  );
  const help = button("ic", h("b", {}, "?"), () => sheet.showModal(), { "aria-label": "Keys and help", title: "Keys (?)" });
  const logo = h("img", { src: "page/icon.svg", alt: "", width: 20, height: 20 });
  const tools = [undo, redo, moon, help, sheet];
  const root = h("header", { class: "top" }, logo, h("h1", {}, "fftfilter"), file, about, span("sp"), way.root, span("sp wide"), ...tools);
  const draw = ({ view }) => {
    put(name, { text: facts().name });
    put(about, { text: factsText(facts()) });
    way.draw(view.way);
    put(undo, { disabled: !store.canUndo });
    put(redo, { disabled: !store.canRedo });
    document.title = `${facts().name} - fftfilter`;
  };
  return { root, draw, sheet };
}
