// The one state of the page. What a link must bring back is written into the address; the rest lives here only.
// Everybody reads `state`, changes it by `update`, and hears of changes by `subscribe`.

const START = {
  // in the address
  run: null, // name of the run shown
  topics: [], // chosen topics; the first is the one in the panel, all of them filter the texts
  q: "", mode: "words",
  least: null, most: null, classes: [], only: [], since: null, until: null, lasso: null, known: null, // lasso: [[x, y], …]; only: "number of a column:value"
  sort: null, descending: false, offset: 0,
  row: null, // text shown in the panel
  view: "explore", against: null, // compare: the other run
  box: null, // { x, y, zoom } of the map
  colour: null, // of the points: null for topics, "confidence", "date", or the number of a column
  order: null, list: null, // of the topics: null for by size, by matches during a search; list: "columns" shows what columns hold instead
  try: null, // text being tried; null: closed, "": open and empty
  tab: null, // narrow pages: topics | map | panel | texts
  // not in the address
  overview: null, // of the run, as /api/runs/{run} gives it
  counts: null, // how many texts that match are where, as /api/runs/{run}/counts gives it
  about: null, runs: null,
  ready: false, // texts of the run are counted: search by meaning and similar texts are there
  gone: false, // the server does not answer
  dropped: null, // a file that was dropped on the page, for the view "start"
  levels: [], level: null, // levels above the topics, as /map/names gives them; the number of the one shown, null for topics
  reach: [0, 1], // confidences that occur on the map: its colours go from one to the other
  stirred: 0, // rises when what is shown should be asked for again (the server came back)
};
const FILTERS = ["topics", "q", "mode", "least", "most", "classes", "only", "since", "until", "lasso", "known"];
const ADDRESS = Object.keys(START).slice(0, Object.keys(START).indexOf("overview"));
const CHOICES = { mode: ["words", "meaning"], view: ["explore", "compare", "start"], tab: ["topics", "map", "panel", "texts"], order: ["size", "growth", "name", "coherence", "matches"], list: ["columns"],
  sort: ["row", "confidence", "topic", "date", "class", "length", "match"] };

export const state = { ...START, get topic() { return this.topics.length ? this.topics[0] : null; } };
const listeners = [];

/** Keys that select texts; what is asked for again when one of them changes. */
export const FILTER_KEYS = FILTERS;

/** fn(state, changed keys) after an update that changed one of the keys. */
export function subscribe(keys, fn) {
  const listener = { keys: new Set([].concat(keys)), fn };
  listeners.push(listener);
  return () => listeners.splice(listeners.indexOf(listener), 1);
}

const same = (a, b) => a === b || (a !== null && b !== null && typeof a === "object" && typeof b === "object" && JSON.stringify(a) === JSON.stringify(b));

/**
 * Change the state. `push` makes a step that "back" takes back; without it the address is only rewritten.
 * `topic: id` is short for `topics: [id]` (null for none). A new filter goes back to the first page.
 */
export function update(changes, { push = false, address = true } = {}) {
  const wanted = { ...changes };
  if ("topic" in wanted) {
    wanted.topics = wanted.topic === null ? [] : [wanted.topic];
    delete wanted.topic;
  }
  if (FILTERS.some((key) => key in wanted) && !("offset" in wanted)) wanted.offset = 0;
  const changed = [];
  for (const [key, value] of Object.entries(wanted)) {
    if (!(key in START)) throw new Error(`The state has no ${key}.`);
    const big = key === "overview" || key === "counts" || key === "about" || key === "runs"; // compared by identity: they are large
    if (big ? state[key] !== value : !same(state[key], value)) { state[key] = value; changed.push(key); }
  }
  if (changed.includes("topics")) changed.push("topic");
  if (!changed.length) return;
  if (address && changed.some((key) => ADDRESS.includes(key))) write(push);
  for (const { keys, fn } of [...listeners]) if (changed.some((key) => keys.has(key))) fn(state, changed);
}

/** The filters as the API takes them (also /map and /export). */
export function filters(of = state) {
  const asked = {};
  if (of.q.trim()) Object.assign(asked, { q: of.q.trim(), mode: of.mode });
  if (of.topics.length) asked.topic = of.topics;
  if (of.classes.length) asked.class = of.classes;
  if (of.only.length) asked.only = of.only;
  for (const key of ["least", "most", "since", "until", "known"]) if (of[key] !== null) asked[key] = of[key];
  if (of.lasso) asked.lasso = corners(of.lasso);
  return asked;
}
/** What /texts is asked for: filters, order and page. A search by meaning shows its best first. */
export function textsAsked() {
  const best = state.q.trim() && state.mode === "meaning", sort = state.sort || (best ? "match" : null);
  return { ...filters(), sort, descending: state.sort ? state.descending : best ? true : null, offset: state.offset || null, limit: PAGE };
}
/** The search by meaning has to wait until the server has counted the texts. */
export const tooEarly = () => state.mode === "meaning" && state.q.trim() !== "" && !state.ready;
/** Texts of a page of the table. */
export const PAGE = 50;
/** The groups of topics to show, null where topics are shown one by one. */
export const groupsShown = () => (state.level === null ? null : state.levels[state.level]?.groups ?? null);
/** State without any filter, to clear them all. */
export const noFilters = () => ({ topics: [], q: "", least: null, most: null, classes: [], only: [], since: null, until: null, lasso: null, known: null });
export const filtered = () => Object.keys(filters()).length > 0;

const corners = (lasso) => lasso.map(([x, y]) => `${round(x)},${round(y)}`).join(" ");
const round = (number) => String(Number(number.toFixed(5)));

/** The address of a state, to link to it. */
export function address(changes = {}) {
  const of = { ...state, ...changes };
  if ("topic" in changes) of.topics = changes.topic === null ? [] : [changes.topic];
  const query = new URLSearchParams();
  const put = (name, value) => { if (value !== null && value !== "" && value !== undefined) query.append(name, value); };
  put("run", of.run);
  if (of.view !== "explore") put("view", of.view);
  of.topics.forEach((id) => put("topic", id));
  put("q", of.q);
  if (of.mode !== "words") put("mode", of.mode);
  for (const name of ["least", "most", "since", "until", "known"]) put(name, of[name]);
  of.classes.forEach((name) => query.append("class", name));
  of.only.forEach((one) => query.append("only", one));
  if (of.lasso) put("lasso", corners(of.lasso));
  put("sort", of.sort);
  if (of.descending) put("descending", "true");
  if (of.offset) put("offset", of.offset);
  put("row", of.row);
  put("against", of.against);
  if (of.box) for (const name of ["x", "y", "zoom"]) put(name, round(of.box[name]));
  if (of.try !== null) query.append("try", of.try.slice(0, 2000));
  for (const name of ["colour", "order", "list", "tab"]) put(name, of[name]);
  const text = query.toString();
  return text ? `/?${text}` : "/";
}

let written = 0, due = null, pending = null; // pending: the address of this step, not written yet
function write(push) {
  clearTimeout(due);
  if (push) {
    if (pending !== null) history.replaceState(null, "", pending); // "back" must find the step as it was left
    pending = null;
    history.pushState(null, "", address());
    return;
  }
  pending = address();
  // browsers refuse more than about 100 changes in 10 seconds; while dragging one in 200 ms is enough
  const wait = Math.max(0, written + 200 - Date.now());
  due = setTimeout(() => { written = Date.now(); history.replaceState(null, "", pending); pending = null; }, wait);
}

const numberOr = (text, low, high) => {
  const number = text === null || text.trim() === "" ? NaN : Number(text);
  return Number.isFinite(number) && number >= low && number <= high ? number : null;
};
const dateOr = (text) => (text && /^\d{4}-\d{2}-\d{2}$/.test(text) ? text : null);

/** What the address says; anything that makes no sense is left out. */
export function parse(search) {
  const query = new URLSearchParams(search), read = {};
  for (const key of ADDRESS) read[key] = START[key];
  const ids = query.getAll("topic").map((id) => numberOr(id, 0, 1e9)).filter(Number.isInteger);
  const lasso = (query.get("lasso") || "").split(" ").map((pair) => pair.split(",").map(Number))
    .filter((pair) => pair.length === 2 && pair.every(Number.isFinite));
  const whole = (name) => { const number = numberOr(query.get(name), 0, 2 ** 32); return Number.isInteger(number) ? number : null; };
  const box = ["x", "y", "zoom"].map((name) => numberOr(query.get(name), -1e6, 1e6));
  Object.assign(read, {
    run: query.get("run") || null, topics: [...new Set(ids)], q: (query.get("q") || "").slice(0, 400),
    least: numberOr(query.get("least"), 0, 1), most: numberOr(query.get("most"), 0, 1), classes: [...new Set(query.getAll("class"))],
    only: [...new Set(query.getAll("only").filter((one) => /^\d{1,6}:/.test(one)))], colour: /^(confidence|date|\d{1,6})$/.test(query.get("colour")) ? query.get("colour") : null,
    since: dateOr(query.get("since")), until: dateOr(query.get("until")), lasso: lasso.length >= 3 ? lasso.slice(0, 200) : null,
    known: { true: true, false: false }[query.get("known")] ?? null,
    descending: query.get("descending") === "true", offset: whole("offset") ?? 0, row: whole("row"), against: query.get("against") || null,
    box: box.every((value) => value !== null) && box[2] > 0 ? { x: box[0], y: box[1], zoom: box[2] } : null, try: query.get("try"),
  });
  for (const [key, allowed] of Object.entries(CHOICES)) if (allowed.includes(query.get(key))) read[key] = query.get(key);
  return read;
}

Object.assign(state, parse(location.search));
window.addEventListener("popstate", () => { clearTimeout(due); pending = null; update(parse(location.search), { address: false }); });

/** The brief of a topic by its id, from the overview; undefined where there is none. */
export function topicOf(id) {
  if (known.overview !== state.overview) {
    known.overview = state.overview;
    known.topics = new Map((state.overview ? state.overview.topics : []).map((topic) => [topic.id, topic]));
  }
  return known.topics.get(id);
}
const known = { overview: null, topics: new Map() };
