/** Elements: made, and changed only where something differs, so that drawing again costs nothing. */

import { SYMBOLS } from "./symbols.js";

const SVG = "http://www.w3.org/2000/svg";

/**
 * Return a new element. Properties that are functions listen (`onclick`), others are set as by {@link put}.
 *
 * @param {string} tag
 * @param {Record<string, any>} [properties]
 * @param {...(Node | string | null)} children
 * @returns {any}
 */
export function h(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  put(element, properties);
  element.append(...children.filter((child) => child !== null));
  return element;
}

/** @typedef {Node | string | null} Child */
/** @param {string} kind @param {...Child} children @returns {any} */
export const div = (kind, ...children) => h("div", { class: kind || null }, ...children);
/** @param {string} kind @param {...Child} children @returns {any} */
export const span = (kind, ...children) => h("span", { class: kind || null }, ...children);
/** @param {string} kind @param {...Child} children @returns {any} */
export const para = (kind, ...children) => h("p", { class: kind || null }, ...children);

/**
 * Return a button of a kind with its content, and what it does.
 *
 * @param {string} kind
 * @param {Child | Child[]} content
 * @param {((event: any) => void) | null} onclick
 * @param {Record<string, any>} [more]
 * @returns {any}
 */
export const button = (kind, content, onclick, more = {}) =>
  h("button", { class: kind || null, type: "button", onclick, ...more }, ...[content].flat());

/** Return what folds below a summary. @param {string} kind @param {Child[]} summary @param {...Child} children @returns {any} */
export const fold = (kind, summary, ...children) => h("details", { class: kind || null }, h("summary", {}, icon("ch"), ...summary), ...children);

/** @param {string} tag @param {Record<string, any>} [properties] @param {...Node} children @returns {any} */
export function svg(tag, properties = {}, ...children) {
  const element = document.createElementNS(SVG, tag);
  put(element, properties);
  element.append(...children);
  return element;
}

/** Return a symbol of the page. */
export function icon(name, size = 16) {
  const { size: box, paths, dashed } = SYMBOLS[name];
  const found = paths.map((d) => svg("path", { d }));
  if (dashed) found.push(svg("path", { d: dashed, class: "dashed" }));
  return svg("svg", { class: `i i-${name}`, viewBox: `0 0 ${box} ${box}`, "aria-hidden": "true", width: size, height: size }, ...found);
}

/** Set what differs: `text`, `hidden`, `value`, `checked` and `disabled` as properties, functions, attributes. */
export function put(element, properties) {
  for (const [name, value] of Object.entries(properties)) {
    if (name.startsWith("on")) element[name] = value;
    else if (name === "text") element.textContent !== value && (element.textContent = value);
    else if (["value", "checked", "disabled", "open"].includes(name)) element[name] !== value && (element[name] = value);
    else if (value === null || value === false || value === undefined) element.removeAttribute(name);
    else if (element.getAttribute(name) !== String(value)) element.setAttribute(name, value === true ? "" : value);
  }
  return element;
}

/** Make the children of an element anew, if what they are made of has changed. */
export function list(element, items, make) {
  const key = JSON.stringify(items);
  if (element.listed === key) return;
  element.listed = key;
  element.replaceChildren(...items.map(make));
}

/** Give the browser a file to keep. @param {Blob} blob @param {string} name */
export function giveFile(blob, name) {
  const url = URL.createObjectURL(blob);
  h("a", { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}

/** Return the children of an SVG group, as many as there are items; more are made, and fewer are left. */
export function children(group, count, make) {
  while (group.children.length > count) group.lastChild.remove();
  while (group.children.length < count) group.append(make(group.children.length));
  return [...group.children];
}

/**
 * A row of buttons of which one is chosen.
 *
 * @param {string} label
 * @param {Record<string, string>} choices  values and their words
 * @param {(value: string) => void} chosen
 */
export function segments(label, choices, chosen) {
  const buttons = Object.entries(choices).map(([value, text]) =>
    h("button", { type: "button", role: "radio", "data-value": value, onclick: () => chosen(value) }, text),
  );
  const root = h("div", { class: "seg", role: "radiogroup", "aria-label": label }, ...buttons);
  root.onkeydown = (event) => {
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    event.stopPropagation();
    const seen = buttons.filter((button) => button.offsetParent !== null);
    const next = seen[(seen.indexOf(event.target) + step + seen.length) % seen.length];
    next.focus();
    chosen(next.dataset.value);
  };
  const draw = (value) => {
    for (const button of buttons) {
      const isChosen = button.dataset.value === value;
      put(button, { "aria-checked": String(isChosen), tabindex: isChosen ? "0" : "-1" });
    }
  };
  return { root, draw };
}

/** A list to choose from. @param {Record<string, string>} choices  values and their words */
export function select(label, choices, chosen, properties = {}) {
  const options = Object.entries(choices).map(([value, text]) => h("option", { value }, text));
  return h("select", { class: "in", "aria-label": label, onchange: ({ target }) => chosen(target.value), ...properties }, ...options);
}

/** Where the browser has them, moves that do not wait for its next picture: the engine can work meanwhile. */
const MOVES = "onpointerrawupdate" in window ? "pointerrawupdate" : "pointermove";

/**
 * Let something be dragged, and keep what is below from being moved by it.
 *
 * @param {Element} handle
 * @param {(event: PointerEvent) => ((event: PointerEvent) => void)} start  returns what is called with each move
 * @param {() => void} [end]
 */
export function draggable(handle, start, end = () => {}) {
  let move = null;
  handle.addEventListener("pointerdown", (/** @type {PointerEvent} */ event) => {
    if (event.button) return;
    event.stopPropagation();
    event.preventDefault();
    handle.setPointerCapture(event.pointerId);
    /** @type {HTMLElement} */ (handle).focus();
    move = start(event);
  });
  handle.addEventListener(MOVES, (/** @type {PointerEvent} */ event) => move?.(event));
  handle.addEventListener("pointermove", (event) => move && event.stopPropagation());
  const release = () => {
    if (move) end();
    move = null;
  };
  handle.addEventListener("pointerup", release);
  handle.addEventListener("pointercancel", release);
}

/** Call `keys[key](far)` for keys on an element itself, which nothing else hears; `far` is 10 with Shift, else 1. */
export function listenToKeysOf(element, keys) {
  element.addEventListener("keydown", (event) => {
    if (event.target !== element || event.ctrlKey || event.metaKey || event.altKey || !(event.key in keys)) return;
    event.preventDefault();
    event.stopPropagation();
    keys[event.key](event.shiftKey ? 10 : 1);
  });
}

/** Call `turn(steps)` for arrow keys (1; 10 with Shift) and page keys (10), `ends(0 or 1)` for Home and End. */
export function steppable(handle, turn, ends = (_) => {}) {
  const [more, less] = [(far) => turn(far), (far) => turn(-far)];
  const pages = { PageUp: () => turn(10), PageDown: () => turn(-10), Home: () => ends(0), End: () => ends(1) };
  listenToKeysOf(handle, { ArrowRight: more, ArrowUp: more, ArrowLeft: less, ArrowDown: less, ...pages });
}

/** Call `move(dx, dy)` for arrow keys, ten times as far with Shift; y goes down. */
export function movable(element, move) {
  const keys = { ArrowLeft: (far) => move(-far, 0), ArrowRight: (far) => move(far, 0), ArrowUp: (far) => move(0, -far) };
  listenToKeysOf(element, { ...keys, ArrowDown: (far) => move(0, far) });
}
