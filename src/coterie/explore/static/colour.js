// What the points are coloured by: a choice over the map, and what the colours mean.
import { bdi, cut, h, swatch } from "./dom.js";
import { count } from "./numbers.js";
import { state, subscribe, update } from "./state.js";
import { chosenOf, choosing } from "./facets.js";
import { colouring, noValue } from "./map-colours.js";

const LISTED = 12;

/** Put the choice and the legend over the map; `recolour()` is called when the points need other colours. */
export function createColour(map, recolour) {
  const select = h("select", { "aria-label": "Colour of the points", onchange: () => update({ colour: select.value || null }, { push: true }) });
  const legend = h("div", { class: "map-legend" });
  map.append(h("div", { class: "map-colour" }, h("label", {}, h("span", { class: "quiet" }, "colour"), select), legend));
  let drawn = "";
  const draw = () => {
    const { counts } = state, columns = counts ? counts.columns : [];
    const options = [["", "topic"], ["confidence", "confidence"], ...(counts && counts.over_time ? [["date", "date"]] : []), ...columns.map((one) => [String(one.column), cut(one.name, 40)])];
    select.replaceChildren(...options.map(([value, name]) => h("option", { value, selected: value === (state.colour ?? "") }, name)));
    if (counts && !options.some(([value]) => value === (state.colour ?? ""))) { update({ colour: null }); return; } // another run has no such column
    const by = colouring(), key = JSON.stringify([state.colour, by && by.colours, by && by.names]);
    legend.replaceChildren(...(by ? (by.kind === "scale" ? scale(by) : values(by)) : []));
    if (key !== drawn) recolour();
    drawn = key;
  };
  subscribe(["counts", "colour", "classes", "only", "reach"], draw);
  draw();
}

function scale(by) {
  return [h("div", { class: "scale", role: "img", "aria-label": `${by.title}: from ${by.ends[0]} to ${by.ends[1]}` }, by.colours.map((shade) => h("i", { "--shade": shade }))),
    h("div", { class: "ends quiet" }, h("span", {}, by.ends[0]), h("span", {}, by.ends[1])), by.note ? h("p", { class: "quiet small" }, by.note) : ""];
}

function values(by) {
  const { column, colours } = by, chosen = chosenOf(column), some = colours.filter((shade) => shade !== noValue).length;
  const shown = column.values.slice(0, Math.min(some, LISTED)), others = column.values.slice(shown.length).reduce((total, one) => total + one.count, 0);
  return [h("ul", {}, shown.map((one, at) => {
    const is = chosen.includes(one.name), next = is ? chosen.filter((name) => name !== one.name) : [...chosen, one.name];
    return h("li", {}, h("button", { type: "button", class: "link one-line", "aria-pressed": String(is), title: `Only texts with ${one.name}`, onclick: () => update(choosing(column, next), { push: true }) }, swatch({ colour: colours[at] }), bdi(cut(one.name, 40)), h("span", { class: "quiet number" }, ` ${count(one.count)}`)));
  }), column.values.length > shown.length ? h("li", {}, swatch({ colour: noValue }), "others", h("span", { class: "quiet number" }, ` ${count(others)}`)) : null)];
}
