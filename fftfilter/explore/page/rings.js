/** The cutoffs of a filter as rings around frequency 0, which are dragged. */

import { children, draggable, set, steppable, svg } from "./handles.js";
import { cutoffsOf } from "./filter.js";
import { FARTHEST, USUAL_CUTOFF } from "./units.js";

const LABEL = { radius: "Cutoff", inner: "Inner cutoff", outer: "Outer cutoff" };
/** One press of a key, as a part of the cutoff. */
const STEP = 1.01;

export class Rings {
  constructor(desk) {
    this.desk = desk;
    this.group = svg("g", { class: "rings" });
  }

  draw(map, filter) {
    const names = cutoffsOf(filter);
    children(this.group, names.length, (index) => this.#make(index)).forEach((ring, index) => {
      const name = names[index];
      const frequency = this.desk.cutoff(name);
      const { x, y } = map.screen(0, 0);
      const r = Math.max(0, (frequency ?? 0) * map.scale);
      for (const circle of ring.querySelectorAll("circle:not(.grip)")) set(circle, { cx: x, cy: y, r });
      const grip = this.#gripAt(map, { x, y }, r, index);
      set(ring.querySelector(".grip"), { cx: grip.x, cy: grip.y });
      const label = ring.querySelector("text");
      set(label, { x: grip.x + 9, y: grip.y - 9 });
      label.textContent = this.desk.text(name);
      set(ring, {
        "aria-label": LABEL[name],
        "aria-valuenow": frequency === null ? 0 : Number(frequency.toPrecision(4)),
        "aria-valuetext": frequency === null ? "not understood" : this.desk.said(frequency),
        visibility: frequency === null ? "hidden" : null,
      });
    });
  }

  /** Right of the middle, the inner one's above; of a larger ring where it crosses the part on the screen. */
  #gripAt(map, center, r, index) {
    const inside = ({ x, y }) => x > 12 && y > 12 && x < map.stage.width - 60 && y < map.stage.height - 12;
    const at = (degrees) => {
      const angle = (degrees * Math.PI) / 180;
      return { x: center.x + r * Math.cos(angle), y: center.y - r * Math.sin(angle) };
    };
    const first = 50 - 90 * index;
    const turns = Array.from({ length: 72 }, (_, turn) => first + 5 * turn);
    return at(turns.find((degrees) => inside(at(degrees))) ?? first);
  }

  #make(index) {
    const ring = svg(
      "g",
      { class: "handle ring", role: "slider", tabindex: 0, "aria-valuemin": 0, "aria-valuemax": FARTHEST.toFixed(4) },
      svg("circle", { class: "touch" }),
      svg("circle", { class: "casing" }),
      svg("circle", { class: "line" }),
      svg("circle", { class: "grip", r: 6 }),
      svg("text", { class: "label" }),
    );
    const name = () => cutoffsOf(this.desk.filter)[index];
    const put = (frequency) => ({ [name()]: this.desk.write(clipped(frequency, this.desk.n), name()) });
    draggable(
      ring,
      (event) => {
        const offset = this.desk.cutoff(name()) - distance(this.desk.pointed(event));
        return (moved) => this.desk.history.drag(put(distance(this.desk.pointed(moved)) + offset));
      },
      () => this.desk.settle(),
    );
    steppable(ring, (steps) => {
      const frequency = this.desk.cutoff(name()) ?? USUAL_CUTOFF;
      this.desk.history.nudge(put(frequency * STEP ** steps));
    });
    return ring;
  }
}

const distance = ({ fx, fy }) => Math.hypot(fx, fy);
const clipped = (frequency, n) => Math.min(FARTHEST, Math.max(0.5 / n, frequency));
