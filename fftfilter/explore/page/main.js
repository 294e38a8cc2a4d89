/**
 * Where the page begins: gets the picture, and connects its parts.
 *
 *   units.js notch.js filter.js   texts and what they mean; what is chosen, and the options that say so
 *   history.js desk.js            what is chosen now, undo; what all parts work on
 *   live.js frame.js              requests to the engine, pixels from it
 *   view.js gestures.js stage.js  zoom and move, by pointer and keys; canvases
 *   result.js spectrum.js         the two pictures
 *   handles.js rings.js notches.js stripes.js peaks.js   what is dragged over the spectrum
 *   fields.js plots.js words.js status.js steps.js tabs.js theme.js   all around them
 */

import { Desk } from "./desk.js";
import { Fields } from "./fields.js";
import { filterOf, optionsOf } from "./filter.js";
import { KIND } from "./frame.js";
import { History } from "./history.js";
import { Live } from "./live.js";
import { HistogramPlot, RadialPlot } from "./plots.js";
import { Result } from "./result.js";
import { Spectrum } from "./spectrum.js";
import { Status } from "./status.js";
import { Steps } from "./steps.js";
import { listenToTabs } from "./tabs.js";
import { listenToTheme } from "./theme.js";
import { brief } from "./units.js";
import { View } from "./view.js";
import { listenToCopy, listenToSave, showWords } from "./words.js";

/** After as many ms without a change the picture is asked for as it will be saved. */
const REST = 120;
/** While something is dragged the fields follow after as many ms. */
const SELDOM = 200;

/** A part of the samples that is not worth a word. */
const FEW = 5e-5;

const byId = (id) => document.getElementById(id);

async function start() {
  const picture = await (await fetch("picture")).json();
  const history = new History(filterOf(picture.start));
  const desk = new Desk(picture, history);

  const status = new Status(byId("status"), byId("told"));
  const say = (text, failed) => status.say(text, failed);
  describe(picture);

  const { result, spectrum } = makeViewers(desk, () => rest());
  const radial = new RadialPlot(byId("radial"), desk);
  const histogram = new HistogramPlot(byId("histogram"));
  const fields = new Fields(byId("fields"), desk);
  const steps = new Steps();

  // Requests, and what comes back.
  const request = (atRest = true) => ({
    page: desk.page,
    level: result.level,
    rest: atRest,
    view: atRest ? null : result.part,
    show: result.show === "removed" ? "removed" : "result",
    command: history.filter.command,
    options: optionsOf(history.filter, desk.takes),
  });
  const live = new Live({
    frame: (frame) => (frame.kind === KIND.gain ? spectrum.put(frame) : result.put(frame)),
    words: (words) => {
      fields.clear();
      showWords(words);
      radial.put(words.curve);
      if (words.histogram) histogram.put(words.histogram);
      byId("clipped").textContent = words.clipped > FEW ? `· ${brief(100 * words.clipped, 2)} % clipped` : "";
      status.note(words.note ?? "", true);
      status.tell(told(words));
    },
    error: ({ error, field }) => status.note(fields.fail(field, error) ? "" : error, true),
    state: (state) => {
      if (state === "closed") status.note("fftfilter does not answer: is it still running?", true);
    },
  });
  let timer = 0;
  function rest() {
    clearTimeout(timer);
    timer = setTimeout(() => live.ask(request()), REST);
  }

  let drawn = 0;
  let dragged = 0;
  const draw = () => {
    drawn = performance.now();
    spectrum.drawHandles();
    radial.drawCutoffs();
    fields.draw(history.filter);
    byId("undo").disabled = !history.canUndo;
    byId("redo").disabled = !history.canRedo;
    status.changed();
  };
  // While a handle is dragged, once for each picture of the browser, whose time belongs to the handle and the result.
  const drawDragged = () => {
    dragged = 0;
    if (performance.now() - drawn > SELDOM) draw();
    else spectrum.drawHandles();
  };
  history.subscribe((_, { lasts }) => {
    live.ask(request(lasts));
    if (lasts) draw();
    else {
      dragged ||= requestAnimationFrame(drawDragged);
      rest();
    }
  });

  // The rest of the controls.
  listenToUndo(history);
  byId("show").addEventListener("change", ({ target }) => {
    result.choose(target.value);
    live.ask(request());
  });
  byId("tint").addEventListener("change", ({ target }) => {
    spectrum.tint = target.checked;
    spectrum.draw();
  });
  listenToTheme(byId("theme"), () => {
    result.canvas.recolor();
    spectrum.canvas.recolor();
  });
  listenToCopy(say);
  listenToSave(picture, request, say);
  listenToTabs((panel) => {
    if (panel === "steps") steps.load(request());
  });

  const load = async () => {
    try {
      await Promise.all([spectrum.load(desk.page), radial.load(desk.page)]);
      await spectrum.peaks.load(desk.page);
      spectrum.drawHandles();
    } catch (error) {
      say(`The spectrum cannot be shown: ${error.message}`, true);
    }
  };
  listenToPages(desk, () => {
    result.draw();
    live.ask(request());
    load();
  });
  status.note("The engine starts …");
  live.ask(request());
  load();
}

/** Return the two pictures, which share a view while they are linked; `moved` is called when the first one's changes. */
function makeViewers(desk, moved) {
  const views = [new View(), new View()];
  const linked = byId("linked");
  const result = new Result(byId("result-viewer"), desk, () => views[0]);
  const spectrum = new Spectrum(byId("spectrum-viewer"), desk, () => views[linked.checked ? 0 : 1]);
  views[0].subscribe(() => {
    result.draw();
    if (linked.checked) spectrum.draw();
    moved();
  });
  views[1].subscribe(() => spectrum.draw());
  linked.addEventListener("change", () => {
    if (!linked.checked) views[1].set(views[0].zoom, views[0].x, views[0].y);
    spectrum.draw();
  });
  for (const viewer of [result, spectrum]) {
    for (const button of viewer.stage.parentElement.querySelectorAll("[data-zoom]")) {
      button.addEventListener("click", () => viewer.zoom[button.dataset.zoom]());
    }
  }
  return { result, spectrum };
}

/** Undo and redo by their buttons and keys; a field in which one types has an undo of its own. */
function listenToUndo(history) {
  byId("undo").addEventListener("click", () => history.undo());
  byId("redo").addEventListener("click", () => history.redo());
  document.addEventListener("keydown", (event) => {
    const typing = event.target.matches("input:not([type=checkbox], [type=radio], [type=range])");
    if (!(event.ctrlKey || event.metaKey) || typing) return;
    const back = event.key === "z" && !event.shiftKey;
    const forth = event.key === "y" || (event.key.toLowerCase() === "z" && event.shiftKey);
    if (!back && !forth) return;
    event.preventDefault();
    if (back) history.undo();
    else history.redo();
  });
}

/** Return what is told of a result: its time, and the part of the power that is removed, if it is known. */
function told({ ms, share }) {
  const removed = share === null || share === undefined ? "" : ` · ${brief(100 * share, 2)} % of the power removed`;
  return `${brief(ms, 2)} ms${removed}`;
}

/** Show the name and the size of the picture. */
function describe({ name, width, height, depth, channels, pixel_size }) {
  const kind = `${channels > 1 ? `${channels} channels, ` : ""}${depth === "float" ? "floats" : `${depth} bits`}`;
  byId("picture-name").textContent = `${name} · ${width} × ${height}, ${kind}${pixel_size ? `, ${pixel_size.text.replace("um", "µm")} a pixel` : ""}`;
  document.title = `${name} - fftfilter`;
}

/** Let the slider go through the pages of a file that has several. */
function listenToPages(desk, changed) {
  const slider = byId("page");
  const { pages } = desk.picture;
  byId("pages").hidden = pages < 2;
  slider.max = pages;
  const show = () => {
    byId("page-number").textContent = `${slider.value} of ${pages}`;
    slider.setAttribute("aria-valuetext", `page ${slider.value} of ${pages}`);
  };
  slider.addEventListener("input", () => {
    desk.page = slider.value - 1;
    show();
    changed();
  });
  show();
}

start();
