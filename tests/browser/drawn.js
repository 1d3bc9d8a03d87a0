() => {
  // Reads the drawing back: path coordinates, through the inverse of the axes, against the picture's numbers.
  const root = document.querySelector(".dpx"), explorer = root.explorer, faults = new Set();
  const probe = root.appendChild(document.createElement("span"));
  const colourOf = (name) => { probe.style.color = `var(--dpx-${name})`; return getComputedStyle(probe).color; };
  const numbers = (text) => (text.match(/-?\d+\.?\d*(e-?\d+)?/g) ?? []).map(Number);
  const apart = (axis, a, b) => {  // as a share of the axis
    const f = axis.log ? Math.log : (v) => v;
    return Math.abs(f(a) - f(b)) / (f(axis.high) - f(axis.low));
  };
  const subpaths = (d) => d.split("M").slice(1).map(numbers);
  const symbolShift = { circle: [1, 0], square: [1, 1], triangle: [0, 1.2], diamond: [0, 1.3], cross: [1, 1] };

  const look = () => explorer.picture.panels.forEach((part, p) => {
    const { body, legend } = explorer.frames[p];
    const say = (i, words) => faults.add(`panel ${p} mark ${i} at ${explorer.position}: ${words}`);
    if (part.kind === "Table") {
      const rows = [...body.querySelectorAll("tbody tr")];
      rows.forEach((row, i) => {
        if (row.classList.contains("dpx-marked") !== (part.marked[i] === 1)) say(i, "row marked wrongly");
        if ([...row.cells].slice(1).some((cell, j) => cell.textContent !== part.rows[i][j])) say(i, "row says something else");
      });
      if (rows.length !== part.rows.length) say(0, "rows are missing");
      return;
    }
    const named = part.marks.filter((m) => m.label && m.kind !== "Rule" && m.kind !== "Heat").map((m) => m.label);
    const entries = [...legend.querySelectorAll(".dpx-entry")].map((e) => e.textContent.trim());
    if (JSON.stringify(named) !== JSON.stringify(entries)) say("legend", `${entries} instead of ${named}`);
    const svg = body.querySelector("svg"), words = [...svg.querySelectorAll(".dpx-word")].map((w) => w.textContent);
    const pixel = 0.6 / Math.min(svg.clientWidth, svg.clientHeight - 70);
    const at = (x, y, wx, wy) =>
      apart(part.x, svg.valueAt(x), wx) < 2 * pixel && apart(part.y, svg.heightAt(y), wy) < 2 * pixel;
    part.marks.forEach((mark, i) => {
      const group = svg.querySelector(`[data-mark="${i}"]`);
      if (mark.kind === "Label") return words.includes(mark.text) || say(i, "word is missing");
      if (mark.kind === "Rule" && mark.label && !words.includes(mark.label)) say(i, "word is missing");
      const shape = group?.querySelector("path, image");
      if (!shape) return say(i, `${mark.kind} is not drawn`);
      if (mark.kind === "Heat") return;
      const style = getComputedStyle(shape), d = shape.getAttribute("d");
      const seen = style.fill === "none" || mark.kind === "Rule" || mark.texture === "striped" ? style.stroke : style.fill;
      if (seen !== colourOf(mark.colour)) say(i, `${seen} is not ${mark.colour}`);
      if (mark.kind === "Line") {
        const found = numbers(d);
        if (found.length !== 2 * mark.x.length) return say(i, "points are missing");
        for (let k = 0; k < mark.x.length; k++)
          if (!at(found[2 * k], found[2 * k + 1], mark.x[k], mark.y[k])) return say(i, `line is elsewhere at point ${k}`);
      } else if (mark.kind === "Band") {
        const found = numbers(d), n = mark.x.length;
        for (let k = 0; k < n; k++) {
          const [high, low] = [2 * k, 2 * (2 * n - 1 - k)];
          if (!at(found[high], found[high + 1], mark.x[k], mark.high[k]) || !at(found[low], found[low + 1], mark.x[k], mark.low[k]))
            return say(i, `band is elsewhere at point ${k}`);
        }
      } else if (mark.kind === "Points") {
        const starts = subpaths(d), [dx, dy] = symbolShift[mark.marker];
        if (starts.length < mark.x.length) return say(i, "points are missing");
        for (let k = 0; k < mark.x.length; k++) {
          const [x, y] = starts[k];
          if (!at(x + (dx * mark.size) / 2, y + (dy * mark.size) / 2, mark.x[k], mark.y[k])) return say(i, `point ${k} is elsewhere`);
        }
      } else if (mark.kind === "Rule") {
        const [x, y] = numbers(d), axis = part[mark.axis];
        const value = mark.axis === "x" ? svg.valueAt(x) : svg.heightAt(y);
        if (apart(axis, value, mark.at) > 2 * pixel) say(i, `rule stands at ${value}, not at ${mark.at}`);
      } else if (mark.kind === "Bars") {
        const boxes = subpaths(d).map(([a, c, b, e]) => [Math.min(a, b), Math.max(a, b), Math.min(c, e), Math.max(c, e)]);
        const across = mark.lying ? part.x : part.y;
        const wanted = [...mark.x].map((x, k) => [x, mark.height[k]]).filter(([, h]) => apart(across, h, mark.base) > 2 * pixel);
        if (boxes.length < wanted.length) return say(i, "bars are missing");
        for (const [x, h] of wanted) {
          const fits = boxes.some(([a, b, top, bottom]) => {
            const [mid, far, foot] = mark.lying ? [(top + bottom) / 2, h >= mark.base ? b : a, h >= mark.base ? a : b]
              : [(a + b) / 2, h >= mark.base ? top : bottom, h >= mark.base ? bottom : top];
            return mark.lying ? at(far, mid, h, x) && at(foot, mid, mark.base, x) : at(mid, far, x, h) && at(mid, foot, x, mark.base);
          });
          if (!fits) return say(i, `no bar at ${x} reaches ${h}`);
        }
      }
    });
  });

  look();
  explorer.controls.forEach((control, i) => {
    const n = control.values.length;
    for (const k of [0, Math.floor(n / 3), n - 1]) { explorer.move(i, k); look(); }
  });
  probe.remove();
  return [...faults].slice(0, 5);
}
