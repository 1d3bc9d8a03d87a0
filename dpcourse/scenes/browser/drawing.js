// Shapes: a panel as SVG, its legend and a table as HTML. Pure functions of the picture and the width.

const CHAR = 6.7; // the width of a character of the small font, about
const SUPER = { "-": "⁻", 0: "⁰", 1: "¹", 2: "²", 3: "³", 4: "⁴", 5: "⁵", 6: "⁶", 7: "⁷", 8: "⁸", 9: "⁹" };
const DASH = { solid: "", dashed: "7 4", dotted: "2 3.5", dashdot: "8 3 2 3" };
// matplotlib's cividis, at nine places
const CIVIDIS = [[0, 34, 78], [26, 56, 111], [66, 78, 108], [92, 100, 110], [120, 121, 121], [148, 143, 120],
  [178, 168, 111], [211, 195, 95], [254, 232, 56]];

export function el(tag, className = "", html = "") {
  const made = document.createElement(tag);
  if (className) made.className = className;
  if (html) made.innerHTML = html;
  return made;
}

export const esc = (text) =>
  String(text).replace(/[&<>"]/g, (char) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" })[char]);

// ---- axes -----------------------------------------------------------------------------------------------------------

function linearTicks(low, high, room) {
  const most = Math.max(2, Math.floor(room));
  const rough = (high - low) / most;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((m) => m * power).find((s) => s >= rough * 0.999);
  const digits = Math.max(0, Math.min(8, Math.ceil(-Math.log10(step) - 1e-9)));
  const ticks = [];
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high + step * 1e-9; k++) ticks.push([k * step, number(k * step, digits, step)]);
  return ticks;
}

function number(value, digits, step = 1e6) {
  const size = Math.abs(value);
  if (size < 1e-12) value = 0; // not "−0.00"
  if (size >= 1e6 && step >= 1e4) return `${+(value / 1e6).toFixed(2)}M`;
  return value.toLocaleString("en", { minimumFractionDigits: digits, maximumFractionDigits: digits }).replace("-", "−");
}

function logTicks(low, high, room) {
  const [first, last] = [Math.ceil(Math.log10(low) - 1e-9), Math.floor(Math.log10(high) + 1e-9)];
  const ticks = [];
  const fine = last - first < 2;
  const step = Math.max(1, Math.ceil((last - first + 1) / Math.max(2, room)));
  const plain = first >= -3 && last <= 5; // 0.001, 0.01 ... or 10⁻⁶, 10⁻⁵ ..., not both on one axis
  for (let k = first - 1; k <= last; k++) {
    for (const m of fine ? [1, 2, 5] : [1]) {
      const value = m * 10 ** k;
      if (value < low * 0.999 || value > high * 1.001 || (!fine && (k - last) % step)) continue;
      const power = `10${[...String(k)].map((c) => SUPER[c]).join("")}`;
      ticks.push([value, plain || fine ? number(value, Math.max(0, -k)) : k === 0 ? "1" : power]);
    }
  }
  return ticks;
}

function scaleOf(axis, from, to) {
  const f = axis.log ? Math.log : (v) => v;
  const [low, high] = [f(axis.low), f(axis.high)];
  const scale = (value) => from + ((f(value) - low) / (high - low)) * (to - from);
  scale.inverse = (pixel) => {
    const at = low + ((pixel - from) / (to - from)) * (high - low);
    return axis.log ? Math.exp(at) : at;
  };
  return scale;
}

// ---- marks ----------------------------------------------------------------------------------------------------------

const n1 = (value) => Math.round(value * 10) / 10;
const ink = (colour) => `var(--dpx-${colour})`;

function path(xs, ys, X, Y, backwards = false) {
  let made = "";
  for (let k = 0; k < xs.length; k++) {
    const i = backwards ? xs.length - 1 - k : k;
    made += `${k || backwards ? "L" : "M"}${n1(X(xs[i]))} ${n1(Y(ys[i]))}`;
  }
  return made;
}

function symbol(marker, x, y, r) {
  [x, y] = [n1(x), n1(y)];
  if (marker === "square") return `M${x - r} ${y - r}h${2 * r}v${2 * r}h${-2 * r}z`;
  if (marker === "triangle") return `M${x} ${n1(y - 1.2 * r)}l${n1(1.1 * r)} ${n1(2 * r)}h${n1(-2.2 * r)}z`;
  if (marker === "diamond") return `M${x} ${n1(y - 1.3 * r)}l${n1(1.3 * r)} ${n1(1.3 * r)}l${n1(-1.3 * r)} ${n1(1.3 * r)}l${n1(-1.3 * r)} ${n1(-1.3 * r)}z`;
  if (marker === "cross") return `M${n1(x - r)} ${n1(y - r)}l${2 * r} ${2 * r}m${-2 * r} 0l${2 * r} ${-2 * r}`;
  return `M${n1(x - r)} ${y}a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0z`;
}

function pointStyle(mark) {
  return mark.marker === "cross"
    ? `fill="none" stroke="${ink(mark.colour)}" stroke-width="2"`
    : `fill="${ink(mark.colour)}" stroke="var(--dpx-ground)" stroke-width="0.7"`;
}

function barStyle(mark, key) {
  const colour = ink(mark.colour);
  if (mark.texture === "solid") return `fill="${colour}"`;
  return `fill="${mark.texture === "striped" ? `url(#${key}-${mark.colour})` : "none"}" stroke="${colour}" stroke-width="1.3"`;
}

function stripes(marks, key) {
  const colours = new Set(marks.filter((mark) => mark.texture === "striped").map((mark) => mark.colour));
  return [...colours].map((colour) =>
    `<pattern id="${key}-${colour}" width="5" height="5" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">` +
    `<rect width="1.8" height="5" fill="${ink(colour)}"/></pattern>`).join("");
}

function shade(fraction) {
  const at = Math.min(0.9999, Math.max(0, fraction)) * 8;
  const [k, rest] = [Math.floor(at), at % 1];
  return CIVIDIS[k].map((value, i) => Math.round(value + rest * (CIVIDIS[k + 1][i] - value)));
}

function heatImage(mark) {
  const [rows, columns] = mark.z.shape;
  const canvas = el("canvas");
  [canvas.width, canvas.height] = [columns, rows];
  const context = canvas.getContext("2d");
  const image = context.createImageData(columns, rows);
  for (let r = 0; r < rows; r++)
    for (let c = 0; c < columns; c++) {
      const fraction = (mark.z[r * columns + c] - mark.low) / (mark.high - mark.low);
      image.data.set([...shade(fraction), 255], 4 * ((rows - 1 - r) * columns + c));
    }
  context.putImageData(image, 0, 0);
  return canvas.toDataURL();
}

const DRAW = {
  Line: (mark, X, Y) =>
    `<path d="${path(mark.x, mark.y, X, Y)}" fill="none" stroke="${ink(mark.colour)}" stroke-width="${mark.width}" ` +
    `stroke-dasharray="${DASH[mark.dash]}" stroke-linejoin="round"/>`,
  Band: (mark, X, Y) =>
    `<path d="${path(mark.x, mark.high, X, Y)}${path(mark.x, mark.low, X, Y, true)}z" fill="${ink(mark.colour)}" opacity="0.25"/>`,
  Bars: (mark, X, Y, key) => {
    let made = "";
    for (let i = 0; i < mark.x.length; i++) {
      const side = [mark.x[i] - mark.width / 2, mark.x[i] + mark.width / 2];
      const [along, across] = mark.lying ? [Y, X] : [X, Y];
      const [a, b] = side.map(along).sort((p, q) => p - q);
      const [c, d] = [mark.base, mark.height[i]].map(across).sort((p, q) => p - q);
      if (d - c < 0.05) continue; // nothing there: no outline either
      made += mark.lying ? `M${n1(c)} ${n1(a)}H${n1(d)}V${n1(b)}H${n1(c)}z` : `M${n1(a)} ${n1(c)}H${n1(b)}V${n1(d)}H${n1(a)}z`;
    }
    return `<path d="${made}" ${barStyle(mark, key)}/>`;
  },
  Points: (mark, X, Y) => {
    let made = "";
    for (let i = 0; i < mark.x.length; i++) made += symbol(mark.marker, X(mark.x[i]), Y(mark.y[i]), mark.size / 2);
    return `<path d="${made}" ${pointStyle(mark)}/>`;
  },
  Heat: (mark, X, Y) =>
    `<image href="${heatImage(mark)}" x="${n1(X(mark.left))}" y="${n1(Y(mark.top))}" width="${n1(X(mark.right) - X(mark.left))}" ` +
    `height="${n1(Y(mark.bottom) - Y(mark.top))}" preserveAspectRatio="none" style="image-rendering:pixelated"/>`,
  Rule: (mark, X, Y, key, box) =>
    `<path d="${mark.axis === "x" ? `M${n1(X(mark.at))} ${box.top}V${box.bottom}` : `M${box.left} ${n1(Y(mark.at))}H${box.right}`}" ` +
    `stroke="${ink(mark.colour)}" stroke-width="1.4" stroke-dasharray="${DASH[mark.dash]}"/>`,
  Label: () => "",
};

// Words are placed last, each where it does not lie on an earlier one.
function words(marks, X, Y, box) {
  const taken = [];
  let made = "";
  const put = (text, x, y, anchor, colour) => {
    const width = text.length * CHAR;
    let left = anchor === "start" ? x : anchor === "end" ? x - width : x - width / 2;
    left = Math.max(box.left + 1, Math.min(box.right - width - 1, left));
    const free = (top) => top >= box.top - 1 && top + 14 <= box.bottom + 1 &&
      !taken.some((t) => left < t.left + t.width && t.left < left + width && top < t.top + 14 && t.top < top + 14);
    const tops = [0, 1, -1, 2, -2, 3, -3, 4, -4].map((k) => y - 11 + 14 * k);
    const top = tops.find(free) ?? Math.max(box.top, y - 11);
    taken.push({ left, top, width });
    made += `<text class="dpx-word" x="${n1(left)}" y="${n1(top + 11)}" style="--word: ${ink(colour)}">${esc(text)}</text>`;
  };
  for (const mark of marks) {
    if (mark.kind === "Label") put(mark.text, X(mark.x), Y(mark.y) - 3, mark.anchor, mark.colour);
    if (mark.kind !== "Rule" || !mark.label) continue;
    if (mark.axis === "x") {
      const x = X(mark.at);
      const right = x + 5 + mark.label.length * CHAR < box.right;
      put(mark.label, right ? x + 5 : x - 5, box.top + 12, right ? "start" : "end", mark.colour);
    } else put(mark.label, box.right - 4, Y(mark.at) - 4 < box.top + 10 ? Y(mark.at) + 13 : Y(mark.at) - 4, "end", mark.colour);
  }
  return made;
}

// One unit of x as long as one unit of y: a circle stays round, a map keeps its shape.
function keepRound(box, part) {
  const unit = Math.min((box.right - box.left) / (part.x.high - part.x.low), (box.bottom - box.top) / (part.y.high - part.y.low));
  box.right = box.left + unit * (part.x.high - part.x.low);
  box.top = box.bottom - unit * (part.y.high - part.y.low);
}

// ---- a whole panel --------------------------------------------------------------------------------------------------

export function panelSvg(body, part, width, key, alt) {
  const height = part.height;
  const yTicks = part.y.ticks ?? (part.y.log ? logTicks : linearTicks)(part.y.low, part.y.high, (height - 60) / 36);
  const widest = Math.max(...yTicks.map(([, text]) => text.length), 1);
  const box = { left: Math.min(width * 0.4, widest * CHAR + 14), right: width - 14, top: 26, bottom: height - 40 };
  if (part.equal) keepRound(box, part);
  const X = scaleOf(part.x, box.left, box.right);
  const Y = scaleOf(part.y, box.bottom, box.top);
  const xTicks = part.x.ticks ?? (part.x.log ? logTicks : linearTicks)(part.x.low, part.x.high, (box.right - box.left) / 62);
  let made = `<defs><clipPath id="${key}-clip"><rect x="${box.left - 7}" y="${box.top - 7}" width="${box.right - box.left + 14}" ` +
    `height="${box.bottom - box.top + 14}"/></clipPath>${stripes(part.marks, key)}</defs>`;
  for (const [at, text] of yTicks)
    made += `<path class="dpx-grid" d="M${box.left} ${n1(Y(at))}H${box.right}"/><text x="${box.left - 6}" y="${n1(Y(at)) + 4}" text-anchor="end">${esc(text)}</text>`;
  let free = -Infinity; // where the last tick's word ended
  for (const [at, text] of xTicks) {
    const half = (text.length * CHAR) / 2;
    const x = Math.min(Math.max(X(at), half), width - half);
    made += `<path class="dpx-tick" d="M${n1(X(at))} ${box.bottom}v5"/>`;
    if (x - half < free + 4) continue;
    free = x + half;
    made += `<text x="${n1(x)}" y="${box.bottom + 17}" text-anchor="middle">${esc(text)}</text>`;
  }
  made += `<path class="dpx-axis" d="M${box.left} ${box.top}V${box.bottom}H${box.right}"/>`;
  made += `<text class="dpx-name" x="2" y="${n1(box.top - 14)}">${esc(part.y.label)}</text>`;
  made += `<text class="dpx-name" x="${n1((box.left + box.right) / 2)}" y="${height - 5}" text-anchor="middle">${esc(part.x.label)}</text>`;
  made += `<g clip-path="url(#${key}-clip)">`;
  part.marks.forEach((mark, i) => (made += `<g data-mark="${i}">${DRAW[mark.kind](mark, X, Y, key, box)}</g>`));
  made += `</g>${words(part.marks, X, Y, box)}`;
  let svg = body.firstElementChild;
  if (!svg) {
    body.innerHTML = '<svg role="img"></svg>';
    svg = body.firstElementChild;
  }
  svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
  svg.setAttribute("height", height);
  svg.setAttribute("aria-label", `${part.title}. ${alt}`);
  svg.innerHTML = made;
  svg.valueAt = (pixel) => X.inverse(pixel);
  svg.heightAt = (pixel) => Y.inverse(pixel);
  svg.inside = (x, y) => x >= box.left - 6 && x <= box.right + 6 && y >= box.top - 6 && y <= box.bottom + 6;
}

const SWATCH = {
  Line: (mark) => `<path d="M1 7H29" stroke="${ink(mark.colour)}" stroke-width="${Math.max(2, mark.width)}" stroke-dasharray="${DASH[mark.dash]}"/>`,
  Band: (mark) => `<rect x="1" y="1" width="28" height="12" fill="${ink(mark.colour)}" opacity="0.25"/>`,
  Bars: (mark, key) => `<defs>${stripes([mark], key)}</defs><rect x="8" y="1" width="14" height="12" ${barStyle(mark, key)}/>`,
  Points: (mark) => `<path d="${symbol(mark.marker, 15, 7, Math.max(4, mark.size / 2))}" ${pointStyle(mark)}/>`,
};

export function legendHtml(part, key) {
  return part.marks
    .map((mark, i) => {
      if (!mark.label || mark.kind === "Rule" || mark.kind === "Label") return "";
      if (mark.kind === "Heat") {
        const stops = [0, 0.25, 0.5, 0.75, 1].map((f) => `rgb(${shade(f)})`).join(",");
        const [low, high] = [mark.low, mark.high].map((value) => +value.toPrecision(3));
        return `<span class="dpx-entry">${esc(mark.label)}: ${low} <i class="dpx-shades" style="background:linear-gradient(90deg,${stops})"></i> ${high}</span>`;
      }
      return `<span class="dpx-entry"><svg width="30" height="14" aria-hidden="true">${SWATCH[mark.kind](mark, `${key}-l${i}`)}</svg>${esc(mark.label)}</span>`;
    })
    .join("");
}

export function tableHtml(body, part) {
  const head = ["", ...part.columns].map((text) => `<th scope="col">${esc(text)}</th>`).join("");
  const rows = part.rows.map((row, i) => {
    const on = part.marked[i] === 1;
    const goesOn = part.rows[i + 1]?.[0] === ""; // the next row belongs to this one: no rule between them, one mark
    return `<tr class="${on ? "dpx-marked" : ""}${goesOn ? " dpx-goes-on" : ""}"><td>${on && row[0] !== "" ? esc(part.mark) : ""}</td>${row.map((text) => `<td>${esc(text)}</td>`).join("")}</tr>`;
  });
  body.setAttribute("aria-label", part.title);
  const made = `<table><thead><tr>${head}</tr></thead><tbody>${rows.join("")}</tbody></table>`;
  if (body.written !== made) body.innerHTML = body.written = made; // a table is slow to lay out: only when it changes
}
