/** Which part of a picture or of a spectrum is on the screen. */

import { WHOLE } from "./state.js";

const CLOSEST = 64;

/** Where what is `width` x `height` lies on a stage of a size in CSS pixels. */
export class Placement {
  /** @param {import("./state.js").Zoom} view */
  constructor(view, stage, width, height) {
    this.fitted = Math.min(stage.width / width, stage.height / height);
    this.scale = this.fitted * view.zoom;
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

/** A view of the state, "picture" or "spectrum", to be read and moved. @param {import("./state.js").Store} store */
export function viewOf(store, name) {
  return {
    get: () => store.state.view[name],
    reset: () => store.look({ [name]: WHOLE }),
    set: (zoom, x, y) => {
      const within = Math.min(CLOSEST, Math.max(1, zoom));
      const part = (value) => (within === 1 ? 0.5 : Math.min(1, Math.max(0, value)));
      store.look({ [name]: { zoom: within, x: part(x), y: part(y) } });
    },
  };
}
