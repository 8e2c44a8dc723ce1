// Two topics side by side: size, words of each and of both, months, typical texts.
import { bdi, button, cut, h, swatch } from "./dom.js";
import { count, decimal, many, percent } from "./numbers.js";
import { say } from "./ui.js";
import { state, topicOf, update } from "./state.js";
import { get, latest, runPath } from "./api.js";
import { timeline } from "./charts.js";
import { quotes } from "./row.js";
import { chooseTopic } from "./run.js";
import { searchFor } from "./search.js";

const asking = latest(), kept = { key: null, pair: null };
const WORDS = 10, TEXTS = 3;

/** Draw the two chosen topics. */
export async function showPair(element) {
  const ids = state.topics.slice(0, 2), key = `${state.run} ${state.overview.version} ${ids}`;
  const draw = (pair) => element.replaceChildren(head(ids), pair ? body(pair) : h("div", { class: "skeleton card", "aria-hidden": "true" }, Array.from({ length: 6 }, () => h("i"))));
  draw(kept.key === key ? kept.pair : null);
  if (kept.key === key) return;
  element.scrollTop = 0;
  try {
    const pair = await asking((signal) => Promise.all(ids.map((id) => get(runPath(`/topics/${id}`), {}, { signal }))));
    Object.assign(kept, { key, pair });
    draw(pair);
  } catch (error) {
    if (error.name !== "AbortError") element.replaceChildren(head(ids), h("div", { class: "empty wrong" }, h("p", {}, bdi(error.message)), button("try again", () => showPair(element))));
  }
}

function head(ids) {
  const merge = state.about && state.about.writable ? button("merge…", async () => { try { (await import("./edit.js")).openMerge(ids); } catch (error) { say(error); } }) : null;
  return h("div", { class: "panel-head" }, h("h2", { tabindex: -1 }, "Two topics"), button("×", () => chooseTopic(null), { class: "plain close", "aria-label": "Close these topics", title: "Close (Esc)" }),
    merge ? h("div", { class: "actions" }, merge) : null);
}

/** Words that tell two topics apart, and those of both: each [first, second, both], the most telling first. */
export function parted([a, b], most = WORDS) {
  const of = (topic) => new Map(topic.candidates.map((one) => [one.term, one])), [first, second] = [of(a), of(b)];
  const floor = 1e-4, share = (words, term) => words.get(term)?.share ?? 0;
  const best = (words, others) => [...words.values()].map((one) => [one.share * Math.log((one.share + floor) / (share(others, one.term) + floor)), one])
    .filter(([value]) => value > 0).sort((x, y) => y[0] - x[0] || (x[1].term < y[1].term ? -1 : 1)).slice(0, most).map(([, one]) => one);
  const shared = [...first.values()].filter((one) => second.has(one.term) && Math.min(one.lift, second.get(one.term).lift) >= 1)
    .map((one) => ({ term: one.term, share: Math.min(one.share, share(second, one.term)), each: [one, second.get(one.term)] })).sort((x, y) => y.share - x.share || (x.term < y.term ? -1 : 1)).slice(0, most);
  return { first: best(first, second), second: best(second, first), both: shared };
}

function body(pair) {
  const words = parted(pair), near = pair[0].neighbours.find((one) => one.id === pair[1].id);
  const columns = (make) => h("div", { class: "side-by-side" }, pair.map((topic, at) => h("div", {}, make(topic, at))));
  const word = (one, title) => h("li", {}, h("button", { type: "button", class: "link", title, onclick: () => searchFor(one.term) }, bdi(cut(one.term, 60))));
  const list = (some) => (some.length ? h("ul", { class: "pair-words" }, some.map((one) => word(one, `${many(one.count, "time")} here, ${percent(one.share)} of its words`))) : h("p", { class: "quiet small" }, "None."));
  const most = Math.max(...pair.flatMap((topic) => (topic.over_time ? topic.over_time.shares : [])), 1e-9);
  return h("div", { class: "panel-body of-pair" },
    columns((topic) => [h("h3", { class: "pair-name" }, h("button", { type: "button", class: "link", title: "Only this topic", onclick: () => update({ topics: [topic.id] }, { push: true }) }, swatch(topicOf(topic.id) || topic), bdi(cut(topic.label, 80)))),
      h("p", {}, h("strong", {}, many(topic.size, "text")), h("br"), h("span", { class: "quiet" }, `${percent(topic.share)} of all`), h("br"), h("span", { class: "quiet" }, `coherence ${decimal(topic.coherence)}`))]),
    near ? h("p", { class: "quiet small" }, `They are ${percent(Math.max(near.similarity, 0))} alike.`) : null,
    h("h3", {}, "Words of each"), columns((_, at) => list(at ? words.second : words.first)),
    h("h3", {}, "Words of both"), words.both.length ? h("ul", { class: "pair-words both" }, words.both.map((one) => word(one, `${count(one.each[0].count)} and ${many(one.each[1].count, "time")}`))) : h("p", { class: "quiet small" }, "They have no distinctive word in common."),
    pair.some((topic) => topic.over_time) ? [h("h3", {}, "Over time"), columns((topic) => (topic.over_time ? [timeline(topic.over_time.shares, topic.over_time.periods, { width: 150, most, shade: topic.colour, say: (share, at) => `${percent(share)}, ${many(topic.over_time.counts[at], "text")}`, label: `Share of the texts of each ${topic.over_time.every}, from` })] : h("p", { class: "quiet small" }, "No dates.")))] : null,
    h("h3", {}, "Typical texts"), columns((topic) => quotes(topic.examples.slice(0, TEXTS), () => null)));
}
