/**
 * What all parts of the page work on: the picture, what is chosen, and the units it is written in.
 *
 * Named after what one has before oneself.
 */

import { cutoffsOf, isBand } from "./filter.js";
import { notchText } from "./notch.js";
import { metersOf, split, Units, USUAL_CUTOFF } from "./units.js";

/** Cutoffs of a band that has none yet, in cycles per pixel. */
const FIRST_BAND = { inner: 0.04, outer: USUAL_CUTOFF };

export class Desk {
  constructor(picture, history) {
    this.picture = picture;
    this.history = history;
    this.page = 0;
    const written = cutoffsOf(history.filter).map((name) => history.filter[name]).find(Boolean);
    this.unit = written ? (split(written)?.unit ?? "px") : (picture.pixel_size?.unit ?? "px");
    /** Set by the spectrum: where a pointer is, in cycles per pixel. */
    this.pointed = () => ({ fx: 0, fy: 0 });
  }

  get filter() {
    return this.history.filter;
  }

  /** The shorter side. */
  get n() {
    return Math.min(this.picture.width, this.picture.height);
  }

  get units() {
    return new Units(this.n, metersOf(this.filter.pixelSize) ?? this.picture.pixel_size?.across_m ?? null);
  }

  /** Return what the shape of a filter takes beside the cutoff: "order", "width" or null. */
  get takes() {
    return this.picture.shapes.find(({ name }) => name === (this.filter.shape ?? "ideal"))?.takes ?? null;
  }

  /** Return a cutoff in cycles per pixel; null if its text means none. */
  cutoff(name) {
    const text = this.filter[name];
    if (text === null && name === "radius") return USUAL_CUTOFF;
    return this.units.frequency(text);
  }

  /** Return a cutoff as it is written, also where it is left out. */
  text(name) {
    return this.filter[name] ?? "n/8";
  }

  /** Return a frequency as the text of an option, in the unit of its last one. */
  write(frequency, name) {
    const unit = split(this.filter[name])?.unit ?? this.unit;
    return this.units.text(frequency, unit);
  }

  /** Return a frequency in the user's unit and in pixels, as it is read to somebody. */
  said(frequency) {
    return this.units.said(frequency, this.unit);
  }

  /** Choose another command; a band gets two cutoffs, if it has none yet. */
  choose(command) {
    const changes = { command };
    if (isBand({ command })) {
      for (const [name, frequency] of Object.entries(FIRST_BAND)) {
        changes[name] = this.filter[name] ?? this.units.text(frequency, this.unit);
      }
    }
    this.history.change(changes);
  }

  /** Write all cutoffs in another unit. */
  useUnit(unit) {
    this.unit = unit;
    const changes = {};
    for (const name of ["radius", "inner", "outer"]) {
      const frequency = this.units.frequency(this.filter[name]);
      if (frequency !== null) changes[name] = this.units.text(frequency, unit, 6);
    }
    this.history.change(changes);
  }

  /** End the drag of a cutoff: if it was dragged past the other one, they change names. */
  settle() {
    const { inner, outer } = this.filter;
    const crossed = isBand(this.filter) && this.cutoff("inner") > this.cutoff("outer");
    this.history.change(crossed ? { inner: outer, outer: inner } : {});
  }

  /** Add notches, and return the place of the last one. */
  addNotches(notches) {
    const texts = notches.map(notchText).filter((text) => !this.filter.notches.includes(text));
    this.history.change({ notches: [...this.filter.notches, ...texts] });
    return this.filter.notches.length - 1;
  }

  removeNotch(index) {
    this.history.change({ notches: this.filter.notches.toSpliced(index, 1) });
  }
}
