/** The canvas of a stage, as fine as the screen is. */

/**
 * @param {HTMLElement} stage
 * @param {() => void} redraw  after its size has changed
 */
export function canvasOf(stage, redraw) {
  const canvas = stage.querySelector("canvas");
  const context = canvas.getContext("2d", { alpha: false });
  const size = { width: 1, height: 1 };
  let ground = getComputedStyle(stage).backgroundColor;

  new ResizeObserver(() => {
    const { clientWidth, clientHeight } = stage;
    if (!clientWidth || !clientHeight) return;
    Object.assign(size, { width: clientWidth, height: clientHeight });
    canvas.width = Math.round(clientWidth * devicePixelRatio);
    canvas.height = Math.round(clientHeight * devicePixelRatio);
    redraw();
  }).observe(stage);

  const clear = () => {
    context.setTransform(devicePixelRatio, 0, 0, devicePixelRatio, 0, 0);
    context.fillStyle = ground;
    context.fillRect(0, 0, size.width, size.height);
  };
  const recolor = () => {
    ground = getComputedStyle(stage).backgroundColor;
    redraw();
  };
  return { canvas, context, size, clear, recolor };
}
