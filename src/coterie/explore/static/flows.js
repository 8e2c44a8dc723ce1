// Where the texts of one run are in another: two columns of bars with bands between them.
import { cut, s } from "./dom.js";
import { many, percent } from "./numbers.js";

const LINE = 17, GAP = 3, BAR = 12, LEAST = 0.01;

/**
 * Draw flows. `left` and `right` are topics, `flows` [{ from, to, count }], `width` in pixels, `tell(sentence or null)`
 * hears what is under the pointer or has the focus.
 */
export function flowPicture({ left, right, flows, width, tell }) {
  const room = Math.min(Math.max(width * 0.32, 96), 240), drawn = drawable(flows), most = Math.max(left.length, right.length);
  const unit = Math.max(most * 14, 300) / Math.max(sum(flows), 1);
  const from = stack(left.filter((topic) => flows.some((flow) => flow.from === topic.id)), (id) => sum(flows.filter((flow) => flow.from === id)),
    unit);
  const colours = inherited(left, right, flows), order = middle(right.map((topic) => ({ ...topic, colour: colours.get(topic.id) })), flows, from), to = stack(order, (id) => sum(flows.filter((flow) => flow.to === id)), unit);
  level(from, to);
  const height = Math.max(from.height, to.height) + 8, x0 = room, x1 = width - room;
  const bands = [], svg = s("svg", { viewBox: `0 0 ${width} ${height}`, width, height, class: "flows", role: "group",
    "aria-label": "Texts that went from topics of one run to topics of the other" });
  const light = (test) => {
    svg.classList.toggle("lit", Boolean(test));
    for (const band of bands) band.element.classList.toggle("on", Boolean(test) && test(band.flow));
  };
  const used = { from: new Map(), to: new Map() };
  const next = (side, id, size) => { const now = used[side].get(id) || 0; used[side].set(id, now + size); return now; };
  for (const flow of drawn.sort((a, b) => from.at.get(a.from) - from.at.get(b.from) || to.at.get(a.to) - to.at.get(b.to))) {
    const tall = flow.count * unit;
    flow.y0 = from.at.get(flow.from) + next("from", flow.from, tall);
  }
  for (const flow of [...drawn].sort((a, b) => to.at.get(a.to) - to.at.get(b.to) || a.y0 - b.y0)) flow.y1 = to.at.get(flow.to) + next("to", flow.to,
    flow.count * unit);
  for (const flow of drawn) bands.push({ flow, element: band(flow, unit, x0 + BAR, x1 - BAR, left.find((topic) => topic.id === flow.from).colour) });
  for (const { flow, element } of bands) {
    element.addEventListener("pointerenter", () => { light((other) => other === flow); tell({ flow }); });
    element.addEventListener("pointerleave", () => { light(null); tell(null); });
  }
  svg.append(...bands.map((one) => one.element), ...column(from, left, x0, "from", flows, { room, light, tell }),
    ...column(to, order, x1 - BAR, "to", flows, { room, light, tell }),
    s("text", { x: x0 + BAR, y: 12, "text-anchor": "end" }, "before"), s("text", { x: x1 - BAR, y: 12 }, "after"));
  return svg;
}

const sum = (flows) => flows.reduce((total, flow) => total + flow.count, 0);

/**
 * Bands that matter: at least 1 % of the topic they leave and of the one they reach, or the largest of one of them, so
 * that no topic stands alone. The table has the others.
 */
export function drawable(flows) {
  const add = (map, id, value, join) => map.set(id, join(map.get(id) || 0, value)), sides = ["from", "to"].map((side) => {
    const all = new Map(), most = new Map();
    for (const flow of flows) { add(all, flow[side], flow.count, (a, b) => a + b); add(most, flow[side], flow.count, Math.max); }
    return { side, all, most };
  });
  const large = (flow) => sides.every(({ side, all }) => flow.count >= LEAST * all.get(flow[side])) || sides.some(({ side, most }) => flow.count === most.get(flow[side]));
  return flows.filter((flow) => flow.count > 0 && large(flow)).map((flow) => ({ ...flow }));
}

/** Topics after, each in the colour of the topic before that most of its texts come from; null for one without. */
export function inherited(left, right, flows) {
  const colours = new Map(left.map((topic) => [topic.id, topic.colour]));
  return new Map(right.map((topic) => {
    const most = flows.filter((flow) => flow.to === topic.id && flow.count > 0).sort((a, b) => b.count - a.count || a.from - b.from)[0];
    return [topic.id, most ? colours.get(most.from) : null];
  }));
}

function stack(topics, size, unit) {
  const at = new Map(), tall = new Map();
  let y = 20;
  for (const topic of topics) {
    const high = size(topic.id) * unit;
    at.set(topic.id, y + Math.max(LINE - high, 0) / 2);
    tall.set(topic.id, Math.max(high, 1.5));
    y += Math.max(high, LINE) + GAP;
  }
  return { at, tall, height: y };
}

/** The shorter column gets wider gaps, so that both end at the same height. */
function level(one, other) {
  const [short, long] = one.height < other.height ? [one, other] : [other, one], gap = (long.height - short.height) / Math.max(short.at.size - 1, 1);
  [...short.at.keys()].forEach((id, at) => short.at.set(id, short.at.get(id) + at * gap));
}

/** Topics on the right in the order of where their texts come from, so that few bands cross. */
function middle(right, flows, from) {
  const place = new Map();
  for (const topic of right) {
    const into = flows.filter((flow) => flow.to === topic.id), all = sum(into);
    if (all) place.set(topic.id, into.reduce((total, flow) => total + flow.count * from.at.get(flow.from), 0) / all);
  }
  return right.filter((topic) => place.has(topic.id)).sort((a, b) => place.get(a.id) - place.get(b.id));
}

function band(flow, unit, x0, x1, colour) {
  const tall = Math.max(flow.count * unit, 0.7), half = (x0 + x1) / 2, { y0, y1 } = flow;
  const d = `M${x0} ${y0}C${half} ${y0} ${half} ${y1} ${x1} ${y1}V${y1 + tall}C${half} ${y1 + tall} ${half} ${y0 + tall} ${x0} ${y0 + tall}Z`;
  return s("path", { d, fill: colour, class: "band" });
}

function column(stacked, topics, x, side, flows, { room, light, tell }) {
  const end = side === "from", all = sum(flows), signs = Math.floor((room - 16) / 5.9);
  return topics.filter((topic) => stacked.at.has(topic.id)).map((topic) => {
    const y = stacked.at.get(topic.id), tall = stacked.tall.get(topic.id), size = sum(flows.filter((flow) => flow[side] === topic.id));
    const group = s("g", { class: "bar", tabindex: 0, role: "img",
      "aria-label": `${end ? "before" : "after"}: ${topic.label}, ${many(size, "text")}, ${percent(size, all)}` },
      s("rect", { x, y, width: BAR, height: tall, rx: 1.5, fill: topic.colour ?? "var(--quiet)" }),
      s("text", { x: end ? x - 6 : x + BAR + 6, y: y + tall / 2 + 4, "text-anchor": end ? "end" : "start", class: "strong" },
        cut(topic.label, signs)));
    const on = () => { light((flow) => flow[side] === topic.id); tell({ topic, side }); }, off = () => { light(null); tell(null); };
    for (const name of ["pointerenter", "focus"]) group.addEventListener(name, on);
    for (const name of ["pointerleave", "blur"]) group.addEventListener(name, off);
    return group;
  });
}
