/** Below the picture: files of the folder, pages, the profile of a line and levels. One row of tabs chooses. */

import { div, h, list, put, segments, span } from "./dom.js";
import { cover, Surface } from "./frame.js";
import { levelsPlot, profilePlot } from "./plots.js";
import { address, get } from "./questions.js";

/** @param {import("./state.js").Store} store @param {any} page */
export function trayOf(store, page) {
  const { facts, openFile } = page;
  const tabs = segments("Below the picture", { files: "Files", profile: "Profile", levels: "Levels", none: "Hide" }, (tray) => choose(tray));
  const strip = h("div", { class: "strip", role: "group", "aria-label": "Files of this folder" });
  const slider = h("input", { type: "range", min: "1", "aria-label": "Page" });
  const number = h("b", { class: "num" });
  const pages = div("row pages", span("lab", "Page"), slider, number);
  const profile = profilePlot(store, page);
  const levels = levelsPlot(store);
  const row = div("row wrap", tabs.root, span("sp"));
  const root = div("tray", pages, row, strip, profile.root, levels.root);
  slider.oninput = () => store.ask({ page: Number(slider.value) - 1 }, { nudge: true });
  /** @type {Map<string, Surface>} */
  const seen = new Map();

  const choose = (tray) => {
    const { width, height } = facts();
    const middle = Math.round(height / 2);
    const profile = store.state.view.profile ?? [Math.round(0.1 * width), middle, Math.round(0.9 * width), middle];
    store.look(tray === "profile" ? { tray, profile } : { tray });
  };

  // Small pictures of the files that are in sight, one after the other.
  const waiting = [];
  let isBusy = false;
  const next = async () => {
    if (isBusy || !waiting.length) return;
    isBusy = true;
    const canvas = waiting.shift();
    try {
      const surface = new Surface().put(await get(address("small", { file: canvas.dataset.file })));
      seen.set(canvas.dataset.key, surface);
      cover(canvas, surface);
    } catch {
      canvas.dataset.failed = "true"; // the file is said not to be readable when it is opened
    }
    isBusy = false;
    next();
  };
  const inSight = new IntersectionObserver((entries) => {
    for (const { target, isIntersecting } of entries) {
      if (!isIntersecting) continue;
      inSight.unobserve(target);
      waiting.push(target);
    }
    next();
  });
  const fileOf = ([name, isNow, saved]) => {
    const canvas = h("canvas", { width: 132, height: 96, "data-file": name, "data-key": `${name} ${saved}`, "aria-hidden": "true" });
    const known = seen.get(canvas.dataset.key);
    if (known) cover(canvas, known);
    else inSight.observe(canvas);
    return h("button", { type: "button", title: name, "aria-current": isNow ? "true" : null, onclick: () => openFile(name) }, canvas, span("", name));
  };

  /** @param {import("./state.js").State} state */
  const draw = (state, got) => {
    const { asked, view } = state;
    const names = got.files?.value?.files ?? [];
    put(root, { hidden: view.way === "learn" });
    put(pages, { hidden: facts().pages < 2 });
    put(slider, { max: String(facts().pages), "aria-valuetext": `page ${asked.page + 1} of ${facts().pages}` });
    if (Number(slider.value) !== asked.page + 1) slider.value = String(asked.page + 1);
    put(number, { text: `${asked.page + 1} of ${facts().pages}` });
    tabs.draw(view.tray);
    put(strip, { hidden: view.tray !== "files" || names.length < 2 });
    const shown = names.map((name) => [name, name === asked.file, got.saved?.[name] ?? 0]);
    list(strip, shown, fileOf);
    put(profile.root, { hidden: view.tray !== "profile" });
    put(levels.root, { hidden: view.tray !== "levels" });
    if (view.tray === "profile") profile.draw(state, got);
    if (view.tray === "levels") levels.draw(state, got);
  };
  return { root, row, draw, choose };
}
