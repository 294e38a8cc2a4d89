/** The waves that were found in the picture, offered as notches: marks in the spectrum, and a list beside it. */

import { children, set, svg } from "./handles.js";
import { brief } from "./units.js";

const MARK = 5;

export class Peaks {
  constructor(desk) {
    this.desk = desk;
    this.found = [];
    // The list beside the spectrum is the same for those who use keys or a screen reader.
    this.group = svg("g", { class: "peaks", "aria-hidden": "true" });
    this.box = document.getElementById("peaks");
    this.list = document.getElementById("peak-list");
    this.count = document.getElementById("peaks-found");
    this.all = document.getElementById("take-all");
    this.all.addEventListener("click", () => this.desk.addNotches(this.found));
  }

  /** Find those of a page. */
  async load(page) {
    this.count.textContent = "are looked for …";
    this.box.setAttribute("aria-busy", true);
    this.#list([]);
    const response = await fetch(`peaks?page=${page}`);
    const answer = response.ok ? await response.json() : { peaks: [] };
    if (page !== this.desk.page) return;
    this.#list(answer.peaks.map((peak) => ({ ...peak, width: `${brief(peak.width_cyc, 3)}cyc` })));
    this.box.setAttribute("aria-busy", false);
    this.count.textContent = this.found.length ? `(${this.found.length})` : "none found";
  }

  draw(map) {
    children(this.group, 2 * this.found.length, () => svg("path", { class: "peak" })).forEach((mark, i) => {
      const { fx, fy } = this.found[i >> 1];
      const { x, y } = i % 2 ? map.screen(-fx, -fy) : map.screen(fx, fy);
      set(mark, { d: `M${x - MARK} ${y}L${x} ${y - MARK}L${x + MARK} ${y}L${x} ${y + MARK}Z` });
    });
  }

  /** Return the peak within a distance of a frequency, null if there is none. */
  nearest({ fx, fy }, within) {
    const away = (peak) => Math.min(Math.hypot(fx - peak.fx, fy - peak.fy), Math.hypot(fx + peak.fx, fy + peak.fy));
    const near = this.found.filter((peak) => away(peak) <= within);
    return near.sort((a, b) => away(a) - away(b))[0] ?? null;
  }

  #list(found) {
    this.found = found;
    this.all.hidden = found.length < 2;
    this.list.replaceChildren(...found.map((peak) => this.#row(peak)));
  }

  #row(peak) {
    const length = this.desk.units.length(peak.period_px);
    const button = Object.assign(document.createElement("button"), { type: "button", className: "peak-row" });
    const text = `${brief(peak.period_px, 3)} px${length && ` = ${length}`}, ${brief(peak.angle_deg, 3)}°, ${brief(peak.strength_db, 3)} dB`;
    button.append(text);
    button.title = "Take it out by a notch";
    button.addEventListener("click", () => this.desk.addNotches([peak]));
    const row = document.createElement("li");
    row.append(button);
    return row;
  }
}
