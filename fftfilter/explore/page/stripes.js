/** The ridge that is taken out against stripes: two lines through the spectrum, turned by their grip, and what is spared. */

import { draggable, set, steppable, svg } from "./handles.js";
import { angleOfStripes, hasStripes } from "./filter.js";
import { angleOf } from "./notch.js";
import { FARTHEST } from "./units.js";

const USUAL = { stripeWidth: "0.003cyc", spare: "40px" };
/** Where the grip is, in cycles per pixel. */
const GRIP = 0.35;

export class Stripes {
  constructor(desk) {
    this.desk = desk;
    const lines = [...Array(8)].map((_, i) => svg("line", { class: i % 2 ? "line" : "casing" }));
    this.turn = svg(
      "g",
      { class: "handle stripes", role: "slider", tabindex: 0, "aria-label": "Angle of the stripes", "aria-valuemin": 0, "aria-valuemax": 180 },
      svg("line", { class: "touch" }),
      ...lines,
      svg("circle", { class: "grip", r: 6 }),
      svg("text", { class: "label" }),
    );
    this.spare = svg(
      "g",
      { class: "handle ring spare", role: "slider", tabindex: 0, "aria-label": "Spared below", "aria-valuemin": 0, "aria-valuemax": FARTHEST.toFixed(4) },
      svg("circle", { class: "touch" }),
      svg("circle", { class: "casing" }),
      svg("circle", { class: "line" }),
    );
    this.group = svg("g", { class: "stripe" }, this.turn, this.spare);
    this.#listen();
  }

  draw(map, filter) {
    set(this.group, { display: hasStripes(filter) ? null : "none" });
    if (!hasStripes(filter)) return;
    const own = filter.command === "stripes";
    const frequency = (name) => this.desk.units.frequency((own && filter[name]) || USUAL[name]) ?? 0;
    const degrees = angleOfStripes(filter);
    const angle = (degrees * Math.PI) / 180;
    const [dx, dy] = [Math.sin(angle), Math.cos(angle)];
    const [width, spare] = [frequency("stripeWidth"), frequency("spare")];
    const at = (along, across) => map.screen(along * dx + across * dy, along * dy - across * dx);

    // Four edges: on either side of the ridge, on either side of the middle.
    const edges = [1, -1].flatMap((sign) => [1, -1].map((side) => [at(sign * spare, side * width), at(sign, side * width)]));
    this.turn.querySelectorAll(".casing, .line").forEach((line, i) => set(line, ends(...edges[i >> 1])));
    set(this.turn.querySelector(".touch"), ends(at(-1, 0), at(1, 0)));
    const grip = at(GRIP, 0);
    set(this.turn.querySelector(".grip"), { cx: grip.x, cy: grip.y });
    const label = this.turn.querySelector("text");
    set(label, { x: grip.x + 9, y: grip.y - 9 });
    label.textContent = `${degrees}°`;
    set(this.turn, { "aria-valuenow": degrees, "aria-valuetext": `${degrees} degrees` });

    const middle = map.screen(0, 0);
    for (const circle of this.spare.children) set(circle, { cx: middle.x, cy: middle.y, r: spare * map.scale });
    set(this.spare, {
      display: own ? null : "none",
      "aria-valuenow": Number(spare.toPrecision(4)),
      "aria-valuetext": this.desk.said(spare),
    });
  }

  #listen() {
    const { history } = this.desk;
    const done = () => history.change();
    const pointed = (event) => {
      const { fx, fy } = this.desk.pointed(event);
      return Math.round(10 * angleOf(fx, fy)) / 10 % 180;
    };
    draggable(this.turn, () => (event) => history.drag({ angle: pointed(event) }), done);
    steppable(this.turn, (steps) => {
      const degrees = angleOfStripes(this.desk.filter) + steps / 2;
      history.nudge({ angle: ((degrees % 180) + 180) % 180 });
    });
    const spared = (frequency) => ({ spare: this.desk.write(Math.min(FARTHEST, Math.max(1e-3, frequency)), "spare") });
    draggable(this.spare, () => (event) => {
      const { fx, fy } = this.desk.pointed(event);
      history.drag(spared(Math.hypot(fx, fy)));
    }, done);
    steppable(this.spare, (steps) => {
      const frequency = this.desk.units.frequency(this.desk.filter.spare ?? USUAL.spare) ?? 1 / 40;
      history.nudge(spared(frequency * 1.01 ** steps));
    });
  }
}

const ends = (a, b) => ({ x1: a.x, y1: a.y, x2: b.x, y2: b.y });
