// The parts of the page, from top to bottom; a part that has nothing to show gives null or says why.
import { histogram, timeline } from "./charts.js";
import { content, section, topicLink, topics } from "./content.js";
import { bdi, button, byId, cut, day, h, swatch, track } from "./dom.js";
import { followLevel, levelControl } from "./levels.js";
import { TopicMap } from "./map.js";
import { savePicture } from "./map-save.js";
import { count, decimal, many, percent } from "./numbers.js";
import { curvePicture, heatMap, treePicture } from "./pictures.js";

const ARROWS = { new: "↑", grew: "↑", fell: "↓" };

export function head() {
  const { facts } = content;
  const fact = (name, value) => h("div", {}, h("dt", {}, name), h("dd", {}, value));
  return [
    h("h1", {}, "Topics of ", bdi(content.title || "texts")),
    h("dl", { class: "facts" }, fact("texts", count(facts.texts)), fact(facts.topics === 1 ? "topic" : "topics", count(facts.topics)),
      fact("different texts", count(facts.distinct)), facts.made ? fact("made", day(facts.made)) : null),
  ];
}

/** What the reader wants to know first: which topics are biggest, which grew, fell or are new. */
export function findingsPart() {
  const { items, note } = content.findings, look = content.checks.filter((check) => check.look).length;
  const item = ({ kind, topic, text, quote }) => h("li", {}, h("span", { class: `kind ${kind.toLowerCase()}` }, ARROWS[kind.toLowerCase()] ? `${ARROWS[kind.toLowerCase()]} ` : "", kind), " ", topicLink(topic),
    h("span", { class: "said" }, text), quote ? h("q", {}, bdi(quote)) : null);
  return section("findings", "In short", h("ul", { class: "findings" }, items.map(item)),
    note ? h("p", { class: "quiet" }, note) : null,
    look ? h("p", { class: "quiet" }, h("a", { href: "#checks" }, `${many(look, "remark")} about these texts`), " should be read before the numbers are used.") : null);
}

/** An arrow beside a topic or class whose share clearly changed; `place` is its number. */
function arrow(changes, place) {
  if (!changes) return null;
  const [, points, trend] = changes.changes[place][changes.clearest[place]], before = changes.against[changes.clearest[place]][1];
  if (!trend) return null;
  const said = `${trend === "new" ? "new" : trend} in ${changes.period}: ${points} percentage points against ${before}`;
  return h("span", { class: `arrow ${trend}`, title: said, role: "img", "aria-label": said }, ARROWS[trend]);
}

export function checksPart() {
  const item = (check) => h("li", { class: check.look ? "look" : check.well ? "well" : null },
    check.look ? h("span", { class: "hidden" }, "Warning: ") : null, bdi(check.text),
    check.quote ? [" ", h("q", {}, bdi(check.quote))] : null,
    check.topics ? h("ul", {}, check.topics.map((id) => h("li", {}, topicLink(id)))) : null,
    check.pairs ? h("ul", {}, check.pairs.map(([one, other, value]) =>
      h("li", {}, topicLink(one), " and ", topicLink(other), h("span", { class: "quiet" }, ` · ${percent(value)} alike`)))) : null);
  return section("checks", "Worth knowing", h("ul", { class: "checks" }, content.checks.map(item)));
}

export function sizesPart() {
  const most = Math.max(...topics.map((topic) => topic.size), 1), changes = content.time && content.time.changes;
  const row = (topic, place) => h("li", {}, h("a", { href: `#topic-${topic.id}` },
    h("span", { class: "id number" }, topic.id), h("span", { class: "name" }, bdi(topic.label), arrow(changes, place)),
    track(topic.size / most, topic.colour), h("span", { class: "number" }, count(topic.size)),
    h("span", { class: "number quiet" }, percent(topic.share)),
    h("span", { class: "terms" }, bdi(topic.terms.slice(3).map(([term]) => term).join(", ")))));
  const list = h("ol", { class: "sizes" }, topics.map(row)), rows = new Map(topics.map((topic, place) => [topic.id, list.children[place]]));
  followLevel((groups) => {
    const inOrder = topics.map(({ id }) => rows.get(id)), shade = new Map((groups || []).flatMap((group) => group.topics.map((id) => [id, group.colour])));
    for (const { id, colour } of topics) rows.get(id).querySelector(".fill").style.setProperty("--shade", shade.get(id) || colour);
    list.replaceChildren(...(groups ? groups.flatMap((group) => [h("li", { class: "group" }, swatch(group), h("strong", {}, bdi(group.label)),
      h("span", { class: "number" }, many(group.size, "text")), h("span", { class: "number quiet" }, percent(group.share))), ...group.topics.map((id) => rows.get(id))]) : inOrder));
  });
  return section("sizes", "Topics by size",
    h("p", { class: "quiet" }, "Number, label, texts, share of all texts, and further words. ", changes ? "An arrow marks a clear change of the share. " : "", "Click to go to the topic."),
    levelControl("sizes-level"), levelNote(), list);
}

/** What speaks for the groups. */
function levelNote() {
  const said = (content.levels || []).map(({ groups, agreement, chance }) => `${groups.length} groups: ${decimal(agreement)}, by chance ${decimal(chance)}`);
  return said.length ? h("p", { class: "quiet small" }, "Groups of topics are offered where two halves of the vocabulary group topics alike. Agreement for ", said.join("; "), ".") : null;
}

export function mapPart() {
  const points = content.map, shown = points.texts.length, finger = matchMedia("(hover: none)").matches;
  if (!shown) return section("map", "Map", h("p", { class: "quiet" }, "No text has a known word, so there is nothing to draw."));
  const canvas = h("canvas", { tabindex: 0, role: "img", "aria-describedby": "map-help",
    "aria-label": `Map of ${many(topics.length, "topic")} and ${many(shown, "text")}` });
  const readout = h("div", { class: "readout no-print", role: "status", "aria-live": "polite" });
  const about = ({ id, size, share, terms }) => [h("p", {}, topicLink(id)), h("p", { class: "quiet small" }, `${many(size, "text")} · ${percent(share)}`),
    h("p", { class: "quiet small" }, bdi(terms.map(([term]) => term).join(", ")))];
  const hint = () => h("p", { class: "quiet" }, finger ? "Tap a point to read its text and to show only its topic." : "Hover over a point to read the text; click it to show only its topic.");
  const text = (at, chosen) => [h("p", {}, bdi(points.texts[at])), h("p", { class: "small" }, points.topic[at] === chosen ? null : [topicLink(topics[points.topic[at]].id), " · "],
    h("span", { class: "quiet" }, `confidence ${decimal(points.confidence[at] / 100)}`))];
  const tell = (at, chosen) => readout.replaceChildren(...(chosen < 0 ? [] : about(topics[chosen])), ...(at >= 0 ? text(at, chosen) : chosen < 0 ? [hint()] : []));
  const choice = h("select", { id: "map-topic" }, h("option", { value: -1 }, "all topics"),
    topics.map((topic, place) => h("option", { value: place }, `${topic.id} ${cut(topic.label, 60)}`)));
  const tool = (sign, name, action) => button(sign, action, { "aria-label": name, title: name });
  let map = null;
  const frame = h("div", { class: "map" }, canvas, h("div", { class: "buttons" },
    tool("+", "Zoom in", () => map.zoom(1.5)), tool("−", "Zoom out", () => map.zoom(1 / 1.5)), tool("⟲", "Show all", () => map.reset())));
  canvas.addEventListener("chosen", (event) => { choice.value = event.detail; });
  choice.addEventListener("change", () => map.choose(Number(choice.value)));
  tell(-1, -1);
  const part = section("map", "Map",
    h("p", { class: "quiet" }, `Each point is a text, in the colour of its topic${(content.levels || []).length ? " or group" : ""}. `, "Texts with similar words are close together. The larger a name, the larger its topic. ",
      shown < points.known ? `The map shows a sample of ${count(shown)} of ${count(points.known)} distinct texts.` : ""),
    h("div", { class: "controls no-print" }, h("label", { for: "map-topic" }, "Show"), choice, levelControl("map-level")),
    h("div", { class: "map-row" }, frame, readout),
    h("p", { class: "no-print save" }, "Save the picture: ", ["svg", "png"].map((kind) => h("button", { type: "button",
      onclick: () => savePicture(content.picture, "map", kind) }, kind.toUpperCase()))),
    h("p", { id: "map-help", class: "quiet small no-print" }, finger ? "Zoom in with +; then drag to move."
      : "Drag to move. Click the map to zoom with the wheel. Keys: arrows move from text to text, + and − zoom, Enter opens the topic, 0 shows all."));
  return { part, start: () => { map = new TopicMap(canvas, points, tell); followLevel((groups) => map.level(groups)); } };
}

function textsList(texts, empty) {
  return texts.length ? h("ul", { class: "texts" }, texts) : h("p", { class: "quiet small" }, empty);
}

function card(topic, place) {
  const most = Math.max(...topic.terms.map(([, weight]) => weight), 1e-9);
  const words = topic.terms.length ? h("dl", { class: "terms-list" }, topic.terms.map(([term, weight]) => [
    h("dt", { title: term }, bdi(term)), h("dd", {}, track(weight / most)),
    h("dd", { class: "number quiet", title: "of the words of the topic" }, percent(weight))])) : h("p", { class: "quiet small" }, "No word distinguishes it from the other topics.");
  const unsure = topic.borderline.map((text) => h("li", {}, bdi(text.text), h("div", { class: "quiet" }, `confidence ${decimal(text.confidence)}`,
    text.second === null ? "" : [" · or ", topicLink(text.second)])));
  const measure = (name, [value, said]) => [h("dt", {}, name), h("dd", {}, decimal(value)), h("dd", { class: "note" }, said)];
  const figure = (title, drawn) => h("figure", {}, h("h4", {}, title), drawn);
  const { time, classes } = content;
  return h("article", { class: "card", id: `topic-${topic.id}`, "aria-labelledby": `topic-${topic.id}-title`, tabindex: -1 },
    h("details", { open: place === 0 }, h("summary", { class: "top" }, h("h3", { id: `topic-${topic.id}-title` }, swatch(topic), h("span", { class: "id" }, topic.id), bdi(topic.label)),
      h("span", { class: "number" }, arrow(time && time.changes, place), many(topic.size, "text"), h("span", { class: "quiet" }, ` · ${percent(topic.share)}`))),
    topic.description ? h("p", {}, bdi(topic.description)) : null,
    h("div", { class: "body" },
      h("div", {}, h("h4", {}, "Words"), words),
      h("div", {}, h("h4", {}, "Typical texts"), textsList(topic.examples.map((text) => h("li", {}, text ? bdi(text) : h("span", { class: "quiet" }, "(empty)"))), "None."),
        h("h4", {}, "Least certain texts"), textsList(unsure, "No others.")),
      h("div", {}, h("dl", { class: "measures" }, measure("Coherence", topic.coherence), measure("Distinctiveness", topic.distinctiveness),
        topic.stability ? measure("Stability", topic.stability) : null),
        figure(`Confidence, ${decimal(topic.confidence)} on average`, histogram(topic.histogram)),
        time && !time.note ? figure(`Texts by ${time.unit}, at most ${count(Math.max(...time.texts[place]))}`,
          timeline(time.texts[place], time.periods, { most: Math.max(...time.texts[place], 1), say: (n) => many(n, "text") })) : null,
        classes && !classes.note ? [h("h4", {}, bdi(classes.name || "Classes")), topClasses(classes, place)] : null,
        topic.near.length ? [h("h4", {}, "Most similar topics"), h("ul", { class: "near" }, topic.near.map(([id, value]) =>
          h("li", {}, topicLink(id), h("span", { class: "number quiet" }, `${percent(Math.max(value, 0))} similar`))))] : null))));
}

function topClasses(classes, place) {
  return h("ul", { class: "near" }, classes.largestClasses[place].map(([at, number]) =>
    h("li", {}, bdi(classes.classes[at]), h("span", { class: "number quiet" }, percent(number, classes.sizes[place])))));
}

export function cardsPart() {
  const box = h("input", { type: "search", id: "filter", placeholder: "for example: refund card", autocomplete: "off", spellcheck: "false" });
  const status = h("span", { class: "quiet", role: "status", "aria-live": "polite" });
  const none = h("p", { class: "quiet", hidden: true }, "No topic has all these words.");
  const cards = topics.map(card);
  const words = topics.map((topic) => [topic.id, topic.label, ...topic.terms.map(([term]) => term), ...topic.examples, ...topic.borderline.map((t) => t.text)].join("\n").toLowerCase());
  const filter = () => {
    const wanted = box.value.toLowerCase().split(/\s+/).filter(Boolean);
    let left = 0;
    cards.forEach((one, place) => {
      one.hidden = !wanted.every((word) => words[place].includes(word));
      left += one.hidden ? 0 : 1;
    });
    status.textContent = wanted.length ? `${left} of ${many(topics.length, "topic")}` : many(topics.length, "topic");
    none.hidden = left > 0;
  };
  box.addEventListener("input", filter);
  filter();
  const open = () => { // a topic that the filter hides must not be out of reach
    const target = /^#topic-\d+$/.test(location.hash) && byId(location.hash.slice(1));
    if (!target) return;
    if (target.hidden) { box.value = ""; filter(); }
    cards.forEach((one) => one.classList.toggle("chosen", one === target));
    target.querySelector("details").open = true;
    target.scrollIntoView();
    target.focus({ preventScroll: true });
  };
  window.addEventListener("hashchange", open);
  window.addEventListener("beforeprint", () => cards.forEach((one) => { one.firstChild.open = true; }));
  const part = section("topics", "Topics", h("div", { class: "controls no-print" }, h("label", { for: "filter" }, "Only topics with"), box, status,
    button("open all", () => cards.forEach((one) => { one.firstChild.open = true; }))), none, cards);
  return { part, open };
}

export function relationsPart() {
  if (!content.tree) return null;
  const tree = [h("h3", {}, "Tree"), h("div", { class: "scroll tall", tabindex: topics.length > 30 ? 0 : null }, treePicture(content.tree)),
    h("p", { class: "quiet small" }, "Topics that join further to the right are more similar.")];
  if (!content.similarity) return section("relations", "How topics relate", tree);
  const told = h("p", { class: "quiet small", role: "status" }, "The stronger the colour, the more similar. Hover over a square for its value.");
  const tell = (one, other, value) => told.replaceChildren(topicLink(one), " and ", topicLink(other), one === other ? ": the same topic" : `: ${value} % similar`);
  return section("relations", "How topics relate", h("div", { class: "pair" },
    h("div", {}, h("h3", {}, "Similarity"), h("div", { class: "scroll fits" }, heatMap(content.similarity, tell)), told),
    h("div", {}, tree)));
}

/** Those whose share clearly changed, then the largest: the numbers of at most `most`. */
function worthDrawing(changes, number, most) {
  const all = Array.from({ length: number }, (_, place) => place);
  const clear = all.filter((place) => changes && changes.changes[place][changes.clearest[place]][2]);
  return [...clear, ...all.filter((place) => !clear.includes(place))].slice(0, most);
}

/** Small drawings over time, on one scale; `name(place)` and `shade(place)` say what is drawn. */
function multiples(time, shown, name, shade) {
  const shares = (place) => time.texts[place].map((n, at) => n / Math.max(time.totals[at], 1));
  const most = Math.max(...shown.map((place) => Math.max(...shares(place))), 1e-9);
  return h("div", { class: "multiples" }, shown.map((place) => h("div", {}, h("span", { class: "name" }, arrow(time.changes, place), name(place)),
    timeline(shares(place), time.periods, { most, shade: shade(place), say: (value) => percent(value) }))));
}

/** Shares of the last period against those before, of all topics or classes, by size or by growth. */
function changesTable(changes, kind, name) {
  const main = changes.against.length - 1, growth = (place) => changes.changes[place][main][0];
  const rows = changes.texts.map((texts, place) => h("tr", {}, h("th", { scope: "row" }, name(place)), h("td", { class: "number" }, count(texts)),
    h("td", { class: "number" }, percent(changes.shares[place])), changes.changes[place].map(([, points, trend], at) =>
      h("td", { class: `number change ${trend}`, "data-against": `against ${changes.against[at][1]}` }, h("span", {},
        trend ? h("span", { class: `arrow ${trend}` }, trend === "new" ? "↑ new" : ARROWS[trend]) : null, points)))));
  const body = h("tbody", {}, rows);
  const order = { size: rows, growth: rows.map((row, place) => [growth(place), row]).sort((a, b) => b[0] - a[0]).map(([, row]) => row) };
  const choice = h("select", { "aria-label": `Order of the ${kind} that changed`, onchange: () => body.replaceChildren(...order[choice.value]) }, h("option", { value: "size" }, "by size"), h("option", { value: "growth" }, "by growth"));
  return [h("p", { class: "quiet small" }, `Texts and share of ${changes.period}, and the change of the share in percentage points. The intervals hold for all ${kind} and comparisons at once, with a probability of 95 %; an arrow marks those without 0. `),
    h("div", { class: "controls no-print" }, choice),
    h("div", { class: "scroll tall", tabindex: 0, role: "region", "aria-label": `${kind}: what changed` }, h("table", { class: "changes" },
      h("thead", {}, h("tr", {}, h("th", { scope: "col" }, kind), h("th", { scope: "col", class: "number" }, "texts"), h("th", { scope: "col", class: "number" }, "share"),
        changes.against.map(([, before]) => h("th", { scope: "col", class: "number" }, `against ${before}`)))), body))];
}

const DRAWN = 11;

export function timePart() {
  const { time } = content;
  if (!time) return null;
  if (time.note) return section("time", "Over time", h("p", { class: "quiet" }, "Not shown. ", bdi(time.note)));
  const shown = worthDrawing(time.changes, topics.length, DRAWN);
  const all = h("div", { class: "multiples" }, h("div", {}, h("span", { class: "name" }, "All texts", h("span", { class: "quiet" }, ` · at most ${count(Math.max(...time.totals))}`)),
    timeline(time.totals, time.periods, { most: Math.max(...time.totals, 1), shade: "var(--quiet)", say: (n) => many(n, "text") })));
  return section("time", "Over time",
    time.changes ? changesTable(time.changes, "topics", (place) => topicLink(topics[place].id)) : null,
    all,
    h("p", { class: "quiet" }, "Share of the texts of each ", time.unit, " by the column ", bdi(time.name || "of dates"), "; all topics have the same scale.",
      topics.length > shown.length ? " Topics that clearly changed and the largest are shown; see the cards below for the others." : "",
      time.undated ? ` Without ${many(time.undated, "text")} that ${time.undated === 1 ? "has" : "have"} no date.` : ""),
    multiples(time, shown, (place) => topicLink(topics[place].id), (place) => topics[place].colour));
}

export function classesPart() {
  const { classes } = content;
  if (!classes) return null;
  const title = ["By ", bdi(classes.name || "class")];
  if (classes.note) return section("classes", title, h("p", { class: "quiet" }, "Not shown. ", bdi(classes.note)));
  const changes = classes.time && classes.time.changes;
  const order = classes.totals.map((total, at) => [total, at]).sort((a, b) => b[0] - a[0]).map(([, at]) => at);
  const row = (at) => h("tr", {}, h("th", { scope: "row", title: classes.classes[at] }, arrow(changes, at), bdi(classes.classes[at])), h("td", { class: "number" }, count(classes.totals[at])),
    h("td", {}, h("ul", { class: "inline" }, classes.largest[at].map(([place, n]) => h("li", {}, topicLink(topics[place].id), h("span", { class: "quiet" }, ` ${percent(n, classes.totals[at])}`))))));
  const column = (place) => h("tr", {}, h("th", { scope: "row" }, topicLink(topics[place].id)), h("td", { class: "number" }, count(classes.sizes[place])),
    h("td", {}, h("ul", { class: "inline" }, classes.largestClasses[place].map(([at, n]) => h("li", {}, bdi(classes.classes[at]), h("span", { class: "quiet" }, ` ${percent(n, classes.sizes[place])}`))))));
  const list = (label, head, rows) => h("div", { class: "scroll tall", tabindex: 0, role: "region", "aria-label": label }, h("table", { class: "lists" },
    h("thead", {}, h("tr", {}, head.map((name, at) => h("th", { scope: "col", class: at === 1 ? "number" : null }, name)))), h("tbody", {}, rows)));
  return section("classes", title,
    h("p", { class: "quiet small" }, classes.left ? `The largest ${count(classes.classes.length)} of ${count(classes.classes.length + classes.left)} classes. ` : "",
      classes.unclassed ? `Without ${many(classes.unclassed, "text")} that ${classes.unclassed === 1 ? "has" : "have"} no class.` : ""),
    h("h3", {}, "Largest topics of each class"), list("Largest topics of each class", ["class", "texts", "largest topics"], order.map(row)),
    h("h3", {}, "Largest classes of each topic"), list("Largest classes of each topic", ["topic", "texts", "largest classes"], topics.map((_, place) => column(place))),
    classes.time ? classTimes(classes, order) : null,
    classes.texts ? h("details", {}, h("summary", {}, "Table of all topics and classes"), classTable(classes)) : null);
}

function classTimes(classes, order) {
  const { time } = classes, sorted = (values) => order.map((at) => values[at]);
  const bySize = { ...time, texts: sorted(time.texts), changes: time.changes && { ...time.changes, texts: sorted(time.changes.texts), shares: sorted(time.changes.shares), changes: sorted(time.changes.changes), clearest: sorted(time.changes.clearest) } };
  const name = (place) => bdi(classes.classes[order[place]]), shown = worthDrawing(bySize.changes, order.length, DRAWN);
  return [h("h3", {}, "Classes over time"), bySize.changes ? h("details", {}, h("summary", {}, "What changed"), changesTable(bySize.changes, "classes", name)) : null,
    h("p", { class: "quiet small" }, `Share of the texts of each ${time.unit}; all classes have the same scale.`), multiples(bySize, shown, name, () => "var(--bar)")];
}

function classTable(classes) {
  const cell = (number, size) => h("td", { class: "cell", "--part": (number / Math.max(size, 1)).toFixed(3), title: many(number, "text") },
    number ? percent(number, size).replace(" %", "") : "");
  const rows = topics.map((topic, place) => h("tr", {}, h("th", { scope: "row" }, topicLink(topic.id)), h("td", { class: "number" }, count(classes.sizes[place])), classes.texts[place].map((n) => cell(n, classes.sizes[place]))));
  const total = classes.totals.reduce((a, b) => a + b, 0);
  return [h("p", { class: "quiet small" }, "Percentage of the texts of each topic."),
    h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Topics by class" }, h("table", {},
      h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "topic"), h("th", { scope: "col", class: "number" }, "texts"), classes.classes.map((name) => h("th", { scope: "col", class: "up", title: name }, h("span", {}, bdi(name)))))),
      h("tbody", {}, rows, h("tr", {}, h("th", { scope: "row", class: "quiet" }, "all topics"), h("td", { class: "number" }, count(total)), classes.totals.map((n) => cell(n, total))))))];
}

/** How far topics are the classes: of use to those who tune methods, so near the end. */
export function agreementPart() {
  const { classes } = content;
  if (!classes || classes.note) return null;
  const names = { purity: "purity", nmi: "NMI", ari: "ARI", accuracy: "accuracy" };
  return section("agreement", ["Agreement with ", bdi(classes.name || "classes")],
    h("p", { class: "quiet" }, "Agreement of topics and classes; 1 is perfect. Purity: share of texts in the largest class of their topic. NMI: mutual information between topics and classes. ARI: agreement on pairs of texts, corrected for chance. Accuracy: share of texts that are right when each class is matched with one topic."),
    h("dl", { class: "scores" }, Object.entries(names).map(([key, name]) => h("div", {}, h("dt", {}, name), h("dd", {}, decimal(classes.scores[key]))))));
}

export function numberPart() {
  const found = content.number;
  if (!found) return section("number", "How many topics", h("p", {}, `The number of topics was set, not estimated. Now there ${topics.length === 1 ? "is" : "are"} ${topics.length}.`));
  const now = found.now === found.chosen ? "" : ` After edits there ${found.now === 1 ? "is" : "are"} ${found.now}.`;
  if (!found.structured) return section("number", "How many topics",
    h("p", {}, "The texts show no more structure than shuffled texts, or there are too few of them to tell. So there is one topic; you can set another number.", now));
  const peaks = found.peaks.length ? ` ${found.peaks.join(" or ")} would also fit: there is often more than one reasonable number.` : "";
  return section("number", "How many topics",
    h("p", {}, `Estimated: ${found.chosen}. With that many topics, separate clusterings of two halves of the texts agree well. Numbers from ${found.low} to ${found.high} are plausible.${peaks}${now}`),
    found.curve.length > 1 ? h("figure", {}, h("div", { class: "curve" }, curvePicture(found)), h("figcaption", {}, "Plausibility of each number of topics; the shaded part is the interval.")) : null);
}

export function editsPart() {
  if (!content.edits.length) return null;
  return section("edits", "Edits", h("ol", {}, content.edits.map((edit) => h("li", {}, bdi(edit)))),
    content.leftOut ? h("p", { class: "quiet" }, `${count(content.leftOut)} of them were skipped because their topic was not found.`) : null,
    content.moreEdits ? h("p", { class: "quiet" }, `And ${many(content.moreEdits, "more edit", "more edits")}; see edits.json.`) : null);
}

export function meaningPart() {
  const words = [
    ["Topic", "A group of texts whose words co-occur with similar words. Every text is assigned to one, even if it fits badly."],
    ["Share", "The share of all texts, including copies."],
    ["Change", "The share in the last period minus that in an earlier one. Texts that come in bursts, such as those about one outage, say less than as many on different days; the interval allows for that."],
    ["Confidence", "The estimated probability that the text belongs to its topic. 0 means that the text has no known word."],
    ["Words", "Words that distinguish the topic from the others, the most distinctive first; the bar shows how often the topic uses them."],
    ["Coherence", "Whether the first ten words occur in the same texts more often than by chance, from −1 to 1. For very short texts it is low even for good topics."],
    ["Distinctiveness", "The share of the uses of these words that falls into this topic, from 0 to 1."],
    ["Similar", "The cosine between the centres of two topics, in percent."],
    ["Map", "Distances between topics are preserved as well as possible in two dimensions; within a topic, texts are arranged by their main differences."],
  ];
  return section("meaning", "What the numbers mean", h("dl", { class: "meaning" }, words.map(([name, said]) => [h("dt", {}, name), h("dd", {}, said)])));
}

export function foot() {
  const { facts } = content;
  const seconds = Object.entries(content.seconds).map(([step, value]) => `${step} ${value.toFixed(1)} s`).join(", ");
  const versions = Object.entries(content.versions).map(([name, number]) => `${name} ${number}`).join(", ");
  const skipped = facts.skipped ? ` ${many(facts.skipped, "row")} could not be read and ${facts.skipped === 1 ? "was" : "were"} skipped.` : "";
  return h("div", {}, h("p", {}, bdi(facts.asked.join(" ")), facts.column ? [" The texts are in the column ", bdi(facts.column), "."] : "", skipped),
    h("p", {}, bdi([seconds, versions].filter(Boolean).join(" · "))));
}
