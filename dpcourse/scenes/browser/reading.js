// Reading: a packed scene (dpcourse/scenes/packing.py) is a description and one buffer of numbers.
// The browser does no mathematics of privacy: every number that it draws was computed in Python.

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
    let array = numbers.subarray(start, start + node.n);
    if (node.base) array = Float64Array.from(array, (value) => value + node.base); // far from 0 and close together
    if (node.shape) array.shape = node.shape;
    return array;
  }
  return node.$ === "text" ? node.texts[numbers[start]] : numbers[start] + (node.base ?? 0);
}

export function numbersIn(bytes) {
  const view = ArrayBuffer.isView(bytes) ? bytes : new Uint8Array(bytes);
  return new Float32Array(view.buffer.slice(view.byteOffset, view.byteOffset + view.byteLength));
}

// "1,000" is a thousand, "1,7" is what much of Europe writes for 1.7; a unit behind the number is left out.
export function typedNumber(text, control) {
  let plain = text.trim().replace("−", "-").replace(/[\s_]/g, "");
  plain = /^-?\d{1,3}(,\d{3})+(\.\d+)?\D*$/.test(plain) ? plain.replaceAll(",", "") : plain.replace(",", ".");
  const found = plain.match(/^-?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?(?=\D*$)/i);
  if (!found) return NaN;
  const percent = text.includes("%") || control.texts[0].includes("%");
  return Number(found[0]) / (percent ? 100 : 1);
}

export const nearest = (values, wanted) =>
  values.reduce((best, value, i) => (Math.abs(value - wanted) < Math.abs(values[best] - wanted) ? i : best), 0);

// Ids must differ between all explorers of a page; Jupyter loads this script once for each, so a counter would not do.
export const freshId = () => `dpx${Math.random().toString(36).slice(2, 10)}`;
