// What is drawn over the points: rings of the text under the pointer and of the chosen one, the outline of the
// chosen topic, the pin of a tried text, the lasso. Shapes, so that nothing rests on colour alone.
import { s } from "./dom.js";

export class Marks {
  constructor(svg) {
    Object.assign(this, { svg, at: { hover: null, row: null, mark: null, lasso: null } });
    this.parts = {
      outline: s("circle", { class: "outline" }),
      lasso: s("polygon", { class: "lasso" }),
      line: s("polyline", { class: "lasso" }),
      hover: s("circle", { class: "hover" }),
      row: s("g", { class: "row" }, s("circle", { class: "halo" }), s("circle"), s("path", { d: "M-17 0h6M11 0h6M0 -17v6M0 11v6" })),
      mark: s("g", { class: "pin" }, s("path", { d: "M0 0C-3 -6 -8 -9 -8 -15A8 8 0 0 1 8 -15C8 -9 3 -6 0 0Z" }), s("circle", { cy: -15, r: 3 })),
    };
    for (const part of Object.values(this.parts)) part.style.display = "none"; // until it has a place
    svg.append(...Object.values(this.parts));
  }

  /** Put a mark at a place in map units, or take it away. */
  set(name, at) {
    this.at[name] = at;
  }

  place(view, size, topic, line) {
    const { outline, lasso, line: drawn, hover, row, mark } = this.parts, put = (part, at) => {
      part.style.display = at ? "" : "none";
      if (!at) return;
      const [left, top] = view.screen(...at);
      part.setAttribute("transform", `translate(${left.toFixed(1)} ${top.toFixed(1)})`);
    };
    put(hover, this.at.hover);
    put(row, this.at.row);
    put(mark, this.at.mark);
    put(outline, topic ? topic.at : null);
    hover.setAttribute("r", size / 2 + 3);
    for (const ring of row.querySelectorAll("circle")) ring.setAttribute("r", size / 2 + 5);
    if (topic) outline.setAttribute("r", (topic.radius * view.scale + 6).toFixed(1));
    const corners = (list, change) => list.map(([x, y]) => change(x, y).map((value) => value.toFixed(1)).join(",")).join(" ");
    for (const [part, list, change] of [[lasso, this.at.lasso, (x, y) => view.screen(x, y)], [drawn, line, (x, y) => [x, y]]]) {
      part.style.display = list ? "" : "none";
      part.setAttribute("points", list ? corners(list, change) : "");
    }
  }
}
