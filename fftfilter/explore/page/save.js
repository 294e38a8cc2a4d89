/** State and Save: what is shown and what is chosen, progress, Cancel; the name, the full path, Save and Download. */

import { button, div, giveFile, h, icon, para, put, span } from "./dom.js";
import { get } from "./questions.js";
import { channelName, nextOf, requestOf } from "./settings.js";
import { isCurrent, missingOf, shownIn } from "./state.js";
import { brief } from "./units.js";

/** Milliseconds between two looks at how far saving has come. */
const LOOKS = 300;
/** Files of a folder of which the failure is told. */
const FAILED = 3;
/** Characters of a line that need not be scrolled. */
const SHORT = 180;

/** @param {import("./state.js").Store} store @param {{facts: () => any, commands: any, begin: Function, again: () => void, reload: () => void}} page */
export function saveOf(store, { facts, commands, begin, again, reload }) {
  const mark = span("mark");
  const line = para("");
  const act = button("ol small", [], null);
  const bar = h("i");
  const progress = div("prog", bar);
  const out = h("input", { class: "in", "aria-label": "Save as", spellcheck: "false", autocomplete: "off" });
  const path = para("path");
  const question = para("");
  const both = button("pri", "Keep both", null);
  const ask = h(
    "div",
    { class: "ask", role: "group", "aria-label": "The file exists" },
    question,
    div(
      "row wrap",
      both,
      button("ol", "Replace it", () => save({ overwrite: store.got.exists.overwrite })),
      button("ol", "Cancel", () => cancelAsk()),
    ),
  );
  const whole = button("ol", "Apply to folder", null, { title: "Filter all pictures of the folder into a new one" });
  const submit = h("button", { class: "pri sp", type: "submit" });
  const download = button("ol dl", [icon("dl"), "Download"], () => save({ download: true }));
  const buttons = div("row buttons", submit, download);
  const form = h("form", { class: "save" }, h("label", { class: "row named" }, span("lab", "Save as"), out), path, ask, buttons);
  const root = div("foot", progress, h("div", { class: "state", role: "status" }, mark, line, act), form);
  const files = () => store.got.files?.value?.inputs ?? 0;
  const proposed = () => (store.state.asked.settings?.output === "real" ? facts().out_real : facts().out);
  let controller = new AbortController();
  let [named, last] = ["", ""];

  const cancelAsk = () => {
    store.take("exists", null);
    store.say("Not saved", null);
    submit.focus();
  };
  both.onclick = () => {
    out.value = store.got.exists.free;
    save();
  };
  /** Save one picture, or all of the folder into a new one. */
  const setFolder = (isOn) => {
    store.take("isFolder", isOn);
    out.value = isOn ? "filtered" : proposed();
  };
  out.oninput = () => {
    if (store.got.exists) store.take("exists", null);
    store.changed();
  };
  form.onsubmit = (event) => {
    event.preventDefault();
    // On a phone the name is asked for first.
    const isAsked = out.offsetParent === null;
    put(root, { "data-naming": isAsked });
    if (isAsked) out.focus();
    else save();
  };

  async function save(how = {}) {
    const { state } = store;
    if (!isCurrent(state, store.got) || store.got.saving) return;
    const name = out.value;
    const { signal } = (controller = new AbortController());
    store.take("exists", null);
    store.take("said", null);
    const isFolder = Boolean(store.got.isFolder) && !how.download;
    const done = (text, failed = false) =>
      store.say(state.number === store.state.number ? text : `${text.replace(/\.$/, "")}. What you have changed since is not in it`, failed);
    const count = isFolder ? files() : facts().pages;
    store.take("saving", { name, done: 0, total: count, begun: performance.now(), what: isFolder ? "file" : "page" });
    const timer = setInterval(async () => {
      try {
        const { done, total } = await get("saving");
        if (store.got.saving) store.take("saving", { ...store.got.saving, done, total: total || count });
      } catch {
        // The answer to the save itself says that the server is gone.
      }
    }, LOOKS);
    try {
      const body = JSON.stringify({ request: requestOf(state, commands, facts()), out: name, folder: isFolder, ...how });
      const response = await fetch("save", { method: "POST", headers: { "content-type": "application/json" }, body, signal });
      if (how.download && response.ok) {
        giveFile(await response.blob(), name);
        done(`Downloaded: ${name}`);
      } else {
        const answer = await response.json();
        if (answer.overwrite) store.take("exists", { ...answer, name });
        else if (answer.changed) store.take("changed", answer.error);
        else if (answer.error) store.say(answer.error, true);
        else if (answer.report !== undefined) {
          setFolder(false);
          const [failed, notes] = [answer.failed, answer.notes].map((lines) => lines.slice(0, FAILED).map((line) => ` ${line}.`));
          done(`Written: ${answer.written}. ${answer.report}.${failed.join("")}${notes.length ? ` Notes:${notes.join("")}` : ""}`, failed.length > 0);
        } else {
          store.take("saved", { ...store.got.saved, [answer.written.split(/[\\/]/).at(-1)]: Date.now() });
          done(`Written: ${answer.written}${store.got.words?.mask ? ` and its shapes, ${store.got.words.mask}` : ""}`);
        }
      }
    } catch {
      if (!signal.aborted) return store.say("Not saved: fftfilter does not answer", true);
      const isWritten = (await get("saving?end=1").catch(() => null))?.written;
      store.say(
        `Canceled: ${isFolder ? "what was finished stays in the folder" : isWritten ? `${name} was written already` : "nothing was written"}`,
        null,
      );
    } finally {
      clearInterval(timer);
      store.take("saving", null);
      store.take("folder", Date.now());
    }
  }

  /** Cancel what runs: a save, or what is computed, in whose place comes what is shown. Returns whether something was. */
  const cancel = () => {
    const { state, got } = store;
    if (got.saving) controller.abort();
    else if (got.exists) cancelAsk();
    else if (got.isFolder) setFolder(false);
    else if (state.asked.settings && !isCurrent(state, got) && store.canUndo) store.undo();
    else return false;
    return true;
  };

  /** What stands in the state line: its mark, text, and button. @param {import("./state.js").State} state */
  const told = (state, got) => {
    const { asked, number } = state;
    const failed = got.error?.number === number ? got.error.text : null;
    const said = got.said?.number === number ? got.said : null;
    if (got.isConnected === false)
      return ["bad", "fftfilter does not answer: is it still running? This page's address has what you chose, from # on.", null];
    if (got.saving) {
      const { done, total, begun } = got.saving;
      const left = done > 1 ? (((performance.now() - begun) / done) * (total - done)) / 1000 : null;
      const pages =
        total > 1
          ? `Saving ${got.saving.what} ${Math.min(total, done + 1)} of ${total}${left ? `, ${Math.ceil(left)} s left` : ""}`
          : `Saving ${got.saving.name}`;
      return ["spin", pages, ["Cancel", cancel]];
    }
    if (got.changed) return ["bad", got.changed, ["Open again", reload]];
    if (said) return [said.failed ? "bad" : said.failed === null ? "" : "ok", said.text, said.action];
    if (!asked.settings) return ["", "Nothing is filtered yet", null];
    if (missingOf(asked)) return ["", missingOf(asked), null];
    if (asked.wrong?.reason) return ["bad", "The number in red is not understood", null];
    if (failed) return ["bad", failed, ["Retry", again]];
    if (asked.wrong) return ["spin", "Reading the number", null];
    const shown = got[shownIn(state)];
    if (shown?.number !== number)
      return ["spin", got.doing?.number === number ? got.doing.text : "Filtering", store.canUndo ? ["Cancel", cancel] : null];
    if (!shown.isFull) return ["spin", "Shown: a reduced picture, while you drag", null];
    if (got.words?.number !== number) return ["spin", "Shown: your choice", null];
    const { ms, same } = got.words;
    // The options of the command are the fields of the page.
    const note = got.words.note?.replace(/channel (\d+)/g, (_, i) => channelName(i, facts())).replaceAll("--", "");
    if (same) {
      const [label, goal, settings] = nextOf(asked.settings, got.peaks?.value?.peaks, got.words.note) ?? [];
      return [
        "",
        `Nothing is removed: ${note ?? "the picture stays as it is"}`,
        label ? [label, () => begin(goal, settings)] : null,
      ];
    }
    const [level] = facts().levels;
    const how = level > 1 ? `at 1/${level} of its size, as it does not fit into memory; saved in full` : "full quality";
    const time = ms < 1000 ? `${brief(ms, 2)}\u00a0ms` : `${brief(ms / 1000, 2)}\u00a0s`;
    return ["ok", `Shown: your choice, ${how} · ${time}${note ? `. ${note[0].toUpperCase()}${note.slice(1)}` : ""}`, null];
  };

  /** @param {import("./state.js").State} state */
  const draw = (state, got) => {
    const [kind, text, action] = told(state, got);
    if (mark.dataset.kind !== kind) {
      mark.dataset.kind = kind;
      mark.replaceChildren(...(kind === "ok" ? [icon("okc")] : kind === "spin" ? [span("spin")] : []));
    }
    put(root, { "data-kind": kind || "none" });
    put(line, { text, tabindex: text.length > SHORT ? "0" : null });
    put(act, { text: action?.[0] ?? "", hidden: !action });
    act.onclick = action?.[1] ?? null;
    const saving = got.saving;
    put(progress, { hidden: !saving });
    bar.style.width = `${saving ? (100 * saving.done) / Math.max(1, saving.total) : 0}%`;
    put(form, { hidden: !state.asked.settings });
    // A name that was typed stays until another file is opened.
    if (named !== facts().out + facts().folder || out.value === last) out.value = proposed();
    [named, last] = [facts().out + facts().folder, proposed()];
    const slash = facts().folder.includes("\\") ? "\\" : "/";
    put(path, { text: out.value.startsWith(slash) ? out.value : `${facts().folder.replace(/[\\/]$/, "")}${slash}${out.value}` });
    const isReady = isCurrent(state, got);
    const pages = got.isFolder ? `Apply to ${files()} files` : facts().pages > 1 ? `Save ${facts().pages} pages` : "Save";
    put(whole, { hidden: files() < 2 || !state.asked.settings, text: got.isFolder ? "This file alone" : `Apply to folder, ${files()} files` });
    whole.onclick = () => (setFolder(!got.isFolder), out.select());
    const isSame = isReady && got.words.same && !got.isFolder;
    put(submit, { disabled: !isReady || Boolean(saving), text: isSame ? "Save unchanged" : isReady || saving ? pages : "Save waits" });
    put(submit, { class: isSame ? "ol sp" : "pri sp" });
    put(download, { disabled: !isReady || Boolean(saving), hidden: Boolean(got.isFolder) });
    put(ask, { hidden: !got.exists });
    put(buttons, { hidden: Boolean(got.exists) });
    if (got.exists) put(question, { text: `${got.exists.error.replace(/: overwrite it\?$/, "")}.` });
    if (got.exists && !ask.contains(document.activeElement) && document.activeElement === document.body) both.focus();
  };
  return { root, whole, draw, save, cancel };
}
