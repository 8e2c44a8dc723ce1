// The panel at the right: the topic that is chosen, or the run where none is.
import { bdi, button, cut, day, h, swatch, track } from "./dom.js";
import { count, decimal, many, percent } from "./numbers.js";
import { say, topicName, trendArrow } from "./ui.js";
import { address, state, topicOf, update } from "./state.js";
import { get, latest, runPath } from "./api.js";
import { histogram, timeline } from "./charts.js";
import { quotes } from "./row.js";
import { chooseTopic } from "./run.js";
import { searchFor } from "./search.js";

const asking = latest(), kept = { key: null, topic: null };
const TERMS = 12, CHART = 300, MIDDLE = 0.4;
let distinct = null; // the slider: 0 frequent, 1 distinctive, the same for every topic; null until it is moved: as in the label

/** Draw the chosen topic. What the overview knows stands at once, the rest when it comes. */
export async function showTopic(element) {
  const id = state.topic, brief = topicOf(id), key = `${state.run} ${state.overview.version} ${id}`;
  if (kept.key !== key) Object.assign(kept, { key, topic: null });
  if (kept.topic) { redraw(element, id, head(brief), body(kept.topic)); return; }
  const waiting = h("div", { class: "panel-body" }, h("h3", {}, "Typical texts"), h("div", { class: "skeleton bare terms-room", "aria-hidden": "true" }, Array.from({ length: TERMS }, () => h("i"))));
  redraw(element, id, head(brief), waiting);
  element.scrollTop = 0;
  try {
    const topic = await asking((signal) => get(runPath(`/topics/${id}`), {}, { signal }));
    if (kept.key !== key) return;
    kept.topic = topic;
    waiting.replaceWith(body(topic));
  } catch (error) {
    if (error.name === "AbortError") return;
    waiting.replaceWith(h("div", { class: "empty wrong" }, h("p", {}, bdi(error.message)), button("try again", () => showTopic(element))));
  }
}

/** Draw the panel of a topic again; a label that is being typed stays. */
function redraw(element, id, top, rest) {
  const form = element.querySelector(`.rename-form[data-topic="${id}"]:not([data-sent])`);
  const typing = form && form.contains(document.activeElement) ? document.activeElement : null;
  if (form) top.querySelector("h2").replaceWith(form.closest("h2"));
  element.replaceChildren(top, rest);
  if (typing) typing.focus();
}

const editing = (name, ...values) => async () => {
  try { (await import("./edit.js"))[name](...values); } catch (error) { say(error); }
};

function head(topic) {
  const writable = state.about && state.about.writable;
  const title = h("h2", { tabindex: -1 }, swatch(topic), writable
    ? h("button", { type: "button", class: "rename", title: "Rename", "aria-label": `${topic.label}: rename`, onclick: (event) => editing("openRename", topic.id, event.currentTarget.closest("h2"))() }, bdi(topic.label), h("span", { class: "pen", "aria-hidden": "true" }, "✎"))
    : bdi(topic.label));
  const facts = h("p", { class: "facts-line" }, h("strong", {}, many(topic.size, "text")), ` · ${percent(topic.share)} of all`, h("span", { class: "quiet" }, ` · topic ${topic.id}`));
  const others = state.topics.slice(1).map((id) => topicOf(id)).filter(Boolean);
  const actions = writable ? h("div", { class: "actions" }, button("merge…", editing("openMerge", [...state.topics])), button("split…", editing("openSplit", topic.id)),
    button("ban a term…", editing("openBan", topic.id, []))) : null;
  return h("div", { class: "panel-head topic-head" }, title,
    button("×", () => chooseTopic(null), { class: "plain close", "aria-label": "Close this topic", title: "Close (Esc)" }), facts,
    topic.description ? h("p", { class: "small" }, bdi(topic.description)) : null,
    others.length ? h("p", { class: "small" }, "and ", others.map((other, at) => [at ? ", " : "", topicName(other, 40)])) : null, actions);
}

function body(topic) {
  const shade = topic.colour, words = (texts, empty, tell) => (texts.length ? quotes(texts, tell) : h("p", { class: "quiet small" }, empty));
  const or = (text) => [`${decimal(text.confidence)}`, text.second !== null && topicOf(text.second) ? [" · or ", h("button", { type: "button", class: "link", onclick: () => chooseTopic(text.second) }, topicName(topicOf(text.second), 50))] : null];
  return h("div", { class: "panel-body" },
    h("h3", {}, "Typical texts"), words(topic.examples, "None.", () => null),
    termPart(topic),
    h("h3", {}, "Quality"), measures(topic),
    topic.over_time ? [h("h3", {}, "Over time"), overTime(topic.over_time, shade), topic.change ? h("p", { class: "small change" }, trendArrow(topic.change), topic.change.trend ? null : h("span", { class: "quiet" }, "No clear change: "), topic.change.sentence) : null] : null,
    topic.by_class && topic.by_class.length ? [h("h3", {}, "By ", bdi(cut(state.overview.label || "class", 40))), classBars(topic.by_class, shade)] : null,
    h("h3", {}, "Borderline texts"), words(topic.borderline, "None: all its texts fit well.", or),
    h("h3", {}, "Related words"), relatedPart(topic.related),
    h("h3", {}, "Neighbouring topics"), neighbours(topic.neighbours));
}

// words of the topic, ranked by λ · log share + (1 − λ) · log lift

/** The first terms at this place of the slider, best first. */
export function ranked(candidates, distinctive, most) {
  const value = ({ share, lift }) => (1 - distinctive) * Math.log(Math.max(share, 1e-9)) + distinctive * Math.log(Math.max(lift, 1e-9));
  return candidates.map((one) => [value(one), one]).sort((a, b) => b[0] - a[0] || (a[1].term < b[1].term ? -1 : 1)).slice(0, most).map(([, one]) => one);
}

/** The first terms before the slider is moved: those of the label in its order, then those that the model names first, then the best ranked. */
export function asLabelled({ label, terms, candidates }, most) {
  const words = label.split(",").map((word) => word.trim()), place = new Map([...words.filter((word) => candidates.some((one) => one.term === word)), ...terms].map((term, at, all) => [term, all.indexOf(term)]));
  const all = ranked(candidates, MIDDLE, candidates.length), rest = place.size;
  return all.map((one, at) => [place.get(one.term) ?? rest + at, one]).sort((a, b) => a[0] - b[0]).slice(0, most).map(([, one]) => one);
}

function termPart(topic) {
  const list = h("ol", { class: "terms" }), most = Math.max(...topic.candidates.map((one) => one.share), 1e-9);
  const rows = Array.from({ length: Math.min(TERMS, topic.candidates.length) }, () => {
    const name = h("button", { type: "button", class: "link one-line" }), fill = h("span", { class: "fill", "--shade": topic.colour });
    const share = h("span", { class: "number" }), lift = h("span", { class: "number quiet" });
    const item = h("li", {}, name, h("span", { class: "track", "aria-hidden": "true" }, fill), share, lift);
    list.append(item);
    return (one) => {
      name.replaceChildren(bdi(cut(one.term, 80)));
      name.title = `${one.term}: ${many(one.count, "time")} here, ${times(one.lift)} as often as elsewhere. Click: texts of this topic with it`;
      name.onclick = () => searchFor(one.term);
      fill.style.setProperty("--part", `${((100 * one.share) / most).toFixed(2)}%`);
      share.textContent = percent(one.share);
      lift.textContent = times(one.lift);
    };
  });
  const show = () => (distinct === null ? asLabelled(topic, TERMS) : ranked(topic.candidates, distinct, TERMS)).forEach((one, at) => rows[at](one));
  const slider = h("input", { type: "range", min: 0, max: 1, step: 0.02, value: distinct ?? MIDDLE, id: "relevance", "aria-label": "Words: from frequent to distinctive", oninput: () => { distinct = Number(slider.value); slider.setAttribute("aria-valuetext", tell()); show(); } });
  const tell = () => (distinct === null ? "as in the label" : distinct < 0.2 ? "frequent" : distinct > 0.8 ? "distinctive" : "between frequent and distinctive");
  slider.setAttribute("aria-valuetext", tell());
  if (!rows.length) return [h("h3", {}, "Words"), h("p", { class: "quiet small" }, "No word distinguishes it from the other topics.")];
  show();
  return [h("h3", { class: "with-note" }, "Words", h("span", { class: "quiet small" }, "share here · relative to all texts")),
    h("div", { class: "slider" }, h("span", { class: "quiet small" }, "frequent"), slider, h("span", { class: "quiet small" }, "distinctive")), list];
}
const times = (lift) => `×${lift >= 9.95 ? count(Math.round(lift)) : decimal(lift, 1)}`;

function measures(topic) {
  const row = (name, value, words) => [h("dt", {}, name), h("dd", { class: "number" }, value), h("dd", { class: "quiet" }, words)];
  return [h("dl", { class: "measures" },
    row("coherence", decimal(topic.coherence), bdi(topic.coherence_words)),
    row("distinctiveness", decimal(topic.distinctiveness), "of the uses of its words are in this topic"),
    row("confidence", decimal(topic.confidence), "of its texts, on average")),
  h("figure", {}, histogram(topic.histogram, { width: CHART, shade: topic.colour, choose: (least, most) => update({ least, most }, { push: true }) }),
    h("figcaption", { class: "quiet small" }, "Texts by confidence; click a bar to filter."))];
}

function overTime({ every, periods, counts, shares }, shade) {
  if (!periods.length) return h("p", { class: "quiet small" }, "None of its texts has a date.");
  const most = Math.max(...shares, 1e-9), label = `Share of the texts of each ${every}, at most ${percent(most)}`;
  const say = (share, at) => `${percent(share)}, ${many(counts[at], "text")}`;
  return h("figure", {}, timeline(shares, periods, { width: CHART, shade, most, say, label: `${label}, from` }),
    h("figcaption", { class: "quiet small" }, `${label}.`));
}

/** Classes of the topic, the largest first. */
function classBars(classes, shade) {
  const most = Math.max(...classes.map((one) => one.share), 1e-9), only = (name) => () => update({ classes: [name] }, { push: true });
  const bars = (some) => h("ul", { class: "bars two" }, some.map(({ name, count: texts, share }) => h("li", {},
    h("span", { class: "name one-line" }, h("button", { type: "button", class: "link one-line", title: `Only texts of ${name}`, onclick: only(name) }, name === "" ? "(none)" : bdi(name))),
    track(share / most, shade), h("span", { class: "number quiet" }, count(texts)), h("span", { class: "number quiet" }, percent(share)))));
  if (classes.length <= 8) return bars(classes);
  return [bars(classes.slice(0, 6)), h("details", {}, h("summary", { class: "quiet small" }, `${classes.length - 6} more`), bars(classes.slice(6)))];
}

function relatedPart(related) {
  if (!related.length) return h("p", { class: "quiet small" }, "There are no related words.");
  return h("ul", { class: "related-words" }, related.map((one) => h("li", {},
    h("button", { type: "button", class: "link", title: `Similarity ${decimal(one.similarity)}. Click: search by meaning`, onclick: () => searchFor(one.term, "meaning") }, bdi(cut(one.term, 60))),
    h("span", { class: "quiet small" }, " through ", bdi(cut(one.through, 60))))));
}

function neighbours(list) {
  if (!list.length) return h("p", { class: "quiet small" }, "There is no other topic.");
  return h("ul", { class: "neighbours" }, list.map((one) => h("li", {},
    h("button", { type: "button", class: "link one-line", onclick: () => chooseTopic(one.id) }, topicName(topicOf(one.id) || { label: one.label, colour: "var(--line)" })),
    h("span", { class: "number quiet" }, `${percent(Math.max(one.similarity, 0))} alike`))));
}

// the run

/** Draw what is worth knowing of the run: when no topic is chosen. */
export function showRun(element) {
  const { overview } = state;
  const fact = (name, value) => [h("dt", {}, name), h("dd", {}, value)];
  const edits = overview.edits.length ? [h("h3", {}, "Edits"), h("ol", { class: "edits" }, overview.edits.slice(-8).map((edit) => h("li", { value: edit.number }, bdi(edit.sentence)))),
    overview.left_out ? h("p", { class: "quiet small" }, `${many(overview.left_out, "edit")} skipped because the topic was not found.`) : null] : null;
  element.replaceChildren(h("div", { class: "panel-head" }, h("h2", { tabindex: -1 }, "This run")), h("div", { class: "panel-body" },
    h("dl", { class: "run-facts" },
      fact("texts", [count(overview.texts), overview.distinct < overview.texts ? h("span", { class: "quiet" }, `, ${count(overview.distinct)} different`) : null]),
      fact("topics", count(overview.topics.length)), fact("from", bdi(cut(overview.source || "–", 120))), fact("column", bdi(cut(overview.column || "–", 80))), overview.made ? fact("made", day(overview.made)) : null),
    findingsPart(overview.findings),
    h("h3", {}, "Worth knowing"),
    h("ul", { class: "checks" }, overview.checks.map(check)),
    edits,
    h("h3", {}, "How to read this page"),
    h("p", { class: "quiet" }, "Each point on the map is a text, coloured by topic. Select a topic in the list or on the map, or select texts with the lasso. Every view has its own URL: copy it to share the view."),
    h("p", {}, button([h("kbd", {}, "?"), " keys"], async () => { try { (await import("./keys.js")).openKeys(); } catch (error) { say(error); } }, { class: "plain" })),
    h("p", { class: "small" }, overview.has_report ? [h("a", { href: `/api${runPath("/report")}`, target: "_blank", rel: "noopener" }, "report of this run"), " · "] : null, h("a", { href: "/docs", target: "_blank", rel: "noopener" }, "API"))));
}

/** The biggest topic, and those that grew, fell or are new. */
function findingsPart({ items, note }) {
  if (!items.length) return null;
  const item = ({ kind, topic, text, quote }) => h("li", {}, h("strong", {}, trendArrow(topicOf(topic)?.change && kind !== "Biggest" ? topicOf(topic).change : null), kind), " ",
    h("button", { type: "button", class: "link", onclick: () => chooseTopic(topic) }, topicName(topicOf(topic), 60)), h("span", { class: "said" }, text), quote ? h("q", { class: "quiet" }, bdi(quote)) : null);
  return [h("h3", {}, "In short"), h("ul", { class: "findings" }, items.map(item)), note ? h("p", { class: "quiet small" }, note) : null];
}

function check({ look, well, text }) {
  return h("li", { class: look ? "look" : well ? "well" : null }, look ? h("span", { class: "hidden" }, "Warning: ") : null, bdi(text));
}
