/** Elements: made, and changed only where something differs, so that drawing again costs nothing. */

const SVG = "http://www.w3.org/2000/svg";

/**
 * Return a new element. Properties that are functions listen (`onclick`), others are set as by {@link put}. @param {string} tag
 * @param {Record<string, any>} [properties] @param {...(Node | string | null)} children @returns {any}
 */
export function h(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  put(element, properties);
  element.append(...children.filter((child) => child !== null));
  return element;
}

/** @typedef {Node | string | null} Child */
/** Elements of a kind with their children. @type {((kind: string, ...children: Child[]) => any)[]} */
export const [div, span, para] = ["div", "span", "p"].map(
  (tag) =>
    (kind, ...children) =>
      h(tag, { class: kind || null }, ...children),
);

/**
 * Return a button of a kind with its content, and what it does. @param {string} kind @param {Child | Child[]} content
 * @param {((event: any) => void) | null} onclick @param {Record<string, any>} [more] @returns {any}
 */
export const button = (kind, content, onclick, more = {}) =>
  h("button", { class: kind || null, type: "button", onclick, ...more }, ...[content].flat());

/** Return what folds below a summary. @param {string} kind @param {Child[]} summary @param {...Child} children @returns {any} */
export const fold = (kind, summary, ...children) => h("details", { class: kind || null }, h("summary", {}, ...summary), ...children);

/** @param {string} tag @param {Record<string, any>} [properties] @param {...Node} children @returns {any} */
export function svg(tag, properties = {}, ...children) {
  const element = document.createElementNS(SVG, tag);
  put(element, properties);
  element.append(...children);
  return element;
}

/** Return a drawing of symbols.svg, for an SVG. @param {string} name */
export const symbol = (name) => svg("use", { href: `page/symbols.svg#${name}` });
/** Return a symbol of the page. */
export const icon = (name, size = 16) => svg("svg", { class: "i", "aria-hidden": "true", width: size, height: size }, symbol(name));

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
 * A row of buttons of which one is chosen. @param {string} label @param {Record<string, string>} choices  values and their words
 * @param {(value: string) => void} chosen
 */
export function segments(label, choices, chosen) {
  const radios = Object.keys(choices).map((value) => h("input", { type: "radio", name: label, value, onchange: () => chosen(value) }));
  const root = h(
    "div",
    { class: "seg", role: "radiogroup", "aria-label": label },
    ...radios.map((radio) => h("label", {}, radio, choices[radio.value])),
  );
  const draw = (value) => radios.forEach((radio) => put(radio, { checked: radio.value === value }));
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
 * Let something be dragged, and keep what is below from being moved by it. @param {import("./state.js").Store} store @param {HTMLElement} handle
 * @param {(event: PointerEvent) => ((event: PointerEvent) => void)} start  returns what is called with each move @param {() => void} [end]
 */
export function draggable(store, handle, start, end = () => store.commit()) {
  let move = null;
  let finger = 0;
  handle.addEventListener("pointerdown", (event) => {
    if (event.button) return;
    event.stopPropagation();
    event.preventDefault();
    if (move) return; // another finger drags it
    finger = event.pointerId;
    handle.setPointerCapture(finger);
    handle.focus();
    move = start(event);
  });
  handle.addEventListener(MOVES, (/** @type {PointerEvent} */ event) => event.pointerId === finger && move?.(event));
  handle.addEventListener("pointermove", (event) => move && event.stopPropagation());
  const release = ({ pointerId }) => {
    if (!move || pointerId !== finger) return;
    move = null;
    end();
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

/** Call `turn(steps)` for arrow keys (1; 10 with Shift) and page keys (10), `turn(0, end)` for Home (0) and End (1). */
export function steppable(handle, turn) {
  const [more, less] = [(far) => turn(far), (far) => turn(-far)];
  const pages = { PageUp: () => turn(10), PageDown: () => turn(-10), Home: () => turn(0, 0), End: () => turn(0, 1) };
  listenToKeysOf(handle, { ArrowRight: more, ArrowUp: more, ArrowLeft: less, ArrowDown: less, ...pages });
}

/** Call `move(dx, dy)` for arrow keys, ten times as far with Shift; y goes down. */
export function movable(element, move) {
  const keys = { ArrowLeft: (far) => move(-far, 0), ArrowRight: (far) => move(far, 0), ArrowUp: (far) => move(0, -far) };
  listenToKeysOf(element, { ...keys, ArrowDown: (far) => move(0, far) });
}
