/**
 * The state of the page: plain data that is replaced, never changed.
 *
 * `asked` is what a result belongs to: file, page and settings. Each change of it raises `number`, and all that comes
 * back carries the number that it was asked for with, so that what is older is known as such. `view` is how it is looked
 * at. Undo goes back over what was asked, with its file, and over the levels and the profile.
 * @typedef {import("./units.js").Cutoff} Cutoff
 * @typedef {Record<string, any> & {command: string}} Settings
 * @typedef {{field: string, text: string, reason: string}} Wrong
 * @typedef {{file: string, page: number, goal: string | null, settings: Settings | null, wrong: Wrong | null}} Asked
 * @typedef {typeof FIRST_VIEW} View
 * @typedef {{zoom: number, x: number, y: number}} Zoom
 * @typedef {{number: number, asked: Asked, view: View}} State
 */

import { cutoffsOf, isWave, isWhole, takesRegion } from "./settings.js";

/** Presses of keys in quick succession are one step back. */
const PAUSE = 600;
export const WHOLE = { zoom: 1, x: 0.5, y: 0.5 };
const FIRST_VIEW = {
  show: "wipe",
  wipe: 0.5,
  levels: null,
  way: "filter",
  step: 1,
  waves: 20,
  both: false,
  picture: WHOLE,
  spectrum: WHOLE,
  channel: "all",
  after: false,
  colors: "gray",
  removedAs: "outline",
  wave: null,
  profile: null,
  tray: innerWidth > 900 ? "files" : "none",
  hold: false,
  tool: null,
  lit: null,
  loupe: false,
};
/** What a link and a reload keep of the view, and what undo goes back over. */
const KEPT = ["show", "levels", "way", "step", "waves", "both", "channel", "after", "colors", "removedAs", "wave", "profile", "tray"];
const UNDONE = ["levels", "profile"];
/** What is no text, number or switch: whether a link has it in its form. */
const numbers = (count) => (given) => Array.isArray(given) && given.length === count && given.every(Number.isFinite);
const count = (most) => (given) => Number.isInteger(given) && given >= 1 && given <= most;
const FORMS = { levels: numbers(3), profile: numbers(4), wave: isWave, step: count(6), waves: count(2 ** 31) };
const isKept = (name, given) => FORMS[name]?.(given) ?? typeof given === typeof FIRST_VIEW[name];

export class Store {
  #past = [];
  #future = [];
  #committed;
  #listeners = [];
  #timer = 0;
  #drawing = 0;

  /** @param {Asked} asked @param {Partial<View>} view @param {any} facts  on the file */
  constructor(asked, view, facts) {
    /** @type {State} */
    this.state = fitting({ number: 1, asked, view: { ...FIRST_VIEW, ...view } });
    /** What has come back, by what it is: see questions.js and live.js. @type {Record<string, any>} */
    this.got = { facts };
    this.isDragged = false;
    this.#committed = this.#undoable();
  }

  /** Call `listener(state, got)` after changes, once for each picture of the browser. */
  subscribe(listener) {
    this.#listeners.push(listener);
  }

  /**
   * Ask for something else. A drag is one step back, not a hundred; so are presses of keys. @param {Partial<Asked>} changes
   * @param {{drag?: boolean, nudge?: boolean, look?: Partial<View>, isNew?: boolean}} [how]  `look`: with another view
   */
  ask(changes, { drag = false, nudge = false, look = {}, isNew = false } = {}) {
    const asked = { ...this.state.asked, wrong: null, ...changes };
    const isOther = isNew || JSON.stringify(asked) !== JSON.stringify(this.state.asked);
    this.state = fitting({ number: this.state.number + Number(isOther), asked, view: { ...this.state.view, ...look } });
    this.isDragged = drag;
    clearTimeout(this.#timer);
    if (nudge) this.#timer = window.setTimeout(() => this.commit(), PAUSE);
    else if (!drag) this.commit();
    this.changed();
  }

  /** Change settings. @param {Record<string, any>} changes */
  set(changes, how = {}) {
    this.ask({ settings: { ...this.state.asked.settings, ...changes } }, how);
  }

  /** Look otherwise. @param {Partial<View>} changes */
  look(changes, isDragged = false) {
    this.state = fitting({ ...this.state, view: { ...this.state.view, ...changes } });
    if (!isDragged) this.commit();
    this.changed();
  }

  /** Take what has come back. */
  take(name, value) {
    this.got = { ...this.got, [name]: value };
    this.changed();
  }

  /**
   * Say what was done, or what has failed, or was not done (null): it stands until something else is asked for.
   * @param {string} text @param {boolean | null} [failed]
   * @param {[string, () => void] | null} [action]  a button beside it: its word, and what it does
   */
  say(text, failed = false, action = null) {
    this.take("said", { text, failed, action, number: this.state.number });
  }

  /** End a step: what is chosen now is what undo comes back to. */
  commit() {
    clearTimeout(this.#timer);
    this.isDragged = false;
    const now = this.#undoable();
    if (JSON.stringify(now) === JSON.stringify(this.#committed)) return;
    this.#past.push(this.#committed);
    this.#committed = now;
    this.#future = [];
    this.changed();
  }

  undo() {
    this.commit();
    this.#go(this.#past, this.#future);
  }

  redo() {
    this.commit();
    this.#go(this.#future, this.#past);
  }

  get canUndo() {
    return this.#past.length > 0;
  }

  get canRedo() {
    return this.#future.length > 0;
  }

  /** Draw again, at the browser's next picture. */
  changed() {
    this.#drawing ||= requestAnimationFrame(() => {
      this.#drawing = 0;
      this.draw();
    });
    for (const listener of this.atOnce) listener(this.state, this.got);
  }

  /** Listeners that do not wait for the browser's next picture. @type {((state: State, got: any) => void)[]} */
  atOnce = [];

  draw() {
    for (const listener of this.#listeners) listener(this.state, this.got);
  }

  #undoable() {
    const { asked, view } = this.state;
    const looks = Object.fromEntries(UNDONE.map((name) => [name, view[name]]));
    return { asked: { ...asked, wrong: null }, view: looks, facts: this.got.facts };
  }

  #go(from, to) {
    if (!from.length) return;
    to.push(this.#committed);
    this.#committed = from.pop();
    const { asked, view, facts } = this.#committed;
    if (asked.file !== this.state.asked.file) this.got = { ...this.got, facts, changed: null };
    this.state = fitting({ number: this.state.number + 1, asked, view: { ...this.state.view, ...view } });
    this.changed();
  }
}

/** Return a state without a lesson that is not on its filter: on one cutoff, and on a Gaussian beside an ideal one. */
function fitting({ number, asked, view }) {
  const { settings } = asked;
  const way = cutoffsOf(settings)[0] === "radius" && view.way === "learn" ? "learn" : "filter";
  return { number, asked, view: { ...view, way, both: view.both && settings?.shape === "gaussian" } };
}

/** Return what a link says of a state. @param {State} state */
export function hashOf({ asked, view }) {
  const { wrong, ...kept } = asked;
  const looks = Object.fromEntries(KEPT.filter((name) => view[name] !== FIRST_VIEW[name]).map((name) => [name, view[name]]));
  const given = Object.fromEntries(Object.entries({ ...kept, view: looks }).filter(([, value]) => value));
  return `#${encodeURIComponent(JSON.stringify(given))}`;
}

/** Return what a link says, null for what is no state. @returns {{asked: Asked, view: Partial<View>} | null} */
export function stateOf(hash) {
  try {
    const { view = {}, ...asked } = JSON.parse(decodeURIComponent(hash.slice(1)));
    const looks = Object.fromEntries(KEPT.filter((name) => isKept(name, view[name])).map((name) => [name, view[name]]));
    const { file, page = 0, goal = null, settings = null } = asked;
    if (typeof file !== "string" || !Number.isInteger(page) || (settings && !isWhole(settings))) return null;
    return { asked: { file, page, goal, settings, wrong: null }, view: looks };
  } catch {
    return null;
  }
}

/** Return what stands for a choice that has no result yet, else null. @param {Asked} asked */
export function missingOf({ settings }) {
  if (settings?.command === "notch" && !settings.auto && !settings.at?.length) return "Click a bright spot in the spectrum to take it out";
  if (settings?.outside !== undefined && takesRegion(settings) && !settings.shapes?.length) return "Draw on the picture which part is meant";
  if (settings?.command === "stripes" && settings.angle === undefined) return "Choose the direction of the stripes";
  return null;
}

/** Return what is on the screen of an answer: the result, or what was removed; each is older or not. @param {State} state */
export const shownIn = ({ view }) => (view.show === "removed" && view.way === "filter" ? "removed" : "result");

/** Return whether what is shown and its words are those of the state, in full quality. @param {State} state @param {any} got */
export function isCurrent(state, got) {
  return !isStale(state, got) && got[shownIn(state)]?.isFull && got.words?.number === state.number;
}

/** Return whether what is shown is older than the state. @param {State} state @param {any} got */
export function isStale(state, got) {
  const { number, asked } = state;
  return Boolean(asked.settings) && (asked.wrong !== null || got[shownIn(state)]?.number !== number || missingOf(asked) !== null);
}
