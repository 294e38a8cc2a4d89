/**
 * Cutoffs as they are typed, "8px" or "2.6um", and the frequencies in cycles per pixel that they mean.
 *
 * The page needs them to place a ring where a text says, and to write what a dragged ring means; whether a text is valid
 * is for the server to say, as for the command line.
 */

const INCH = 0.0254;
const METERS = { nm: 1e-9, um: 1e-6, mm: 1e-3, cm: 1e-2, m: 1, in: INCH };
const LINES = { lpi: INCH, "lp/mm": 1e-3 };
const NAMES = { "": "cycles across the shorter side", px: "period in pixels", cyc: "cycles per pixel", "%": "% of Nyquist" };

/** The radius around frequency 0 of a filter without a cutoff, n/8, in cycles per pixel. */
export const USUAL_CUTOFF = 1 / 8;
export const NYQUIST = 0.5;
/** The farthest frequency there is, in a corner of the spectrum. */
export const FARTHEST = Math.SQRT1_2;

/** Split "8px" into 8 and "px"; null for what is no number. */
export function split(text) {
  const match = /^\s*(\d*\.?\d+(?:e[-+]?\d+)?|\d+\.)\s*(\S*)\s*$/i.exec(text ?? "");
  return match && { value: Number(match[1]), unit: match[2].toLowerCase().replace(/[\u00b5\u03bc]/, "u") };
}

/** Return a size of pixels in meters: "65nm", "300dpi"; null for others. */
export function metersOf(text) {
  const given = split(text);
  if (!given || given.value === 0) return null;
  if (given.unit === "dpi") return INCH / given.value;
  return given.unit in METERS ? given.value * METERS[given.unit] : null;
}

/** Return a number with as many digits as one reads: 0.1235, 64, 6.3. */
export function brief(value, digits = 4) {
  return String(Number(value.toPrecision(digits)));
}

/** The units of the pictures of one size and pixel size. */
export class Units {
  /**
   * @param {number} n  the shorter side in pixels
   * @param {number | null} pixel  the size of a pixel in meters, if it is known
   */
  constructor(n, pixel) {
    this.n = n;
    this.pixel = pixel;
  }

  /** The units that can be chosen, with what they are called. */
  get choices() {
    const lengths = this.pixel ? { nm: "period in nm", um: "period in µm", mm: "period in mm", in: "period in inches", lpi: "lines per inch", "lp/mm": "line pairs per mm" } : {};
    return { ...NAMES, ...lengths };
  }

  /** Return the frequency that a text means, null if it means none here. */
  frequency(text) {
    const given = split(text);
    if (!given || given.value === 0) return null;
    const { value, unit } = given;
    if (unit === "" || unit === "bins") return value / this.n;
    if (unit === "px") return 1 / value;
    if (unit === "cyc") return value;
    if (unit === "%") return value / 200;
    if (this.pixel && unit in METERS) return this.pixel / (value * METERS[unit]);
    if (this.pixel && unit in LINES) return (value * this.pixel) / LINES[unit];
    return null;
  }

  /** Return a frequency as the text of a cutoff in a unit. */
  text(frequency, unit, digits = 4) {
    return brief(this.number(frequency, unit), digits) + unit;
  }

  /** Return whether numbers in a unit are periods. */
  isPeriod(unit) {
    return unit === "px" || unit in METERS;
  }

  /** Return a frequency as a number in a unit. */
  number(frequency, unit) {
    if (unit === "px") return 1 / frequency;
    if (unit === "cyc") return frequency;
    if (unit === "%") return 200 * frequency;
    if (this.pixel && unit in METERS) return this.pixel / frequency / METERS[unit];
    if (this.pixel && unit in LINES) return (frequency * LINES[unit]) / this.pixel;
    return frequency * this.n;
  }

  /** Return what a frequency is called in a unit and in periods of pixels: "64 cycles, 8 px". */
  said(frequency, unit) {
    const period = `${brief(1 / frequency)} px`;
    if (unit === "px") return `period ${period}, ${brief(frequency)} cycles per pixel`;
    const text = brief(this.number(frequency, unit));
    return `${text} ${unit === "" ? "cycles" : unit}, period ${period}`;
  }

  /** Return the length of a number of pixels: "12.5 µm"; empty without the size of a pixel. */
  length(pixels) {
    if (!this.pixel) return "";
    const meters = pixels * this.pixel;
    const unit = ["m", "mm", "um"].find((name) => meters > 0.0999 * METERS[name]) ?? "nm";
    return `${brief(meters / METERS[unit])} ${unit.replace("u", "µ")}`;
  }
}
