/** The fields for those who type: each is one option, with what is wrong with it below. */

import { defaults, hasStripes, isPass } from "./filter.js";

/** Options of the server whose fields have other names here. */
const FIELD = { pixel_size: "pixelSize", at: "notches", notch: "notches", stripes: "angle" };
const STEPPED = ["radius", "inner", "outer"];

export class Fields {
  /** @param {import("./desk.js").Desk} desk */
  constructor(form, desk) {
    this.form = form;
    this.desk = desk;
    this.fields = [...form.elements].filter((element) => element.name);
    this.unit = form.querySelector("#unit");
    const { commands, shapes, outputs, edges } = desk.picture;
    const choices = { command: commands, shape: shapes.map(({ name }) => name), notchShape: shapes.map(({ name }) => name), output: outputs, edges };
    for (const [name, values] of Object.entries(choices)) fill(form.elements[name], values);
    for (const field of this.fields) this.#listen(field);
    form.addEventListener("submit", (event) => event.preventDefault());
    this.unit.addEventListener("change", () => desk.useUnit(this.unit.value));
    form.elements.pixelSize.placeholder = desk.picture.pixel_size?.text ?? "unknown";
    this.notches = new NotchList(desk);
    this.draw(desk.filter);
  }

  draw(filter) {
    const usual = defaults(filter);
    this.#layOut(filter, usual);
    for (const field of this.fields) {
      const value = filter[field.name] ?? usual[field.name] ?? "";
      if (field.type === "checkbox") field.checked = value === true;
      else if (field.value !== String(value)) field.value = value;
    }
    this.notches.draw(filter);
  }

  /** Show the fields that a filter has; nothing is done where the last one had the same. */
  #layOut(filter, usual) {
    const output = filter.output ?? usual.output;
    const { choices } = this.desk.units;
    const now = [filter.command, this.desk.takes, hasStripes(filter), output, this.desk.unit, ...Object.keys(choices)].join();
    if (this.laidOut === now) return;
    this.laidOut = now;
    for (const label of this.form.querySelectorAll("[data-for]")) {
      const fits = label.dataset.for.split(" ").includes(filter.command);
      label.hidden = !fits || (label.dataset.takes && label.dataset.takes !== this.desk.takes);
    }
    this.form.querySelector("[data-stripes]").hidden = !hasStripes(filter);
    this.form.querySelector("[data-scaled]").hidden = !this.desk.picture.scaled.includes(output);
    this.unit.closest("label").hidden = !isPass(filter);
    fill(this.unit, Object.keys(choices), choices);
    this.unit.value = this.desk.unit;
  }

  /** Say what is wrong beside its field, and return whether there is one. */
  fail(name, error) {
    this.clear();
    const field = this.form.elements[FIELD[name] ?? (name === "width" && this.desk.filter.command === "stripes" ? "stripeWidth" : name)];
    const place = field ?? (FIELD[name] === "notches" ? this.notches.list : null);
    if (!place) return false;
    const line = Object.assign(document.createElement("span"), { className: "error", id: "field-error", textContent: error });
    line.setAttribute("role", "alert");
    place.setAttribute("aria-invalid", "true");
    place.setAttribute("aria-describedby", line.id);
    place.after(line);
    return true;
  }

  clear() {
    this.form.querySelector("#field-error")?.remove();
    for (const field of this.form.querySelectorAll("[aria-invalid]")) {
      field.removeAttribute("aria-invalid");
      field.removeAttribute("aria-describedby");
    }
  }

  #listen(field) {
    const { history } = this.desk;
    const value = () => (field.type === "checkbox" ? field.checked : field.value.trim() || null);
    if (field.name === "command") field.addEventListener("change", () => this.desk.choose(field.value));
    else {
      field.addEventListener("input", () => history.drag({ [field.name]: this.#chosen(field.name, value()) }));
      field.addEventListener("change", () => history.change());
    }
    if (!STEPPED.includes(field.name)) return;
    field.addEventListener("keydown", (event) => {
      const direction = { ArrowUp: 1, ArrowDown: -1 }[event.key];
      const frequency = this.desk.cutoff(field.name);
      if (!direction || frequency === null) return;
      event.preventDefault();
      const factor = event.shiftKey ? 1.1 : 1.01;
      history.nudge({ [field.name]: this.desk.write(frequency * factor ** direction, field.name) });
    });
  }

  /** A default that is chosen is left out of the command. */
  #chosen(name, value) {
    return value === defaults(this.desk.filter)[name] ? null : value;
  }
}

/** The notches as texts that are typed. */
class NotchList {
  constructor(desk) {
    this.desk = desk;
    this.list = document.getElementById("notches");
    this.hint = document.getElementById("no-notches");
    document.getElementById("add-notch").addEventListener("click", () => {
      const index = desk.addNotches([{ fx: 0.25, fy: 0.125 + 0.02 * desk.filter.notches.length, width: "0.006cyc" }]);
      this.list.children[index]?.querySelector("input").select();
    });
  }

  draw({ notches }) {
    this.hint.hidden = notches.length > 0;
    while (this.list.children.length > notches.length) this.list.lastChild.remove();
    while (this.list.children.length < notches.length) this.list.append(this.#row(this.list.children.length));
    [...this.list.querySelectorAll("input")].forEach((input, index) => {
      if (input.value !== notches[index]) input.value = notches[index];
    });
  }

  #row(index) {
    const row = document.createElement("li");
    const input = document.createElement("input");
    input.spellcheck = false;
    input.setAttribute("aria-label", `Notch ${index + 1}: FX,FY or FX,FY,WIDTH`);
    const { history } = this.desk;
    input.addEventListener("input", () => history.drag({ notches: this.desk.filter.notches.with(index, input.value.trim()) }));
    input.addEventListener("change", () => history.change());
    const remove = Object.assign(document.createElement("button"), { type: "button", textContent: "×", className: "icon" });
    remove.setAttribute("aria-label", `Remove notch ${index + 1}`);
    remove.addEventListener("click", () => this.desk.removeNotch(index));
    row.append(input, remove);
    return row;
  }
}

function fill(select, values, names = {}) {
  select.replaceChildren(...values.map((value) => new Option(names[value] ?? value, value)));
}
