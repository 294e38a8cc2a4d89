/** The borders of the columns, which are dragged or moved by arrow keys; a double click or Home gives the usual width back. */

import { draggable, h, steppable } from "./dom.js";

const [LEAST, STEP] = [220, 16];

/** Return the left border of a column, whose width the browser keeps. @param {import("./state.js").Store} store @param {string} name */
export function borderOf(store, name, label, column) {
  const width = `--own-${name}`;
  const { style } = document.documentElement;
  const border = h("div", { class: "border", role: "separator", tabindex: "0", "aria-orientation": "vertical", "aria-label": label });
  const set = (pixels) => {
    const kept = pixels && `${Math.round(Math.max(LEAST, Math.min(innerWidth - 2 * LEAST, pixels)))}px`;
    style.setProperty(width, kept);
    localStorage.setItem(width, kept);
    border.ariaValueNow = String(column.offsetWidth);
  };
  draggable(store, border, (event) => {
    const from = column.offsetWidth + event.clientX;
    return (move) => set(from - move.clientX);
  });
  steppable(border, (steps) => set(steps ? column.offsetWidth - STEP * steps : ""));
  border.ondblclick = () => set("");
  column.prepend(border);
  set(parseFloat(localStorage.getItem(width) ?? "") || "");
}
