/** A notch as the command line has it, "FX,FY" or "FX,FY,WIDTH". */

export const USUAL_WIDTH = "0.006cyc";

/** @returns {{fx: number, fy: number, width: string} | null} null for what is no notch */
export function parseNotch(text) {
  const [fx, fy, width, ...more] = text.split(",").map((part) => part.trim());
  if (!fx || !fy || more.length || !Number.isFinite(Number(fx)) || !Number.isFinite(Number(fy))) return null;
  return { fx: Number(fx), fy: Number(fy), width: width || USUAL_WIDTH };
}

export function notchText({ fx, fy, width }) {
  const at = [fx, fy].map((f) => Number(Math.min(0.5, Math.max(-0.5, f)).toFixed(5)));
  return [...at, ...(width === USUAL_WIDTH ? [] : [width])].join(",");
}

/** Return the angle along the stripes of a wave, counterclockwise in degrees from 0 up to 180, 0 for horizontal ones. */
export function angleOf(fx, fy) {
  const degrees = (Math.atan2(fx, fy) * 180) / Math.PI;
  return ((degrees % 180) + 180) % 180;
}
