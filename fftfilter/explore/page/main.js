/**
 * Where the page begins. The state is data (state.js); what is asked follows from it (live.js for results, questions.js
 * for all else), and so does all that is drawn.
 *
 *   dom.js units.js settings.js      elements; cutoffs in their units; goals, and what a request says
 *   frame.js colors.js view.js       pixels from the server; a spectrum as colors; which part is on the screen
 *   stage.js gestures.js             a canvas; zoom and move
 *   picture.js spectrum.js outlines.js plots.js tray.js      the two pictures, the handles, curves, what is below
 *   choices.js fields.js groups.js region.js presets.js learn.js save.js top.js keys.js panels.js      all around them
 */

import { choicesOf } from "./choices.js";
import { button, div, h, icon, para, put, span } from "./dom.js";
import { listenToKeys } from "./keys.js";
import { learnOf, waveOf } from "./learn.js";
import { live } from "./live.js";
import { borderOf } from "./panels.js";
import { pictureOf } from "./picture.js";
import { gainPlot } from "./plots.js";
import { chosenOf } from "./presets.js";
import { address, get, questions } from "./questions.js";
import { saveOf } from "./save.js";
import { GOALS, optionsOf, regionIn, requestOf, withoutPart } from "./settings.js";
import { spectrumOf } from "./spectrum.js";
import { hashOf, shownIn, stateOf, Store } from "./state.js";
import { topOf } from "./top.js";
import { trayOf } from "./tray.js";
import { firstUnit } from "./units.js";

const CHANNELS = ["red", "green", "blue"];
const FAINTEST = 10;
/** More pixels than a picture has a side. */
const WHOLE_SIZE = 1e6;
/** As many ms after a change the address says what is chosen: browsers refuse to change it often. */
const KEEP = 300;
const LEGEND = [
  ["Middle:", "light and shade, everything large", "middle"],
  ["Far out:", "fine detail, grain and noise", "far"],
  ["Bright spots:", "patterns that repeat. Dots, stripes, weave", "spots"],
  ["Cross:", "the borders, where left meets right", "cross"],
];

/** Return the facts on a file, with the unit to begin with. */
async function factsOf(file) {
  const facts = await get(address("picture", { file }));
  return { ...facts, unit: firstUnit(facts.units, facts.pixel_size?.across_m) };
}

/** Return what is wrong with a file, in a line. */
const failure = (file, { message }) => (message.startsWith(file) ? message : `${file}: ${message}`);

/** Return the state to begin with: that of the address, else that of the command line; and what is wrong with the former. */
async function begin() {
  const kept = stateOf(location.hash);
  let lost = kept || location.hash.length < 2 ? "" : "The address is not understood from # on: the page begins anew";
  try {
    if (kept) return { facts: await factsOf(kept.asked.file), ...kept, lost };
  } catch (error) {
    lost = `${failure(kept.asked.file, error)}. This is another file`;
  }
  const facts = await factsOf("");
  if (kept?.asked.settings)
    return { facts, asked: { ...kept.asked, file: facts.name, page: 0, settings: withoutPart(kept.asked.settings) }, view: {}, lost };
  const chosen = facts.start.command ? await chosenOf(facts.start, facts.name) : { goal: null, settings: null };
  return { facts, asked: { file: facts.name, page: 0, ...chosen, wrong: null }, view: {}, lost };
}

async function start() {
  const { facts: first, asked, view, lost } = await begin();
  const store = new Store({ ...asked, page: Math.min(Math.max(0, asked.page), first.pages - 1) }, view, first);
  const facts = () => store.got.facts;
  const units = () => store.got.units?.value ?? facts().units;
  const { commands } = first;
  if (lost) store.say(lost, true);

  let opening = 0;
  const openFile = async (file) => {
    const mine = ++opening;
    if (file === store.state.asked.file && !store.got.changed) return;
    try {
      const found = await factsOf(file);
      if (mine !== opening) return;
      const { settings } = store.state.asked;
      const isOther = settings?.shapes && (found.width !== facts().width || found.height !== facts().height);
      store.got = { ...store.got, facts: found, changed: null };
      const kept = isOther ? withoutPart(settings) : settings;
      store.ask({ file: found.name, page: 0, settings: kept }, { look: { levels: null, profile: null, wave: null }, isNew: true });
      store.take("said", null);
      if (isOther) store.say("The part was drawn on a picture of another size: all of this one is filtered");
      again();
    } catch (error) {
      const text = failure(file, error);
      if (store.got.changed && file === store.state.asked.file) store.take("changed", text);
      else store.say(text, true);
    }
  };
  const ask = { values: (...given) => connection.values(...given) };
  const again = () => {
    store.take("error", null);
    connection.again();
  };
  const files = () => store.look({ tray: store.state.view.tray === "files" ? "none" : "files" });
  const shared = { units, facts, ask, openFile, commands, learn: () => learn.begin() };

  const picture = pictureOf(store, facts, ask);
  const spectrum = spectrumOf(store, shared);
  const tray = trayOf(store, shared);
  const learn = learnOf(store, shared);
  const gain = gainPlot(store, shared);
  const wave = waveOf(store, shared);
  const choices = choicesOf(store, shared, { focusNotch: (index) => spectrum.focusNotch(index) });
  const beginWith = (goal, settings) =>
    settings ? store.ask({ goal, settings: { ...settings, ...regionIn(store.state.asked.settings) } }) : choices.choose(goal);
  const saving = saveOf(store, { facts, commands, begin: beginWith, again, reload: () => openFile(store.state.asked.file) });
  const theme = themeOf();
  const setWay = (isOn) => (isOn ? learn.begin() : store.look({ way: "filter" }));
  const top = topOf(store, { facts, theme, learn: setWay, files });

  const rows = LEGEND.map(([name, text, kind]) => h("li", {}, icon(kind, 34), span("", h("b", {}, `${name} `), span("mute", text))));
  const legend = div("part", para("h", "How to read it"), h("ul", { class: "legend", tabindex: "0" }, ...rows));
  const under = div("under", legend, gain.root, spectrum.choices, wave.root);
  tray.row.append(saving.whole);
  picture.root.append(tray.root, learn.tray);
  const swap = button("inset", [], () => document.body.toggleAttribute("data-swapped"), { "aria-label": "Swap picture and spectrum" });
  const waves = h("section", { class: "view spc", "aria-label": "Spectrum" }, ...spectrum.top);
  const side = h("aside", { class: "side", "aria-label": "Filter" }, choices.rail, choices.root, learn.side, saving.root);
  document.body.replaceChildren(top.root, h("main", { class: "desk" }, picture.root, waves, side, swap));
  // Where there is no room below the spectrum, what belongs there is below the choices.
  const [small, phone] = [900, 600].map((width) => matchMedia(`(max-width: ${width}px)`));
  const settle = () => {
    if (small.matches) saving.root.before(under);
    else waves.append(under);
    (phone.matches ? saving.root : learn.tray).before(tray.root);
  };
  for (const each of [small, phone]) each.addEventListener("change", settle);
  settle();
  borderOf(store, "spc", "Border of the spectrum", waves);
  borderOf(store, "side", "Border of the choices", side);

  let keeping = 0;
  const keep = () => {
    keeping = 0;
    history.replaceState(null, "", hashOf(store.state));
  };
  store.subscribe((state, got) => {
    const { asked: now, view: looks } = state;
    put(legend, { hidden: Boolean(now.settings) || Boolean(looks.wave) });
    put(gain.root, { hidden: !now.settings || Boolean(looks.wave) });
    put(spectrum.choices, { hidden: !now.settings || looks.way === "learn" || Boolean(looks.wave) });
    put(choices.root, { hidden: looks.way === "learn" });
    for (const part of [top, picture, spectrum, gain, wave, tray, choices, learn, saving]) part.draw(state, got);
    keeping ||= window.setTimeout(keep, KEEP);
  });

  const connection = live(store, { commands, look: picture.look });
  questions(store, addressesOf(facts, commands, picture.look));
  listenToKeys(store, { facts, choices, picture, saving, top, tray, files });
  document.addEventListener("dragover", (event) => event.preventDefault());
  document.addEventListener("drop", async (event) => {
    event.preventDefault();
    const [file] = event.dataTransfer?.files ?? [];
    if (!file) return;
    if (/\.json$/i.test(file.name)) return choices.load(file);
    store.say(`Opening ${file.name}`);
    try {
      const { name } = await get(address("drop", { name: file.name }), { method: "POST", body: file });
      store.take("folder", Date.now());
      openFile(name);
    } catch (error) {
      store.say(failure(file.name, error), true);
    }
  });
  window.addEventListener("hashchange", () => {
    const given = stateOf(location.hash);
    if (given?.asked.file === store.state.asked.file) store.ask(given.asked, { look: given.view });
    else if (given) location.reload();
  });
  store.draw();
}

/** Return the addresses of all questions, as they follow from the state. */
function addressesOf(facts, commands, look) {
  const of = (path, query) => address(path, { ...query, version: facts().version }); // all is asked anew of a file that has changed
  const wanted = ({ asked: { file, page }, view: { levels } }, settings, level) =>
    JSON.stringify({ id: 0, file, page, level, levels, rest: false, command: settings.command, options: optionsOf(settings, commands) });
  const small = (state, settings, size, level = facts().levels.at(-1)) => of("small", { size, request: wanted(state, settings, level) });
  const isStart = ({ asked, view }, got) => !asked.settings && view.way !== "learn" && got.before?.value && !got.before.isOld;
  const waves = ({ peaks }) => !peaks?.isOld && peaks?.value?.peaks.length;
  const finds = { dots: (got) => got.found_dots?.value && !got.found_dots.isOld && waves(got), stripes: (got) => got.found_stripes?.value?.any };
  const cards = GOALS.map((goal) => [
    `small_${goal.id}`,
    (state, got) => (isStart(state, got) && (finds[goal.id]?.(got) ?? !(goal.id in finds)) ? small(state, goal.begin(facts(), got), null) : null),
  ]);
  const level = () => facts().levels[0];
  return {
    before: ({ asked: { file, page }, view: { levels } }) =>
      of("input", { file, page, level: look().level, levels: levels && JSON.stringify(levels) }),
    spectrum: ({ asked: { file, page }, view: { channel } }) =>
      of("spectrum", { file, page, channel: channel === "all" ? null : CHANNELS.indexOf(channel) }),
    about: ({ asked: { file, page } }) => of("about", { file, page }),
    peaks: ({ asked: { file, settings } }, got) => {
      if (settings?.auto) return of("peaks", { file, strength: settings.strength });
      return facts().pages === 1 && got.spectrum?.value && !got.spectrum.isOld ? of("peaks", { file }) : null;
    },
    faint: (state, got) => {
      const { file, settings } = state.asked;
      return settings?.auto && got[shownIn(state)]?.isFull && got.peaks?.value ? of("peaks", { file, strength: FAINTEST }) : null;
    },
    found_dots: (state, got) =>
      isStart(state, got) && waves(got) ? of("found", { request: wanted(state, { command: "descreen" }, level()) }) : null,
    found_stripes: (state, got) =>
      isStart(state, got) ? of("found", { request: wanted(state, { command: "stripes", angle: "auto", edges: "mirror" }, level()) }) : null,
    files: (_, { folder }) => address("files", { folder }), // when something came into it
    units: ({ asked: { file, settings } }, got) =>
      settings?.pixel_size && got.error === undefined ? address("units", { file, pixel_size: settings.pixel_size }) : null,
    wave: ({ asked: { file, page }, view: { wave } }) => (wave ? of("wave", { file, page, ...wave }) : null),
    without: (state) => (state.view.wave ? small(state, { command: "notch", at: [state.view.wave] }, 320) : null),
    other: (state) => {
      const { asked, view } = state;
      return view.way === "learn" && view.step === 4 && view.both && !asked.wrong
        ? small(state, { ...asked.settings, shape: "ideal" }, WHOLE_SIZE, look().level)
        : null;
    },
    sum: ({ asked: { file, page }, view: { way, step, waves } }) => (way === "learn" && step === 3 ? of("sum", { file, page, count: waves }) : null),
    steps: (state, got) => {
      const { asked, view, number } = state;
      if (view.way !== "learn" || !asked.settings || asked.wrong || got.result?.number !== number) return null;
      return of("steps", { request: JSON.stringify({ ...requestOf(state, commands, facts()), id: 0, area: null }) });
    },
    ...Object.fromEntries(cards),
  };
}

/** Return what changes between light and dark, which is kept. */
function themeOf() {
  const root = document.documentElement;
  const kept = localStorage.getItem("theme");
  if (kept) root.dataset.theme = kept;
  return () => {
    const isDark = (root.dataset.theme ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark";
    root.dataset.theme = isDark ? "light" : "dark";
    localStorage.setItem("theme", root.dataset.theme);
    window.dispatchEvent(new Event("recolor"));
  };
}

start().catch((error) => {
  document.body.replaceChildren(h("p", { class: "wait", role: "alert" }, `The page cannot be shown: ${error.message}`));
});
