// Two runs beside each other: what moved, which topics came, went, merged or were split.
import { bdi, button, cut, h, swatch } from "./dom.js";
import { count, many, percent } from "./numbers.js";
import { announce } from "./ui.js";
import { get, latest } from "./api.js";
import { flowPicture, inherited } from "./flows.js";
import { state, subscribe, update } from "./state.js";

/** Draw the view that compares the run with another one; gives a function that ends it. */
export function openCompare(element) {
  const asking = latest(), result = h("div", { class: "compare-result" }), pick = h("div", { class: "compare-pick" });
  let answer = null, wide = 0;
  const redraw = () => { if (answer) show(result, answer); };
  element.replaceChildren(h("div", { class: "other-page compare" },
    h("div", { class: "other-head" }, h("h2", {}, "Compare two runs"), button("back to the run", () => update({ view: "explore" }, { push: true }),
      { class: "plain" })), pick, result));
  const refresh = async () => {
    answer = null;
    choices(pick);
    if (!state.run || !state.against) return result.replaceChildren(nothing());
    result.classList.add("busy");
    try {
      answer = await asking((signal) => get("/compare", { a: state.run, b: state.against }, { signal }));
      show(result, answer);
      announce(summary(answer).textContent);
    } catch (error) {
      if (error.name !== "AbortError") result.replaceChildren(h("div", { class: "empty wrong" }, h("p", {}, bdi(error.message)),
        button("try again", refresh)));
    }
    if (answer) result.classList.remove("busy");
    return undefined;
  };
  const watcher = new ResizeObserver(() => { if (Math.abs(result.clientWidth - wide) > 2) { wide = result.clientWidth; redraw(); } });
  watcher.observe(result);
  const forget = subscribe(["run", "against", "overview", "runs", "stirred"], refresh);
  if (!state.runs) get("/runs").then(({ runs }) => update({ runs }), () => {});
  refresh();
  return () => { forget(); asking.cancel(); watcher.disconnect(); element.replaceChildren(); };
}

const others = () => (state.runs || []).filter((run) => run.name !== state.run && !run.error);

function nothing() {
  const text = others().length ? "Choose a run to compare with."
    : "There is no other run in this folder yet. Find topics again under a new name, or in a new file.";
  return h("div", { class: "empty" }, h("p", {}, text));
}

function choices(pick) {
  const about = (run) => `${run.name} · ${many(run.topics, "topic")}, ${many(run.texts, "text")}`;
  const select = h("select", { onchange: () => update({ against: select.value || null }, { push: true }) },
    h("option", { value: "" }, "choose a run"),
    others().map((run) => h("option", { value: run.name, selected: run.name === state.against }, cut(about(run), 90))));
  const swap = button("swap", () => update({ run: state.against, against: state.run, topics: [], row: null }, { push: true }),
    { disabled: !state.against });
  pick.replaceChildren(h("span", {}, "before: ", h("strong", {}, bdi(state.run || ""))), h("label", {}, "after: ", select), swap);
}

function show(result, answer) {
  const colours = inherited(answer.a, answer.b, answer.flows);
  const a = new Map(answer.a.map((topic) => [topic.id, topic])), b = new Map(answer.b.map((topic) => [topic.id, { ...topic, colour: colours.get(topic.id) ?? "var(--line)" }]));
  const readout = h("p", { class: "readout quiet" }), rest = "Hover over a band or a bar, or reach a bar with Tab, to see its numbers.";
  const tell = (what) => readout.replaceChildren(...(what ? wording(what, answer, a, b) : [rest]));
  tell(null);
  const picture = answer.flows.length
    ? flowPicture({ left: answer.a, right: answer.b, flows: answer.flows, width: Math.max(result.clientWidth, 300), tell }) : null;
  result.replaceChildren(summary(answer), h("div", { class: "changes" }, changes(answer, a, b)),
    picture ? h("section", { class: "flow-part" }, h("h3", {}, "How texts moved"), readout, picture,
      h("p", { class: "quiet small" }, "A topic after has the colour of the topic that most of its texts come from. Bands of less than 1 % of a topic are in the table only."), table(answer, a, b))
      : h("p", { class: "quiet" }, "The runs have no texts in common, so they cannot be compared."));
}

/** A topic in words, with its colour. */
function name(topic, most = 60) {
  return h("span", { class: "topic-name" }, swatch(topic), bdi(cut(topic.label, most)));
}
const arrow = () => h("span", { class: "quiet", role: "img", "aria-label": "became" }, " → ");
const join = (parts) => parts.flatMap((part, at) => (at === 0 ? [part] : [at === parts.length - 1 ? " and " : ", ", part]));

/** The sentence above everything. */
function summary(answer) {
  const { a, b } = answer, said = [];
  const tell = (list, one, more) => { if (list.length) said.push(`${many(list.length, "topic")} ${list.length === 1 ? one : more}`); };
  const parts = answer.merged.reduce((total, one) => total + one.from.length, 0);
  if (parts) said.push(`${many(parts, "topic")} merged into ${count(answer.merged.length)}`);
  tell(answer.split, "was split", "were split");
  tell(answer.born, "is new", "are new");
  tell(answer.gone, "is gone", "are gone");
  tell(answer.kept, "is kept", "are kept");
  const moved = answer.common ? `${count(answer.moved)} of ${many(answer.common, "text")} (${percent(answer.moved_share)}) moved`
    : "No text is in both runs";
  const scope = answer.same_texts || !answer.common ? "" : " The runs have different texts; only those in both are compared.";
  return h("p", { class: "summary" }, `${[moved, ...said].join("; ")}. Before ${many(a.length, "topic")}, after ${count(b.length)}.${scope}`);
}

function changes(answer, a, b) {
  const part = (title, items) => (items.length ? h("section", {}, h("h3", {}, `${title} · ${count(items.length)}`),
    h("ul", {}, items.map(([what, number]) => h("li", {}, h("span", {}, what), h("span", { class: "number quiet" }, number))))) : null);
  const names = (ids, of) => join(ids.map((id) => name(of.get(id), 40))), texts = (topic) => many(topic.size, "text");
  const same = (from, to) => a.get(from).label === b.get(to).label;
  return [
    part("merged", answer.merged.map(({ into, from }) => [[names(from, a), arrow(), name(b.get(into), 40)], texts(b.get(into))])),
    part("split", answer.split.map(({ from, into }) => [[name(a.get(from), 40), arrow(), names(into, b)], texts(a.get(from))])),
    part("new", answer.born.map((id) => [name(b.get(id)), texts(b.get(id))])),
    part("gone", answer.gone.map((id) => [name(a.get(id), 60), texts(a.get(id))])),
    part("kept, with the share of their texts",
      answer.kept.map(({ from, to, share }) => [[name(a.get(from), 40), same(from, to) ? "" : [arrow(), name(b.get(to), 40)]],
      percent(share)])),
  ].filter(Boolean);
}

function wording({ flow, topic, side }, answer, a, b) {
  if (flow) {
    const size = answer.flows.filter((other) => other.from === flow.from).reduce((total, other) => total + other.count, 0);
    return [name(a.get(flow.from), 60), arrow(), name(b.get(flow.to)), `: ${many(flow.count, "text")}, ${percent(flow.count, size)} of it`];
  }
  const mine = answer.flows.filter((other) => other[side] === topic.id).sort((x, y) => y.count - x.count),
    all = mine.reduce((total, other) => total + other.count, 0);
  const [other, of] = side === "from" ? ["to", b] : ["from", a];
  return [name(topic, 60), side === "from" ? " goes to " : " comes from ",
    ...join(mine.slice(0, 3).map((one) => h("span", {}, name(of.get(one[other]), 32), ` ${percent(one.count, all)}`))),
    mine.length > 3 ? ` (${count(mine.length)} in all)` : ""];
}

function table(answer, a, b) {
  const sizes = new Map(), rows = [...answer.flows].sort((x, y) => y.count - x.count);
  for (const flow of rows) sizes.set(flow.from, (sizes.get(flow.from) || 0) + flow.count);
  const made = () => h("table", {}, h("thead", {},
    h("tr", {}, ["before", "after", "texts", "of before"].map((title, at) => h("th", { scope: "col", class: at > 1 ? "number" : null }, title)))),
    h("tbody", {}, rows.slice(0, 1000)
      .map((flow) => h("tr", {}, h("td", {}, name(a.get(flow.from), 60)), h("td", {}, name(b.get(flow.to))),
      h("td", { class: "number" }, count(flow.count)), h("td", { class: "number" }, percent(flow.count, sizes.get(flow.from)))))));
  const box = h("div", { class: "scroll" });
  return h("details", { class: "as-table", ontoggle: (event) => box.replaceChildren(...(event.target.open ? [made()] : [])) },
    h("summary", {}, `As a table (${many(rows.length, "flow")})`), box);
}
