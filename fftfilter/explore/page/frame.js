/** Pixels as the server sends them: a header of 32 bytes, then the rows; and canvases that hold them. */

const HEADER = 32;
export const KIND = { result: 0, input: 1, spectrum: 2, removed: 3, gain: 4, loupe: 5 };

/**
 * @param {ArrayBuffer} buffer @returns {{id: number, kind: number, channels: number, width: number, height: number, level: number, x: number,
 *   y: number, pixels: Uint8Array}}  x and y are the corner in pixels of the picture
 */
export function readFrame(buffer) {
  const header = new DataView(buffer, 0, HEADER);
  const [width, height, level, x, y] = [8, 12, 16, 20, 24].map((offset) => header.getUint32(offset, true));
  const id = header.getUint32(0, true);
  const [kind, channels] = [4, 6].map((offset) => header.getUint16(offset, true));
  return { id, kind, channels, width, height, level, x, y, pixels: new Uint8Array(buffer, HEADER) };
}

const GRAYS = Uint32Array.from({ length: 256 }, (_, gray) => (0xff000000 | (gray * 0x010101)) >>> 0);

/** Return a table of colors for gray levels: a tint that is the stronger the smaller the gain is. */
export function tintTable([red, green, blue], strength) {
  return Uint32Array.from({ length: 256 }, (_, gain) => {
    const alpha = Math.round(strength * (255 - gain));
    return ((alpha << 24) | (blue << 16) | (green << 8) | red) >>> 0;
  });
}

/** A canvas, not on the page, with the pixels of the last frame. */
export class Surface {
  #canvas = null;
  #context;
  #image;

  /** @type {Omit<ReturnType<typeof readFrame>, "pixels"> & {pixels: Uint8Array | null} | null} */
  frame = null;

  /** Take the pixels of a frame; `colors` are those of gray levels, as 0xAABBGGRR. */
  put(frame, colors = GRAYS) {
    const { width, height, channels, pixels } = frame;
    if (this.#image?.width !== width || this.#image?.height !== height) {
      this.#canvas = new OffscreenCanvas(width, height);
      this.#context = this.#canvas.getContext("2d");
      this.#image = this.#context.createImageData(width, height);
    }
    const out = new Uint32Array(this.#image.data.buffer);
    if (channels === 1) {
      for (let i = 0; i < out.length; i++) out[i] = colors[pixels[i]];
    } else {
      for (let i = 0, j = 0; i < out.length; i++, j += 3) {
        out[i] = 0xff000000 | (pixels[j + 2] << 16) | (pixels[j + 1] << 8) | pixels[j];
      }
    }
    this.#context.putImageData(this.#image, 0, 0);
    this.frame = frame;
    return this;
  }

  /** Draw all of it into a rectangle of a context; large pixels stay squares. */
  draw(context, x, y, width, height) {
    const enlarged = width / this.frame.width;
    context.imageSmoothingEnabled = enlarged < 2;
    context.imageSmoothingQuality = enlarged < 0.6 ? "medium" : "low";
    context.drawImage(this.#canvas, x, y, width, height);
  }
}

/** Draw a picture so that it covers a canvas. */
export function cover(canvas, surface) {
  const { width, height } = surface.frame;
  const scale = Math.max(canvas.width / width, canvas.height / height);
  surface.draw(canvas.getContext("2d"), (canvas.width - width * scale) / 2, (canvas.height - height * scale) / 2, width * scale, height * scale);
}
