/** A stage: a canvas as fine as the screen is, with what lies over it. */

import { h } from "./dom.js";

/** @param {string} label @param {() => void} redraw  after its size has changed */
export function stageOf(label, redraw, ...over) {
  const canvas = h("canvas", { role: "img", "aria-label": label });
  const root = h("div", { class: "stage", role: "group", tabindex: "0", "aria-label": `${label}. Arrow keys move it` }, canvas, ...over);
  const context = canvas.getContext("2d", { alpha: false });
  const size = { width: 1, height: 1 };
  let ground = "";
  const recolor = () => {
    ground = getComputedStyle(root).backgroundColor;
    redraw();
  };
  window.addEventListener("recolor", recolor);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", recolor);
  new ResizeObserver(() => {
    const { clientWidth, clientHeight } = root;
    if (!clientWidth || !clientHeight) return;
    Object.assign(size, { width: clientWidth, height: clientHeight });
    canvas.width = Math.round(clientWidth * devicePixelRatio);
    canvas.height = Math.round(clientHeight * devicePixelRatio);
    recolor();
  }).observe(root);
  const clear = () => {
    context.setTransform(devicePixelRatio, 0, 0, devicePixelRatio, 0, 0);
    context.fillStyle = ground;
    context.fillRect(0, 0, size.width, size.height);
  };
  return { root, canvas, context, size, clear };
}
