/**
 * Cutoffs in their units, by the table that the program gives: what 1 of a unit is in cycles per pixel, and whether the
 * unit is a period. Nothing here reads a text: what is typed is read by the program.
 * @typedef {{value: number, unit: string}} Cutoff
 * @typedef {Record<string, {label: string, cyc: number, isPeriod: boolean, stretch?: number}>} Units
 */

export const NYQUIST = 0.5;
/** The farthest frequency there is, in a corner of the spectrum. */
export const FARTHEST = Math.SQRT1_2;
/** The size of pixels, in meters, from which on they are in dpi. */
export const COARSE = 5e-6;
const LENGTHS = { km: 1e3, m: 1, mm: 1e-3, um: 1e-6, nm: 1e-9, pm: 1e-12 };

/** Return a cutoff in cycles per pixel, null if its unit is not known here. @param {Cutoff} cutoff @param {Units} units */
export function frequencyOf({ value, unit }, units) {
  const one = units[unit];
  return one ? (one.isPeriod ? one.cyc / value : one.cyc * value) : null;
}

/** Return the cutoff of a frequency in a unit. @param {Units} units @returns {Cutoff} */
export function cutoffAt(frequency, unit, units, digits = 4) {
  const known = units[unit] ? unit : "cyc";
  const one = units[known];
  const value = one.isPeriod ? one.cyc / frequency : frequency / one.cyc;
  return { value: Number(value.toPrecision(digits)), unit: known };
}

/** Return a cutoff as the text of an option. @param {Cutoff} cutoff */
export const textOf = ({ value, unit }) => `${value}${unit === "bins" ? "" : unit}`;

/** Return a cutoff as people read it. @param {Cutoff} cutoff @param {Units} units */
export const saidOf = ({ value, unit }, units) => `${brief(value)}\u00a0${units[unit]?.label ?? unit}`;

/** Return the unit to begin with: a length where the file has one, of which some pixels are not far from 1. @param {Units} units */
export const firstUnit = (units, pixel) =>
  (pixel && Object.keys(LENGTHS).find((unit) => units[unit] && 100 * pixel >= LENGTHS[unit])) || "px";

/** Return a number with as many digits as one reads: 0.1235, 64, 6.3. */
export function brief(value, digits = 3) {
  const rounded = Number(value.toPrecision(digits));
  return Math.abs(rounded) >= 1e4 && Math.abs(rounded) < 1e12 ? Math.round(value).toLocaleString("en").replaceAll(",", "\u00a0") : String(rounded);
}

/** Return a length of pixels in meters as text: "12.5 µm"; empty without the size of a pixel. */
export function lengthOf(pixels, pixel, digits = 3) {
  if (!pixel) return "";
  const [name, one] = Object.entries(LENGTHS).find(([unit, each]) => pixels * pixel > (unit === "km" ? 1 : 0.0999) * each) ?? ["pm", 1e-12];
  return `${brief((pixels * pixel) / one, digits)}\u00a0${name.replace("u", "µ")}`;
}

/** Return the period of a wave as a length; empty without the size of a pixel. */
export const lengthOfWave = (fx, fy, size) => (size ? lengthOf(1 / Math.hypot(fx / size.across_m, fy / size.down_m), 1) : "");

/** Return the angle along the stripes of a wave, counterclockwise in degrees from 0 up to 180, 0 for horizontal ones. */
export function angleOf(fx, fy) {
  const degrees = (Math.atan2(fx, fy) * 180) / Math.PI;
  return ((degrees % 180) + 180) % 180;
}

/** Return decibels of a gain. */
export const decibels = (gain) => 20 * Math.log10(Math.max(gain, 1e-9));
