/** Wheel, pinch, drag, double click and keys on a stage, which zoom and move its view. */

const STEP = 1.25;
const MOVED = 4;

/**
 * @param {HTMLElement} stage
 * @param {object} hooks
 * @param {() => import("./view.js").View} hooks.view
 * @param {() => import("./view.js").Placement} hooks.placement
 * @param {(point: {x: number, y: number} | null) => void} hooks.hover  a point on the stage; null: the pointer left
 * @param {(point: {x: number, y: number}) => void} [hooks.tap]  a click that moved nothing
 */
export function listen(stage, { view, placement, hover, tap }) {
  const pointers = new Map();
  let pressed = false;
  let moved = 0;
  let spread = 0;

  const at = (event) => {
    const box = stage.getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  };

  const zoomAt = (factor, point = { x: stage.clientWidth / 2, y: stage.clientHeight / 2 }) => {
    const before = placement();
    const part = { x: (point.x - before.x) / before.width, y: (point.y - before.y) / before.height };
    const { zoom } = view();
    const now = Math.max(1, zoom * factor) / zoom;
    const middle = { x: stage.clientWidth / 2 - point.x, y: stage.clientHeight / 2 - point.y };
    view().set(zoom * factor, part.x + middle.x / (before.width * now), part.y + middle.y / (before.height * now));
  };

  const moveBy = (dx, dy) => {
    const { x, y, width, height } = placement();
    const middle = { x: (stage.clientWidth / 2 - x) / width, y: (stage.clientHeight / 2 - y) / height };
    view().set(view().zoom, middle.x - dx / width, middle.y - dy / height);
  };

  const pinch = () => {
    const [a, b] = [...pointers.values()];
    return { middle: { x: (a.x + b.x) / 2, y: (a.y + b.y) / 2 }, spread: Math.hypot(a.x - b.x, a.y - b.y) };
  };

  stage.addEventListener("wheel", (event) => {
    event.preventDefault();
    zoomAt(Math.exp(-event.deltaY * (event.ctrlKey ? 0.01 : event.deltaMode ? 0.05 : 0.0015)), at(event));
  }, { passive: false });

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
  stage.addEventListener("dblclick", () => view().reset());

  const keys = {
    "+": () => zoomAt(STEP),
    "=": () => zoomAt(STEP),
    "-": () => zoomAt(1 / STEP),
    0: () => view().reset(),
    ArrowLeft: () => moveBy(40, 0),
    ArrowRight: () => moveBy(-40, 0),
    ArrowUp: () => moveBy(0, 40),
    ArrowDown: () => moveBy(0, -40),
  };
  stage.addEventListener("keydown", (event) => {
    if (event.target !== stage || event.ctrlKey || event.metaKey || event.altKey || !(event.key in keys)) return;
    event.preventDefault();
    keys[event.key]();
  });

  return { in: () => zoomAt(STEP), out: () => zoomAt(1 / STEP), fit: () => view().reset() };
}
