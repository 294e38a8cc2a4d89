/** The book's pipeline on this very picture, a step after the other: what it makes, its kernel, its time. */

export class Steps {
  #shown = null;

  constructor() {
    this.list = document.getElementById("step-list");
    this.said = document.getElementById("steps-said");
  }

  /** Compute and show the steps of a wish, unless they are shown. */
  async load(wish) {
    const url = `steps?wish=${encodeURIComponent(JSON.stringify(wish))}`;
    if (this.#shown === url) return;
    this.#shown = url;
    this.said.textContent = "Each step of the book's pipeline is computed on this picture …";
    const answer = await fetch(url).then((response) => response.json()).catch(() => ({ error: "fftfilter does not answer." }));
    if (this.#shown !== url) return;
    if (answer.error) {
      this.#shown = null;
      this.said.textContent = answer.error;
      return;
    }
    const total = answer.steps.reduce((sum, { seconds }) => sum + seconds, 0);
    this.said.textContent =
      `The book's pipeline, kernel by kernel, on this picture: ${answer.steps.length} steps, ${milliseconds(total)} in all` +
      `${answer.device ? ` on ${answer.device}` : ""}. The fused engine computes the same in four.`;
    this.list.replaceChildren(...answer.steps.map((step, index) => show(step, index, total)));
  }
}

const milliseconds = (seconds) => `${(1000 * seconds).toFixed(seconds < 0.01 ? 2 : 1)} ms`;

function make(name, attributes = {}, ...children) {
  const element = Object.assign(document.createElement(name), attributes);
  element.append(...children);
  return element;
}

function show({ name, kernel, source, seconds, picture }, index, total) {
  const time = make("p", { className: "time" }, `${milliseconds(seconds)}, ${Math.round((100 * seconds) / (total || 1))} %`);
  const share = make("meter", { max: total || 1, value: seconds, title: "part of the time" });
  share.setAttribute("aria-label", `Part of the time of step ${index + 1}`);
  const code = make("pre", { tabIndex: 0 }, make("code", {}, source ?? ""));
  code.setAttribute("aria-label", `Kernel of ${name}`);
  const image = picture ? make("img", { src: picture, loading: "lazy", alt: `What ${name} makes` }) : "";
  return make(
    "li",
    {},
    make("h2", {}, `${index + 1}. ${name}`),
    make("div", { className: "picture" }, image, time, share),
    make("div", { className: "source" }, make("p", { className: "file" }, kernel ?? ""), source ? code : ""),
  );
}
