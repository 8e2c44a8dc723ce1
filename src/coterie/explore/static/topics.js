// The list of topics: sorted, filtered, chosen with mouse or keys.
import { bdi, button, byId, h } from "./dom.js";
import { count, decimal, many, percent } from "./numbers.js";
import { announce, trendArrow } from "./ui.js";
import { matchesOf } from "./counts.js";
import { state, subscribe, update } from "./state.js";
import { chooseTopic } from "./run.js";

const MANY = 12; // from so many topics on a box to find one is worth its room
const SORTS = { size: "by size", growth: "by growth", name: "by name", coherence: "by coherence", matches: "by matches" };
const view = { wanted: "", matching: false,
  get sort() { // a search puts its hits first, unless another order was chosen
    const order = state.order ?? (state.q.trim() ? "matches" : "size");
    return order === "matches" && !this.matching ? "size" : order;
  } };

/** Draw the list into #topics and keep it so. */
export function createTopics() {
  const list = h("ol", { class: "topics", "aria-labelledby": "topics-title", onkeydown: keys });
  const foot = h("div", { class: "topics-foot", hidden: true });
  const sort = h("select", { "aria-label": "Order of the topics", class: "quiet-select", onchange: () => update({ order: sort.value }) },
    Object.entries(SORTS).map(([value, name]) => h("option", { value }, name)));
  const find = h("input", { type: "search", placeholder: "find a topic", "aria-label": "Find a topic by its words", class: "find", hidden: true,
    oninput: () => { view.wanted = find.value.toLowerCase(); draw(); announce(many(list.children.length, "topic")); },
    onkeydown: (event) => { if (event.key === "ArrowDown") { event.preventDefault(); move(list, 0); } } });
  byId("topics-tools").replaceChildren(find, sort);

  function draw() {
    const { overview } = state;
    if (!overview) return;
    find.hidden = overview.topics.length <= MANY;
    const dated = overview.topics.some((topic) => topic.change);
    view.matching = overview.topics.length > 0 && matchesOf(overview.topics[0].id) !== null;
    for (const [name, can] of [["growth", dated], ["matches", view.matching]]) sort.querySelector(`[value=${name}]`).hidden = sort.querySelector(`[value=${name}]`).disabled = !can;
    if (!dated && state.order === "growth") { update({ order: null }); return; }
    sort.value = view.sort;
    const most = Math.max(...overview.topics.map((topic) => matchesOf(topic.id) ?? topic.size), 1);
    const shown = sorted(overview.topics.filter(matches));
    const focused = document.activeElement && list.contains(document.activeElement) ? document.activeElement.dataset.id : null;
    list.replaceChildren(...shown.map((topic) => item(topic, most)));
    byId("topics-list").replaceChildren(shown.length ? list : none(overview));
    mark();
    if (focused !== null) list.querySelector(`[data-id="${CSS.escape(focused)}"]`)?.focus();
  }

  function none(overview) {
    if (!overview.topics.length) return h("div", { class: "empty" }, h("p", {}, "This run has no topics."));
    return h("div", { class: "empty" }, h("p", {}, "No topic has these words."), button("show all", () => { find.value = view.wanted = ""; draw(); find.focus(); }));
  }

  function mark() {
    const chosen = new Set(state.topics);
    let entry = null;
    for (const one of list.querySelectorAll("button")) {
      const id = Number(one.dataset.id), is = chosen.has(id);
      one.setAttribute("aria-pressed", is);
      one.tabIndex = -1;
      if (id === state.topic) entry = one;
    }
    entry = entry || list.querySelector("button");
    if (entry) entry.tabIndex = 0;
    list.classList.toggle("some", chosen.size > 0);
    drawFoot(foot);
  }

  byId("topics").append(foot);
  subscribe(["overview", "counts", "order"], draw);
  subscribe("topics", () => { mark(); list.querySelector(`[data-id="${state.topic}"]`)?.scrollIntoView({ block: "nearest" }); });
  draw();
}

function drawFoot(foot) {
  const number = state.topics.length;
  foot.hidden = number === 0;
  if (!number) return;
  foot.replaceChildren(...(number === 1 ? [button("all topics", () => chooseTopic(null), { class: "plain" }),
    h("span", { class: "quiet small wide-only" }, "Shift-click adds another")] : [
    h("span", {}, `${number} topics`), button("merge…", async () => (await import("./edit.js")).openMerge([...state.topics]), { class: "plain" }),
    button("all topics", () => chooseTopic(null), { class: "plain" })]));
}

function matches(topic) {
  if (!view.wanted) return true;
  const words = `${topic.id} ${topic.label} ${topic.terms.join(" ")}`.toLowerCase();
  return view.wanted.split(/\s+/).filter(Boolean).every((word) => words.includes(word));
}

function sorted(topics) {
  const byName = (a, b) => a.label.localeCompare(b.label);
  const matching = new Map(topics.map((topic) => [topic.id, matchesOf(topic.id) ?? 0]));
  const growth = (topic) => (topic.change ? topic.change.growth : 0);
  const orders = { size: (a, b) => b.size - a.size, growth: (a, b) => growth(b) - growth(a) || byName(a, b), name: byName, coherence: (a, b) => b.coherence - a.coherence || byName(a, b), matches: (a, b) => matching.get(b.id) - matching.get(a.id) || b.size - a.size };
  return [...topics].sort(orders[view.sort]);
}

function item(topic, most) {
  const { change } = topic, numbers = { coherence: () => decimal(topic.coherence), growth: () => `${change.growth < 0 ? "" : "+"}${decimal(100 * change.growth, 1)}` };
  const hits = matchesOf(topic.id), number = hits === null ? (numbers[view.sort] || (() => percent(topic.share)))() : count(hits);
  return h("li", {}, h("button", { type: "button", "data-id": topic.id, class: hits === 0 ? "none" : null, title: `${topic.label}\n${hits === null ? "" : `${count(hits)} of `}${many(topic.size, "text")} · ${percent(topic.share)} · coherence ${decimal(topic.coherence)}${change ? `\n${change.sentence}` : ""}`,
    onclick: (event) => chosen(topic.id, event.shiftKey || event.ctrlKey || event.metaKey) },
  h("span", { class: "track", "aria-hidden": "true" }, h("span", { class: "fill", "--part": `${((100 * (hits ?? topic.size)) / most).toFixed(2)}%`, "--shade": topic.colour })),
  h("span", { class: "number quiet" }, hits === null ? trendArrow(change) : null, number),
  h("span", { class: "name two-lines" }, bdi(topic.label)),
  h("span", { class: "hidden" }, `, ${hits === null ? "" : `${count(hits)} of `}${many(topic.size, "text")}${change && change.trend ? `, ${change.trend}` : ""}`)));
}

function chosen(id, more) {
  if (!more && state.topics.length === 1 && state.topic === id && state.row === null && state.try === null) chooseTopic(null);
  else chooseTopic(id, { more });
}

function keys(event) {
  const list = event.currentTarget, all = [...list.querySelectorAll("button")], at = all.indexOf(document.activeElement);
  const step = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: all.length - 1, PageDown: at + 10, PageUp: at - 10 }[event.key];
  if (step === undefined || event.altKey || event.ctrlKey || event.metaKey) return;
  event.preventDefault();
  move(list, Math.max(0, Math.min(all.length - 1, step)));
}

function move(list, to) {
  const all = list.querySelectorAll("button");
  if (!all.length) return;
  all.forEach((one) => { one.tabIndex = -1; });
  all[to].tabIndex = 0;
  all[to].focus();
}

/** The topic before (−1) or after (1) the chosen one, in the order of the list. */
export function stepTopic(step) {
  if (!state.overview || !state.overview.topics.length) return;
  const order = sorted(state.overview.topics.filter(matches));
  if (!order.length) return;
  const at = order.findIndex((topic) => topic.id === state.topic);
  const next = at < 0 ? (step > 0 ? 0 : order.length - 1) : (at + step + order.length) % order.length;
  update({ topics: [order[next].id], row: null, try: null }, { push: true });
  announce(`${order[next].label}, ${count(order[next].size)} texts`);
}
