/** Notches as circles over the spectrum, each with its conjugate: dragged, sized by the wheel, removed by Delete. */

import { children, draggable, set, svg } from "./handles.js";
import { notchText, parseNotch } from "./notch.js";
import { brief, NYQUIST } from "./units.js";

const LEAST = 7;
/** One turn of the wheel, or one press of + or −, as a part of the width. */
const SIZE_STEP = 1.1;

export class Notches {
  constructor(desk) {
    this.desk = desk;
    this.group = svg("g", { class: "notches" });
  }

  draw(map, filter) {
    const count = filter.command === "notch" ? Math.max(1, Number(filter.harmonics ?? 1)) : 1;
    children(this.group, filter.notches.length, (index) => this.#make(index)).forEach((handle, index) => {
      const notch = parseNotch(filter.notches[index]);
      set(handle, { visibility: notch ? null : "hidden" });
      if (!notch) return;
      const width = this.desk.units.frequency(notch.width) ?? 0;
      const r = Math.max(LEAST, width * map.scale);
      const { x, y } = map.screen(notch.fx, notch.fy);
      for (const circle of handle.querySelectorAll(".main")) set(circle, { cx: x, cy: y, r });
      set(handle.querySelector(".touch"), { cx: x, cy: y, r: Math.max(16, r) });
      set(handle.querySelector(".dot"), { cx: x, cy: y });
      const others = multiples(notch, count).map((each) => map.screen(each.fx, each.fy));
      const echoes = handle.querySelector(".echoes");
      children(echoes, others.length, () => svg("circle", { class: "echo" })).forEach((circle, i) =>
        set(circle, { cx: others[i].x, cy: others[i].y, r }),
      );
      const { fx, fy } = notch;
      set(handle, {
        "aria-label":
          `Notch ${index + 1} at ${fx}, ${fy}, period ${brief(1 / Math.hypot(fx, fy))} pixels, width ${notch.width}. ` +
          "Arrow keys move it, + and − size it, Delete removes it.",
      });
    });
  }

  /** Put the focus on a notch. */
  focus(index) {
    this.group.children[index]?.focus();
  }

  #make(index) {
    const handle = svg(
      "g",
      { class: "handle notch", role: "button", "aria-roledescription": "notch", tabindex: 0 },
      svg("circle", { class: "touch" }),
      svg("g", { class: "echoes" }),
      svg("circle", { class: "casing main" }),
      svg("circle", { class: "line main" }),
      svg("circle", { class: "dot", r: 1.5 }),
    );
    const { history } = this.desk;
    const notch = () => parseNotch(this.desk.filter.notches[index]);
    const changed = (changes) => ({
      notches: this.desk.filter.notches.with(index, notchText({ ...notch(), ...changes })),
    });
    const sized = (factor) => {
      const width = (this.desk.units.frequency(notch().width) ?? 0.006) * factor;
      return changed({ width: `${brief(Math.min(NYQUIST, Math.max(1e-4, width)), 3)}cyc` });
    };

    draggable(
      handle,
      (event) => {
        const from = this.desk.pointed(event);
        const { fx, fy } = notch();
        return (moved) => {
          const to = this.desk.pointed(moved);
          history.drag(changed({ fx: fx + to.fx - from.fx, fy: fy + to.fy - from.fy }));
        };
      },
      () => history.change(),
    );
    handle.addEventListener("wheel", (event) => {
      event.preventDefault();
      event.stopPropagation();
      history.nudge(sized(SIZE_STEP ** Math.sign(-event.deltaY)));
    }, { passive: false });
    handle.addEventListener("keydown", (event) => {
      const step = event.shiftKey ? 10 : 1;
      const { fx, fy } = notch();
      const { width, height } = this.desk.picture;
      const keys = {
        ArrowLeft: () => history.nudge(changed({ fx: fx - step / width })),
        ArrowRight: () => history.nudge(changed({ fx: fx + step / width })),
        ArrowUp: () => history.nudge(changed({ fy: fy - step / height })),
        ArrowDown: () => history.nudge(changed({ fy: fy + step / height })),
        "+": () => history.nudge(sized(SIZE_STEP)),
        "=": () => history.nudge(sized(SIZE_STEP)),
        "-": () => history.nudge(sized(1 / SIZE_STEP)),
        Delete: () => this.desk.removeNotch(index),
        Backspace: () => this.desk.removeNotch(index),
      };
      if (!(event.key in keys) || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      keys[event.key]();
    });
    return handle;
  }
}

/** Return where else a notch takes out: its conjugate, its multiples, and theirs. */
function multiples({ fx, fy }, count) {
  const most = Math.min(count, Math.floor(NYQUIST / Math.max(Math.abs(fx), Math.abs(fy), 1e-6)));
  const all = Array.from({ length: most }, (_, m) => [{ fx: (m + 1) * fx, fy: (m + 1) * fy }, { fx: -(m + 1) * fx, fy: -(m + 1) * fy }]);
  return all.flat().slice(1);
}
