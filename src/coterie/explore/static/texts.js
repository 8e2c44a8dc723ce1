// The table of texts: asked for page by page, sorted by the server, rows open in the panel.
import { bdi, button, byId, h, swatch, track } from "./dom.js";
import { count, decimal, many } from "./numbers.js";
import { announce, say, sureness } from "./ui.js";
import { FILTER_KEYS, PAGE, filtered, filters, noFilters, state, subscribe, textsAsked, tooEarly, topicOf, update } from "./state.js";
import { get, latest, runPath } from "./api.js";
import { elsewhere } from "./counts.js";
import { drawFilters } from "./filters.js";
import { legend, marked, reason } from "./marks.js";
import { canPick, clearPicks, onPicks, pickCell, pickHead, pickTools, showPicks, turn as turnPick } from "./picks.js";
import { explain } from "./search.js";

const asking = latest();
const shown = { answer: null, waits: null, early: false };

/** Draw the texts into #texts and keep them so; gives a promise of the first page. */
export function createTexts() {
  subscribe([...FILTER_KEYS, "run", "sort", "descending", "offset", "stirred"], load);
  subscribe("overview", () => { drawFilters(); if (shown.answer) draw(); else if (shown.early) load(); });
  subscribe("ready", () => { if (state.ready && (shown.waits || shown.early)) load(); });
  subscribe([...FILTER_KEYS, "counts"], drawFilters);
  subscribe("counts", () => { if (shown.answer && !shown.answer.rows.length) draw(); }); // where else texts match is known now
  subscribe("row", markRow);
  subscribe("run", clearPicks);
  subscribe("about", () => { if (shown.answer) draw(); });
  onPicks(() => { drawTools(); showPicks(byId("texts-list")); });
  drawFilters();
  return load();
}

async function load() {
  clearTimeout(shown.waits);
  Object.assign(shown, { waits: null, early: false });
  if (!state.run) return;
  const list = byId("texts-list");
  if (tooEarly()) { early(list); return; }
  list.setAttribute("aria-busy", "true");
  list.firstElementChild?.classList.toggle("busy", shown.answer !== null);
  try {
    const answer = await asking((signal) => get(runPath("/texts"), textsAsked(), { signal }));
    if (answer.rows.length === 0 && answer.total > 0 && state.offset > 0) { // an old link, or the run has shrunk
      update({ offset: Math.floor((answer.total - 1) / PAGE) * PAGE });
      return;
    }
    const turned = shown.answer && shown.answer.offset !== answer.offset;
    shown.answer = answer;
    draw();
    if (turned || list.scrollTop > 0) list.scrollTop = 0;
    announce(filtered() ? `${many(answer.total, "text")} found` : many(answer.total, "text"));
  } catch (error) {
    if (error.name === "AbortError") return;
    if (!error.status) return; // no server: the banner says it, and what stood here stays, dimmed
    list.removeAttribute("aria-busy");
    shown.answer = null;
    drawTools();
    if (error.retry !== null && error.retry !== undefined) waitFor(error, list);
    else wrong(error, list);
  }
}

function early(list) {
  // goes on when `ready` comes; before the run is known it may be there already
  asking.cancel();
  shown.answer = null;
  shown.early = true;
  drawTools();
  byId("texts-note").replaceChildren();
  if (state.overview) list.replaceChildren(h("div", { class: "empty", role: "status" }, h("p", {}, "The texts are still being counted. Search by meaning starts when that is done."),
    button("search words now", () => update({ mode: "words" }, { push: true }))));
}

function waitFor(error, list) {
  list.replaceChildren(h("div", { class: "empty", role: "status" }, h("p", {}, bdi(error.message))));
  shown.waits = setTimeout(load, Math.max(500, 1000 * error.retry));
}

function wrong(error, list) {
  list.replaceChildren(h("div", { class: "empty wrong", role: "alert" }, h("p", {}, bdi(error.message)), button("try again", load), " ",
    filtered() ? button("clear filters", () => update(noFilters(), { push: true })) : null));
}

function draw() {
  const { answer } = shown, list = byId("texts-list");
  list.removeAttribute("aria-busy");
  drawTools();
  byId("texts-note").replaceChildren(...note(answer));
  list.replaceChildren(answer.rows.length ? table(answer) : empty());
  markRow();
  showPicks(list);
}

function note(answer) {
  const kinds = new Set(answer.rows.flatMap((text) => (text.marks || []).map(([, , kind]) => kind)));
  const keys = ["word", "query", "related"].filter((kind) => kinds.has(kind));
  const told = answer.query ? explain(answer.query) : null;
  if (!told && (keys.length < 2 || !state.q)) return []; // one form alone is named in the head of the column
  return [h("div", { class: "note" }, told || h("span"), keys.length ? legend(keys) : null)];
}

function empty() {
  if (!filtered()) return h("div", { class: "empty" }, h("p", {}, "This run has no texts."));
  const about = state.q.trim() ? ["No text matches ", h("q", {}, bdi(state.q.trim())), Object.keys(filters()).length > 2 ? " and the filters." : "."] : "No text matches the filters.";
  const meaning = state.q.trim() && state.mode === "words" ? button("search by meaning", () => update({ mode: "meaning", sort: null }, { push: true })) : null;
  const others = elsewhere();
  return h("div", { class: "empty" }, h("p", {}, about), others ? h("p", {}, others, ". ", button("search all topics", () => update({ topics: [] }, { push: true }), { class: "main" })) : null, meaning, " ", button("clear filters", () => update(noFilters(), { push: true })));
}

// the line above the table: how many, which page, what can be done with them

function drawTools() {
  const { answer } = shown, total = answer ? answer.total : 0, all = state.overview ? state.overview.texts : total;
  const words = !answer ? "" : filtered() ? `${count(total)} of ${count(all)}` : many(total, "text");
  const last = Math.min(state.offset + PAGE, total), turn = (offset) => update({ offset }, { push: true });
  const pages = total > PAGE ? h("span", { class: "pages" },
    button("‹", () => turn(Math.max(0, state.offset - PAGE)), { "aria-label": "Page before", disabled: state.offset <= 0 }),
    h("span", { class: "quiet number" }, `${count(state.offset + 1)}–${count(last)}`),
    button("›", () => turn(state.offset + PAGE), { "aria-label": "Next page", disabled: last >= total })) : null;
  const movable = answer && filtered() && total > 0 && state.about && state.about.writable;
  byId("texts-total").textContent = words;
  const picks = pickTools(), box = byId("texts-tools"), held = box.contains(document.activeElement) ? document.activeElement.getAttribute("aria-label") : null;
  box.replaceChildren(picks || (movable ? moveTool(total) : ""), sortSelect(), pages || "");
  if (held) [...box.querySelectorAll("[aria-label]")].find((one) => one.getAttribute("aria-label") === held && !one.disabled)?.focus();
}

function sortSelect() {
  // the column heads sort on wide pages; on narrow ones there are none
  const names = { row: "as in the file", confidence: "by confidence", topic: "by topic", length: "by length", match: "best match", date: "by date", class: "by class" };
  const { overview } = state, can = ["row", "confidence", "topic", "length", ...(state.q ? ["match"] : []), ...(overview && overview.date ? ["date"] : []), ...(overview && overview.label ? ["class"] : [])];
  const now = textsAsked().sort || "row";
  const select = h("select", { "aria-label": "Order of the texts", class: "quiet-select", onchange: () => update({ sort: select.value === "row" && !state.q ? null : select.value, descending: ["match", "date"].includes(select.value), offset: 0 }, { push: true }) },
    can.map((value) => h("option", { value, selected: value === now }, names[value])));
  return select;
}

const MOVED = 500; // so many texts can be moved at once

function moveTool(total) {
  const { topic, ...rest } = filters();
  if (total > MOVED) return !Object.keys(rest).length ? "" : h("span", { class: "quiet small wide-only", title: "Select fewer texts to move them to another topic" }, `at most ${count(MOVED)} can be moved`);
  return button(total === 1 ? "move it…" : `move these ${total}…`, moveAll, { class: "plain wide-only", title: "Move these texts to another topic permanently" });
}

async function moveAll() {
  try {
    const rows = [];
    for (let offset = 0; offset < shown.answer.total; offset += 200) {
      const part = await get(runPath("/texts"), { ...filters(), offset: offset || null, limit: 200 });
      rows.push(...part.rows.map((text) => text.row));
    }
    (await import("./edit.js")).openMove(rows);
  } catch (error) { say(error); }
}

// the table

function table(answer) {
  const { overview } = state, dated = overview && overview.date && answer.rows.some((text) => text.date !== null), classed = overview && overview.label;
  const several = answer.query && answer.query.known.length > 1; // from which word of the query is said where there is a choice
  const heads = [["topic", "topic", "c-topic"], ["confidence", "conf.", "c-confidence"], ["length", "text", "c-text"], [null, "reason", "c-reason"],
    ...(classed ? [["class", overview.label, "c-class"]] : []), ...(dated ? [["date", overview.date, "c-date"]] : [])];
  const body = h("tbody", { role: "rowgroup", onkeydown: keys, onclick: clicked }, answer.rows.map((text, at) => line(text, at, { classed, dated, several })));
  return h("table", { role: "table", class: classed && dated ? "texts full" : "texts" }, h("caption", { class: "hidden" }, "Texts with topic, confidence and reason. Enter opens a text, Space selects it."),
    h("thead", { role: "rowgroup" }, h("tr", { role: "row" }, canPick() ? pickHead(answer.rows.map((text) => text.row)) : null, heads.map(([key, name, kind]) => head(key, name, kind)))), body);
}

function head(key, name, kind) {
  const now = textsAsked(), is = key && now.sort === key, down = is && now.descending;
  const first = key === "date" || key === "length" || key === "match"; // the newest, the longest, the best come first
  const sort = () => update(!is ? { sort: key, descending: first, offset: 0 } : down === first ? { sort: key, descending: !first, offset: 0 } : { sort: null, descending: false, offset: 0 }, { push: true });
  const titles = { length: "Sort by length", confidence: "Sort by confidence" };
  const arrow = h("span", { class: "arrow", "aria-hidden": "true" }, is ? (down ? "↓" : "↑") : "");
  return h("th", { scope: "col", role: "columnheader", class: kind, "aria-sort": is ? (down ? "descending" : "ascending") : null },
    kind === "c-text" ? [button([bdi(name), arrow], sort, { class: "sort", title: titles[key] }), byId("texts-note").firstChild ? null : legend(["word"])]
      : key ? button([bdi(name), arrow], sort, { class: "sort", title: titles[key] || `Sort by ${name}` }) : name);
}

function line(text, at, { classed, dated, several }) {
  const topic = topicOf(text.topic), known = text.confidence > 0;
  return h("tr", { role: "row", tabindex: at === 0 ? 0 : -1, "data-row": text.row }, canPick() ? pickCell(text.row) : null,
    h("td", { role: "cell", class: "c-topic" }, topic ? h("span", { class: "one-line", title: topic.label }, swatch(topic), bdi(topic.label)) : h("span", { class: "quiet" }, state.overview ? "none" : "")),
    h("td", { role: "cell", class: "c-confidence", title: sureness(text.confidence) }, h("span", { class: "pair" }, track(text.confidence, known ? "var(--bar)" : "var(--line)"), h("span", { class: "number" }, decimal(text.confidence)))),
    h("td", { role: "cell", class: "c-text" }, h("div", { class: "clamp" }, marked(text.text, text.marks), text.cut ? "…" : "")),
    h("td", { role: "cell", class: "c-reason" }, h("div", { class: "clamp" }, text.match && text.match.through && text.match.through.length ? through(text.match.through, several) : reason(text))),
    classed ? h("td", { role: "cell", class: "c-class" }, h("span", { class: "one-line", title: text.class }, text.class === null ? "" : bdi(text.class))) : null,
    dated ? h("td", { role: "cell", class: "c-date number quiet" }, text.date === null ? "" : bdi(text.date.slice(0, 10))) : null);
}

function through(links, several) {
  return ["through ", links.slice(0, 4).map((link, at) => [at ? ", " : "", h("i", { class: "related" }, bdi(link.term)), several && h("span", { class: "quiet" }, " (", bdi(link.from), ")")])];
}

function clicked(event) {
  const row = event.target.closest("tr");
  if (event.target.closest(".c-pick")) return;
  if (row && !String(getSelection())) open(row); // a text that is being selected is not a click
}

function open(row) {
  const wanted = Number(row.dataset.row);
  enter(row);
  update({ row: state.row === wanted ? null : wanted, try: null }, { push: true });
}

function enter(row) {
  for (const other of row.parentElement.children) other.tabIndex = -1;
  row.tabIndex = 0;
  row.focus({ preventScroll: true });
}

function keys(event) {
  const row = event.target.closest("tr"), all = [...row.parentElement.children], at = all.indexOf(row);
  if (event.altKey || event.ctrlKey || event.metaKey) return;
  if (event.key === "Enter") { event.preventDefault(); open(row); return; }
  if (event.key === " ") { event.preventDefault(); if (canPick()) turnPick(row); return; }
  const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: all.length - 1 }[event.key];
  if (to === undefined) return;
  event.preventDefault();
  const next = all[Math.max(0, Math.min(all.length - 1, to))];
  enter(next);
  next.scrollIntoView({ block: "nearest" });
  if (state.row !== null) update({ row: Number(next.dataset.row) }); // the panel follows while it is open
}

function markRow() {
  for (const row of byId("texts-list").querySelectorAll("tbody tr")) {
    const is = Number(row.dataset.row) === state.row;
    if (is) row.setAttribute("aria-current", "true"); else row.removeAttribute("aria-current");
  }
}

/** Focus goes back to the row that was open. */
export function focusRow(row) {
  const line = byId("texts-list").querySelector(`tr[data-row="${Number(row)}"]`);
  if (line) enter(line);
  return Boolean(line);
}
