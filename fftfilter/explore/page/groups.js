/** Automatic removal: its strength, and what it found, as groups that are removed or stay. */

import { button, div, h, list, para, put, span, svg } from "./dom.js";
import { sliderField } from "./fields.js";
import { isSame } from "./outlines.js";
import { channelName, rounded } from "./settings.js";
import { brief, cutoffAt, saidOf } from "./units.js";

export const USUAL_STRENGTH = 18;
const STRENGTHS = { min: 10, max: 45, step: 0.5, dir: "rtl" };
/** Rows before they fold. */
const MOST = 8;

/** @param {import("./state.js").Store} store */
export function groupsOf(store, { units, facts }) {
  const rows = h("ul", { class: "grp" });
  const more = button("link small", [], null);
  const note = para("mute");
  const root = div("part", note, rows, more);
  let isLong = false;
  more.onclick = () => {
    isLong = !isLong;
    rows.listed = null;
    store.changed();
  };

  const keep = (peak, isRemoved) => {
    const kept = (store.state.asked.settings.keep ?? []).filter((each) => !isSame(each, peak));
    store.set({ keep: isRemoved ? kept : [...kept, rounded(peak)] });
  };

  const rowOf = ({ peak, isKept, index }) => {
    const channels = peak.channels.length === facts().channels ? "all" : peak.channels.map((i) => channelName(i, facts())).join(", ");
    const said = saidOf(cutoffAt(1 / peak.period_px, facts().unit, units(), 3), units());
    const count = peak.harmonics.length;
    const others = count ? ` · ${count} harmonic${count > 1 ? "s" : ""}` : "";
    const name = `Waves at ${Math.round(peak.angle_deg)}°`;
    const box = h("input", {
      type: "checkbox",
      checked: !isKept,
      "aria-label": `Remove ${name}, period ${said}`,
      onchange: () => keep(peak, box.checked),
    });
    return h(
      "li",
      { class: isKept ? "off" : "on", onpointerenter: () => store.look({ lit: index }, true), onpointerleave: () => store.look({ lit: null }, true) },
      box,
      miniOf(peak),
      h("b", {}, name),
      facts().channels > 1 ? span("pill", channels) : null,
      span("s", `${said}${others} · ${brief(peak.strength_db, 2)}\u00a0dB${isKept ? " · stays" : ""}`),
    );
  };

  /** @param {import("./state.js").State} state */
  const draw = (state, got) => {
    const { settings } = state.asked;
    put(root, { hidden: !settings?.auto });
    if (!settings?.auto) return;
    const found = got.peaks?.value?.peaks ?? [];
    const isOld = !got.peaks?.value || got.peaks.isOld;
    const count = found.length;
    let text = "No patterns found at this strength. Move the slider to the right for weaker ones.";
    if (count) text = `${count} found. Untick what belongs to the picture.`;
    if (isOld) text = "Looking for patterns";
    put(note, {
      hidden: got.error?.field === "strength" && got.error.number === state.number,
      text: got.peaks?.error ?? text,
      class: got.peaks?.error ? "error" : "mute",
    });
    put(rows, { "data-old": isOld, hidden: count === 0 });
    const items = found.map((peak, index) => ({ peak, index, isKept: (settings.keep ?? []).some((each) => isSame(each, peak)) }));
    list(rows, isLong ? items : items.slice(0, MOST), rowOf);
    put(more, { text: isLong ? "Show fewer" : `Show all ${count}`, hidden: count <= MOST });
  };
  return { root, draw };
}

/** How far waves stand out, in dB, from the strongest on the left of the slider to weak ones; each wave has a mark. */
export function strengthField(store) {
  const marks = h("div", { class: "marks", "aria-hidden": "true" });
  const words = ["less: strong patterns", "more: faint ones, too"];
  const field = sliderField(store, "strength", "Strength", { ends: STRENGTHS, usual: USUAL_STRENGTH, unit: "dB", words, marks });
  const draw = (state, got) => {
    field.draw(state, got);
    const { auto, strength } = state.asked.settings;
    const faint = auto ? (got.faint?.value?.peaks ?? got.peaks?.value?.peaks ?? []) : [];
    const items = faint.map(({ strength_db: db }) => [field.part(db).toFixed(1), db >= (strength ?? USUAL_STRENGTH)]);
    list(marks, items, ([left, on]) => {
      const mark = h("i", { class: on ? "on" : null });
      mark.style.left = `${left}%`;
      return mark;
    });
  };
  return { root: field.root, draw };
}

/** A small drawing of where a group is in the spectrum. */
function miniOf(peak) {
  const spots = [peak, ...peak.harmonics].slice(0, 9).flatMap(({ fx, fy }) => [
    [fx, fy],
    [-fx, -fy],
  ]);
  const far = Math.max(...spots.map(([fx, fy]) => Math.hypot(fx, fy)), 0.05);
  return svg(
    "svg",
    { viewBox: "0 0 22 22", "aria-hidden": "true" },
    svg("circle", { cx: 11, cy: 11, r: 10, class: "edge" }),
    svg("circle", { cx: 11, cy: 11, r: 1, class: "dc" }),
    ...spots.map(([fx, fy], i) => svg("circle", { cx: 11 + (8 * fx) / far, cy: 11 + (8 * fy) / far, r: i < 2 ? 1.8 : 1.2, class: "spot" })),
  );
}
