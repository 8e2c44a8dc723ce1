// Small drawings as SVG: each function takes numbers and gives an element.
import { bdi, count, decimal, h, many, percent, s, track } from "./dom.js";

function picture(width, height, label, children) {
  return s("svg", { viewBox: `0 0 ${width} ${height}`, width: "100%", role: "img", "aria-label": label }, children);
}

/** Texts by confidence, in tenths; a click on a bar calls choose(least, most). */
export function histogram(counts, shade, choose) {
  const width = 300, height = 62, base = 46, most = Math.max(...counts, 1), step = width / counts.length;
  const bars = counts.map((number, at) => {
    const tall = number ? Math.max((number / most) * 42, 1.5) : 0, low = at / counts.length, high = (at + 1) / counts.length;
    return s("g", { class: number ? "bar can" : "bar", onclick: number ? () => choose(low, high) : null },
      s("rect", { class: "catch", x: at * step, y: 0, width: step, height: base, fill: "transparent" }),
      s("rect", { x: at * step + 1, y: base - tall, width: step - 2, height: tall, fill: shade }),
      s("title", {}, `${decimal(low, 1)} to ${decimal(high, 1)}: ${many(number, "text")}`));
  });
  const marks = [["0", 0, "start"], ["0.5", width / 2, "middle"], ["1", width, "end"]];
  return picture(width, height, `Texts by confidence from 0 to 1, in tenths: ${counts.join(", ")}`, [
    bars, s("line", { x1: 0, x2: width, y1: base + 0.5, y2: base + 0.5, stroke: "var(--line)" }),
    marks.map(([text, x, anchor]) => s("text", { x, y: 59, "text-anchor": anchor }, text)),
  ]);
}

/** Share of the texts of each period. */
export function timeline({ every, periods, counts, shares }, shade) {
  if (!periods.length) return h("p", { class: "quiet small" }, "No text of it has a date.");
  const width = 300, height = 70, base = 52, most = Math.max(...shares, 1e-9), step = width / shares.length, last = periods.length - 1;
  const bars = shares.map((share, at) => {
    const tall = share ? Math.max((share / most) * 46, 1) : 0;
    return s("g", {}, s("rect", { x: at * step, y: 0, width: step, height: base, fill: "transparent" }),
      s("rect", { x: at * step + step * 0.08, y: base - tall, width: step * 0.84, height: tall, fill: shade }),
      s("title", {}, `${periods[at]}: ${percent(share)}, ${many(counts[at], "text")}`));
  });
  return h("figure", {},
    picture(width, height, `Share of the texts of each ${every} from ${periods[0]} to ${periods[last]}, at most ${percent(most)}: ${shares.map((share) => percent(share)).join(", ")}`, [
      bars, s("line", { x1: 0, x2: width, y1: base + 0.5, y2: base + 0.5, stroke: "var(--line)" }),
      s("text", { x: 0, y: 66 }, periods[0]), last ? s("text", { x: width, y: 66, "text-anchor": "end" }, periods[last]) : null,
    ]),
    h("figcaption", { class: "quiet small" }, `Share of the texts of each ${every}, at most ${percent(most)}.`));
}

/** Names with bars and numbers: [{ name: node, part 0…1, numbers: [text] }]; a list that a screen reader reads as it stands. */
export function bars(rows, shade, kind = "") {
  return h("ul", { class: `bars ${kind}` }, rows.map((row) => h("li", {},
    h("span", { class: "name one-line" }, row.name), track(row.part, shade),
    row.numbers.map((text) => h("span", { class: "number quiet" }, text)))));
}

/** Classes of a topic, the largest first. */
export function classBars(classes, shade, choose) {
  const most = Math.max(...classes.map((one) => one.share), 1e-9);
  const rows = classes.map((one) => ({ part: one.share / most, numbers: [count(one.count), percent(one.share)],
    name: h("button", { type: "button", class: "link one-line", title: `Only texts of ${one.name}`, onclick: () => choose(one.name) }, one.name === "" ? "(none)" : bdi(one.name)) }));
  if (rows.length <= 8) return bars(rows, shade, "two");
  return [bars(rows.slice(0, 6), shade, "two"), h("details", {}, h("summary", { class: "quiet small" }, `${rows.length - 6} more`), bars(rows.slice(6), shade, "two"))];
}
