/** Keys of the whole page. Single letters do nothing inside fields. */

import { USUAL_STRENGTH } from "./groups.js";
import { GOALS, cutoffsOf } from "./settings.js";
import { WHOLE } from "./state.js";

const BRACKET = 1.03;

/** @param {import("./state.js").Store} store @param {any} page  the parts that keys reach */
export function listenToKeys(store, { facts, choices, picture, saving, top, tray, files }) {
  const show = (value) => () => store.state.asked.settings && store.look({ show: value });
  const tab = (name) => () => tray.choose(store.state.view.tray === name ? "none" : name);
  const turn = (steps) => () => {
    const { settings } = store.state.asked;
    const [name] = cutoffsOf(settings);
    if (settings?.auto || settings?.command === "descreen")
      store.set({ strength: Math.min(60, Math.max(10, Number(settings.strength ?? USUAL_STRENGTH) - steps)) }, { nudge: true });
    else if (name)
      store.set({ [name]: { ...settings[name], value: Number((settings[name].value * BRACKET ** steps).toPrecision(4)) } }, { nudge: true });
  };
  const go = (to) => () => {
    const page = Math.min(facts().pages - 1, Math.max(0, to(store.state.asked.page)));
    if (facts().pages > 1) store.ask({ page }, { nudge: true });
  };
  const keys = {
    ...Object.fromEntries(GOALS.map(({ id }, i) => [String(i + 1), () => choices.choose(id)])),
    0: () => store.look({ picture: WHOLE, spectrum: WHOLE }),
    ...Object.fromEntries(["+", "="].map((key) => [key, () => picture.zooms.by(1)])),
    "-": () => picture.zooms.by(-1),
    z: picture.oneToOne,
    m: picture.toggleLoupe,
    w: show("wipe"),
    s: show("two"),
    a: show("after"),
    r: show("removed"),
    l: tab("levels"),
    p: tab("profile"),
    o: files,
    "[": turn(-1),
    "]": turn(1),
    PageUp: go((page) => page - 1),
    PageDown: go((page) => page + 1),
    Home: go(() => 0),
    End: go(() => Infinity),
    "?": () => top.sheet.showModal(),
  };

  document.addEventListener("keydown", (event) => {
    const target = /** @type {HTMLElement} */ (event.target);
    const isField = target.matches("input:not([type=checkbox], [type=radio], [type=range]), select, textarea");
    const isCommand = event.ctrlKey || event.metaKey;
    const isCovered = document.querySelector("dialog[open]") !== null;
    if (isCommand && event.key.toLowerCase() === "s") {
      event.preventDefault();
      saving.save();
    } else if (isCommand && !isField && ["z", "y"].includes(event.key.toLowerCase())) {
      event.preventDefault();
      if (event.key.toLowerCase() === "y" || event.shiftKey) store.redo();
      else store.undo();
    } else if (event.key === "Escape" && !isCovered) {
      if (saving.cancel()) event.preventDefault();
      else if (store.state.view.tool) store.look({ tool: null });
      else if (store.state.view.wave) store.look({ wave: null });
      else if (store.state.view.way === "learn") store.look({ way: "filter" });
      else target.blur();
    } else if (!isCommand && !event.altKey && !isField && !isCovered && !event.defaultPrevented) {
      const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
      if (key === "b") store.look({ hold: true }, true);
      else if (key in keys) {
        event.preventDefault();
        keys[key]();
      }
    }
  });
  const release = () => store.state.view.hold && store.look({ hold: false }, true);
  document.addEventListener("keyup", (event) => event.key.toLowerCase() === "b" && release());
  window.addEventListener("blur", release);
}
