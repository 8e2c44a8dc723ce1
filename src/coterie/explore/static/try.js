// Try a text: typed here, its topic, confidence and reason stand below while typing, and its place on the map.
import { bdi, button, cut, h, swatch, track } from "./dom.js";
import { decimal, many, percent } from "./numbers.js";
import { announce, later, sureness, topicName } from "./ui.js";
import { state, topicOf, update } from "./state.js";
import { latest, runPath, send } from "./api.js";
import { legend, marked, reason } from "./marks.js";

const LONGEST = 10000;
const asking = latest();

/** Open the panel with an empty text, or with the one that was tried before. */
export function openTry() {
  update({ try: kept, row: null }, { push: true });
}
let kept = "";

/** Draw the panel; `mark(at, topic)` shows the place on the map, null takes it away. */
export function showTry(element, mark) {
  const area = h("textarea", { id: "try-text", rows: 4, maxlength: LONGEST, dir: "auto", placeholder: "Type or paste a text", spellcheck: false });
  const answer = h("div", { class: "answer" });
  area.value = state.try;
  const asked = { text: null };
  const look = async () => {
    const text = area.value;
    if (!text.trim()) { asking.cancel(); asked.text = null; mark(null); answer.replaceChildren(hint()); return; }
    if (text === asked.text) return;
    answer.classList.add("busy");
    try {
      const found = (await asking((signal) => send("POST", runPath("/assign"), { texts: [text] }, { signal }))).answers[0];
      asked.text = text;
      answer.classList.remove("busy");
      answer.replaceChildren(...told(text, found));
      mark(found.at, found.topic);
      announce(`${found.label || "no topic"}, ${sureness(found.confidence)}, ${decimal(found.confidence)}`);
    } catch (error) {
      if (error.name === "AbortError") return;
      answer.classList.remove("busy");
      answer.replaceChildren(h("div", { class: "empty wrong" }, h("p", {}, bdi(error.message)), button("try again", look)));
    }
  };
  const typed = later(look, 150), noted = later(() => { if (state.try !== null) update({ try: area.value }); }, 400);
  area.addEventListener("input", () => { kept = area.value; typed(); noted(); });
  element.replaceChildren(h("div", { class: "panel-head" }, h("h2", {}, h("label", { for: "try-text" }, "Try a text")),
    button("×", closeTry, { class: "plain close", "aria-label": "Close", title: "Close (Esc)" })), h("div", { class: "panel-body" }, area, answer));
  element.scrollTop = 0;
  if (state.try) kept = state.try;
  look();
  return { again: () => { asked.text = null; look(); }, focus: () => { area.focus({ preventScroll: true }); area.setSelectionRange(area.value.length, area.value.length); },
    take: (text) => { if (document.activeElement !== area && text !== area.value) { area.value = text; look(); } }, clear: () => { typed.cancel(); noted.cancel(); asking.cancel(); mark(null); } };
}

/** Close the panel. */
export function closeTry() {
  update({ try: null }, { push: true });
}

function hint() {
  const input = h("input", { type: "file", class: "hidden", tabindex: -1, "aria-label": "File of texts", onchange: async () => { if (input.files.length) (await import("./assign.js")).openAssign(input.files[0]); } });
  return h("div", {}, h("p", { class: "quiet" }, "Its topic, confidence and deciding words appear here as you type. Nothing is stored."),
    h("p", {}, button("assign a whole file…", () => input.click()), input));
}

function told(text, found) {
  const topic = topicOf(found.topic), why = reason(found), known = found.confidence > 0;
  const kinds = ["word", "related"].filter((kind) => found.marks.some(([, , one]) => one === kind));
  const shares = found.shares.filter((one) => topicOf(one.id)), most = Math.max(...shares.map((one) => one.share), 1e-9);
  return [
    h("p", { class: "assigned" }, topic && known ? [swatch(topic), bdi(cut(topic.label, 120))] : h("span", { class: "quiet" }, "It has no known word, so it has no topic.")),
    known ? h("div", { class: "sure" }, track(found.confidence, topic ? topic.colour : null), h("span", {}, sureness(found.confidence), " ", h("span", { class: "quiet number" }, decimal(found.confidence)))) : null,
    h("blockquote", { class: "whole short" }, marked(text, found.marks)),
    kinds.length ? h("p", {}, legend(kinds)) : null,
    why.length ? [h("h3", {}, "Why"), h("p", {}, why)] : null,
    found.unknown.length ? h("p", { class: "quiet small" }, found.unknown.length === 1 ? "Unknown word: " : "Unknown words: ", bdi(found.unknown.slice(0, 12).map((word) => cut(word, 40)).join(", ")), found.unknown.length > 12 ? ` and ${many(found.unknown.length - 12, "more", "more")}` : "", ".") : null,
    known && shares.length > 1 ? [h("h3", {}, "Memberships"), h("ul", { class: "bars shares" }, shares.map((one) => h("li", {},
      h("button", { type: "button", class: "link one-line name", title: "Show this topic", onclick: () => update({ topics: [one.id], try: null, row: null }, { push: true }) }, topicName(topicOf(one.id), 60)),
      track(one.share / most, topicOf(one.id).colour), h("span", { class: "number quiet" }, percent(one.share)))))] : null,
  ].flat(Infinity).filter(Boolean);
}
