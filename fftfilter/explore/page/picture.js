/** The picture: before and after in one, side by side, after alone, or what was removed; and values under the pointer. */

import { button, div, draggable, h, icon, movable, para, put, segments, span, steppable, svg } from "./dom.js";
import { listen } from "./gestures.js";
import { isStale, missingOf, shownIn } from "./state.js";
import { shapesOver } from "./region.js";
import { stageOf } from "./stage.js";
import { brief, lengthOf } from "./units.js";
import { Placement, viewOf } from "./view.js";

const SHOWS = { wipe: "Wipe", two: "Side by side", after: "After", removed: "Removed" };
/** The largest enlargement of a result that is not told from the full one while something is dragged. */
const COARSEST = 1.3;
const COLORS = ["R", "G", "B"];
/** Pixels of the screen of a side of the loupe, and its distance from the pointer. */
const [LOUPE, AWAY] = [180, 24];
/** What is drawn over an older result. */
const OLD = "rgba(12, 14, 16, 0.55)";

/** What stands over the picture in a step of the lesson. */
const wordsOf = (step, { waves, both }, isMirrored) =>
  [
    ["The picture", ""],
    [`${isMirrored ? "Mirrored" : "Wrapped"} past its edges`, ""],
    ["The picture", `The mean and ${waves} wave${waves === 1 ? "" : "s"}`],
    both ? ["Ideal: rings", "Gaussian: no rings"] : ["After", ""],
    ["The waves, put together", ""],
    ["Rounded to gray levels", ""],
  ][step - 1];

/** @param {import("./state.js").Store} store @param {any} facts  of the file @param {{values: Function}} ask */
export function pictureOf(store, facts, ask) {
  const tags = [span("tag"), span("tag right")];
  const bar = h(
    "div",
    { class: "wipe", role: "slider", tabindex: "0", "aria-label": "Border between before and after", "aria-valuemin": "0", "aria-valuemax": "100" },
    h("i", {}, icon("lr")),
  );
  const scaleText = span("");
  const scaleBar = h("i");
  const scale = h("div", { class: "scale", "aria-hidden": "true" }, scaleText, scaleBar);
  const ends = ["Begin of the profile", "End of the profile"].map((name) =>
    svg("circle", { class: "end", r: 6, tabindex: 0, role: "slider", "aria-label": name, "aria-valuenow": 0 }),
  );
  const line = svg("path", { class: "line" });
  const copy = svg("path", { class: "line" });
  const lines = svg("svg", { class: "over", role: "group", "aria-label": "Line of the profile" }, line, copy, ...ends);
  const wait = para("wait");
  const marked = shapesOver(store, facts, () => placement());
  const stage = stageOf("Picture", () => draw(store.state, store.got), marked.root, lines, bar, ...tags, scale, wait);
  const view = viewOf(store, "picture");
  const readout = span("");
  const show = segments("Show", SHOWS, (value) => store.look({ show: value }));
  const zoom = button("num", "", () => oneToOne(), { title: "One to one (Z)" });
  const glass = h("canvas", { "aria-hidden": "true" });
  const loupe = div("loupe", glass, span("tag", "Before"), span("tag right", "After"));
  stage.root.append(loupe);
  const loupeButton = button("ol nophone glass", "Loupe", () => toggleLoupe(), { title: "Before and after at 1:1 under the pointer (M)" });
  const buttons = [
    loupeButton,
    button("ic wide", "−", () => zooms.by(-1), { "aria-label": "Zoom out", title: "Zoom out (−)" }),
    zoom,
    button("ic wide", "+", () => zooms.by(1), { "aria-label": "Zoom in", title: "Zoom in (+)" }),
    button("ol", "Fit", () => zooms.fit(), { title: "Fit (0)" }),
  ];
  const about = span("mute");
  const hold = span("mute wide hint", "Hold ", h("kbd", {}, "B"), " for before");
  const head = div("vbar", h("h2", { class: "nophone" }, "Picture"), about, show.root, span("sp"), hold, ...buttons);
  const root = h("section", { class: "view pic", "aria-label": "Picture" }, head, stage.root, div("read", readout));
  /** The point of the stage under the pointer, what was asked for there, and its pixel. @type {{x: number, y: number} | null} */
  let over = null;
  let aimed = "";
  let pointer = null;
  let asking = 0;

  const isTwo = ({ view: { show, way, step, both }, asked }) =>
    Boolean(asked.settings) && (way === "learn" ? step === 3 || (step === 4 && both) : show === "two");
  const paneSize = () => (isTwo(store.state) ? { width: (stage.size.width - 2) / 2, height: stage.size.height } : stage.size);
  const placement = () => new Placement(view.get(), paneSize(), facts().width, facts().height);
  const zooms = listen(stage.root, { view, placement, size: paneSize, hover: (point) => hover(point), tap: undefined });
  const pixelAt = (point) => {
    const { x, y, scale: size } = placement();
    return [(point.x - x) / size, (point.y - y) / size].map(Math.floor);
  };
  const oneToOne = () => zooms.to(1 / (placement().fitted * devicePixelRatio), over ?? undefined);
  const toggleLoupe = () => {
    over ??= { x: paneSize().width / 2, y: paneSize().height / 2 };
    store.look({ loupe: !store.state.view.loupe }, true);
  };

  /** Return the part of the picture that the loupe shows: around a pixel. */
  const loupeAt = ([x, y]) => {
    const { width, height } = facts();
    const [wide, high] = [width, height].map((each) => Math.min(each, Math.round(LOUPE * devicePixelRatio)));
    const corner = (at, size, most) => Math.min(most - size, Math.max(0, at - (size >> 1)));
    const [left, top] = [corner(x, wide, width), corner(y, high, height)];
    return [left, top, left + wide, top + high];
  };

  const hover = (point) => {
    over = point;
    aim();
  };
  /** Ask for what is under the pointer, if that has changed: the pixel, or the result. */
  const aim = () => {
    const { state, got } = store;
    const [x, y] = over ? pixelAt(over) : [-1, -1];
    const shown = got[shownIn(state)];
    const key = JSON.stringify([x, y, state.view.loupe, state.view.levels, state.asked.file, state.asked.page, shown?.number, shown?.isFull]);
    if (key === aimed) return;
    aimed = key;
    pointer = x < 0 || y < 0 || x >= facts().width || y >= facts().height ? null : [x, y];
    if (!pointer) store.take("pointer", null);
    // Once for each picture of the browser: the engine has better things to do.
    asking ||= requestAnimationFrame(() => {
      asking = 0;
      if (pointer) ask.values("pointer", [pointer], store.state.view.loupe ? loupeAt(pointer) : null);
    });
  };

  const drawLoupe = ({ number, view: { loupe: isOn } }, { loupe: found }) => {
    put(loupeButton, { "aria-pressed": String(isOn) });
    put(loupe, { hidden: !isOn || !over || !pointer || !found });
    if (!isOn || !over || !pointer || !found) return;
    const { width, height, level } = found.surface.frame;
    Object.assign(glass, { width: width * level, height: height * level });
    found.surface.draw(glass.getContext("2d"), 0, 0, glass.width, glass.height);
    const [wide, high] = [glass.width / devicePixelRatio, glass.height / devicePixelRatio];
    const place = (at, size, most) => Math.max(0, Math.min(at + AWAY, most - size - 4) > at ? at + AWAY : at - AWAY - size);
    Object.assign(loupe.style, { width: `${wide}px`, height: `${high}px`, top: `${place(over.y, high, stage.size.height)}px` });
    loupe.style.left = `${Math.min(place(over.x, wide, stage.size.width), Math.max(0, stage.size.width - wide))}px`;
    put(loupe.lastChild, { hidden: !found.number, "data-old": found.number !== number });
  };

  draggable(store, bar, () => (event) => {
    const box = stage.root.getBoundingClientRect();
    store.look({ wipe: Math.min(1, Math.max(0, (event.clientX - box.left) / box.width)) });
  });
  steppable(bar, (steps, end) => store.look({ wipe: steps ? Math.min(1, Math.max(0, store.state.view.wipe + steps / 100)) : end }));
  ends.forEach((end, i) => {
    const move = (x, y, isDragged) => {
      const profile = [...store.state.view.profile];
      const within = [Math.min(facts().width - 1, Math.max(0, Math.round(x))), Math.min(facts().height - 1, Math.max(0, Math.round(y)))];
      profile.splice(2 * i, 2, ...within);
      store.look({ profile }, isDragged);
    };
    draggable(store, end, () => (event) => move(...pixelAt(zooms.at(event)), true));
    movable(end, (dx, dy) => move(store.state.view.profile[2 * i] + dx, store.state.view.profile[2 * i + 1] + dy, false));
  });

  const paint = (surface, from, to, offset = 0, isOld = false) => {
    const { context, size } = stage;
    const place = placement();
    context.save();
    context.beginPath();
    context.rect(from, 0, to - from, size.height);
    context.clip();
    if (surface) {
      const { width, height, level, x, y } = surface.frame;
      const each = place.scale * level;
      surface.draw(context, offset + place.x + x * place.scale, place.y + y * place.scale, width * each, height * each);
    }
    if (isOld || !surface) {
      context.fillStyle = OLD;
      context.fillRect(offset + place.x, Math.max(0, place.y), place.width, Math.min(place.height, size.height));
    }
    context.restore();
  };

  /** The picture and what a transform sees around it: itself again, or its mirror images. */
  const paintAround = (surface, isMirrored) => {
    const { context, size } = stage;
    const { width, height } = facts();
    const scale = Math.min(size.width / width, size.height / height) / 3;
    const [w, h, left, top] = [width * scale, height * scale, (size.width - 3 * width * scale) / 2, (size.height - 3 * height * scale) / 2];
    for (let i = 0; i < 9; i++) {
      const [column, row] = [i % 3, Math.floor(i / 3)];
      const [x, y] = [column, row].map((each) => (isMirrored && each !== 1 ? -1 : 1));
      context.save();
      context.translate(left + w * (column + Number(x < 0)), top + h * (row + Number(y < 0)));
      context.scale(x, y);
      context.globalAlpha = i === 4 ? 1 : 0.7;
      surface?.draw(context, 0, 0, w, h);
      context.restore();
    }
  };

  const drawLines = ({ view: { profile } }, isShown) => {
    put(lines, { hidden: !isShown || !profile });
    if (!isShown || !profile) return;
    const place = placement();
    const at = (i) => [place.x + (profile[2 * i] + 0.5) * place.scale, place.y + (profile[2 * i + 1] + 0.5) * place.scale];
    const [from, to] = [at(0), at(1)];
    const shift = isTwo(store.state) ? paneSize().width + 2 : 0;
    put(line, { d: `M${from.join(" ")}L${to.join(" ")}` });
    put(copy, { d: shift ? `M${from[0] + shift} ${from[1]}L${to[0] + shift} ${to[1]}` : "" });
    ends.forEach((end, i) => put(end, { cx: at(i)[0], cy: at(i)[1], "aria-valuetext": `${profile[2 * i]}, ${profile[2 * i + 1]}` }));
  };

  const drawScale = (isShown) => {
    const pixel = facts().pixel_size?.across_m;
    put(scale, { hidden: !pixel || !isShown });
    if (!pixel || !isShown) return;
    const place = placement();
    const most = (90 / place.scale) * pixel;
    const power = 10 ** Math.floor(Math.log10(most));
    const length = [5, 2, 1].map((step) => step * power).find((each) => each <= most) ?? power;
    put(scaleText, { text: lengthOf(length / pixel, pixel) });
    scaleBar.style.width = `${(length / pixel) * place.scale}px`;
    scale.style.left = `${Math.max(0, place.x) + 14}px`;
    scale.style.bottom = `${Math.max(0, stage.size.height - place.y - place.height) + 12}px`;
  };

  const drawReadout = (state, got) => {
    const found = got.pointer;
    if (!pointer || !found?.before) return put(readout, { text: "Point at the picture to see its values" });
    const levels = (values) =>
      values.map(([value], i) => (values.length > 2 ? `${COLORS[i] ?? i} ` : "") + (value === null ? "missing" : brief(value, 6))).join(" ");
    const pixel = facts().pixel_size;
    const place = pixel ? `x ${lengthOf(pointer[0] + 0.5, pixel.across_m)}  y ${lengthOf(pointer[1] + 0.5, pixel.down_m)}` : `x ${pointer[0]}  y ${pointer[1]}`;
    const after = found.after && found.id === state.number ? `   after ${levels(found.after)}` : "";
    const most = facts().depth === 16 ? `   of ${brief(facts().maxval, 6)}` : "";
    const each = Math.round(1 / (placement().scale * devicePixelRatio));
    const mean = each > 1 ? `   1 point = ${each} × ${each} px` : "";
    put(readout, { text: `${place}   ${after ? "before " : ""}${levels(found.before)}${after}${most}${mean}` });
  };

  /** @param {import("./state.js").State} state */
  function draw(state, got) {
    const { asked, view: looks } = state;
    const { show: how, wipe, way, hold: isHeld } = looks;
    const isFiltered = Boolean(asked.settings) && missingOf(asked) === null;
    const old = isStale(state, got);
    const after = got[shownIn(state)]?.surface ?? null;
    const before = got.before?.value ?? null;
    const { width } = stage.size;
    stage.clear();
    const two = isTwo(state) && !isHeld;
    const lesson = way === "learn" && isFiltered && !isHeld ? looks.step : 0;
    const left = lesson === 4 ? got.other : got.before;
    const isWipe = isFiltered && how === "wipe" && way === "filter" && !isHeld;
    const border = Math.round(wipe * width);
    if (!isFiltered || isHeld || lesson === 1) paint(before, 0, width, 0, got.before?.isOld);
    else if (lesson === 2) paintAround(before, asked.settings.edges === "mirror");
    else if (two) {
      const pane = paneSize().width;
      paint(left?.value ?? null, 0, pane, 0, left?.isOld);
      if (lesson === 3) paint(got.sum?.value ?? null, pane + 2, width, pane + 2, got.sum?.isOld);
      else paint(after ?? before, pane + 2, width, pane + 2, old || !after);
    } else if (isWipe) {
      paint(before, 0, border, 0, got.before?.isOld);
      paint(after ?? before, border, width, 0, old || !after);
    } else paint(after ?? before, 0, width, 0, old || !after);
    put(bar, { hidden: !isWipe, "aria-valuenow": Math.round(100 * wipe), "aria-valuetext": `${Math.round(100 * wipe)} % before` });
    bar.style.left = `${border}px`;
    let words = ["", ""];
    if (isHeld) words = ["Before", ""];
    else if (lesson) words = wordsOf(lesson, looks, asked.settings.edges === "mirror");
    else if (isFiltered && way !== "learn") words = two || isWipe ? ["Before", "After"] : [how === "removed" ? "Removed: 0 is gray" : "After", ""];
    tags.forEach((tag, i) => put(tag, { text: words[i], hidden: !words[i], "data-old": old && (i === 1 || words[1] === "") }));
    tags[1].style.left = two ? `${paneSize().width + 12}px` : "";
    tags[1].style.right = two ? "auto" : "";
    let first = got.before?.error ?? (before ? "" : "Opening the picture");
    const isFailed = got.error?.number === state.number || got.isConnected === false; // which the state says
    if (!first && isFiltered && !after && !isFailed) first = got.doing?.number === state.number ? got.doing.text : "Filtering for the first time";
    put(wait, { text: first, hidden: !first });
    show.draw(how);
    put(show.root, { hidden: !asked.settings || way === "learn" });
    put(hold, { hidden: !asked.settings || way === "learn" });
    put(about, {
      text: !asked.settings ? "unfiltered" : way === "learn" ? `Step ${looks.step}` : "",
      hidden: Boolean(asked.settings) && way !== "learn",
    });
    const place = placement();
    put(zoom, { text: `${Math.round(100 * place.scale * devicePixelRatio)} %` });
    drawLines(state, Boolean(before) && looks.tray === "profile" && way === "filter");
    marked.draw(state);
    drawScale(Boolean(before));
    aim();
    drawLoupe(state, got);
    drawReadout(state, got);
  }

  /** What the screen shows of the picture: for requests. */
  const look = () => {
    const { levels, width: columns, height: rows } = facts();
    const { x, y, scale: size, width, height } = placement();
    const each = size * devicePixelRatio;
    const level = Math.max(levels[0], ...levels.filter((level) => level * each <= 1));
    const coarse = Math.max(levels[0], ...levels.filter((level) => level * each <= COARSEST));
    const pane = paneSize();
    if (pane.width * pane.height > (width * height) / 2) return { level, coarse, part: null };
    const down = (pixels) => Math.max(0, Math.floor(pixels / coarse) * coarse);
    const up = (pixels, most) => Math.min(most, Math.ceil(pixels / coarse) * coarse);
    const part = [down(-x / size), down(-y / size), up((pane.width - x) / size, columns), up((pane.height - y) / size, rows)];
    return { level, coarse, part };
  };
  return { root, draw, look, zooms, oneToOne, toggleLoupe };
}
