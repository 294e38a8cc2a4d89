/**
 * Goals and settings: what each goal begins with, and what a request says. Settings are the program's options by their
 * names; a cutoff is a number with its unit, a notch is {fx, fy, width}.
 */

import { brief, COARSE, cutoffAt, textOf } from "./units.js";

const CUTOFFS = ["radius", "inner", "outer", "spare"];
const PASSES = ["lowpass", "highpass", "bandpass", "bandstop"];
/** The two ways to remove dots. */
export const WAYS_OF_DOTS = { descreen: { command: "descreen" }, waves: { command: "notch", auto: true, strength: 18, edges: "mirror" } };
export const isPass = (settings) => PASSES.includes(settings?.command);
export const isBand = (settings) => settings?.command.startsWith("band");

/** Return the names of the cutoffs that a filter has. */
export const cutoffsOf = (settings) => (isBand(settings) ? ["inner", "outer"] : isPass(settings) ? ["radius"] : []);

/** Return whether a part of the picture can be filtered: its gray levels are those of the rest. */
export const takesRegion = (settings) => ["keep", "real"].includes(settings.output ?? (isPass(settings) ? "magnitude" : "keep"));
/** What can be set of the part that is filtered, beside its shapes: a slider's label and what it shows, by the option's name. */
export const PART_FIELDS = { feather: { label: "Feather", ends: { min: 0, max: 100 }, usual: 8, unit: "px", words: ["sharp border", "soft"] } };
/** Return what settings say of the part that is filtered, which any filter can have. */
export const regionIn = (settings = /** @type {any} */ ({})) =>
  Object.fromEntries(["shapes", "outside", ...Object.keys(PART_FIELDS), "brush"].map((name) => [name, settings[name]]));
/** Return settings for all of the picture. */
export const withoutPart = (settings) => ({ ...settings, shapes: undefined, outside: undefined });
/** Return whether a filter takes notches by hand. */
export const takesNotches = (settings, commands) => notchesName(settings) in commands[settings.command];
/** Return the name of the notches in a command. */
export const notchesName = (settings) => (settings.command === "notch" ? "at" : "notch");

/** @param {number} periods  across the shorter side, each of at least 16 pixels */
const across = (periods, facts) => cutoffAt(Math.min(periods / Math.min(facts.width, facts.height), 1 / 16), facts.unit, facts.units, 2);
const pixels = (period, facts) => cutoffAt(1 / period, facts.unit, facts.units, 2);

/** The goals: words, the settings that each begins with, and what the cutoff is called. */
export const GOALS = [
  {
    id: "dots",
    short: "Dots",
    name: "Remove dots or moire",
    about: "of prints, screens, fabric",
    text: "Takes out patterns that repeat: the screen of a print with what it leaves, or each wave that is found.",
    begin: (_, got) => (got?.found_dots?.value?.any === false && got.peaks?.value?.peaks.length ? WAYS_OF_DOTS.waves : WAYS_OF_DOTS.descreen),
  },
  {
    id: "stripes",
    short: "Stripes",
    name: "Remove stripes",
    about: "of scanners, sensors, hum",
    text: "Takes out lines of one direction, as far as the picture has them.",
    begin: () => ({ command: "stripes", angle: "auto", edges: "mirror" }),
  },
  {
    id: "flat",
    short: "Background",
    name: "Flatten background",
    about: "uneven light, shadows",
    text: "Removes light that changes slowly. What is smaller stays.",
    cutoff: "Remove larger than",
    begin: (facts) => ({ command: "highpass", radius: across(4, facts), shape: "gaussian", output: "keep", edges: "mirror" }),
  },
  {
    id: "smooth",
    short: "Smooth",
    name: "Smooth",
    about: "less noise and grain",
    text: "Removes what is finer than the cutoff.",
    cutoff: "Remove smaller than",
    begin: (facts) => ({ command: "lowpass", radius: pixels(5, facts), shape: "gaussian", output: "keep", edges: "mirror" }),
  },
  {
    id: "edges",
    short: "Edges",
    name: "Find edges",
    about: "outlines, fine structure",
    text: "Shows how strong fine structure is: black where nothing changes.",
    cutoff: "Show finer than",
    begin: (facts) => ({ command: "highpass", radius: pixels(8, facts), shape: "gaussian", edges: "mirror" }),
  },
];
export const BY_HAND = { id: "hand", short: "By hand", name: "Set a filter by hand", text: "All filters of the program, with all that they take." };

/** Return a goal by its name. */
export const goalOf = (id) => GOALS.find((goal) => goal.id === id) ?? (id ? BY_HAND : null);

/** Return the settings for another command, with what both have. @returns {import("./state.js").Settings} */
export function withCommand(settings, command, facts) {
  const { edges, pixel_size, notch, at, stripes } = settings ?? {};
  /** @type {import("./state.js").Settings} */
  const next = { command, edges, pixel_size, ...regionIn(settings ?? {}) };
  const notches = at ?? notch;
  if (notches?.length) next[command === "notch" ? "at" : "notch"] = notches;
  if (command === "stripes") next.angle = settings?.angle ?? stripes ?? "auto";
  if (isPass(next)) next.shape = settings?.shape && isPass(settings) ? settings.shape : "gaussian";
  if (isPass(next)) next.output = settings?.output ?? "keep";
  if (isBand(next)) Object.assign(next, { inner: settings?.inner ?? across(4, facts), outer: settings?.outer ?? pixels(8, facts) });
  else if (isPass(next)) next.radius = settings?.radius ?? pixels(8, facts);
  for (const name of Object.keys(next)) if (next[name] === undefined) delete next[name];
  return next;
}

const isCutoff = (given) => Number.isFinite(given?.value) && typeof given.unit === "string";
export const isWave = (given) => Number.isFinite(given?.fx) && Number.isFinite(given.fy) && (!given.width || isCutoff(given.width));
const isShape = (given) => Array.isArray(given) && given.length > 2 && given.slice(1).every(Number.isFinite);
const isList = (given, isOne) => given === undefined || (Array.isArray(given) && given.every(isOne));

/** Return whether settings of a link have the form of settings; what they mean is judged by the program. */
export function isWhole({ command, at, notch, keep, shapes, ...settings }) {
  if (typeof command !== "string") return false;
  const cutoffs = [...cutoffsOf({ command }), ...(settings.spare ? ["spare"] : [])];
  return cutoffs.every((name) => isCutoff(settings[name])) && [at, notch, keep].every((each) => isList(each, isWave)) && isList(shapes, isShape);
}

const notchText = ({ fx, fy, width }) => [fx, fy, ...(width ? [textOf(width)] : [])].join(",");
const waveText = ({ fx, fy }) => `${fx},${fy}`;

/** Return the place of a wave with the digits that the page gives it; a recipe may have more. */
export const rounded = ({ fx, fy }) => ({ fx: Number(fx.toFixed(5)), fy: Number(fy.toFixed(5)) });

/** Return the options of a request. @param {any} settings @param {Record<string, object>} commands  with their defaults */
export function optionsOf(settings, commands) {
  const options = {};
  for (const name in commands[settings.command]) {
    const value = settings[name];
    if (value === undefined || value === null || value === "" || value === false) continue;
    if (CUTOFFS.includes(name) || (name === "width" && typeof value === "object")) options[name] = textOf(value);
    else if (name === "at" || name === "notch") options[name] = value.map(notchText);
    else options[name] = name === "keep" ? value.map(waveText) : value;
  }
  return options;
}

/**
 * Return the settings of the request that the program was started with; `number(text, unit)` asks the program.
 * @param {{command: string, options: Record<string, any>, area: any}} start
 * @param {(text: string, unit: string) => Promise<import("./units.js").Cutoff>} number
 */
export async function settingsOf({ command, options, area }, number) {
  /** @type {Record<string, any> & {command: string}} */
  const settings = { command, ...area };
  const read = async (text, unit = "bins") => {
    const { value, unit: own } = await number(text, unit);
    return { value, unit: own };
  };
  for (const [name, value] of Object.entries(options)) {
    if (CUTOFFS.includes(name) || name === "width") settings[name] = await read(value);
    else if (name === "large" || name === "small") settings[name === "large" ? "inner" : "outer"] = await read(value, "px");
    else if (name === "at" || name === "notch") {
      settings[name] = [];
      for (const text of value) {
        const [fx, fy, width] = text.split(",");
        settings[name].push({ fx: Number(fx), fy: Number(fy), ...(width ? { width: await read(width) } : {}) });
      }
    } else if (name === "keep") settings.keep = value.map((text) => Object.fromEntries(text.split(",").map((f, i) => [i ? "fy" : "fx", Number(f)])));
    else settings[name] = typeof value === "string" && isFinite(Number(value)) ? Number(value) : value;
  }
  return settings;
}

/** Return a request: what is to be filtered. The view is added where it is shown. @param {import("./state.js").State} state */
export function requestOf({ number, asked }, commands, { version }) {
  const { file, page, settings } = asked;
  const { shapes, outside } = settings;
  const numbers = Object.keys(PART_FIELDS)
    .filter((name) => settings[name] !== undefined)
    .map((name) => [name, isFinite(settings[name]) ? Number(settings[name]) : settings[name]]);
  const area = outside !== undefined && takesRegion(settings) ? { shapes, outside, ...Object.fromEntries(numbers) } : null;
  return { id: number, file, version, page, command: settings.command, options: optionsOf(settings, commands), area };
}

/** Return what to try if a search has found nothing: words, a goal and its settings. @returns {[string, string, any] | null} */
export function nextOf(/** @type {any} */ { command, auto, strength = 18, ...more }, peaks, note = "") {
  if (more.keep?.length) return null; // what was found stays
  const [, angle] = /--waves --angle (\S+)/.exec(note) ?? [];
  if (angle) return [`Take waves at ${angle}°`, "stripes", { command: "stripes", angle, waves: true, edges: "mirror" }];
  if (command === "descreen" && peaks?.length) return ["Take out single waves", "dots", WAYS_OF_DOTS.waves];
  if ((command === "descreen" || auto) && strength > 10) return ["Look for weaker ones", "dots", { command, auto, ...more, strength: 10 }];
  if (command === "stripes") return ["Look for patterns", "dots", WAYS_OF_DOTS.waves];
  if (command === "descreen" || auto) return ["Look for stripes", "stripes", null];
  return command === "wiener" ? ["Smooth instead", "smooth", null] : null;
}

/** Return the name of a channel. */
export const channelName = (i, { channels }) => (channels === 3 ? ["red", "green", "blue"][i] : `channel ${i}`);

/** Return in a few words what is set besides. @param {Record<string, any>} settings */
export function otherWords({ command, edges, output, pixel_size, scale }, commands) {
  const words = [`edges ${edges ?? commands[command].edges ?? "mirror"}`];
  if (output) words.push(`output ${output}`);
  if (scale) words.push(`scale ${scale}`);
  if (pixel_size) words.push(pixel_size);
  return words.join(" · ");
}

/** Return the facts on a file in a line. */
export function factsText({ width, height, channels, depth, pages, pixel_size }) {
  const kind = `${channels > 2 ? "color" : "gray"}, ${depth === "float" ? "floats" : `${depth} bit`}`;
  const size =
    pixel_size && (pixel_size.across_m > COARSE && pixel_size.across_m < 1e-3 ? `${brief(0.0254 / pixel_size.across_m)} dpi` : `${pixel_size.text.replaceAll(" u", "\u00a0µ")} per px`);
  return [`${width} × ${height}`, kind, pages > 1 ? `${pages} pages` : "", size].filter(Boolean).join(" · ");
}
