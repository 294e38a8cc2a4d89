/** The part of the picture that is filtered: shapes that are drawn on it, in its pixels. */

import { button, children, div, draggable, fold, h, listenToKeysOf, movable, para, put, segments, span, svg } from "./dom.js";
import { sliderField } from "./fields.js";
import { PART_FIELDS, takesRegion } from "./settings.js";

const WHERE = { all: "Everywhere", in: "Only there", out: "Not there" };
const TOOLS = { none: "Move", rectangle: "Rectangle", ellipse: "Ellipse", brush: "Brush" };
const BRUSH = { ends: { min: 1, max: 400 }, usual: 40, unit: "px", words: ["fine", "broad"] };
const clamp = (value, most) => Math.min(most, Math.max(0, Math.round(value)));

/** Where, by which tool, and how soft. @param {import("./state.js").Store} store @param {any} page */
export function regionOf(store, { facts }) {
  const shapes = () => store.state.asked.settings.shapes ?? [];
  const where = segments("Where", WHERE, (value) => {
    store.set(value === "all" ? { shapes: undefined, outside: undefined } : { shapes: shapes(), outside: value === "out" });
    store.look({ tool: value === "all" || shapes().length ? null : "rectangle" });
  });
  const tool = segments("Draw", TOOLS, (value) => store.look({ tool: value === "none" ? null : value }));
  const fields = Object.entries(PART_FIELDS).map(([name, { label, ...about }]) => sliderField(store, name, label, about));
  const brush = sliderField(store, "brush", "Brush", BRUSH);
  const add = button("link small", "Add one in the middle", () => {
    const { width, height } = facts();
    const corner = [width >> 2, height >> 2, Math.max(1, width >> 1), Math.max(1, height >> 1)];
    store.set({ shapes: [...shapes(), [store.state.view.tool === "ellipse" ? "ellipse" : "rectangle", ...corner]] });
  });
  const clear = button("link small", "Clear all", () => store.set({ shapes: [] }));
  const count = span("mute small");
  const note = para("mute small");
  const summary = span("mute small cut");
  const drawing = div("part", tool.root, div("row", count, span("sp"), add, clear), brush.root, ...fields.map(({ root }) => root), note);
  const root = fold("", [h("b", {}, "Part of the picture"), summary], div("part", where.root, drawing));

  /** @param {import("./state.js").State} state */
  const draw = (state, got) => {
    const { settings } = state.asked;
    const isPart = settings.outside !== undefined;
    const own = shapes();
    put(root, { hidden: !takesRegion(settings) });
    where.draw(isPart ? (settings.outside ? "out" : "in") : "all");
    tool.draw(state.view.tool ?? "none");
    put(drawing, { hidden: !isPart });
    put(summary, { text: isPart ? `${settings.outside ? "not " : ""}in ${own.length} shape${own.length === 1 ? "" : "s"}` : "everywhere" });
    put(count, { text: own.length ? `${own.length} drawn` : "Drag on the picture" });
    put(clear, { hidden: !own.length });
    put(brush.root, { hidden: state.view.tool !== "brush" });
    brush.draw(state, got);
    fields.forEach((field) => field.draw(state, got));
    const file = got.words?.mask?.split(/[\\/]/).at(-1);
    put(note, { hidden: !file, text: `Save and Copy write the shapes beside the output: ${file}` });
  };
  return { root, draw };
}

/** The shapes over the picture. @param {import("./state.js").Store} store @param {() => import("./view.js").Placement} placement */
export function shapesOver(store, facts, placement) {
  const ground = svg("rect", { class: "ground", width: "100%", height: "100%" });
  const group = svg("g");
  const root = svg("svg", { class: "over", role: "group", "aria-label": "Part of the picture" }, ground, group);
  const all = () => store.state.asked.settings?.shapes ?? [];
  const at = (event) => {
    const box = root.getBoundingClientRect();
    const { x, y, scale } = placement();
    return [clamp((event.clientX - box.left - x) / scale, facts().width), clamp((event.clientY - box.top - y) / scale, facts().height)];
  };

  draggable(store, ground, (event) => {
    const { tool } = store.state.view;
    const size = Number(store.state.asked.settings.brush) || BRUSH.usual;
    const [x, y] = at(event);
    const others = all();
    /** @type {any[]} */
    let stroke = [tool, Math.min(Math.max(1, Math.round(size)), facts().width, facts().height), x, y];
    const show = (shape) => store.set({ shapes: [...others, shape] }, { drag: true });
    if (tool === "brush") show(stroke);
    return (move) => {
      const [to, down] = at(move);
      if (tool !== "brush") {
        const [left, top] = [Math.min(x, to), Math.min(y, down)];
        if (to !== x && down !== y) show([tool, left, top, Math.abs(to - x), Math.abs(down - y)]);
      } else if (Math.hypot(to - stroke.at(-2), down - stroke.at(-1)) > Math.max(1, size / 8)) {
        stroke = [...stroke, to, down];
        show(stroke);
      }
    };
  });

  const shapeOf = (index) => {
    const handle = svg("path", { class: "shape", tabindex: 0, role: "button" });
    const change = (shape, how) => store.set({ shapes: all().with(index, shape) }, how);
    const remove = () => store.set({ shapes: all().toSpliced(index, 1) });
    draggable(store, handle, (event) => {
      const [from, shape] = [at(event), all()[index]];
      return (move) => change(moved(shape, [at(move)[0] - from[0], at(move)[1] - from[1]], [0, 0], facts()), { drag: true });
    });
    movable(handle, (dx, dy) => change(moved(all()[index], [dx, dy], [0, 0], facts()), { nudge: true }));
    const sized = (by) => () => change(moved(all()[index], [0, 0], [by, by], facts()), { nudge: true });
    listenToKeysOf(handle, { "+": sized(1), "=": sized(1), "-": sized(-1), Delete: remove, Backspace: remove });
    return handle;
  };

  /** @param {import("./state.js").State} state */
  const draw = ({ asked: { settings }, view }) => {
    const isShown = settings?.outside !== undefined && takesRegion(settings) && view.way === "filter";
    put(root, { hidden: !isShown });
    if (!isShown) return;
    const { x, y, scale } = placement();
    put(ground, { hidden: !view.tool });
    put(group, { transform: `translate(${x} ${y}) scale(${scale})` });
    children(group, all().length, shapeOf).forEach((path, i) => {
      const [kind, ...numbers] = all()[i];
      // A stroke is as broad as its brush while one draws, and else a line, which hides nothing.
      const isBroad = kind === "brush" && Boolean(view.tool);
      put(path, { d: pathOf(all()[i]), class: isBroad ? "shape broad" : "shape" });
      path.style.strokeWidth = isBroad ? numbers[0] : "";
      put(path, { "aria-label": `${TOOLS[kind]} ${i + 1}. Arrow keys move it, + and − size it, Delete removes it.` });
    });
  };
  return { root, draw };
}

/** Return the path of a shape: of a stroke the middle, which is as broad as the brush. */
function pathOf([kind, ...numbers]) {
  const [x, y, width, height] = numbers;
  if (kind === "rectangle") return `M${x} ${y}h${width}v${height}h${-width}z`;
  if (kind === "ellipse") return `M${x} ${y + height / 2}a${width / 2} ${height / 2} 0 1 0 ${width} 0a${width / 2} ${height / 2} 0 1 0 ${-width} 0`;
  const points = numbers.slice(1);
  return `M${points[0]} ${points[1]}L${points.join(" ")}`;
}

/** Return a rectangle or an ellipse moved, and larger by some pixels, as far as it stays in the picture; strokes stay. */
function moved([kind, x, y, ...size], [dx, dy], [more, higher], { width, height }) {
  if (kind === "brush") return [kind, x, y, ...size];
  const [wide, high] = [Math.min(width - x, Math.max(1, size[0] + more)), Math.min(height - y, Math.max(1, size[1] + higher))];
  return [kind, clamp(x + dx, width - wide), clamp(y + dy, height - high), wide, high];
}
