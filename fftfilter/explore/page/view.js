/** Which part of a picture or of a spectrum is on the screen. */

const CLOSEST = 64;

/** Zoom, 1 for all that fits, and the point in the middle, as parts of the width and height. */
export class View {
  #listeners = [];

  constructor() {
    this.reset();
  }

  subscribe(listener) {
    this.#listeners.push(listener);
  }

  reset() {
    this.set(1, 0.5, 0.5);
  }

  set(zoom, x, y) {
    this.zoom = Math.min(CLOSEST, Math.max(1, zoom));
    this.x = this.zoom === 1 ? 0.5 : Math.min(1, Math.max(0, x));
    this.y = this.zoom === 1 ? 0.5 : Math.min(1, Math.max(0, y));
    for (const listener of this.#listeners) listener(this);
  }
}

/** Where what is `width` x `height` lies on a stage of a size in CSS pixels. */
export class Placement {
  constructor(view, stage, width, height) {
    this.scale = Math.min(stage.width / width, stage.height / height) * view.zoom;
    this.width = width * this.scale;
    this.height = height * this.scale;
    this.x = corner(stage.width, this.width, view.x);
    this.y = corner(stage.height, this.height, view.y);
  }
}

/** Return where a length begins so that its part `at` is in the middle, with no gap where it is longer than the stage. */
function corner(stage, length, at) {
  if (length <= stage) return (stage - length) / 2;
  return Math.min(0, Math.max(stage - length, stage / 2 - at * length));
}
