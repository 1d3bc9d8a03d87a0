// One explorer: its controls, its state, and what it paints. It follows its controls by itself and asks the kernel only
// for a value that is not on the grid.

import { el, esc, legendHtml, panelSvg, tableHtml } from "./drawing.js";
import { freshId, nearest, numbersIn, resolve, typedNumber } from "./reading.js";

// Keys that a focused control needs itself; all others, and any with Ctrl or Cmd, are left to Jupyter or the deck.
const OURS = /^(Arrow(Left|Right|Up|Down)|Home|End|Enter| |Tab|Backspace|Delete|.)$/;

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
    const [control, exact] = [this.controls[i], this.exact[i]];
    if (exact === null) return control.texts[this.position[i]];
    return control.texts[0].includes("%") ? `${+(100 * exact).toPrecision(6)}%` : String(exact);
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
    for (const one of root.querySelectorAll("input, select, button")) {
      one.dataset.lmSuppressShortcuts = "true";
      one.addEventListener("pointerup", () => one.type === "range" && root.dataset.deck && one.blur());
    }
    root.addEventListener("keydown", (event) => {
      if (OURS.test(event.key) && !(event.ctrlKey || event.metaKey || (event.shiftKey && event.key === "Enter")))
        event.stopPropagation();
    });
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
        exact.value = this.text(i);
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
      const { left, width } = svg.getBoundingClientRect(); // a deck of slides scales what it shows
      const wanted = svg.valueAt(((event.clientX - left) * svg.clientWidth) / width);
      this.move(i, nearest(this.controls[i].values, wanted));
    };
    let dragging = false;
    body.onpointerdown = (event) => {
      const svg = body.querySelector("svg"); // a press on the words beside the axes is not meant
      const { left, top, width } = svg.getBoundingClientRect();
      const unit = svg.clientWidth / width;
      dragging = event.button === 0 && svg.inside((event.clientX - left) * unit, (event.clientY - top) * unit);
      if (!dragging) return;
      body.setPointerCapture(event.pointerId);
      follow(event);
    };
    body.onpointermove = (event) => dragging && follow(event);
    body.onpointerup = body.onpointercancel = () => (dragging = false);
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
    this.wanted = null; // what was asked before is no longer wanted
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
        // While the slider runs ahead an answer is a picture on the way; once it rests on the grid it is out of date.
        if (this.exact.some((value) => value !== null))
          this.paint(resolve(spec.picture, numbersIn(bytes), this.sizes, this.sizes.map(() => 0)));
      } catch (error) {
        if (JSON.stringify(values) !== JSON.stringify(this.values)) continue; // nobody waits for it any more
        this.exact.forEach((value, i) => {
          if (value !== null) this.position[i] = nearest(this.controls[i].values, value);
          this.exact[i] = null;
        });
        this.refresh();
        this.moved(this.values);
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
