// Columns of few values beside the topics: a click filters, counts follow the other filters.
import { bdi, button, byId, cut, h, track } from "./dom.js";
import { count, many } from "./numbers.js";
import { state, subscribe, update } from "./state.js";

const FEW = 8; // so many values are listed before "more"
const opened = new Set(); // columns of which all values are shown

/** The values of a column that are chosen. */
export function chosenOf(column) {
  const start = `${column.column}:`, values = state.only.filter((one) => one.startsWith(start)).map((one) => one.slice(start.length));
  return column.is_class ? [...new Set([...state.classes, ...values])] : values;
}

/** What the state becomes when these values of a column are chosen. */
export function choosing(column, values) {
  const start = `${column.column}:`, others = state.only.filter((one) => !one.startsWith(start));
  return column.is_class ? { classes: values, only: others } : { only: [...others, ...values.map((value) => start + value)] };
}

/** Draw the columns into #columns while they are shown instead of the topics, and the switch between the two. */
export function createFacets() {
  const box = h("div", { id: "columns", class: "scroller", hidden: true }), list = byId("topics-list");
  const turn = (name, to) => button(name, () => update({ list: to }), { class: "plain" });
  const switches = h("div", { class: "lists", role: "group", "aria-label": "What the list shows" }, turn("Topics", null), turn("Columns", "columns"));
  list.after(box);
  byId("topics-title").after(switches);
  byId("topics-title").classList.add("hidden");
  const draw = () => {
    const columns = state.counts ? state.counts.columns : [], on = state.list === "columns";
    [...switches.children].forEach((one, at) => one.setAttribute("aria-pressed", String(Boolean(at) === on)));
    box.hidden = !on;
    for (const part of [list, byId("topics-tools"), document.querySelector(".topics-foot")]) part?.classList.toggle("away", on);
    if (!on) return;
    const held = box.contains(document.activeElement) ? document.activeElement.dataset.key : null;
    box.replaceChildren(...(columns.length ? columns.map((column) => part(column, draw)) : [nothing()]));
    if (held) [...box.querySelectorAll("[data-key]")].find((one) => one.dataset.key === held)?.focus({ preventScroll: true });
  };
  subscribe(["counts", "list", "classes", "only"], draw);
  draw();
}

const nothing = () => h("div", { class: "empty" }, h("p", {}, state.counts ? "No column of the file has few enough values to list them." : "…"));

function part(column, again) {
  const chosen = chosenOf(column), most = Math.max(...column.values.map((one) => one.count), 1), all = opened.has(column.column);
  const shown = column.values.filter((one, at) => all || at < FEW || chosen.includes(one.name));
  const rest = column.values.length - shown.length;
  return h("section", { class: "facet" }, h("h3", {}, bdi(cut(column.name, 60)), chosen.length ? button("any", () => update(choosing(column, []), { push: true }), { class: "plain", "aria-label": `${column.name}: any value` }) : null),
    h("ul", {}, shown.map((one) => value(column, one, chosen, most))),
    rest || (all && column.values.length > FEW) ? button(rest ? `${rest} more` : "fewer", () => { if (all) opened.delete(column.column); else opened.add(column.column); again(); }, { class: "plain small", "data-key": `more ${column.column}` }) : null);
}

function value(column, one, chosen, most) {
  const is = chosen.includes(one.name), next = is ? chosen.filter((name) => name !== one.name) : [...chosen, one.name];
  return h("li", {}, h("button", { type: "button", "aria-pressed": String(is), "data-key": `${column.column}:${one.name}`, class: one.count ? null : "none",
    title: `${one.name}: ${many(one.count, "text")} of ${count(one.texts)}`, onclick: () => update(choosing(column, next), { push: true }) },
  h("span", { class: "box", "aria-hidden": "true" }, is ? "✓" : ""), h("span", { class: "name two-lines" }, bdi(one.name)), track(one.count / most), h("span", { class: "number quiet" }, count(one.count))));
}
