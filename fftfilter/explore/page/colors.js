/** A spectrum in steps of decibels, as colors; and the power by frequency, before and after the filter. */

/** Steps of a pixel in a decibel; 255 is the strongest frequency. */
export const STEPS = 2;
/** Decibels below the median that are black, and the part of the frequencies that may become white. */
const BLACK = 6;
const WHITE = 2e-4;
/** Colors from black to white, as 0xRRGGBB. */
const STOPS = {
  gray: [0x000000, 0xffffff],
  viridis: [0x440154, 0x3b528b, 0x21918c, 0x5ec962, 0xfde725],
  fire: [0x000000, 0x6e146e, 0xdc3c32, 0xfaaa1e, 0xffffc8],
};

/** Return the pixels between which a spectrum is shown from black to white: its median less some, and its brightest. */
export function rangeOf(pixels) {
  const counts = new Uint32Array(256);
  for (const pixel of pixels) counts[pixel]++;
  const at = (part) => {
    let sum = 0;
    for (let i = 0; i < 256; i++) if ((sum += counts[i]) >= part * pixels.length) return i;
    return 255;
  };
  const low = Math.max(0, at(0.5) - BLACK * STEPS);
  return [low, Math.max(low + STEPS, at(1 - WHITE))];
}

/** Return the colors of all pixels, as 0xAABBGGRR. */
export function colorsOf(name, [low, high]) {
  const stops = (STOPS[name] ?? STOPS.gray).map((color) => [color >> 16, (color >> 8) & 255, color & 255]);
  return Uint32Array.from({ length: 256 }, (_, pixel) => {
    const part = Math.min(1, Math.max(0, (pixel - low) / (high - low))) * (stops.length - 1);
    const i = Math.min(stops.length - 2, Math.floor(part));
    const [red, green, blue] = stops[i].map((from, c) => Math.round(from + (stops[i + 1][c] - from) * (part - i)));
    return ((255 << 24) | (blue << 16) | (green << 8) | red) >>> 0;
  });
}

/** Steps that a gain from 0 to 255 takes off. */
const LOSS = Uint8Array.from({ length: 256 }, (_, gain) => Math.min(255, Math.round(-STEPS * 20 * Math.log10(Math.max(gain, 1e-6) / 255))));

/** Return the pixels of a spectrum after a filter, by the map of its gains. */
export function filtered({ width, pixels }, gain) {
  const out = new Uint8ClampedArray(pixels.length);
  const column = Int32Array.from({ length: width }, (_, x) => Math.floor((x * gain.width) / width));
  for (let y = 0, i = 0; y < width; y++) {
    const row = column[y] * gain.width;
    for (let x = 0; x < width; x++, i++) out[i] = pixels[i] - LOSS[gain.pixels[row + column[x]]];
  }
  return out;
}

const BINS = 120;
/** Power of each pixel as a part of the strongest. */
const POWER = Float64Array.from({ length: 256 }, (_, pixel) => 10 ** ((pixel - 255) / STEPS / 10));

/**
 * Return the mean power by frequency in decibels, in equal parts of its logarithm from `lowest` to a corner: of a
 * spectrum, and behind a filter, null without one.
 */
export function powerOf(spectrum, gain, lowest, farthest) {
  const { width, pixels } = spectrum;
  const sums = [new Float64Array(BINS), new Float64Array(BINS)];
  const counts = new Uint32Array(BINS);
  const half = Math.floor(width / 2);
  const span = Math.log(farthest / lowest);
  const step = width > 512 ? 2 : 1;
  for (let y = 0; y < width; y += step) {
    const row = gain ? Math.floor((y * gain.width) / width) * gain.width : 0;
    for (let x = half; x < width; x += 1) {
      const f = Math.hypot((x - half) / width, (y - half) / width);
      const bin = Math.floor((BINS * Math.log(f / lowest)) / span);
      if (bin < 0 || bin >= BINS) continue;
      const power = POWER[pixels[y * width + x]];
      counts[bin]++;
      sums[0][bin] += power;
      if (gain) sums[1][bin] += power * (gain.pixels[row + Math.floor((x * gain.width) / width)] / 255) ** 2;
    }
  }
  const point = (each, i) => ({ f: lowest * Math.exp((span * (i + 0.5)) / BINS), db: 10 * Math.log10(Math.max(each / counts[i], 1e-30)) });
  const curve = (sum) => [...sum].map(point).filter((_, i) => counts[i]);
  return { before: curve(sums[0]), after: gain ? curve(sums[1]) : null };
}
