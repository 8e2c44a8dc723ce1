// The list of topics: sorted, filtered, chosen with mouse or keys.
import { bdi, button, byId, h } from "./dom.js";
import { count, decimal, many, percent } from "./numbers.js";
import { announce, trendArrow } from "./ui.js";
import { matchesOf } from "./counts.js";
import { groupsShown, state, subscribe, update } from "./state.js";
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
    oninput: () => { view.wanted = find.value.toLowerCase(); draw(); announce(many(list.querySelectorAll("[data-id]").length, "topic")); },
    onkeydown: (event) => { if (event.key === "ArrowDown") { event.preventDefault(); move(list, 0); } } });
  const levels = h("fieldset", { class: "levels", hidden: true });
  byId("topics-tools").replaceChildren(find, sort, levels);

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
    const groups = groupsShown();
    list.replaceChildren(...(groups ? groups.flatMap((group) => grouped(group, shown, most)) : shown.map((topic) => item(topic, most))));
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
    for (const one of list.querySelectorAll("button[data-id]")) {
      const id = Number(one.dataset.id), is = chosen.has(id);
      one.setAttribute("aria-pressed", is);
      one.tabIndex = -1;
      if (id === state.topic) entry = one;
    }
    entry = entry || list.querySelector("button[data-id]");
    if (entry) entry.tabIndex = 0;
    list.classList.toggle("some", chosen.size > 0);
    drawFoot(foot);
  }

  byId("topics").append(foot);
  subscribe(["overview", "order", "level"], draw);
  // only what shows is drawn again: a click on a button that is replaced while the mouse is down is lost
  subscribe("counts", () => { if (view.matching || matchesOf(state.overview?.topics[0]?.id) !== null) draw(); });
  subscribe("levels", () => { if (state.level !== null) draw(); });
  subscribe(["overview", "levels", "level"], () => drawLevels(levels));
  subscribe("topics", () => { mark(); list.querySelector(`[data-id="${state.topic}"]`)?.scrollIntoView({ block: "nearest" }); });
  draw();
}

/** A button for each level, from the broadest on; nothing where topics are the only one. */
function drawLevels(box) {
  const { overview, levels } = state, focused = box.contains(document.activeElement);
  box.hidden = !overview || !levels.length;
  if (box.hidden) return;
  if (state.level !== null && state.level >= levels.length) { update({ level: null }); return; }
  const option = (level, said, title) => h("label", { title }, h("input", { type: "radio", name: "level", checked: state.level === level, onchange: () => update({ level }) }), h("span", {}, said));
  box.replaceChildren(h("legend", { class: "hidden" }, "Level"),
    ...levels.map(({ groups, agreement, chance }, level) => option(level, many(groups.length, "group"), `Two halves of the vocabulary agree on these groups: ${decimal(agreement)}, by chance ${decimal(chance)}`)),
    option(null, many(overview.topics.length, "topic"), "The topics, one by one"));
  if (focused) box.querySelector(":checked").focus();
}

/** A group and those of its topics that are shown. */
function grouped(group, shown, most) {
  const inside = shown.filter((topic) => group.topics.includes(topic.id)).map((topic) => item({ ...topic, colour: group.colour }, most));
  return inside.length ? [h("li", {}, h("button", { type: "button", class: "group", title: `${group.label}\n${many(group.size, "text")} · ${percent(group.share)}: show the texts of these ${many(group.topics.length, "topic")}`,
    onclick: () => update({ topics: [...group.topics], row: null, try: null }, { push: true }) },
  h("span", { class: "swatch", "--shade": group.colour, "aria-hidden": "true" }), h("span", { class: "number quiet" }, percent(group.share)), h("span", { class: "name two-lines" }, bdi(group.label)))), ...inside] : [];
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
  const list = event.currentTarget, all = [...list.querySelectorAll("button[data-id]")], at = all.indexOf(document.activeElement);
  const step = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: all.length - 1, PageDown: at + 10, PageUp: at - 10 }[event.key];
  if (step === undefined || event.altKey || event.ctrlKey || event.metaKey) return;
  event.preventDefault();
  move(list, Math.max(0, Math.min(all.length - 1, step)));
}

function move(list, to) {
  const all = list.querySelectorAll("button[data-id]");
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
