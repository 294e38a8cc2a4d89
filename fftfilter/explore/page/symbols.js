/** The symbols of the page, drawn by their paths: in a box of 18 the goals, of 16 the others. */

/** A circle for each radius, three in a row. */
const DOTS = [1.7, 1.2, 0.8, 1.2, 1.7, 1.2, 0.8, 1.2, 1.7].map((r, i) => {
  const [x, y] = [4 + 5 * (i % 3), 4 + 5 * Math.floor(i / 3)];
  return `M${x} ${y}m${-r} 0a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0`;
});

/** Paths by name; what is `dashed` has gaps. @type {Record<string, {size: number, paths: string[], dashed?: string}>} */
export const SYMBOLS = {
  dots: { size: 18, paths: DOTS },
  stripes: { size: 18, paths: ["M3 2.5v13M7 2.5v13M11 2.5v13M15 2.5v13"] },
  flat: { size: 18, paths: ["M2 14C6 5 12 3.5 16 6M2 15.5h14"], dashed: "M4 9V7M8 6V4" },
  smooth: { size: 18, paths: ["M2 9c1.5-4 3-4 4 0s3 4 4 0 3-4 4-1 1.5 2 2 1"] },
  edges: { size: 18, paths: ["M3 14.5h5v-11h7"], dashed: "M5 17h5.5V6H15" },
  hand: { size: 18, paths: ["M3 5h12M3 9h12M3 13h12M6 3v4M11 7v4M7 11v4"] },
  undo: { size: 16, paths: ["M6 3 3 6l3 3M3 6h6a4 4 0 0 1 0 8H6"] },
  redo: { size: 16, paths: ["m10 3 3 3-3 3M13 6H7a4 4 0 0 0 0 8h3"] },
  ch: { size: 16, paths: ["m6 4 4 4-4 4"] },
  dn: { size: 16, paths: ["m4 6 4 4 4-4"] },
  moon: { size: 16, paths: ["M13 9.5A5.5 5.5 0 0 1 6.5 3a5.5 5.5 0 1 0 6.5 6.5Z"] },
  okc: { size: 16, paths: ["m5.5 8 2 2 3.5-4M8 2a6 6 0 1 0 0 12a6 6 0 1 0 0-12"] },
  dl: { size: 16, paths: ["M8 2v8m-3-3 3 3 3-3M3 13h10"] },
  lr: { size: 16, paths: ["M5 5 2 8l3 3M11 5l3 3-3 3"] },
  x: { size: 16, paths: ["m4 4 8 8M12 4l-8 8"] },
};
