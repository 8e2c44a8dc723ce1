// What sets the texts that match apart from the rest: words, topics, months and columns, with counts.
import { bdi, button, cut, h, swatch, track } from "./dom.js";
import { count, decimal, many, percent } from "./numbers.js";
import { filters, noFilters, state, topicOf, update } from "./state.js";
import { get, latest, runPath } from "./api.js";
import { timeline } from "./charts.js";
import { chooseTopic } from "./run.js";
import { searchFor } from "./search.js";

const asking = latest(), kept = { key: null, found: null };

/** Draw the selection; what stood there stays until the new one is known. */
export async function showSelection(element) {
  const key = JSON.stringify([state.run, state.overview.version, state.ready, filters()]);
  if (kept.key === key && element.querySelector(".of-selection")) return;
  element.querySelector(".of-selection")?.classList.add("busy");
  if (!element.querySelector(".of-selection")) element.replaceChildren(head(null), h("div", { class: "skeleton card", "aria-hidden": "true" }, Array.from({ length: 6 }, () => h("i"))));
  try {
    const found = await asking((signal) => get(runPath("/contrasts"), filters(), { signal }));
    Object.assign(kept, { key, found });
    element.replaceChildren(head(found), body(found));
  } catch (error) {
    if (error.name === "AbortError") return;
    kept.key = null;
    element.replaceChildren(head(null), h("div", { class: error.retry ? "empty" : "empty wrong" }, h("p", {}, bdi(error.message)), button("try again", () => showSelection(element))));
  }
}

function head(found) {
  return h("div", { class: "panel-head" }, h("h2", { tabindex: -1 }, "Selected texts"),
    button("×", () => update(noFilters(), { push: true }), { class: "plain close", "aria-label": "Clear the selection of texts", title: "Clear (Esc)" }),
    found ? h("p", { class: "facts-line" }, h("strong", {}, many(found.total, "text")), ` · ${percent(found.total, found.total + found.rest)} of all`) : null);
}

function body(found) {
  const { words, topics, columns, periods, every } = found, box = (...parts) => h("div", { class: "panel-body of-selection" }, parts);
  if (!found.total) return box(h("p", { class: "quiet" }, "No text has all of this."));
  if (!found.rest) return box(h("p", { class: "quiet" }, "These are all texts: there is no rest to compare with."));
  return box(
    h("p", { class: "quiet small" }, `Compared with the other ${many(found.rest, "text")}.`),
    h("h3", { class: "with-note" }, "Words", h("span", { class: "quiet small" }, "texts · relative to the rest")), words === null ? h("p", { class: "quiet small" }, "The texts are still being counted.") : words.length ? wordList(words) : h("p", { class: "quiet small" }, "No word is clearly more frequent here."),
    h("h3", { class: "with-note" }, "Topics", h("span", { class: "quiet small" }, "texts · share · in the rest")), topicList(topics),
    periods.length > 1 ? [h("h3", {}, "Over time"), months(periods, every)] : null,
    columns.map((column) => [h("h3", { class: "with-note" }, bdi(cut(column.name, 60)), h("span", { class: "quiet small" }, "texts · share · in the rest")), rows(column.values, (one) => h("span", { class: "two-lines" }, bdi(one.name)))]));
}

/** How many times as frequent as in the rest. */
export function ratio({ share, rest }) {
  if (!rest) return "only here";
  const times = share / rest;
  return `×${times >= 9.95 ? count(Math.round(times)) : decimal(times, 1)}`;
}

function wordList(words) {
  const most = Math.max(...words.map((one) => one.share));
  return h("ol", { class: "terms contrasts" }, words.map((one) => h("li", {},
    h("button", { type: "button", class: "link wraps", title: `${one.name}: in ${percent(one.share)} of these texts, in ${percent(one.rest)} of the rest. Click: search for it here`, onclick: () => searchFor(one.name) }, h("span", { class: "two-lines" }, bdi(cut(one.name, 80)))),
    track(one.share / most), h("span", { class: "number" }, count(one.count)), h("span", { class: "number quiet" }, ratio(one)))));
}

function topicList(topics) {
  if (!topics.length) return h("p", { class: "quiet small" }, "None of them has a topic.");
  return rows(topics, (one) => h("button", { type: "button", class: "link wraps", onclick: () => chooseTopic(one.id) }, h("span", { class: "two-lines" }, topicOf(one.id) ? swatch(topicOf(one.id)) : null, bdi(cut(one.name, 80)))));
}

function rows(list, name) {
  return h("ul", { class: "bars contrasts-rows" }, list.map((one) => h("li", { class: one.share > one.rest ? "over" : null }, h("span", { class: "name" }, name(one)),
    h("span", { class: "number" }, count(one.count)), h("span", { class: "number" }, percent(one.share)), h("span", { class: "number quiet" }, percent(one.rest)))));
}

function months(periods, every) {
  const most = Math.max(...periods.map((one) => one.share), 1e-9), over = periods.filter((one) => one.count > 1 && one.share > one.rest).sort((a, b) => b.share / Math.max(b.rest, 1e-9) - a.share / Math.max(a.rest, 1e-9))[0];
  const say = (share, at) => `${many(periods[at].count, "text")}, ${percent(share)}; ${percent(periods[at].rest)} of the rest`;
  return h("figure", {}, timeline(periods.map((one) => one.share), periods.map((one) => one.name), { width: 300, most, say, label: `Selected texts by ${every}, from` }),
    h("figcaption", { class: "quiet small" }, over ? ["Most over-represented: ", over.name, ` (${many(over.count, "text")}, ${ratio(over)}).`] : `Selected texts by ${every}.`));
}
