// A file for a run that is open: its texts get the topics of this run, or it becomes a run of its own.
import { bdi, button, cut, h } from "./dom.js";
import { count, decimal, many, percent } from "./numbers.js";
import { topicName } from "./ui.js";
import { send } from "./api.js";
import { openDialog } from "./dialogs.js";
import { state, topicOf } from "./state.js";

/** Ask what to do with a dropped file; `fresh()` makes a new run of it. */
export function openDropped(file, fresh) {
  const dialog = openDialog({ title: cut(file.name, 80), act: "assign with this run",
    content: [h("p", {}, "Give its texts the topics of ", h("strong", {}, bdi(state.overview.name)), ", or find new topics in it?")],
    more: [button("new run", () => { dialog.close(); fresh(); })],
    run: () => { dialog.close(); openAssign(file); } });
}

/** Send a file and assign its texts; the result can be saved as CSV. */
export async function openAssign(file) {
  const { run } = state, stop = new AbortController(), kept = { id: null };
  const box = h("div", { role: "status" }, h("p", {}, "Reading ", bdi(cut(file.name, 80)), " …"));
  const dialog = openDialog({ title: "Assign a file", wide: true, content: [box] });
  dialog.element.addEventListener("close", () => { stop.abort(); if (kept.id) send("DELETE", `/uploads/${encodeURIComponent(kept.id)}`).catch(() => {}); });
  const guarded = async (work) => { try { await work(); } catch (error) { if (error.name !== "AbortError") { box.replaceChildren(); dialog.fail(error); } } };
  const assign = (upload, column) => guarded(async () => {
    box.replaceChildren(h("p", {}, "Assigning the texts in ", h("strong", {}, bdi(column)), " …"));
    const answer = await send("POST", `/uploads/${encodeURIComponent(upload.id)}/assign`, { run, text: column }, { signal: stop.signal });
    box.replaceChildren(...result(upload, column, answer));
  });
  await guarded(async () => {
    const upload = await send("PUT", "/uploads", file, { params: { name: file.name }, signal: stop.signal });
    kept.id = upload.id;
    const names = upload.columns.map((one) => one.name), same = names.includes(state.overview.column);
    if (same || names.length === 1) { await assign(upload, same ? state.overview.column : names[0]); return; }
    const select = h("select", { "aria-label": "Column with the texts" }, names.map((name) => h("option", { value: name, selected: name === upload.guess.text }, cut(name, 60))));
    box.replaceChildren(h("p", {}, "This file has no column ", h("strong", {}, bdi(state.overview.column)), ". Which one has the texts?"),
      h("p", {}, select, " ", button("assign", () => assign(upload, select.value), { class: "main" })));
  });
}

function result(upload, column, answer) {
  const some = answer.topics.filter((one) => one.count), row = (one) => h("tr", {}, h("td", {}, topicName(topicOf(one.id) || one, 60)), h("td", { class: "number" }, count(one.count)),
    h("td", { class: "number" }, percent(one.share)), h("td", { class: "number quiet" }, percent(one.before)));
  const said = [many(answer.texts, "text"), `mean confidence ${decimal(answer.confidence)}`, answer.without ? `${count(answer.without)} without a topic` : "", answer.skipped ? `${many(answer.skipped, "row")} could not be read` : ""];
  return [h("p", {}, h("strong", {}, bdi(cut(upload.name, 80))), h("span", { class: "quiet" }, " · ", bdi(cut(column, 40)))), h("p", {}, `${said.filter(Boolean).join(" · ")}.`),
    h("p", {}, h("a", { class: "button", href: `/api/uploads/${encodeURIComponent(upload.id)}/assigned`, download: "" }, "save as CSV"), h("span", { class: "quiet small" }, " all columns, with topic, label, confidence and reason")),
    h("table", { class: "assigned-topics" }, h("thead", {}, h("tr", {}, [["topic", null], ["texts", "number"], ["share of all", "number"], ["in the run", "number"]].map(([name, kind]) => h("th", { scope: "col", class: kind }, name)))), h("tbody", {}, some.map(row)))];
}
