/**
 * What the user has chosen, a plain object that is replaced, never changed, and what a command takes of it.
 *
 * Texts are as they would be typed; null is a command's default. Values of other commands are kept, so that going back
 * to one finds them.
 */

const PASSES = ["highpass", "lowpass", "bandpass", "bandstop"];

export const EMPTY = {
  command: "highpass",
  radius: null,
  inner: null,
  outer: null,
  shape: null,
  order: null,
  width: null,
  notches: [],
  notchShape: null,
  harmonics: null,
  stripesOn: false,
  angle: null,
  stripeWidth: null,
  spare: null,
  output: null,
  scale: null,
  edges: null,
  pixelSize: null,
};

export const isPass = (filter) => PASSES.includes(filter.command);
export const isBand = (filter) => filter.command.startsWith("band");
export const hasStripes = (filter) => filter.command === "stripes" || filter.stripesOn;
export const angleOfStripes = (filter) => Number(filter.angle ?? 0);

/** What a command does where nothing is chosen. */
export const defaults = (filter) => ({
  output: isPass(filter) ? "magnitude" : "keep",
  shape: "ideal",
  notchShape: "gaussian",
  edges: "wrap",
});

/** Return the names of the cutoffs that a filter has. */
export const cutoffsOf = (filter) => (isBand(filter) ? ["inner", "outer"] : isPass(filter) ? ["radius"] : []);

/** Return the options of the command, as a request has them. */
export function optionsOf(filter, takes) {
  const { output, scale, edges, pixelSize: pixel_size } = filter;
  const options = { output, scale, edges, pixel_size };
  for (const name of cutoffsOf(filter)) options[name] = filter[name];
  if (isPass(filter)) {
    options.shape = filter.shape;
    if (takes === "order") options.order = filter.order;
    if (takes === "width") options.width = filter.width;
  }
  if (filter.command === "notch") {
    options.at = filter.notches;
    options.shape = filter.notchShape;
    options.harmonics = filter.harmonics;
  } else options.notch = filter.notches;
  if (filter.command === "stripes") {
    options.angle = angleOfStripes(filter);
    options.width = filter.stripeWidth;
    options.spare = filter.spare;
  } else if (filter.stripesOn) options.stripes = angleOfStripes(filter);
  return options;
}

/** Return the size of a structure as a cutoff: a number alone is in pixels. */
const period = (text) => (/^[\d.]+$/.test(text) ? `${text}px` : text);

/** Return what the start of a request says: the inverse of {@link optionsOf}. */
export function filterOf({ command = EMPTY.command, options = {} } = {}) {
  const { at, notch, stripes, angle, width, shape, pixel_size, large, small, ...same } = options;
  const own = Object.fromEntries(Object.entries(same).filter(([name]) => name in EMPTY));
  return {
    ...EMPTY,
    ...(large && small ? { inner: period(large), outer: period(small) } : {}),
    ...own,
    command,
    notches: [...(at ?? []), ...(notch ?? [])],
    angle: angle ?? stripes ?? null,
    stripesOn: stripes !== undefined && stripes !== null,
    pixelSize: pixel_size ?? null,
    ...(command === "stripes" ? { stripeWidth: width ?? null } : { width: width ?? null }),
    ...(command === "notch" ? { notchShape: shape ?? null } : { shape: shape ?? null }),
  };
}
