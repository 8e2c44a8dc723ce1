// One text in the panel: whole, with its reason, its row of the file, similar texts, and a way to move it.
import { bdi, button, h, track } from "./dom.js";
import { count, decimal, many } from "./numbers.js";
import { announce, say, sureness, topicName } from "./ui.js";
import { state, topicOf, update } from "./state.js";
import { get, latest, runPath } from "./api.js";
import { linked } from "./links.js";
import { legend, marked, markedLinks, reason } from "./marks.js";
import { chooseTopic } from "./run.js";

const asking = latest(), kept = { key: null, early: false, answer: null }, shown = { text: null, about: null, body: null };

function ask(row) {
  // several parts of the page may change while one text is on its way: it is asked for once
  const { version } = state.overview, key = `${state.run} ${version} ${state.stirred} ${row}`;
  if (kept.key !== key || (state.ready && kept.early)) {
    Object.assign(kept, { key, early: !state.ready, answer: asking((signal) => get(runPath(`/texts/${row}`), {}, { signal })) });
    kept.answer.catch(() => { if (kept.key === key) kept.key = null; });
  }
  return kept.answer;
}

/** Draw the text of state.row; gives its place on the map, or null. */
export async function showRow(element) {
  const row = state.row;
  const close = button("×", () => closeRow(), { class: "plain close", "aria-label": "Close this text", title: "Close (Esc)" });
  const head = h("div", { class: "panel-head" }, h("h2", { tabindex: -1 }, "Text ", h("span", { class: "number" }, count(row + 1))), close);
  const was = element.querySelector(".panel-body.of-row");
  if (was) was.classList.toggle("busy", shown.text?.row !== row);
  else element.replaceChildren(head, h("div", { class: "skeleton card", "aria-hidden": "true" }, Array.from({ length: 6 }, () => h("i"))));
  try {
    const text = await ask(row);
    if (state.row !== row) return null;
    if (shown.text === text && shown.about === state.about && shown.body.isConnected) return text.at;
    Object.assign(shown, { text, about: state.about, body: body(text) });
    element.replaceChildren(head, shown.body);
    element.scrollTop = 0;
    announce(`Text ${row + 1}: ${topicOf(text.topic)?.label ?? "no topic"}, ${sureness(text.confidence)}`);
    return text.at;
  } catch (error) {
    if (error.name !== "AbortError") element.replaceChildren(head, h("div", { class: "empty wrong" }, h("p", {}, bdi(error.message)), button("close", () => closeRow())));
    return null;
  }
}

/** Back to the topic, and the focus back to the row. */
export async function closeRow() {
  const row = state.row;
  update({ row: null }, { push: true });
  (await import("./texts.js")).focusRow(row);
}

function body(text) {
  const topic = topicOf(text.topic), second = text.second === null ? null : topicOf(text.second);
  const kinds = ["word", "query", "related"].filter((kind) => text.marks.some(([, , one]) => one === kind));
  const why = reason(text);
  const move = state.about && state.about.writable ? button("move to another topic…", async () => {
    try { (await import("./edit.js")).openMove([text.row]); } catch (error) { say(error); }
  }) : null;
  return h("div", { class: "panel-body of-row" },
    h("blockquote", { class: "whole", tabindex: text.text.length > 1500 ? 0 : null }, markedLinks(text.text, text.marks), text.cut ? "…" : ""),
    text.cut ? h("p", { class: "quiet small" }, `The first ${many(Array.from(text.text).length, "character")}; an export has the whole text.`) : null,
    kinds.length ? h("p", {}, legend(kinds)) : null,
    h("p", { class: "assigned" }, topic ? h("button", { type: "button", class: "link", onclick: () => chooseTopic(topic.id) }, topicName(topic)) : h("span", { class: "quiet" }, "no topic")),
    h("div", { class: "sure" }, track(text.confidence), h("span", {}, sureness(text.confidence), " ", h("span", { class: "quiet number" }, decimal(text.confidence)))),
    second ? h("p", { class: "small" }, h("span", { class: "quiet" }, "or "), h("button", { type: "button", class: "link", onclick: () => chooseTopic(second.id) }, topicName(second))) : null,
    why.length ? [h("h3", {}, "Why"), h("p", {}, why)] : null,
    move ? h("p", {}, move) : null,
    text.columns.length ? [h("h3", {}, "Its row in the file"), h("dl", { class: "cells" }, text.columns.map((cell) => [h("dt", {}, bdi(cell.name)), h("dd", {}, cell.value === null || cell.value === "" ? h("span", { class: "quiet" }, "–") : [linked(cell.value), cell.cut ? "…" : ""])]))] : null,
    h("h3", {}, "Similar texts"), similar(text.similar));
}

function similar(texts) {
  if (texts.length) return quotes(texts);
  return h("p", { class: "quiet small" }, state.ready ? "No other text is similar." : "The texts are still being counted.");
}

/** Texts as a list of quotes; a click opens one. `tell` adds a line under each. */
export function quotes(texts, tell = (text) => (text.topic === state.topic || !topicOf(text.topic) ? null : topicName(topicOf(text.topic), 60))) {
  return h("ul", { class: "quotes" }, texts.map((text) => {
    const under = tell(text);
    return h("li", {}, h("button", { type: "button", class: "quote", onclick: () => update({ row: text.row, try: null }, { push: true }) },
      h("span", { class: "clamp" }, marked(text.text, text.marks), text.cut ? "…" : "")), under ? h("div", { class: "under quiet small" }, under) : null);
  }));
}
