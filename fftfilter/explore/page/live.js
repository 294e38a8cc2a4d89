/**
 * The way to the engine: one request under way and the newest one waiting, so that nothing queues up while a handle is
 * dragged; and the frames and words that come back.
 */

import { readFrame, PICTURE_KINDS } from "./frame.js";

const RETRY = 1000;

export class Live {
  #socket;
  #id = 0;
  #underWay = null;
  #waiting = null;
  #listeners;

  /**
   * @param {{frame: Function, words: Function, error: Function, state: Function}} listeners  called with a frame; with
   *   words; with {error, field}; with "open" or "closed"
   */
  constructor(listeners) {
    this.#listeners = listeners;
    this.#open();
  }

  /** Ask for a picture; an earlier request that still waits is forgotten. */
  ask(request) {
    this.#waiting = request;
    this.#send();
  }

  #open() {
    const url = new URL("live", location.href);
    url.protocol = url.protocol.replace("http", "ws");
    this.#socket = new WebSocket(url);
    this.#socket.binaryType = "arraybuffer";
    this.#socket.onopen = () => {
      this.#listeners.state("open");
      this.#send();
    };
    this.#socket.onmessage = ({ data }) => (typeof data === "string" ? this.#say(JSON.parse(data)) : this.#show(data));
    this.#socket.onclose = () => {
      this.#waiting ??= this.#underWay?.request ?? null;
      this.#underWay = null;
      this.#listeners.state("closed");
      setTimeout(() => this.#open(), RETRY);
    };
  }

  #send() {
    if (this.#underWay || !this.#waiting || this.#socket.readyState !== WebSocket.OPEN) return;
    this.#underWay = { id: ++this.#id, request: this.#waiting };
    this.#waiting = null;
    this.#socket.send(JSON.stringify({ id: this.#id, ...this.#underWay.request }));
  }

  #answered(id) {
    // A request that cannot be read has no number.
    if (id !== null && this.#underWay?.id !== id) return;
    this.#underWay = null;
    // Before the answer is drawn, so that the engine works meanwhile.
    this.#send();
  }

  #say(words) {
    if ("error" in words) {
      this.#answered(words.id);
      this.#listeners.error(words);
    } else this.#listeners.words(words);
  }

  #show(data) {
    const frame = readFrame(data);
    if (PICTURE_KINDS.has(frame.kind)) this.#answered(frame.id);
    this.#listeners.frame(frame);
  }
}
