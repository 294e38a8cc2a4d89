/**
 * What the page asks the server besides results: each question is an address that follows from the state. If the address
 * changes, the question is canceled, on the server too, and what came back is old until the new answer is there.
 */

import { KIND, readFrame, Surface } from "./frame.js";

/** Return an address with the parts of a query that have a value. */
export function address(path, query) {
  const given = Object.entries(query).filter(([, value]) => value !== null && value !== undefined && value !== "");
  return `${path}?${new URLSearchParams(given.map(([name, value]) => [name, String(value)]))}`;
}

/** Return what the server answers: JSON, or a frame. Raises an Error with its line. @param {RequestInit} [how]  for a GET, nothing */
export async function get(url, how) {
  const response = await fetch(url, how).catch((error) => {
    throw error.name === "AbortError" ? error : new Error("fftfilter does not answer");
  });
  const isJson = response.headers.get("content-type")?.startsWith("application/json");
  if (!response.ok) throw new Error(isJson ? (await response.json()).error : `${response.status} ${response.statusText}`);
  return isJson ? response.json() : readFrame(await response.arrayBuffer());
}

/**
 * @param {import("./state.js").Store} store
 * @param {Record<string, (state: import("./state.js").State, got: any) => string | null>} addresses  of each question
 */
export function questions(store, addresses) {
  /** The address of each question, and what cancels it. @type {Record<string, {url: string | null, controller: AbortController}>} */
  const asked = {};

  const ask = async (name, url) => {
    asked[name]?.controller.abort();
    const controller = new AbortController();
    asked[name] = { url, controller };
    const before = store.got[name];
    if (!url) return before && store.take(name, null);
    if (before) store.take(name, { ...before, isOld: true });
    try {
      const value = await get(url, { signal: controller.signal });
      store.take(name, { value: value.pixels ? surfaceOf(value) : value, isOld: false });
    } catch (error) {
      // A question that failed is asked again when its address changes.
      if (!controller.signal.aborted) store.take(name, { ...before, isOld: true, error: error.message });
    }
  };

  const follow = () => {
    for (const [name, addressOf] of Object.entries(addresses)) {
      const url = addressOf(store.state, store.got);
      if (asked[name]?.url !== url) ask(name, url);
    }
  };
  store.atOnce.push(follow);
  follow();
}

/** The spectrum stays as it was sent, in steps of decibels; pictures are painted. */
const surfaceOf = (frame) => (frame.kind === KIND.spectrum ? frame : new Surface().put(frame));
