/** What all handles over the spectrum share: SVG elements, drags, and keys. */

const SVG = "http://www.w3.org/2000/svg";

/** Return a new SVG element; children go into it. */
export function svg(name, attributes = {}, ...children) {
  const element = document.createElementNS(SVG, name);
  set(element, attributes);
  element.append(...children);
  return element;
}

/** Set attributes; null takes one away. */
export function set(element, attributes) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null) element.removeAttribute(name);
    else element.setAttribute(name, value);
  }
}

/** Where the browser has them, moves that do not wait for its next picture: the engine can work meanwhile. */
const MOVES = "onpointerrawupdate" in window ? "pointerrawupdate" : "pointermove";

/**
 * Let a handle be dragged, and keep the stage below from being moved by it.
 *
 * @param {Element} handle
 * @param {(event: PointerEvent) => ((event: PointerEvent) => void)} start  returns what is called with each move
 * @param {() => void} end
 */
export function draggable(handle, start, end) {
  let move = null;
  handle.addEventListener("pointerdown", (event) => {
    if (event.button) return;
    event.stopPropagation();
    handle.setPointerCapture(event.pointerId);
    handle.focus();
    move = start(event);
  });
  handle.addEventListener(MOVES, (event) => move?.(event));
  handle.addEventListener("pointermove", (event) => {
    if (move) event.stopPropagation();
  });
  const release = () => {
    if (move) end();
    move = null;
  };
  handle.addEventListener("pointerup", release);
  handle.addEventListener("pointercancel", release);
}

/** Call `turn(steps)` for arrow keys (1), with Shift and for page keys (10), on a handle that is a slider. */
export function steppable(handle, turn) {
  const steps = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1, PageUp: 10, PageDown: -10 };
  handle.addEventListener("keydown", (event) => {
    if (!(event.key in steps) || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    turn(steps[event.key] * (event.shiftKey ? 10 : 1));
  });
}

/** Return the children of a group as many as there are items, made where they lack. */
export function children(group, count, make) {
  while (group.children.length > count) group.lastChild.remove();
  while (group.children.length < count) group.append(make(group.children.length));
  return [...group.children];
}
