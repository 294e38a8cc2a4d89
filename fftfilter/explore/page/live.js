/**
 * The way to the engine: a request follows from the state. One is under way, and the newest one is sent after it, so that
 * nothing queues up while something is dragged; only a search does not hold up a newer request.
 */

import { KIND, readFrame, Surface } from "./frame.js";
import { requestOf } from "./settings.js";
import { missingOf, shownIn } from "./state.js";

const RETRY = 1000;
/** After as many ms without a change the picture is asked for as it will be saved. */
const REST = 80;

/**
 * @param {import("./state.js").Store} store
 * @param {{commands: object, look: () => {level: number, coarse: number, part: number[] | null}}} page  `look` is what
 *   the screen shows: the level of a result at rest, that of a drag, and the part of the picture
 */
export function live(store, { commands, look }) {
  /** @type {WebSocket} */
  let socket;
  let underWay = null;
  let waiting = null;
  let last = "";
  let timer = 0;
  const surfaces = { result: new Surface(), removed: new Surface(), gain: new Surface(), loupe: new Surface() };

  const wanted = (rest) => {
    const { asked, view } = store.state;
    if (!asked.settings || asked.wrong || missingOf(asked)) return null;
    const { level, coarse, part } = look();
    const more = { view: rest ? null : part, show: shownIn(store.state), levels: view.levels };
    return { ...requestOf(store.state, commands, store.got.facts), level: rest ? level : coarse, rest, ...more };
  };

  const ask = (rest) => {
    const request = wanted(rest);
    const key = JSON.stringify(request);
    if (!request || key === last) return;
    last = key;
    waiting = request;
    send();
  };

  const send = () => {
    if (!waiting || socket.readyState !== WebSocket.OPEN || (underWay && !underWay.isLong)) return;
    underWay = { id: waiting.id, rest: waiting.rest, isLong: false };
    socket.send(JSON.stringify(waiting));
    waiting = null;
  };

  const answered = (id) => {
    if (id !== null && underWay?.id !== id) return;
    underWay = null;
    send(); // before the answer is drawn, so that the engine works meanwhile
  };

  const hear = (words) => {
    if ("values" in words) store.take(words.values.tag ?? "nothing", words.values);
    else if ("doing" in words) {
      if (underWay?.id === words.id) underWay.isLong = true;
      store.take("doing", { number: words.id, text: words.doing });
      send();
    } else if ("error" in words) {
      answered(words.id);
      if (words.changed) store.take("changed", words.error);
      store.take("error", { number: words.id ?? store.state.number, text: words.error, field: words.field });
    } else store.take("words", { ...words, number: words.id });
  };

  const see = (data) => {
    const frame = readFrame(data);
    if (frame.kind === KIND.gain || frame.kind === KIND.loupe) {
      const kind = frame.kind === KIND.gain ? "gain" : "loupe";
      return store.take(kind, { number: frame.id, surface: surfaces[kind].put(frame) });
    }
    // A request that was sent twice, as a search was under way, is answered twice.
    const name = frame.kind === KIND.removed ? "removed" : "result";
    const isFull = underWay?.id === frame.id ? underWay.rest : store.got[name]?.number === frame.id && store.got[name].isFull;
    answered(frame.id);
    surfaces[name].put(frame);
    store.take(name, { number: frame.id, isFull, surface: surfaces[name] });
  };

  const open = () => {
    const url = new URL("live", location.href);
    url.protocol = url.protocol.replace("http", "ws");
    url.hash = "";
    socket = new WebSocket(url);
    socket.binaryType = "arraybuffer";
    socket.onopen = () => {
      last = "";
      underWay = null;
      store.take("isConnected", true);
      ask(true);
      const pending = questions;
      questions = [];
      for (const each of pending) socket.send(each);
    };
    socket.onmessage = ({ data }) => (typeof data === "string" ? hear(JSON.parse(data)) : see(data));
    socket.onclose = () => {
      store.take("isConnected", false);
      setTimeout(open, RETRY);
    };
  };

  /** Questions of before the connection was open. @type {string[]} */
  let questions = [];
  /** Ask for the gray levels at points, which come back under the name `tag`; and for a `view` of the picture at 1:1. */
  const values = (tag, points, view = null) => {
    const { file, page } = store.state.asked;
    const text = JSON.stringify({ values: points, tag, file, page, view, levels: store.state.view.levels });
    if (socket.readyState === WebSocket.OPEN) socket.send(text);
    else questions = [text];
  };

  const follow = () => {
    ask(!store.isDragged);
    clearTimeout(timer);
    if (store.isDragged) timer = window.setTimeout(() => ask(true), REST);
  };
  store.atOnce.push(follow);
  open();
  return { values, again: () => ((last = ""), ask(true)) };
}
