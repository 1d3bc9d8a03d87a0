// Where explorers live: in Jupyter (anywidget), and in a page without it.

import { Explorer } from "./explorer.js";
import { freshId } from "./reading.js";

export const PATIENCE = 10000; // milliseconds that we wait for a kernel

function render({ model, el: root }) {
  const waiting = new Map();
  const hear = (message, buffers) => {
    const promise = waiting.get(message.answer);
    waiting.delete(message.answer);
    if (!promise) return;
    if (message.error) promise.reject(new Error(message.error));
    else promise.resolve({ spec: message.spec, bytes: buffers[0] });
  };
  const ask = (values) =>
    new Promise((resolve, reject) => {
      const id = freshId(); // an answer reaches every view of the widget: it must know its own
      waiting.set(id, { resolve, reject });
      const fail = (words) => waiting.delete(id) && reject(new Error(words));
      setTimeout(() => fail("The kernel does not answer."), PATIENCE);
      try {
        model.send({ ask: id, values });
      } catch {
        fail("No kernel runs here.");
      }
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

export async function boot(place) {
  for (const root of place.querySelectorAll(".dpcourse-explorer")) {
    try {
      await bootOne(root);
    } catch (error) {
      console.error(error); // the still picture stays; the others on the page come to life
    }
  }
}

async function bootOne(root) {
  const data = root.querySelector("script[data-buffer]");
  const packed = Uint8Array.from(atob(data.textContent.trim()), (char) => char.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
  const bytes = await new Response(stream).arrayBuffer();
  const spec = JSON.parse(root.querySelector("script[data-spec]").textContent);
  if (root.closest(".reveal")) root.dataset.deck = "true";
  new Explorer(root, spec, bytes);
}
