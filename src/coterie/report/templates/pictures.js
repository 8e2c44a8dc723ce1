// Drawings that only the report has: the heat map, the tree and the curve of the number of topics.
import { picture } from "./charts.js";
import { topicOf } from "./content.js";
import { cut, s } from "./dom.js";

const NARROW = window.innerWidth < 640;

export function heatMap(similarity, tell) {
  const ids = similarity.topics, n = ids.length, cell = Math.max(Math.min(Math.floor(420 / n), 24), 12), left = NARROW ? 120 : 190, top = 22;
  const size = n * cell;
  const apart = similarity.percent.flatMap((row, y) => row.filter((_, x) => x !== y));
  const least = apart.reduce((a, b) => Math.min(a, b), 100), range = Math.max(apart.reduce((a, b) => Math.max(a, b), 0) - least, 1);
  const squares = [];
  similarity.percent.forEach((row, y) => row.forEach((value, x) => {
    if (x !== y) squares.push(s("rect", { x: left + x * cell, y: top + y * cell, width: cell - 1, height: cell - 1,
      fill: "var(--accent)", "fill-opacity": (0.05 + 0.9 * ((value - least) / range) ** 1.5).toFixed(2) }));
  }));
  const names = ids.map((id, y) => s("text", { x: left - 6, y: top + (y + 0.5) * cell + 4, "text-anchor": "end",
    class: "strong", direction: "ltr" }, `${cut(topicOf.get(id).label, NARROW ? 13 : 25)}  ${id}`));
  const numbers = ids.map((id, x) => s("text", { x: left + (x + 0.5) * cell, y: top - 6, "text-anchor": "middle",
    class: cell < 18 ? "fine" : null }, id));
  const drawn = picture(left + size + 4, top + size + 4, "Similarity of each pair of topics",
    [squares, names, numbers], true);
  drawn.addEventListener("pointermove", (event) => {
    const box = drawn.getBoundingClientRect(), scale = (left + size + 4) / box.width;
    const x = Math.floor(((event.clientX - box.left) * scale - left) / cell);
    const y = Math.floor(((event.clientY - box.top) * scale - top) / cell);
    if (x >= 0 && y >= 0 && x < n && y < n) tell(ids[y], ids[x], similarity.percent[y][x]);
  });
  return drawn;
}

export function treePicture(rows) {
  // rows: height, number of the whole, topic id or name; a part comes after its whole
  const parts = rows.map(() => []), leaves = [], y = [], line = 20, width = NARROW ? 350 : 520, room = 250;
  rows.forEach(([, whole], at) => { if (whole >= 0) parts[whole].push(at); });
  rows.forEach((_, at) => { if (!parts[at].length) { y[at] = (leaves.length + 0.7) * line; leaves.push(at); } });
  for (let at = rows.length - 1; at >= 0; at--) if (parts[at].length) y[at] = (y[parts[at][0]] + y[parts[at].at(-1)]) / 2;
  const most = Math.max(rows[0][0], 1e-9), x = (at) => 6 + (1 - rows[at][0] / most) * (width - room - 12);
  const lines = rows.flatMap((row, at) => parts[at].map((part) => s("path", {
    d: `M${x(at).toFixed(1)} ${y[at].toFixed(1)}V${y[part].toFixed(1)}H${x(part).toFixed(1)}`,
    fill: "none", stroke: "var(--quiet)", "stroke-width": 1,
  }, s("title", {}, typeof row[2] === "string" ? row[2] : ""))));
  const names = leaves.map((at) => {
    const topic = topicOf.get(rows[at][2]);
    return s("a", { href: `#topic-${topic.id}` },
      s("rect", { x: width - room, y: y[at] - 5, width: 9, height: 9, rx: 2, fill: topic.colour }),
      s("text", { x: width - room + 15, y: y[at] + 4, class: "strong" }, `${topic.id}  ${cut(topic.label, 34)}`));
  });
  return picture(width, leaves.length * line + 8, "Topics as a tree", [lines, names], true);
}

export function curvePicture(found) {
  const width = 640, height = 220, left = 16, right = 624, base = 180, top = 24;
  const last = Math.max(found.curve.at(-1)[0], found.high, 2), first = Math.min(found.curve[0][0], found.low);
  const span = Math.max(Math.log(last / first), 1e-9);
  const x = (k) => left + (Math.log(k / first) / span) * (right - left), y = (value) => base - value * (base - top);
  const path = found.curve.map(([k, value], at) => `${at ? "L" : "M"}${x(k).toFixed(1)} ${y(value).toFixed(1)}`).join("");
  const ticks = [1, 2, 3, 5, 8, 12, 20, 30, 50, 80, 120, 200, 300, 500, 800].filter((k) => k >= first && k <= last);
  const near = (k) => {
    const after = found.curve.findIndex(([number]) => number >= k);
    if (after < 1) return found.curve.at(after)[1];
    const [[k0, low], [k1, high]] = found.curve.slice(after - 1, after + 1);
    return low + ((high - low) * Math.log(k / k0)) / Math.log(k1 / k0);
  };
  const mark = (k, name, strong) => [
    s("line", { x1: x(k), x2: x(k), y1: base, y2: y(near(k)), stroke: "var(--accent)", "stroke-width": strong ? 2 : 1, "stroke-dasharray": strong ? null : "3 3" }),
    s("circle", { cx: x(k), cy: y(near(k)), r: strong ? 5 : 3.5, fill: strong ? "var(--accent)" : "var(--raised)", stroke: "var(--accent)" }),
    s("text", { x: x(k), y: y(near(k)) - 9, "text-anchor": "middle", class: "strong" }, name),
  ];
  return picture(width, height, `How plausible each number of topics is; ${found.chosen} was chosen`, [
    s("rect", { x: x(found.low), y: top - 16, width: Math.max(x(found.high) - x(found.low), 2), height: base - top + 16, fill: "var(--accent)", "fill-opacity": 0.09 }),
    s("path", { d: path, fill: "none", stroke: "var(--accent)", "stroke-width": 1.5 }),
    s("line", { x1: left, x2: right, y1: base + 0.5, y2: base + 0.5, stroke: "var(--line)" }),
    ticks.map((k) => s("text", { x: x(k), y: base + 16, "text-anchor": "middle" }, k)),
    s("text", { x: (left + right) / 2, y: height - 4, "text-anchor": "middle" }, "number of topics"),
    found.peaks.map((k) => mark(k, String(k), false)), mark(found.chosen, String(found.chosen), true),
  ]);
}
