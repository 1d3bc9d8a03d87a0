// The painter in the browser. It receives a packed scene (dpcourse/plots/packing.py): a description and one buffer of
// numbers. It follows the controls by itself and asks the kernel only for a value that is not on the grid.
// It does no mathematics of privacy: every number that it draws was computed in Python.

import { el, esc, panelSvg, legendHtml, tableHtml } from "./drawing.js";

// ---- reading a packed scene -----------------------------------------------------------------------------------------

export function resolve(node, numbers, sizes, position) {
  if (Array.isArray(node)) return node.map((one) => resolve(one, numbers, sizes, position));
  if (node === null || typeof node !== "object") return node;
  if (!("$" in node)) {
    const made = {};
    for (const key in node) made[key] = resolve(node[key], numbers, sizes, position);
    return made;
  }
  let row = 0;
  for (const axis of node.by) row = row * sizes[axis] + position[axis];
  const start = node.at + row * node.n;
  if (node.$ === "array") {
    const array = numbers.subarray(start, start + node.n);
    if (node.shape) array.shape = node.shape;
    return array;
  }
  return node.$ === "text" ? node.texts[numbers[start]] : numbers[start];
}

export function numbersIn(bytes) {
  const view = ArrayBuffer.isView(bytes) ? bytes : new Uint8Array(bytes);
  return new Float32Array(view.buffer.slice(view.byteOffset, view.byteOffset + view.byteLength));
}

function typedNumber(text, control) {
  const found = text.replace(/[,\s_]/g, "").replace("−", "-").match(/-?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?/i);
  if (!found) return NaN;
  const percent = text.includes("%") || control.texts[0].includes("%");
  return Number(found[0]) / (percent ? 100 : 1);
}

const nearest = (values, wanted) =>
  values.reduce((best, value, i) => (Math.abs(value - wanted) < Math.abs(values[best] - wanted) ? i : best), 0);

// Ids must differ between all explorers of a page; Jupyter loads this script once for each, so a counter would not do.
const freshId = () => `dpx${Math.random().toString(36).slice(2, 10)}`;

// ---- one explorer ---------------------------------------------------------------------------------------------------

export class Explorer {
  // ask(values) -> Promise of {spec, bytes} is null where no kernel runs; moved(values) hears of every change.
  constructor(root, spec, bytes, { ask = null, moved = () => {} } = {}) {
    Object.assign(this, { root, spec, ask, moved, controls: spec.controls, numbers: numbersIn(bytes) });
    this.id = freshId();
    this.sizes = this.controls.map((control) => control.values.length);
    this.position = this.controls.map((control) => control.start);
    this.exact = this.controls.map(() => null); // a value beside the grid, or null
    this.painted = 0;
    this.build();
    this.refresh();
    this.watch = new ResizeObserver(() => {
      if (this.picture && this.root.clientWidth && this.root.clientWidth !== this.width) this.paint(this.picture);
    });
    this.watch.observe(root);
    root.explorer = this; // for tests, and for the curious
  }

  get values() {
    return Object.fromEntries(this.controls.map((c, i) => [c.name, this.exact[i] ?? c.values[this.position[i]]]));
  }

  text(i) {
    return this.exact[i] === null ? this.controls[i].texts[this.position[i]] : String(this.exact[i]);
  }

  build() {
    const { root, spec } = this;
    root.classList.add("dpx");
    root.innerHTML = "";
    root.setAttribute("role", "group");
    root.setAttribute("aria-label", spec.title);
    root.append(el("div", "dpx-title", esc(spec.title)), el("div", "dpx-question", esc(spec.question)));
    const bar = el("div", "dpx-controls");
    this.inputs = this.controls.map((control, i) => this.buildControl(bar, control, i));
    this.note = el("div", "dpx-note");
    this.note.setAttribute("role", "status");
    this.panels = el("div", "dpx-panels");
    this.says = el("div", "dpx-says");
    this.says.setAttribute("aria-live", "polite");
    root.append(bar, this.note, this.panels, this.says);
    this.frames = spec.picture.panels.map((part) => this.buildPanel(part));
    // Jupyter would take arrows, letters and Enter away from our controls: on their way down, unless the very element
    // that has the focus carries this mark, and on their way up.
    for (const one of root.querySelectorAll("input, select, button")) one.dataset.lmSuppressShortcuts = "true";
    root.addEventListener("keydown", (event) => event.stopPropagation());
  }

  buildControl(bar, control, i) {
    const id = `${this.id}-${control.name}`;
    const box = el(control.kind === "choice" && control.values.length <= 4 ? "fieldset" : "div", "dpx-control");
    bar.append(box);
    if (control.kind === "again") {
      const button = el("button", "dpx-again", esc(control.label));
      button.type = "button";
      button.onclick = () => this.next(i);
      box.append(button, el("span", "dpx-run"));
      return { show: () => (box.lastChild.textContent = `run ${this.values[control.name] + 1}`) };
    }
    if (control.kind === "choice") return this.buildChoice(box, control, i, id);
    const label = el("label", "dpx-label", esc(control.label));
    const range = el("input", "dpx-range");
    const exact = el("input", "dpx-value");
    label.htmlFor = range.id = id;
    Object.assign(range, { type: "range", min: 0, max: control.values.length - 1, step: 1 });
    Object.assign(exact, { type: "text", inputMode: "decimal", spellcheck: false, autocomplete: "off" });
    exact.size = Math.max(4, ...control.texts.map((text) => text.length));
    exact.setAttribute("aria-label", `${control.label}: type an exact value`);
    exact.title = "type an exact value";
    range.oninput = () => this.move(i, Number(range.value));
    exact.onchange = () => this.typed(i, exact.value);
    box.append(label, range, exact);
    return {
      show: () => {
        range.value = this.exact[i] === null ? this.position[i] : nearest(control.values, this.exact[i]);
        range.setAttribute("aria-valuetext", this.text(i));
        if (exact !== document.activeElement || this.exact[i] === null) exact.value = this.text(i);
      },
    };
  }

  buildChoice(box, control, i, id) {
    if (control.values.length > 4) {
      const label = el("label", "dpx-label", esc(control.label));
      const select = el("select", "dpx-select", control.texts.map((text) => `<option>${esc(text)}</option>`).join(""));
      label.htmlFor = select.id = id;
      select.onchange = () => this.move(i, select.selectedIndex);
      box.append(label, select);
      return { show: () => (select.selectedIndex = this.position[i]) };
    }
    box.append(el("legend", "dpx-label", esc(control.label)));
    const radios = control.texts.map((text, k) => {
      const label = el("label", "dpx-option");
      const radio = el("input");
      Object.assign(radio, { type: "radio", name: id });
      radio.onchange = () => this.move(i, k);
      label.append(radio, text);
      box.append(label);
      return radio;
    });
    return { show: () => radios.forEach((radio, k) => (radio.checked = k === this.position[i])) };
  }

  buildPanel(part) {
    const frame = el("div", "dpx-panel");
    frame.style.flexGrow = part.share;
    const title = el("div", "dpx-panel-title");
    const legend = el("div", "dpx-legend");
    const body = el("div", part.kind === "Table" ? "dpx-table" : "dpx-plot");
    if (part.kind === "Table") {
      body.tabIndex = 0; // a table that scrolls must be reachable by the keyboard
      body.setAttribute("role", "region");
    }
    frame.append(title, legend, body);
    this.panels.append(frame);
    if (part.drag) this.makeDraggable(body, part.drag);
    return { frame, title, legend, body, share: part.share };
  }

  makeDraggable(body, name) {
    const i = this.controls.findIndex((control) => control.name === name);
    body.classList.add("dpx-drag");
    const follow = (event) => {
      const svg = body.querySelector("svg");
      if (!svg || !svg.valueAt) return;
      const { left, width } = svg.getBoundingClientRect(); // a deck of slides scales what it shows
      const wanted = svg.valueAt(((event.clientX - left) * svg.clientWidth) / width);
      this.move(i, nearest(this.controls[i].values, wanted));
    };
    body.onpointerdown = (event) => {
      body.setPointerCapture(event.pointerId);
      follow(event);
    };
    body.onpointermove = (event) => event.buttons & 1 && follow(event);
  }

  // ---- moving -------------------------------------------------------------------------------------------------------

  move(i, k) {
    if (k === this.position[i] && this.exact[i] === null) return;
    this.position[i] = k;
    this.exact[i] = null;
    this.note.textContent = "";
    this.refresh();
    this.moved(this.values);
  }

  next(i) {
    const control = this.controls[i];
    const draw = (this.exact[i] ?? this.position[i]) + 1;
    if (draw < control.values.length) return this.move(i, draw);
    if (!this.ask) return this.move(i, 0); // without a kernel the prepared runs come round again
    this.exact[i] = draw;
    this.refresh();
    this.moved(this.values);
  }

  typed(i, text) {
    const control = this.controls[i];
    const value = typedNumber(text, control);
    const [low, high] = [control.texts[0], control.texts.at(-1)];
    const whole = control.values.every(Number.isInteger);
    if (!(value >= control.values[0] && value <= control.values.at(-1)) || (whole && !Number.isInteger(value))) {
      this.note.textContent = `${control.label} takes ${whole ? "a whole number" : "a number"} from ${low} to ${high}, not “${text}”.`;
      this.inputs[i].show();
      return;
    }
    const k = nearest(control.values, value);
    if (control.values[k] === value) return this.move(i, k);
    this.note.textContent = "";
    if (this.ask) {
      this.exact[i] = value;
      this.refresh();
      this.moved(this.values);
    } else {
      this.move(i, k);
      this.note.textContent = `No kernel runs here: ${control.texts[k]} is the nearest value that was prepared.`;
    }
    this.inputs[i].show();
  }

  // Values told from Python.
  set(values) {
    this.controls.forEach((control, i) => {
      if (!(control.name in values)) return;
      const k = control.values.indexOf(values[control.name]);
      this.exact[i] = k < 0 ? values[control.name] : null;
      if (k >= 0) this.position[i] = k;
    });
    this.refresh();
  }

  refresh() {
    this.inputs.forEach((input) => input.show());
    if (this.exact.every((value) => value === null))
      return this.paint(resolve(this.spec.picture, this.numbers, this.sizes, this.position));
    this.fetch();
  }

  // One question at a time; when several moves come in meanwhile only the last one is asked.
  async fetch() {
    this.wanted = this.values;
    if (this.asking) return;
    this.asking = true;
    while (this.wanted) {
      const values = this.wanted;
      this.wanted = null;
      try {
        const { spec, bytes } = await this.ask(values);
        if (JSON.stringify(values) === JSON.stringify(this.values) || this.wanted)
          this.paint(resolve(spec.picture, numbersIn(bytes), this.sizes, this.sizes.map(() => 0)));
      } catch (error) {
        this.exact = this.exact.map((value, i) => {
          if (value !== null) this.position[i] = nearest(this.controls[i].values, value);
          return null;
        });
        this.wanted = null;
        this.refresh();
        this.note.textContent = `${error.message} The nearest value that was prepared is shown.`;
      }
    }
    this.asking = false;
  }

  // ---- painting -----------------------------------------------------------------------------------------------------

  alt() {
    const state = this.controls.map((control, i) =>
      control.kind === "again" ? `run ${this.values[control.name] + 1}` : `${control.label} = ${this.text(i)}`,
    );
    return `${this.spec.title}. ${state.join("; ")}. ${this.picture.says}`;
  }

  paint(picture) {
    this.picture = picture;
    this.width = this.root.clientWidth;
    this.says.textContent = picture.says;
    // Read all widths first: one layout for the whole picture instead of one for each panel.
    const widths = this.frames.map((frame) => frame.body.clientWidth);
    picture.panels.forEach((part, i) => {
      const { title, legend, body } = this.frames[i];
      title.textContent = part.title;
      if (part.kind === "Table") return tableHtml(body, part);
      const words = legendHtml(part, `${this.id}-${i}`);
      if (legend.innerHTML !== words) legend.innerHTML = words;
      panelSvg(body, part, widths[i] || 460, `${this.id}-${i}`, this.alt());
    });
    this.root.dataset.painted = ++this.painted;
  }

  destroy() {
    this.watch.disconnect();
  }
}

// ---- in Jupyter (anywidget) -----------------------------------------------------------------------------------------

export const PATIENCE = 10000; // milliseconds that we wait for a kernel

function render({ model, el: root }) {
  const waiting = new Map();
  let number = 0;
  const hear = (message, buffers) => {
    const promise = waiting.get(message.answer);
    waiting.delete(message.answer);
    if (!promise) return;
    if (message.error) promise.reject(new Error(message.error));
    else promise.resolve({ spec: message.spec, bytes: buffers[0] });
  };
  const ask = (values) =>
    new Promise((resolve, reject) => {
      const id = ++number;
      waiting.set(id, { resolve, reject });
      setTimeout(() => waiting.delete(id) && reject(new Error("The kernel does not answer.")), PATIENCE);
      model.send({ ask: id, values });
    });
  let timer;
  const moved = (values) => {
    clearTimeout(timer); // the kernel learns where the sliders stand, but not at every step
    timer = setTimeout(() => {
      model.set("values", values);
      model.save_changes();
    }, 150);
  };
  const explorer = new Explorer(root, JSON.parse(model.get("spec")), model.get("buffer"), { ask, moved });
  if (JSON.stringify(model.get("values")) !== JSON.stringify(explorer.values)) explorer.set(model.get("values"));
  const follow = () => {
    if (JSON.stringify(model.get("values")) !== JSON.stringify(explorer.values)) explorer.set(model.get("values"));
  };
  model.on("msg:custom", hear);
  model.on("change:values", follow);
  return () => {
    clearTimeout(timer);
    model.off("msg:custom", hear);
    model.off("change:values", follow);
    explorer.destroy();
  };
}

export default { render };

// ---- in a page without Jupyter --------------------------------------------------------------------------------------

export async function boot(place) {
  for (const root of place.querySelectorAll(".dpcourse-explorer")) {
    const data = root.querySelector("script[data-buffer]");
    const packed = Uint8Array.from(atob(data.textContent.trim()), (char) => char.charCodeAt(0));
    const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
    const bytes = await new Response(stream).arrayBuffer();
    const spec = JSON.parse(root.querySelector("script[data-spec]").textContent);
    new Explorer(root, spec, bytes);
  }
}
