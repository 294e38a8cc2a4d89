/** The book's pipeline on this very picture, a step after the other: what it makes, its kernel, its time. */

export class Steps {
  #shown = null;
  #count = 0;

  constructor() {
    this.list = document.getElementById("step-list");
    this.said = document.getElementById("steps-said");
  }

  /** Compute and show the steps of a request, unless they are shown. */
  async load(request) {
    const url = `steps?request=${encodeURIComponent(JSON.stringify(request))}`;
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
    const { steps, total, engine, device, level } = answer;
    this.said.textContent =
      `The same filter by the engine ${engine}, kernel by kernel: ${steps.length} steps, ${timeOf(total)} on ${device}` +
      `${level > 1 ? `, for the picture reduced by ${level}` : ""}. The fused engine computes it in four steps.`;
    // The addresses are those of the last steps, whose pictures the browser may have kept.
    const pictures = steps.map(({ picture }) => `${picture}?${++this.#count}`);
    this.list.replaceChildren(...steps.map((step, index) => show(step, index, total, pictures[index])));
  }
}

function timeOf(seconds) {
  return seconds < 1 ? `${(1000 * seconds).toFixed(seconds < 0.01 ? 2 : 1)} ms` : `${seconds.toFixed(2)} s`;
}

function make(name, attributes = {}, ...children) {
  const element = Object.assign(document.createElement(name), attributes);
  element.append(...children);
  return element;
}

function show({ name, kernels, seconds }, index, total, picture) {
  const share = make("progress", { max: total || 1, value: seconds });
  share.setAttribute("aria-label", `Part of the time of step ${index + 1}`);
  return make(
    "li",
    {},
    make("h2", {}, `${index + 1}. ${name}`),
    make(
      "div",
      { className: "picture" },
      make("img", { src: picture, loading: "lazy", alt: `What ${name} makes` }),
      make("p", { className: "time" }, `${timeOf(seconds)}, ${Math.round((100 * seconds) / (total || 1))} % of the time`),
      share,
    ),
    make("div", { className: "source" }, ...sources(name, kernels)),
  );
}

/** Return the choice among the kernels of a step, the longest first, and the source of the one that is chosen. */
function sources(name, kernels) {
  if (!kernels.length) return [make("p", { className: "hint" }, "No kernel: this is where the step before has left it.")];
  const text = make("code");
  const code = make("pre", { tabIndex: 0 }, text);
  code.setAttribute("aria-label", `Kernel of ${name}`);
  const select = make("select");
  select.setAttribute("aria-label", `Which kernel of ${name}`);
  for (const { kernel, launches, seconds } of kernels) {
    select.append(new Option(`${kernel} · ${launches} ${launches === 1 ? "launch" : "launches"}, ${timeOf(seconds)}`));
  }
  const choose = () => (text.textContent = kernels[select.selectedIndex].source ?? "");
  select.addEventListener("change", choose);
  choose();
  return [select, code];
}
