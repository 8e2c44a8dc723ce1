// What narrows the texts down: chips for what is set, a small form to set more.
import { bdi, button, byId, cut, h, swatch } from "./dom.js";
import { count, decimal } from "./numbers.js";
import { later } from "./ui.js";
import { filtered, noFilters, state, topicOf, update } from "./state.js";

const view = { open: false, form: null };
const LISTED = 200; // so many classes the overview lists; where there may be more, one can be typed

/** Chips and, when opened, the form; into #texts-filters and #texts-form. */
export function drawFilters() {
  const box = byId("texts-filters");
  if (!view.form) {
    view.form = form();
    byId("texts-form").replaceChildren(view.form.element);
  }
  const set = chips(), toggle = button([h("span", {}, "filter"), h("span", { "aria-hidden": "true" }, view.open ? " ▴" : " ▾")], () => { view.open = !view.open; drawFilters(); box.querySelector(".toggle").focus(); },
    { class: "plain toggle", "aria-expanded": String(view.open), "aria-controls": "texts-form" });
  const had = document.activeElement && document.activeElement.classList.contains("toggle");
  box.replaceChildren(...set, toggle, filtered() && set.length > 1 ? button("clear all", () => update(noFilters(), { push: true }), { class: "plain" }) : "");
  if (had) box.querySelector(".toggle").focus();
  view.form.element.hidden = !view.open;
  view.form.show();
}

function chip(what, name, clear) {
  return h("span", { class: "chip" }, h("span", { class: "what" }, what), button("×", () => update(clear(), { push: true }), { "aria-label": `Take away: ${name}` }));
}

function chips() {
  const all = state.topics.map((id) => {
    const topic = topicOf(id);
    return chip(topic ? [swatch(topic), bdi(cut(topic.label, 60))] : `topic ${id}`, topic ? cut(topic.label, 60) : `topic ${id}`, () => ({ topics: state.topics.filter((other) => other !== id) }));
  });
  const put = (is, what, name, clear) => { if (is) all.push(chip(what, name, clear)); };
  put(state.q.trim(), [state.mode === "meaning" ? "near " : "", h("q", {}, bdi(cut(state.q.trim(), 60)))], "the search", () => ({ q: "" }));
  const { least, most } = state, sure = least === null ? `confidence up to ${decimal(most ?? 1)}` : most === null ? `confidence from ${decimal(least)}` : `confidence ${decimal(least)} to ${decimal(most)}`;
  put(least !== null || most !== null, sure, "confidence", () => ({ least: null, most: null }));
  state.classes.forEach((name) => put(true, [state.overview && state.overview.label ? [bdi(cut(state.overview.label, 30)), ": "] : "", bdi(cut(name, 60) || "(none)")], name, () => ({ classes: state.classes.filter((other) => other !== name) })));
  for (const one of state.only) {
    const [number, value] = [one.slice(0, one.indexOf(":")), one.slice(one.indexOf(":") + 1)], column = state.counts?.columns.find((other) => String(other.column) === number);
    put(true, [column ? [bdi(cut(column.name, 30)), ": "] : "", bdi(cut(value, 60))], value, () => ({ only: state.only.filter((other) => other !== one) }));
  }
  const { since, until } = state, dates = since && until ? `${since} to ${until}` : since ? `since ${since}` : `until ${until}`;
  put(since || until, dates, "dates", () => ({ since: null, until: null }));
  put(state.lasso, "selected on the map", "the selection on the map", () => ({ lasso: null }));
  put(state.known !== null, state.known ? "with a known word" : "without a known word", "known words", () => ({ known: null }));
  return all;
}

function form() {
  const field = (label, ...inputs) => h("label", {}, h("span", { class: "quiet" }, label), inputs);
  const number = (name, key) => h("input", { type: "number", min: 0, max: 1, step: 0.05, "aria-label": name, inputmode: "decimal", oninput: later(() => set(key), 250) });
  const low = number("Confidence from", "least"), high = number("Confidence to", "most");
  const set = (key) => {
    const input = key === "least" ? low : high, value = input.value === "" ? null : Math.max(0, Math.min(1, Number(input.value)));
    update({ [key]: Number.isFinite(value) ? value : null });
  };
  const since = h("input", { type: "date", onchange: () => update({ since: since.value || null }, { push: true }) });
  const until = h("input", { type: "date", onchange: () => update({ until: until.value || null }, { push: true }) });
  const names = h("datalist", { id: "class-names" }), add = (name) => { if (!state.classes.includes(name)) update({ classes: [...state.classes, name] }, { push: true }); };
  const typed = h("input", { type: "text", list: "class-names", placeholder: "add one", maxlength: 400, "aria-label": "Class to add",
    onchange: () => { if (typed.value) add(typed.value); typed.value = ""; } });
  const listed = h("select", { "aria-labelledby": "filter-class", onchange: () => { if (listed.value !== "") add(state.overview.classes[Number(listed.value)].name); listed.value = ""; } });
  const known = h("select", { "aria-label": "Texts shown", onchange: () => update({ known: { yes: true, no: false }[known.value] ?? null }, { push: true }) },
    h("option", { value: "" }, "all texts"), h("option", { value: "yes" }, "with a known word"), h("option", { value: "no" }, "without a known word"));
  const classLabel = h("span", { class: "quiet one-line", id: "filter-class" }, "class"), classField = h("span", { class: "fields" }, h("label", {}, classLabel, listed), typed, names);
  const dateField = h("span", { class: "fields" }, field("from", since), field("to", until));
  const element = h("form", { class: "filter-form", "aria-label": "Filters of the texts", onsubmit: (event) => event.preventDefault() },
    h("span", { class: "fields" }, h("span", { class: "quiet" }, "confidence"), low, h("span", { class: "quiet" }, "to"), high), classField, dateField, known);
  let offered = null;
  const show = () => {
    const { overview } = state, put = (input, value) => { if (document.activeElement !== input) input.value = value; };
    put(low, state.least ?? "");
    put(high, state.most ?? "");
    put(since, state.since ?? "");
    put(until, state.until ?? "");
    known.value = state.known === null ? "" : state.known ? "yes" : "no";
    classField.hidden = !overview || !overview.classes;
    dateField.hidden = !overview || !overview.dates;
    if (!overview || offered === overview) return;
    offered = overview;
    if (overview.classes) {
      const many = overview.classes.length >= LISTED;
      classLabel.textContent = cut(overview.label || "class", 24);
      typed.hidden = !many;
      listed.replaceChildren(h("option", { value: "" }, "any"), ...overview.classes.map((one, at) => h("option", { value: at }, `${cut(one.name, 50) || "(none)"} · ${count(one.count)}`)));
      names.replaceChildren(...(many ? overview.classes.map((one) => h("option", { value: one.name })) : []));
    }
    if (overview.dates) for (const input of [since, until]) Object.assign(input, { min: overview.dates.first, max: overview.dates.last });
  };
  return { element, show };
}
