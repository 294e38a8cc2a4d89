/** The picture: filtered, beside what it was, or what was removed. */

import { fetchFrame, Surface } from "./frame.js";
import { draggable, steppable } from "./handles.js";
import { listen } from "./gestures.js";
import { canvasOf } from "./stage.js";
import { Placement } from "./view.js";

export class Result {
  #after = new Surface();
  #before = new Surface();
  #wanted = null;
  #wipe = 0.5;

  /**
   * @param {HTMLElement} viewer
   * @param {import("./desk.js").Desk} desk
   * @param {() => import("./view.js").View} view
   */
  constructor(viewer, desk, view) {
    this.desk = desk;
    this.view = view;
    this.stage = viewer.querySelector(".stage");
    this.readout = viewer.querySelector(".readout");
    this.show = "result";
    this.handle = viewer.querySelector("#wipe");
    this.canvas = canvasOf(this.stage, () => this.draw());
    this.zoom = listen(this.stage, { view, placement: () => this.placement(), hover: (point) => this.#hover(point) });
    this.#listen();
  }

  /** The reduction of the picture that has as many pixels as the screen shows of it. */
  get level() {
    const shown = this.placement().scale * devicePixelRatio;
    return Math.max(1, ...this.desk.picture.levels.filter((level) => level * shown <= 1));
  }

  /** The part of the picture on the screen, [x0, y0, x1, y1] in its pixels; null if that is most of it. */
  get part() {
    const { x, y, scale, width, height } = this.placement();
    const { width: columns, height: rows } = this.desk.picture;
    const size = this.canvas.size;
    if (size.width * size.height > (width * height) / 2) return null;
    const down = (pixels) => Math.max(0, Math.floor(pixels / this.level) * this.level);
    const up = (pixels, most) => Math.min(most, Math.ceil(pixels / this.level) * this.level);
    return [down(-x / scale), down(-y / scale), up((size.width - x) / scale, columns), up((size.height - y) / scale, rows)];
  }

  placement() {
    return new Placement(this.view(), this.canvas.size, this.desk.picture.width, this.desk.picture.height);
  }

  put(frame) {
    this.#after.put(frame);
    this.draw();
  }

  /** Show the result, what is removed, or the picture before the filter left of it. */
  choose(show) {
    this.show = show;
    this.handle.hidden = show !== "compare";
    this.draw();
  }

  draw() {
    const { context, clear, size } = this.canvas;
    clear();
    const place = this.placement();
    if (!this.#after.isEmpty) this.#drawSurface(context, this.#after, place);
    if (this.show !== "compare") return;
    this.#fetchBefore();
    const border = Math.round(this.#wipe * size.width);
    this.handle.style.left = `${border}px`;
    this.handle.setAttribute("aria-valuenow", Math.round(100 * this.#wipe));
    this.handle.setAttribute("aria-valuetext", `${Math.round(100 * this.#wipe)} % before`);
    if (this.#before.isEmpty) return;
    context.save();
    context.beginPath();
    context.rect(0, 0, border, size.height);
    context.clip();
    this.#drawSurface(context, this.#before, place);
    context.restore();
  }

  #drawSurface(context, surface, place) {
    const { width, height, level, x, y } = surface.frame;
    const scale = place.scale * level;
    surface.draw(context, place.x + x * scale, place.y + y * scale, width * scale, height * scale);
  }

  /** Get the picture without a filter, once for each page and level. */
  async #fetchBefore() {
    const url = `input?page=${this.desk.page}&level=${this.level}`;
    if (this.#wanted === url) return;
    this.#wanted = url;
    const frame = await fetchFrame(url);
    if (this.#wanted !== url) return;
    this.#before.put(frame);
    this.draw();
  }

  #hover(point) {
    const { x, y, scale } = this.placement();
    const [column, row] = point ? [(point.x - x) / scale, (point.y - y) / scale].map(Math.floor) : [-1, -1];
    const { width, height } = this.desk.picture;
    const inside = column >= 0 && row >= 0 && column < width && row < height;
    const lengths = [column, row].map((pixels) => this.desk.units.length(pixels + 0.5));
    this.readout.textContent = inside ? `x ${column}, y ${row}${lengths[0] && ` · ${lengths.join(", ")}`}` : "";
  }

  #listen() {
    const put = (part) => {
      this.#wipe = Math.min(1, Math.max(0, part));
      this.draw();
    };
    draggable(
      this.handle,
      () => (event) => {
        const box = this.stage.getBoundingClientRect();
        put((event.clientX - box.left) / box.width);
      },
      () => {},
    );
    steppable(this.handle, (steps) => put(this.#wipe + steps / 100));
  }
}
