// The page starts here: it asks for the run, hands it to the parts, and wires keys, tabs and the header.
//
// What the parts give each other. Choices go through state.js; these are the functions:
//   run.js      loadRun(), reload() after the run was changed, openRun(name), chooseTopic(id, { more })
//   map.js      createMap(element, { topic(id|null), row(row), lasso(corners|null), view({x, y, zoom}) }) → { show(overview), filter(params),
//               choose(topic id|null), focus(row|null, at|null), mark(at|null, topic id|null), destroy() }
//   edit.js     openRename(topic id, heading to edit in place), openMerge(ids), openSplit(id), openBan(id, terms), openMove(rows), openEdits()
//   jobs.js     showJobs(element), follow(job) → promise of the job that ended; after one that changed the run shown: reload()
//   compare.js  openCompare(element) draws the view "compare" (state.run against state.against); gives a function that ends it, or nothing
//   start.js    openStart(element) draws the view "start"; gives the same
//   export.js   openExport()  a dialog; what is selected is filters() of state.js
//   try.js      openTry(); showTry(element, mark) is the panel while state.try is not null
//   row.js      showRow(element) is the panel while state.row is not null
//   panel.js    showTopic(element), showRun(element) are the panel otherwise; pair.js showPair(element) two topics, selection.js showSelection(element) what filters leave
import { bdi, button, byId, cut, h } from "./dom.js";
import { many } from "./numbers.js";
import { say } from "./ui.js";
import { FILTER_KEYS, filtered, filters, noFilters, state, subscribe, tooEarly, topicOf, update } from "./state.js";
import { get } from "./api.js";
import { chooseTopic, loadRun, onFailure, openRun } from "./run.js";
import { createColour } from "./colour.js";
import { createCounts } from "./counts.js";
import { createFacets } from "./facets.js";
import { createMap } from "./map.js";
import { showPair } from "./pair.js";
import { showRun, showTopic } from "./panel.js";
import { closeRow, showRow } from "./row.js";
import { createSearch } from "./search.js";
import { showSelection } from "./selection.js";
import { createSplit } from "./split.js";
import { createTexts } from "./texts.js";
import { createTime } from "./time.js";
import { createTopics, stepTopic } from "./topics.js";
import { closeTry, openTry, showTry } from "./try.js";

const NARROW = matchMedia("(max-width: 899px)");
const parts = { map: null, trying: null, leave: null };

// the run and the header

async function start() {
  document.head.append(h("link", { rel: "stylesheet", href: "/static/dialogs.css" })); // not needed for the first picture
  createSearch();
  createTopics();
  createFacets();
  createCounts();
  createSplit();
  const texts = createTexts(); // asks at once; nothing of the page waits for another part
  wire();
  const running = state.run && state.view === "explore" ? loadRun() : null;
  // a map can be dear to start (no graphics card); words come first, but do not hold it up for long
  Promise.race([Promise.all([texts, running]), new Promise((done) => setTimeout(done, 700))]).then(() => requestAnimationFrame(() => setTimeout(startMap)));
  get("/about").then((about) => update({ about }), say);
  await loadRuns();
  if (!state.run) {
    const first = (state.runs || []).find((run) => !run.error);
    if (first) update({ run: first.name });
    else if (state.view === "explore") update({ view: "start" });
  } else if (!running && state.view !== "start") loadRun();
  import("./jobs.js").then(({ showJobs }) => showJobs(byId("jobs")), say);
  import("./edit.js").catch(say); // at hand before somebody clicks: what is typed must not be lost
}

async function loadRuns() {
  try {
    update({ runs: (await get("/runs")).runs });
  } catch (error) { say(error); }
}

function startMap() {
  try {
    parts.map = createMap(byId("map"), {
      topic: (id) => { if (id !== state.topic || state.topics.length > 1) chooseTopic(id); },
      row: (row) => update({ row, try: null }, { push: true }),
      lasso: (corners) => update({ lasso: corners }, { push: true }),
      view: (box) => update({ box }),
      alone: () => mapAlone(),
    });
    createTime(byId("map"));
    createColour(byId("map"), () => parts.map.recolour());
    subscribe(["level", "levels"], () => parts.map.level());
  } catch (error) {
    byId("map").replaceChildren(h("div", { class: "empty" }, h("p", {}, "The map cannot be drawn: ", bdi(error.message)), h("p", {}, "The list and the table show the same texts.")));
  }
  drawMap(null, ["overview"]);
  if (parts.trying) parts.trying.again();
  else if (state.row !== null) drawPanel();
}

function drawHeader() {
  const { overview, runs } = state, select = byId("run");
  const names = runs ? runs.map((run) => run.name) : [];
  if (state.run && !names.includes(state.run)) names.unshift(state.run);
  const wrong = new Map((runs || []).filter((run) => run.error).map((run) => [run.name, run.error]));
  select.replaceChildren(...names.map((name) => h("option", { value: name, disabled: wrong.has(name), title: wrong.get(name) }, cut(name, 60))), h("option", { value: "" }, "new run…"));
  select.value = state.view === "start" ? "" : state.run || "";
  select.disabled = false;
  const here = overview && overview.name === state.run && state.view !== "start";
  byId("facts").replaceChildren(...(here ? [overview.source ? h("span", { class: "source one-line", title: overview.source }, bdi(overview.source)) : "", h("span", {}, many(overview.texts, "text")), h("span", {}, many(overview.topics.length, "topic"))] : []));
  document.title = here ? `${cut(state.topic !== null && topicOf(state.topic) ? topicOf(state.topic).label : overview.name, 60)} · coterie` : "coterie";
}

// the panel: what is tried, the text, the topic, or the run

async function drawPanel(_, changed = []) {
  const { overview } = state, panel = byId("panel");
  if (!overview) return;
  if (parts.trying && (state.try === null || changed.includes("run"))) { parts.trying.clear(); parts.trying = null; }
  const kind = panelKind();
  if (kind !== "row" && parts.map) parts.map.focus(null);
  if (kind === "try") {
    if (!parts.trying) parts.trying = showTry(panel, (at, topic) => parts.map && parts.map.mark(at, topic));
    else if (changed.includes("stirred") || changed.includes("overview")) parts.trying.again();
    else parts.trying.take(state.try);
  } else if (kind === "row") {
    const row = state.row, at = await showRow(panel);
    if (state.row === row && parts.map) parts.map.focus(row, at);
  } else if (kind === "pair") showPair(panel);
  else if (kind === "topic") showTopic(panel);
  else if (kind === "selection") showSelection(panel);
  else showRun(panel);
}

/** What the panel shows: what was opened last, the innermost first. */
function panelKind() {
  const chosen = state.topics.filter((id) => topicOf(id));
  if (state.try !== null) return "try";
  if (state.row !== null) return "row";
  if (state.lasso) return "selection";
  if (chosen.length) return chosen.length === 2 && state.topics.length === 2 ? "pair" : "topic";
  return filtered() && !tooEarly() ? "selection" : "run";
}

function drawMap(_, changed = []) {
  const { map } = parts, { overview } = state;
  if (!map || !overview) return;
  const { q, mode, ...rest } = filters();
  map.filter(q && !tooEarly() ? { q, mode, ...rest } : rest);
  if (changed.includes("overview") || changed.includes("stirred")) map.show(overview);
  map.choose(state.topics.length === 1 ? state.topic : null);
}

// views and tabs

async function drawView() {
  const other = state.view !== "explore", box = byId("other");
  if (parts.leave) { parts.leave(); parts.leave = null; }
  byId("explore").hidden = other;
  byId("tabs").hidden = other;
  byId("search").classList.toggle("away", other);
  box.hidden = !other;
  document.querySelectorAll("#actions [data-do]").forEach((one) => one.toggleAttribute("data-on", one.dataset.do === state.view));
  drawActions();
  drawHeader();
  if (!other) { box.replaceChildren(); return; }
  try {
    const view = state.view;
    const open = view === "compare" ? (await import("./compare.js")).openCompare : (await import("./start.js")).openStart;
    if (state.view === view) parts.leave = open(box) || null;
  } catch (error) { say(error); }
}

/** What can be done with a run is offered where there is one. */
function drawActions() {
  const none = state.view === "start" || !state.run || (state.runs !== null && !state.runs.some((run) => !run.error));
  byId("actions").classList.toggle("away", none);
  byId("more").classList.toggle("away", none);
}

function drawTabs() {
  const tab = state.tab || (state.row !== null || state.try !== null || state.topic !== null ? "panel" : state.q ? "texts" : "topics"), panes = ["topics", "map", "panel", "texts"];
  byId("explore").dataset.tab = tab;
  for (const name of panes) {
    const button_ = byId(`tab-${name}`), is = name === tab, pane = byId(name);
    button_.setAttribute("aria-selected", is);
    button_.tabIndex = is ? 0 : -1;
    if (NARROW.matches) pane.setAttribute("role", "tabpanel"); else pane.removeAttribute("role");
  }
  byId("tab-panel").textContent = state.try !== null ? "Try" : state.row !== null ? "Text" : panelKind() === "selection" ? "Selected" : state.topics.length === 2 ? "Topics" : state.topic !== null ? "Topic" : "Run";
}

function wireTabs() {
  const tabs = byId("tabs"), all = [...tabs.querySelectorAll("[role=tab]")];
  tabs.addEventListener("click", (event) => { const one = event.target.closest("[role=tab]"); if (one) update({ tab: one.dataset.tab }); });
  tabs.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    const next = all[(all.findIndex((one) => one === document.activeElement) + step + all.length) % all.length];
    update({ tab: next.dataset.tab });
    next.focus();
  });
  NARROW.addEventListener("change", drawTabs);
  subscribe([...FILTER_KEYS, "tab", "row", "try", "overview"], (_, changed) => {
    // on a narrow page what was opened must come into sight
    const opened = (changed.includes("row") && state.row !== null) || (changed.includes("try") && state.try !== null && !changed.includes("tab") && state.tab !== "panel")
      || (changed.includes("topics") && state.topic !== null && state.tab !== "texts" && state.tab !== "map");
    if (NARROW.matches && opened && !changed.includes("tab") && state.tab !== "panel") {
      update({ tab: "panel" });
      if (!state.try) byId("panel").focus({ preventScroll: true }); // what was clicked is out of sight now
    } else drawTabs();
  });
  drawTabs();
}

// what people do

const ACTIONS = {
  try: () => (state.try === null ? tryText() : closeTry()),
  edit: async () => (await import("./edit.js")).openEdits(),
  compare: () => update({ view: state.view === "compare" ? "explore" : "compare" }, { push: true }),
  export: async () => (await import("./export.js")).openExport(),
};

function tryText() {
  if (state.view !== "explore") update({ view: "explore" });
  openTry();
  if (parts.trying) parts.trying.focus();
}

/** A file for the run that is shown, or for a new one. */
async function dropped(file) {
  if (document.querySelector("dialog[open]")) return;
  const fresh = () => update({ dropped: file, view: "start" }, { push: true });
  if (state.view !== "explore" || !state.overview) { fresh(); return; }
  try { (await import("./assign.js")).openDropped(file, fresh); } catch (error) { say(error); }
}

function wire() {
  byId("actions").addEventListener("click", async (event) => {
    const what = event.target.closest("[data-do]");
    if (!what) return;
    menu(false);
    if (!state.overview) return;
    try { await ACTIONS[what.dataset.do](); } catch (error) { say(error); }
  });
  const more = byId("more"), menu = (open) => { more.setAttribute("aria-expanded", open); byId("top").classList.toggle("open", open); };
  more.addEventListener("click", () => menu(more.getAttribute("aria-expanded") !== "true"));
  byId("run").addEventListener("change", (event) => (event.target.value ? openRun(event.target.value) : update({ view: "start" }, { push: true })));
  document.querySelector(".brand a").addEventListener("click", (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey || !state.run) return;
    event.preventDefault();
    update({ ...noFilters(), row: null, try: null, view: "explore", box: null, sort: null, descending: false }, { push: true });
  });
  document.addEventListener("keydown", key);
  // a file that is dropped anywhere must not replace the page
  for (const name of ["dragover", "drop"]) window.addEventListener(name, (event) => {
    if (event.defaultPrevented || !event.dataTransfer?.types.includes("Files")) return;
    event.preventDefault();
    if (name === "drop" && event.dataTransfer.files.length) dropped(event.dataTransfer.files[0]);
  });
  wireTabs();
  subscribe("run", () => { update({ overview: null, ready: false }); if (state.run) loadRun(); if (state.runs && !state.runs.some((run) => run.name === state.run)) loadRuns(); });
  subscribe(["overview", "runs", "topics", "run"], drawHeader);
  subscribe(["run", "runs"], drawActions);
  subscribe([...FILTER_KEYS, "overview", "row", "try", "stirred", "about"], drawPanel);
  subscribe("ready", () => { if (state.ready && ["row", "selection"].includes(panelKind())) drawPanel(); }); // similar texts and words are known now
  subscribe([...FILTER_KEYS, "overview", "stirred", "ready"], drawMap);
  subscribe(["view", "against"], (_, changed) => { if (changed.includes("view")) { drawView(); if (state.view === "explore" && !state.overview && state.run) loadRun(); } });
  subscribe("overview", () => byId("explore").toggleAttribute("aria-busy", !state.overview));
  subscribe("gone", () => {
    byId("banner").hidden = !state.gone;
    byId("banner").textContent = state.gone ? "The server does not respond. Is coterie still running? The page continues when the server is back." : "";
  });
  subscribe("stirred", () => { if (!state.overview && state.run) loadRun(); loadRuns(); });
  onFailure(cannotOpen);
  drawView();
}

function cannotOpen(error) {
  if (!error.status) return; // the banner says it
  const again = h("div", { class: "empty wrong" }, h("p", {}, bdi(error.message)), button("try again", () => loadRun()), " ", button("another run", () => byId("run").focus()));
  byId("panel").replaceChildren(again);
  byId("topics-list").replaceChildren();
  if (parts.map) parts.map.show(null);
}

// keys

function key(event) {
  if (event.defaultPrevented || event.altKey || document.querySelector("dialog[open]")) return;
  const typing = event.target.closest("input:not([type=range], [type=radio], [type=checkbox]), textarea, select, [contenteditable]");
  if (event.ctrlKey || event.metaKey) {
    if (event.key.toLowerCase() === "z" && !event.shiftKey && !typing && state.view === "explore" && state.overview) { event.preventDefault(); undo(); }
    return;
  }
  if (event.key === "Escape") { escape(event, typing); return; }
  if (typing || state.view !== "explore") return;
  const keys = { "/": () => { byId("query").focus(); byId("query").select(); }, t: tryText, f: () => mapAlone(), "[": () => stepTopic(-1), "]": () => stepTopic(1), "?": openKeys };
  if (!keys[event.key] || !state.overview) return;
  event.preventDefault();
  keys[event.key]();
}

async function undo() {
  try { await (await import("./undo.js")).undoLast(); } catch (error) { say(error); }
}

async function openKeys() {
  try { (await import("./keys.js")).openKeys(); } catch (error) { say(error); }
}

/** Give the map the whole page, or take it back. */
function mapAlone(is = !byId("explore").classList.contains("map-alone")) {
  byId("explore").classList.toggle("map-alone", is);
  if (parts.map) parts.map.alone(is);
}

function escape(event, typing) {
  // one thing at a time, the innermost first
  if (byId("top").classList.contains("open")) { byId("more").click(); byId("more").focus(); return; }
  if (typing && typing.id === "query") {
    if (typing.value) { event.preventDefault(); typing.value = ""; update({ q: "" }, { push: true }); } else typing.blur();
    return;
  }
  if (typing && typing.id !== "try-text") { typing.blur(); return; }
  if (byId("explore").classList.contains("map-alone")) { mapAlone(false); return; }
  if (state.view !== "explore") { if (state.run) update({ view: "explore" }, { push: true }); return; }
  if (state.try !== null) { closeTry(); document.querySelector("#actions [data-do=try]").focus(); } else if (state.row !== null) closeRow();
  else if (filtered()) update(noFilters(), { push: true });
}

start();
