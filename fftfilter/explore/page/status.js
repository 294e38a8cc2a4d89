/** The line of messages, which screen readers read, and what is told of each result while there is none. */

export class Status {
  #lasting = false;

  /** @param {HTMLElement} line @param {HTMLElement} told */
  constructor(line, told) {
    this.line = line;
    this.told = told;
  }

  /** Say what was done, or what has failed; it stands until something is changed. */
  say(text, failed = false) {
    this.#put(text, failed, true);
  }

  /** Say what is the case; it stands until the next result. */
  note(text, failed = false) {
    if (!this.#lasting) this.#put(text, failed, false);
  }

  /** Something was changed. */
  changed() {
    if (this.#lasting) this.#put("", false, false);
  }

  /** Tell of a result: its time, and how much was removed. */
  tell(text) {
    this.told.textContent = text;
  }

  #put(text, failed, lasting) {
    if (this.line.textContent !== text) this.line.textContent = text;
    this.line.classList.toggle("error", failed);
    this.#lasting = lasting;
  }
}
