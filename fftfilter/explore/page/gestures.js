/** Wheel, pinch, drag, double click and arrow keys on a stage, which zoom and move its view. */

import { movable } from "./dom.js";

const STEP = 1.25;
const MOVED = 4;

/**
 * @param {HTMLElement} stage @param {object} hooks @param {ReturnType<typeof import("./view.js").viewOf>} hooks.view
 * @param {() => import("./view.js").Placement} hooks.placement
 * @param {() => {width: number, height: number}} hooks.size  of the stage, or of each of two beside each other
 * @param {(point: {x: number, y: number} | null) => void} hooks.hover  a point on the stage; null: the pointer left
 * @param {(point: {x: number, y: number}) => void} [hooks.tap]  a click that moved nothing
 */
export function listen(stage, { view, placement, size, hover, tap }) {
  const pointers = new Map();
  let pressed = false;
  let moved = 0;
  let spread = 0;

  const at = (event) => {
    const box = stage.getBoundingClientRect();
    return { x: (event.clientX - box.left) % (size().width + 1e-6), y: event.clientY - box.top };
  };

  const zoomAt = (factor, point = { x: size().width / 2, y: size().height / 2 }) => {
    const before = placement();
    const part = { x: (point.x - before.x) / before.width, y: (point.y - before.y) / before.height };
    const { zoom } = view.get();
    const now = Math.max(1, zoom * factor) / zoom;
    const middle = { x: size().width / 2 - point.x, y: size().height / 2 - point.y };
    view.set(zoom * factor, part.x + middle.x / (before.width * now), part.y + middle.y / (before.height * now));
  };

  const moveBy = (dx, dy) => {
    const { x, y, width, height } = placement();
    const middle = { x: (size().width / 2 - x) / width, y: (size().height / 2 - y) / height };
    view.set(view.get().zoom, middle.x - dx / width, middle.y - dy / height);
  };

  const pinch = () => {
    const [a, b] = [...pointers.values()];
    return { middle: { x: (a.x + b.x) / 2, y: (a.y + b.y) / 2 }, spread: Math.max(1, Math.hypot(a.x - b.x, a.y - b.y)) };
  };

  stage.onwheel = (event) => {
    event.preventDefault();
    zoomAt(Math.exp(-event.deltaY * (event.ctrlKey ? 0.01 : event.deltaMode ? 0.05 : 0.0015)), at(event));
  };

  stage.addEventListener("pointerdown", (event) => {
    if (event.button) return;
    stage.setPointerCapture(event.pointerId);
    pointers.set(event.pointerId, at(event));
    pressed = true;
    if (pointers.size === 1) moved = 0;
    if (pointers.size === 2) spread = pinch().spread;
  });

  stage.addEventListener("pointermove", (event) => {
    const point = at(event);
    hover(point);
    const last = pointers.get(event.pointerId);
    if (!last) return;
    pointers.set(event.pointerId, point);
    moved += Math.hypot(point.x - last.x, point.y - last.y);
    if (pointers.size === 2) {
      const now = pinch();
      zoomAt(now.spread / spread, now.middle);
      spread = now.spread;
      moved = Infinity;
    }
    if (moved > MOVED) moveBy((point.x - last.x) / pointers.size, (point.y - last.y) / pointers.size);
  });

  const release = (event) => pointers.delete(event.pointerId);
  stage.addEventListener("pointerup", release);
  stage.addEventListener("pointercancel", release);
  stage.addEventListener("pointerleave", () => hover(null));
  stage.addEventListener("click", (event) => {
    // Not one that began on a handle, and not the second of a double click.
    if (pressed && moved <= MOVED && event.detail === 1) tap?.(at(event));
    pressed = false;
  });
  stage.addEventListener("dblclick", () => view.reset());

  movable(stage, (dx, dy) => moveBy(-40 * dx, -40 * dy));

  return { by: (steps) => zoomAt(STEP ** steps), to: (zoom, point) => zoomAt(zoom / view.get().zoom, point), fit: () => view.reset(), at };
}
