/** What is chosen now, what was before, and who wants to know. A drag is one step back, not a hundred. */

const PAUSE = 600;

export class History {
  #committed;
  #past = [];
  #future = [];
  #listeners = [];
  #nudged = 0;

  constructor(start) {
    this.filter = start;
    this.#committed = start;
  }

  /** Call `listener(filter, {lasts})` after each change; what does not last is followed by more, as in a drag. */
  subscribe(listener) {
    this.#listeners.push(listener);
  }

  /** Change something in the middle of a drag or of typing. */
  drag(changes) {
    if (this.#nudged) this.commit();
    this.#set({ ...this.filter, ...changes }, false);
  }

  /** Change something for good. */
  change(changes = {}) {
    if (this.#nudged) this.commit();
    this.#set({ ...this.filter, ...changes }, true);
    this.commit();
  }

  /** Change something by a key: presses in quick succession are one step back. */
  nudge(changes) {
    this.#set({ ...this.filter, ...changes }, true);
    clearTimeout(this.#nudged);
    this.#nudged = setTimeout(() => this.commit(), PAUSE);
  }

  /** End a step: what is chosen now is what undo comes back to. */
  commit() {
    clearTimeout(this.#nudged);
    this.#nudged = 0;
    if (JSON.stringify(this.filter) === JSON.stringify(this.#committed)) return;
    this.#past.push(this.#committed);
    this.#committed = this.filter;
    this.#future = [];
    this.#tell(true);
  }

  undo() {
    this.commit();
    this.#go(this.#past, this.#future);
  }

  redo() {
    this.commit();
    this.#go(this.#future, this.#past);
  }

  get canUndo() {
    return this.#past.length > 0 || this.filter !== this.#committed;
  }

  get canRedo() {
    return this.#future.length > 0;
  }

  #go(from, to) {
    if (!from.length) return;
    to.push(this.#committed);
    this.#committed = from.pop();
    this.#set(this.#committed, true);
  }

  #set(filter, lasts) {
    this.filter = filter;
    this.#tell(lasts);
  }

  #tell(lasts) {
    for (const listener of this.#listeners) listener(this.filter, { lasts });
  }
}
