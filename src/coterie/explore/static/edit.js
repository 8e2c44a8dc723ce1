// Changes by hand: rename, merge, split, ban a term, move texts, undo, the log of them, and a refit with them.
import { bdi, button, cut, h } from "./dom.js";
import { count, many, percent } from "./numbers.js";
import { say } from "./ui.js";
import { get, runPath, send } from "./api.js";
import { change, openDialog, topicPicker } from "./dialogs.js";
import { follow } from "./jobs.js";
import { during, reload, reloaded } from "./run.js";
import { state, topicOf, update } from "./state.js";

const MOST_MOVED = 500;
const named = (topic) => h("span", { class: "topic-name" }, h("span", { class: "id" }, `${topic.id} `), bdi(topic.label));
const field = (label, input, note) => h("label", { class: "field" }, h("span", {}, label), input,
  note ? h("span", { class: "quiet small" }, note) : null);

/** Rename a topic, in the element that shows its label, or in a dialog where there is none. */
export function openRename(id, element = null) {
  const topic = topicOf(id);
  if (!topic) return;
  const input = h("input", { type: "text", value: topic.label, maxlength: 200, "aria-label": "Label of the topic", autocomplete: "off",
    dir: "auto" });
  if (!element) {
    openDialog({ title: "Rename a topic", act: "rename", content: [field("Label", input, topic.named ? null : "The default label is a phrase of its texts.")],
      run: (dialog) => renamed(id, input.value, (body) => change(dialog, "/edits", body), () => dialog.close()) });
    input.select();
    return;
  }
  const before = [...element.childNodes], form = h("form", { class: "rename-form", "data-topic": id }, input, h("button", { type: "submit", class: "main" }, "rename"),
    button("cancel", () => back()));
  const back = () => { if (form.isConnected) element.replaceChildren(...before); };
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    form.dataset.sent = "";
    during(renamed(id, input.value, (body) => quietly(body, form, back), back));
  });
  form.addEventListener("keydown", (event) => {
    event.stopPropagation(); // keys of the page are letters here
    if (event.key === "Escape") { event.preventDefault(); back(); element.querySelector("button")?.focus(); }
  });
  form.addEventListener("click", (event) => event.stopPropagation());
  element.replaceChildren(form);
  input.focus();
  input.select();
}

async function renamed(id, text, go, same) {
  const label = text.trim();
  if (!label || label === topicOf(id)?.label) return same();
  return go({ kind: "rename", topics: [id], label });
}

/** A change without a dialog: the form waits; what goes wrong is told in a message. */
async function quietly(body, form, back) {
  for (const part of form.elements) part.disabled = true;
  if (body.kind === "rename") show(body);
  try {
    const end = await follow(await send("POST", runPath("/edits"), { version: state.overview.version, ...body }));
    if (end.state === "failed") throw new Error(end.error);
  } catch (error) {
    if (error.status === 409) conflict(error);
    else say(error);
    reload(); // the label is as it was
  }
  back();
}

/** The new label stands at once; the run is written meanwhile. */
function show({ topics: [id], label }) {
  update({ overview: { ...state.overview, topics: state.overview.topics.map((topic) => (topic.id === id ? { ...topic, label, named: true } : topic)) } });
}

function conflict(error) {
  openDialog({ title: "The run has changed", act: "reload", content: [h("p", {}, bdi(error.message))],
    run: (dialog) => { dialog.close(); reload(); } });
}

/** Merge topics: the first of `ids` takes the texts of the others. */
export function openMerge(ids) {
  const all = [].concat(ids ?? []).filter((id) => topicOf(id)), target = topicOf(all[0]);
  if (!target) return;
  const sum = h("p", { class: "sum", "aria-live": "polite" });
  const told = (chosen) => {
    const texts = chosen.reduce((total, id) => total + topicOf(id).size, target.size);
    sum.replaceChildren(chosen.length ? `${many(chosen.length + 1, "topic")} become one with ${many(texts, "text")} (before: ${count(target.size)}).`
      : "Choose the topics to merge.");
    dialog?.ready(chosen.length > 0);
  };
  const picker = topicPicker({ several: true, leave: [target.id], chosen: all.slice(1), changed: told, label: "Topics to merge into it" });
  let dialog = null;
  dialog = openDialog({ title: "Merge topics", act: "merge", wide: true,
    content: [h("p", {}, "Into ", named(target), h("span", { class: "quiet" }, ", which keeps its number. The most similar topics come first.")),
      picker.element, sum],
    run: (open) => change(open, "/edits", { kind: "merge", topics: [target.id, ...picker.chosen()] }) });
  told(picker.chosen());
  near(target.id).then((list) => picker.rank(list));
}

async function near(id) {
  try {
    const detail = await get(runPath(`/topics/${id}`));
    return detail.neighbours.map((other) => ({ id: other.id, note: `${percent(Math.max(other.similarity, 0))} alike` }));
  } catch {
    return []; // the list is there without it, by size
  }
}

/** Split a topic into parts. */
export function openSplit(id) {
  const topic = topicOf(id);
  if (!topic) return;
  const parts = h("input", { type: "number", min: 2, max: 20, value: 2, required: true });
  openDialog({ title: "Split a topic", act: "split", content: [h("p", {}, named(topic), `, ${many(topic.size, "text")}`),
    field("Parts", parts, "2 to 20. The largest part keeps the number of the topic.")],
    run: (dialog) => change(dialog, "/edits", { kind: "split", topics: [topic.id], parts: Number(parts.value) }) });
  parts.select();
}

/** Ban terms: they are left out of the words of all topics. */
export function openBan(id, terms = []) {
  const topic = topicOf(id), wanted = [].concat(terms ?? []), offered = [...new Set([...wanted, ...(topic ? topic.terms : [])])];
  const boxes = offered.map((term) => h("input", { type: "checkbox", value: term, checked: wanted.includes(term) }));
  const others = h("input", { type: "text", placeholder: "others, separated by commas", "aria-label": "Other terms, separated by commas",
    dir: "auto" });
  const chosen = () => [...new Set([...boxes.filter((one) => one.checked).map((one) => one.value),
    ...others.value.split(",").map((term) => term.trim()).filter(Boolean)])];
  openDialog({ title: "Ban terms", act: "ban",
    content: [h("p", {}, "A banned term is ignored: texts are assigned by their other words."),
      h("div", { class: "checks-list" }, boxes.map((box) => h("label", {}, box, bdi(cut(box.value, 60))))), others],
    run(dialog) {
      if (chosen().length) change(dialog, "/edits", { kind: "ban", terms: chosen() });
      else dialog.fail(new Error("Choose a term, or write one."));
    } });
}

/** Move texts, by their rows, to a topic that then keeps them; `moved()` is called when that is done. */
export function openMove(rows, moved = () => {}) {
  const list = [...new Set([].concat(rows ?? []))], most = list.slice(0, MOST_MOVED);
  if (!most.length) return;
  const said = h("div", { class: "moved-text" });
  let dialog = null;
  const picker = topicPicker({ label: "To which topic", changed: (ids) => dialog.ready(ids.length === 1) });
  dialog = openDialog({ title: `Move ${many(most.length, "text")}`, act: "move", wide: true,
    content: [said, list.length > most.length ? h("p", { class: "look" },
      `At most ${count(MOST_MOVED)} texts at once; the first ${count(MOST_MOVED)} of ${count(list.length)} are moved.`) : null,
      picker.element, h("p", { class: "quiet small" }, "Identical texts go with them. They stay there, even if topics are found again, until you undo this.")],
    async run(open) { if (await change(open, "/edits", { kind: "pin", topics: picker.chosen(), rows: most })) moved(); } });
  dialog.ready(false);
  first(most, said, picker);
}

async function first(rows, said, picker) {
  // the topics that were second choice of these texts are the likely ones
  try {
    const answer = await get(runPath("/texts"), { row: rows.slice(0, 50), limit: 50 }), seconds = new Map();
    for (const text of answer.rows) if (text.second !== null) seconds.set(text.second, (seconds.get(text.second) || 0) + 1);
    const now = new Set(answer.rows.map((text) => text.topic)); // all of them in one topic: it is no place to move to
    picker.rank([...seconds].sort((a, b) => b[1] - a[1]).slice(0, 5).map(([id]) => ({ id, note: "second choice" })),
      now.size === 1 && rows.length <= 50 ? [...now] : []);
    said.replaceChildren(...answer.rows.slice(0, 2).map((text) => h("blockquote", {}, bdi(cut(text.text, 160)))),
      rows.length > 2 ? h("p", { class: "quiet small" }, `and ${many(rows.length - 2, "other")}`) : "");
  } catch (error) {
    said.replaceChildren(h("p", { class: "look" }, bdi(error.message)));
  }
}

/** What was changed by hand, with undo and refit. */
export async function openEdits() {
  await reloaded(); // a label that was just changed is an edit, too
  const { edits, can_undo: undoable, left_out: left } = state.overview;
  const log = edits.length
    ? h("ol", { class: "log" }, edits.map((edit) => h("li", { value: edit.number }, bdi(edit.sentence))))
    : h("p", { class: "quiet" }, "No edits yet. Click a topic's label to rename it; merge, split and ban are in its panel, "
      + "move is next to a text.");
  const dialog = openDialog({ title: "Edits", wide: true,
    content: [log, left ? h("p", { class: "look" }, `${many(left, "edit")} could not be applied to the new topics.`) : null],
    more: [button("undo the last edit", () => change(dialog, "/undo", {}), { disabled: !undoable, title: undoable ? `Undo: ${edits.at(-1).sentence} (Ctrl+Z)` : "There is nothing to undo" }),
      button(edits.length ? "find topics again with these edits…" : "find topics again…", () => { dialog.close(); openRefit(); })] });
}

/** Fit the same texts again and apply the edits to the new topics. */
export function openRefit() {
  const { overview } = state, before = overview.parameters.n_topics, name = "refit-topics";
  const number = h("input", { type: "number", min: 1, max: 10000, value: overview.topics.length, "aria-label": "Number of topics" });
  const way = (value, label, checked) => h("label", {}, h("input", { type: "radio", name, value, checked }), label);
  const ways = h("fieldset", { class: "ways" }, h("legend", {}, "Number of topics"),
    typeof before === "number" ? [way("same", `as before: ${count(before)}`, true), way("auto", "estimate it", false)]
      : way("same", "estimate it, as before", true),
    h("span", { class: "with-number" }, way("number", "this many", false), number));
  number.addEventListener("focus", () => { ways.querySelector("[value=number]").checked = true; });
  const title = h("input", { type: "text", value: fresh(overview.name), maxlength: 100, "aria-label": "Name of the new run", autocomplete: "off" });
  const where = h("fieldset", { class: "ways" }, h("legend", {}, "Result"),
    h("label", {}, h("input", { type: "radio", name: "refit-where", value: "replace", checked: true }), "replace this run"),
    h("span", { class: "with-number" }, h("label", {}, h("input", { type: "radio", name: "refit-where", value: "new" }), "a new run named"), title));
  title.addEventListener("focus", () => { where.querySelector("[value=new]").checked = true; });
  const kept = Boolean(overview.parameters.keep_boilerplate), keep = h("input", { type: "checkbox", checked: kept });
  const boilerplate = h("div", { class: "ways" }, h("label", {}, keep, "count what recurs in texts about different things, such as closings and notices"));
  const edits = overview.edits.length, then = edits ? `, then ${many(edits, "edit")} ${edits === 1 ? "is" : "are"} applied to the new topics` : "";
  openDialog({ title: overview.edits.length ? "Find topics again with these edits" : "Find topics again", act: "find topics again",
    content: [h("p", {}, many(overview.texts, "text"), " are read again in the background", then, ". You can keep using the page."), ways, boilerplate, where],
    async run(dialog) {
      const topics = { same: null, auto: "auto", number: Number(number.value) }[ways.querySelector(":checked").value];
      const made = where.querySelector(":checked").value === "new" ? title.value.trim() : null;
      dialog.busy(true);
      try {
        const job = await send("POST", runPath("/refit"), { version: overview.version, topics, name: made, keep_boilerplate: keep.checked });
        dialog.close();
        const end = await follow(job);
        if (end.state === "failed") say(new Error(end.error));
      } catch (error) {
        dialog.fail(error);
      }
    } });
}

function fresh(name) {
  const taken = new Set((state.runs || []).map((run) => run.name)), base = name.replace(/-\d+$/, "");
  for (let number = 2; ; number++) if (!taken.has(`${base}-${number}`)) return `${base}-${number}`;
}
