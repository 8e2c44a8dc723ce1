// Small drawings as SVG: each function takes numbers and gives an element.
import { s } from "./dom.js";
import { decimal, many } from "./numbers.js";

/** A drawing as wide as its place, or of exactly its size where `fixed`. */
export function picture(width, height, label, children, fixed = false) {
  return s("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label, ...(fixed ? { width, height } : { width: "100%" }) }, children);
}

const axis = (width, y) => s("line", { x1: 0, x2: width, y1: y + 0.5, y2: y + 0.5, stroke: "var(--line)" });
/** What the pointer meets of a bar, however short the bar is. */
const room = (x, width, height) => s("rect", { class: "room", x, y: 0, width, height, fill: "transparent" });

/** Texts by confidence, in tenths; where `choose` is given, a click on a bar calls choose(least, most). */
export function histogram(counts, { width = 260, shade = "var(--bar)", choose = null } = {}) {
  const base = 48, most = Math.max(...counts, 1), step = width / counts.length;
  const bars = counts.map((number, at) => {
    const tall = number ? Math.max((number / most) * 44, 1.5) : 0, low = at / counts.length, high = (at + 1) / counts.length;
    const act = choose && number ? () => choose(low, high) : null;
    return s("g", { class: act ? "bar can" : "bar", onclick: act }, room(at * step, step, base),
      s("rect", { x: at * step + 1, y: base - tall, width: step - 2, height: tall, fill: shade }),
      s("title", {}, `${decimal(low, 1)} to ${decimal(high, 1)}: ${many(number, "text")}`));
  });
  const marks = [["0", 0, "start"], ["0.5", width / 2, "middle"], ["1", width, "end"]];
  return picture(width, 66, `Texts by confidence from 0 to 1, in tenths: ${counts.join(", ")}`,
    [bars, axis(width, base), marks.map(([text, x, anchor]) => s("text", { x, y: 62, "text-anchor": anchor }, text))]);
}

/** A value for each period, a bar of full height being `most`; `say(value, at)` puts one into words. */
export function timeline(values, periods, { most, say, label = "", width = 260, shade = "var(--bar)" }) {
  const base = 50, step = width / values.length, last = periods.length - 1;
  const bars = values.map((value, at) => {
    const tall = value ? Math.max((value / most) * 44, 1) : 0;
    return s("g", { class: "bar" }, room(at * step, step, base),
      s("rect", { x: at * step + step * 0.08, y: base - tall, width: step * 0.84, height: tall, fill: shade }),
      s("title", {}, `${periods[at]}: ${say(value, at)}`));
  });
  return picture(width, 70, `${label || "From"} ${periods[0]} to ${periods[last]}: ${values.map(say).join("; ")}`, [bars, axis(width, base),
    s("text", { x: 0, y: 64 }, periods[0]), last ? s("text", { x: width, y: 64, "text-anchor": "end" }, periods[last]) : null]);
}
