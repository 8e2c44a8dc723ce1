// The map of the texts: the public face. Points, names, marks and the lasso are parts of their own.
//
// createMap(element, callbacks) → { show(overview), filter(params), choose(topic), focus(row, at), mark(at, topic), resize(), destroy() }
//   callbacks, each of them optional:
//   row(row, topic)  a text was clicked        topic(id or null)       a topic's name was clicked, or empty ground
//   lasso(corners or null)  in map units       view({ x, y, zoom } or null)  the map was moved and came to rest; null: all of it is in sight
import { FIRST_POINTS, colourAsked, get, latest, points as askPoints, runPath } from "./api.js";
import { bdi, button, cut, h, s, swatch } from "./dom.js";
import { count, decimal, many } from "./numbers.js";
import { announce, later, say } from "./ui.js";
import { createPainter } from "./map-gl.js";
import { listen } from "./map-hands.js";
import { groupName, reachOf, shadesOf } from "./map-colours.js";
import { Line, simplify } from "./map-lasso.js";
import { Marks } from "./map-marks.js";
import { Names } from "./map-names.js";
import { SmallMap } from "./map-overview.js";
import { Grid, joinPoints } from "./map-points.js";
import { drawShading, shading } from "./map-shade.js";
import { Tip } from "./map-tip.js";
import { View } from "./map-view.js";
import { elsewhere } from "./counts.js";
import { groupsShown, state, subscribe, update } from "./state.js";

const READABLE = 90; // texts are written beside their points when no more are in sight
const WIDE = FIRST_POINTS, CLOSE = 20000; // with the ghosts of a filter never more than 50,000 points, however many texts there are

export function createMap(element, callbacks = {}) {
  return new TextMap(element, callbacks);
}

class TextMap {
  constructor(element, callbacks) {
    Object.assign(this, { element, callbacks, overview: null, params: {}, chosen: -1, hovered: -1, opened: null, sets: {}, points: joinPoints({}) });
    this.grid = new Grid(this.points);
    this.build();
    this.painter = createPainter(this.canvas);
    this.painter.lost(() => this.paint());
    this.view = new View(() => { this.paint(); this.moved(); });
    this.names = new Names(this.layer, this.leaders);
    this.marks = new Marks(this.over);
    this.tip = new Tip(this.tipBox, (row) => this.text(row), () => this.open(this.hovered));
    this.line = new Line();
    this.asking = { wide: latest(), close: latest(), all: latest(), names: latest(), texts: latest() };
    Object.assign(this, { thin: 1, slow: 0, moving: false });
    this.settle = later(() => { this.moving = false; this.draw(); this.read(); }, 140);
    this.askClose = later(() => this.closer(), 160);
    this.tellView = later(() => this.tell("view", this.view.whole ? null : { x: this.view.x, y: this.view.y, zoom: this.view.zoom }), 250);
    this.forget = [listen(this), subscribe(["counts"], () => this.report()), subscribe(["box"], () => this.look(state.box))];
    this.watcher = new ResizeObserver(() => this.resize());
    this.watcher.observe(this.body);
    this.dark = matchMedia("(prefers-color-scheme: dark)");
    this.redress = () => { this.load(); this.paint(); };
    this.dark.addEventListener("change", this.redress);
  }

  build() {
    this.canvas = h("canvas", { tabindex: 0, role: "application", "aria-roledescription": "map", "aria-describedby": "map-help",
      "aria-label": "Map of the texts" });
    this.over = document.createElementNS("http://www.w3.org/2000/svg", "svg");
    this.over.setAttribute("aria-hidden", "true");
    this.over.classList.add("map-over");
    this.leaders = s("path", { class: "leaders" });
    this.over.append(this.leaders);
    this.under = h("canvas", { class: "map-shade", "aria-hidden": "true" });
    this.small = new SmallMap((x, y) => this.view.go({ x, y, zoom: this.view.zoom }, true));
    this.layer = h("div", { class: "map-names", "aria-hidden": "true" });
    this.tipBox = h("div", { class: "map-tip", hidden: true });
    this.said = h("p", { class: "map-said" });
    this.lassoButton = button("lasso", () => this.lassoMode(!this.lassoing),
      { "aria-pressed": "false", title: "Draw around texts to select them (or hold shift and drag)" });
    this.aloneButton = button("⤢", () => this.tell("alone"), { "aria-label": "Map alone", "aria-pressed": "false", title: "The map alone (f)" });
    this.tools = h("div", { class: "map-tools", role: "group", "aria-label": "Map" }, this.lassoButton,
      button("+", () => this.step(1.6), { "aria-label": "Zoom in", title: "Zoom in (+)" }),
      button("−", () => this.step(1 / 1.6), { "aria-label": "Zoom out", title: "Zoom out (−)" }),
      button("all", () => this.view.all(), { title: "Show the whole map (0)" }),
      this.aloneButton);
    // marks lie over names: a pin must not hide
    this.body = h("div", { class: "map-body" }, this.under, this.canvas, this.layer, this.over, this.small.canvas, this.tipBox);
    const help = h("p", { id: "map-help", class: "hidden" },
      "Arrow keys move the map, plus and minus zoom, 0 shows all, "
      + "Enter opens the text in the centre. The list of topics and the table of texts show the same.");
    this.element.classList.add("nothing");
    this.element.replaceChildren(this.body, this.tools, this.said, help);
  }

  tell(name, ...values) {
    if (this.callbacks[name]) this.callbacks[name](...values);
  }

  /** Show a run, looked at as the address says; the same run in another version keeps its view. */
  show(overview) {
    this.element.classList.toggle("nothing", !overview);
    if (!overview) return this.empty();
    const before = this.overview, other = !before || before.name !== overview.name;
    if (other) update({ levels: [], level: null });
    if (before && !other && before.version === overview.version) { this.overview = overview; return undefined; }
    const chosen = this.chosen >= 0 && !other ? before.topics[this.chosen].id : null;
    this.overview = overview;
    this.takeColours();
    this.view.frame(overview.extent);
    this.names.show(overview.topics);
    this.tip.clear();
    if (other) Object.assign(this, { sets: {}, points: joinPoints({}), hovered: -1 });
    if (other) { this.marks.set("row", null); this.marks.set("mark", null); }
    this.chosen = overview.topics.findIndex((topic) => topic.id === chosen);
    if (other && state.box) this.view.go({ ...state.box }, true);
    else if (other) this.view.all(true);
    this.canvas.setAttribute("aria-label", `Map of ${many(overview.texts, "text")} in ${many(overview.topics.length, "topic")}`);
    this.askNames();
    return this.fetch();
  }

  /** Names of groups, and words for a closer look: they come when texts are counted. */
  async askNames() {
    const { name, version } = this.overview;
    try {
      const found = await this.asking.names((signal) => get(runPath("/map/names", name), {}, { signal }));
      if (!this.overview || this.overview.name !== name || this.overview.version !== version) return;
      this.names.more(found);
      update({ levels: found.levels });
      this.paint();
      if (!found.words) setTimeout(() => { if (this.overview && this.overview.version === version) this.askNames(); }, 2500);
    } catch (error) {
      if (error.name === "AbortError") return;
      this.names.busy(false);
      say(error);
    }
  }

  /** Write texts beside their points, where so few are in sight that they can be read. */
  async read() {
    const { points, view } = this, seen = view.box(0), rows = [];
    if (!this.overview || view.zoom < 4) return this.forgetTexts();
    for (let at = 0; at < points.n && rows.length <= READABLE; at++) {
      if (points.topic[at] >= 0 && points.x[at] > seen.x0 && points.x[at] < seen.x1 && points.y[at] > seen.y0 && points.y[at] < seen.y1) rows.push(at);
    }
    if (!rows.length || rows.length > READABLE) return this.forgetTexts();
    const spots = new Map(rows.map((at) => [points.row[at], [points.x[at], points.y[at]]]));
    if (this.names.texts.length === spots.size && this.names.texts.every((one) => spots.has(one.row))) return undefined;
    try {
      const answer = await this.asking.texts((signal) => get(runPath("/texts", this.overview.name), { row: [...spots.keys()], limit: READABLE }, { signal }));
      this.names.tell(answer.rows.map((one) => ({ row: one.row, text: one.text, at: spots.get(one.row) })));
      this.paint();
    } catch (error) {
      if (error.name !== "AbortError") say(error);
    }
    return undefined;
  }

  forgetTexts() {
    this.asking.texts.cancel();
    if (!this.names.texts.length) return;
    this.names.tell([]);
    this.paint();
  }

  /** No run is there to be shown. */
  empty() {
    for (const ask of Object.values(this.asking)) ask.cancel();
    Object.assign(this, { overview: null, chosen: -1, hovered: -1, sets: {}, points: joinPoints({}) });
    this.grid = new Grid(this.points);
    this.painter.load(this.points, [], [], [0, 0, 0, 0]);
    this.names.show([]);
    this.shade = null;
    for (const name of ["hover", "row", "mark", "lasso"]) this.marks.set(name, null);
    this.tip.clear();
    this.said.replaceChildren();
    this.element.classList.remove("waiting", "broken");
    this.paint();
  }

  /** Show only texts that these filters match, the others as grey ghosts. */
  filter(params = {}) {
    const { topic, ...rest } = params; // a topic is shown by choose, among the others
    const wanted = [].concat(topic ?? []).length > 1 ? params : rest;
    this.marks.set("lasso", typeof wanted.lasso === "string" ? wanted.lasso.split(" ").map((pair) => pair.split(",").map(Number)) : null);
    if (JSON.stringify(wanted) === JSON.stringify(this.params)) return;
    this.params = wanted;
    if (this.overview) this.fetch();
  }

  /** Colours of topics, or of the groups they are in. */
  takeColours() {
    const of = new Map((groupsShown() || []).flatMap((group) => group.topics.map((id) => [id, group.colour])));
    this.colours = this.overview.topics.map(({ id, colour }) => of.get(id) || colour).map((colour) => [1, 3, 5].map((from) => parseInt(colour.slice(from, from + 2), 16)));
  }

  /** Another level is shown: names and colours of groups, or of topics. */
  level() {
    if (!this.overview) return;
    this.takeColours();
    this.names.level(groupsShown());
    this.load();
    this.paint();
  }

  /** The points get other colours (state.colour, or what it needs is known by now). */
  recolour() {
    this.blocked = null; // the legend needs another room
    if (!this.overview) return;
    if (this.sets.colour !== colourAsked()) this.fetch();
    else { this.load(); this.paint(); }
  }

  get filtered() {
    return Object.keys(this.params).length > 0;
  }

  async fetch() {
    const { name, version } = this.overview, now = () => this.overview.name === name && this.overview.version === version;
    const colour = colourAsked();
    this.element.classList.add("waiting");
    try {
      const ask = (limit, params) => (signal) => askPoints(runPath("/map", name), { limit, colour, ...params }, { signal });
      const all = this.sets.version === version && this.sets.colour === colour && this.sets.all ? this.sets.all : await this.asking.all(ask(WIDE, {}));
      const wide = this.filtered ? await this.asking.wide(ask(WIDE, this.params)) : all;
      if (!now() || colour !== colourAsked()) return;
      this.sets = { version, colour, all, wide, close: null, box: null };
      update({ reach: reachOf(all.confidence) });
      this.load();
      this.paint();
      this.closer();
      this.element.classList.remove("waiting", "broken");
    } catch (error) {
      if (error.name !== "AbortError") this.failed(error);
    }
  }

  failed(error) {
    this.element.classList.remove("waiting");
    this.said.replaceChildren(bdi(error.message), " ", button("try again", () => this.fetch()));
    this.element.classList.add("broken");
  }

  /** Ask for more points of the part in sight, where the wide sample is thin; old ones stay until the new are there. */
  async closer() {
    const { wide, box } = this.sets, seen = this.view.box(0);
    if (!wide || wide.n >= wide.all) return this.report();
    const covered = box && seen.x0 >= box.x0 && seen.y0 >= box.y0 && seen.x1 <= box.x1 && seen.y1 <= box.y1;
    const enough = covered && (this.sets.whole || this.view.zoom < 1.5 * this.sets.zoom);
    if (this.view.zoom <= 1.05 || enough) return this.report();
    const { name, version } = this.overview, asked = this.view.box(0.3), zoom = this.view.zoom;
    try {
      const close = await this.asking.close((signal) => askPoints(runPath("/map", name), { ...asked, limit: CLOSE, colour: colourAsked(), ...this.params }, { signal }));
      if (this.sets.wide !== wide || this.sets.version !== version) return undefined;
      Object.assign(this.sets, { close, box: asked, zoom, whole: close.n >= close.inView });
      this.load();
      this.paint();
      this.report();
    } catch (error) {
      if (error.name !== "AbortError") say(error);
    }
    return undefined;
  }

  load() {
    if (!this.overview) return;
    const { all, wide, close, box } = this.sets, row = this.hovered >= 0 ? this.points.row[this.hovered] : null;
    this.points = joinPoints({ ghosts: this.filtered ? all : null, wide, close, box });
    this.grid = new Grid(this.points);
    this.hovered = row === null ? -1 : this.points.row.indexOf(row);
    const quiet = getComputedStyle(document.documentElement).getPropertyValue("--quiet").trim();
    const ghost = /^#[0-9a-f]{6}$/i.test(quiet) ? [1, 3, 5].map((from) => parseInt(quiet.slice(from, from + 2), 16)) : [128, 128, 128];
    const { shades, colours } = shadesOf(this.points, this.colours);
    this.painter.load(this.points, shades, colours, [...ghost, 30]);
    if (wide) {
      const under = shadesOf(wide, this.colours);
      this.shade = shading({ x: wide.x, y: wide.y, topic: under.shades }, under.colours);
    }
  }

  /** Say how much of the run is drawn and how many texts are selected. */
  report() {
    const { wide, close, all } = this.sets, parts = [];
    if (!wide) return;
    // counted as the table does; texts without a topic are not on the map
    const matching = state.counts ? state.counts.total : wide.all, others = elsewhere(), off = this.chosen < 0 && wide.all < matching;
    if (this.params.lasso) {
      parts.push(h("span", {}, h("strong", {}, `${many(matching, "text")} selected`),
        button("clear", () => this.tell("lasso", null), { "aria-label": "Clear the lasso" })));
    } else if (others) parts.push(h("span", {}, others, button("all topics", () => this.tell("topic", null), { "aria-label": "Show the matches of all topics" })));
    else if (this.filtered) parts.push(`${many(matching, "text")} ${matching === 1 ? "matches" : "match"}${off ? `, ${count(wide.all)} of them on the map` : ""}`);
    const inSight = close && this.view.zoom > 1.05 ? [close.n, close.inView] : [wide.n, wide.all];
    if (inSight[0] < inSight[1]) parts.push(`${count(inSight[0])} of ${count(inSight[1])} drawn; zoom in for more`);
    if (all && !all.all) parts.push("No text has a position on the map.");
    this.said.replaceChildren(...parts.flatMap((part, at) => (at ? [" · ", part] : [part])));
    this.blocked = null;
    this.paint();
  }

  /** Choose a topic by its id (null: none); the others are dimmed. */
  choose(id) {
    this.chosen = this.overview ? this.overview.topics.findIndex((topic) => topic.id === id) : -1;
    this.report();
    this.paint();
  }

  /** The address changed (back, forward, a link): look there. */
  look(box) {
    const { x, y, zoom } = this.view, [middleX, middleY] = this.view.middle, to = box || { x: middleX, y: middleY, zoom: 1 };
    if (Math.abs(to.x - x) + Math.abs(to.y - y) > 1e-4 || Math.abs(to.zoom / zoom - 1) > 1e-3) this.view.go({ ...to });
  }

  /** Ring the chosen text (null: none) and bring it in sight; its place is looked up among the points where it is not given. */
  focus(row, at = null) {
    const found = row === null || at ? -1 : this.points.row.indexOf(row);
    const place = row === null ? null : found >= 0 ? [this.points.x[found], this.points.y[found]] : at;
    this.marks.set("row", place);
    this.bring(place);
  }

  /** Put the pin of a tried text there, or take it away (null). */
  mark(at) {
    this.marks.set("mark", at || null);
    this.bring(at);
  }

  /** Bring a place in sight, where it is not. */
  bring(at) {
    this.paint();
    if (!at || !this.view.width) return;
    const [left, top] = this.view.screen(...at), { width, height } = this.view;
    if (left < 10 || top < 10 || left > width - 10 || top > height - 10) this.view.go({ x: at[0], y: at[1], zoom: this.view.zoom });
  }

  resize() {
    const box = this.body.getBoundingClientRect(), dense = Math.min(window.devicePixelRatio || 1, 2);
    if (!box.width || !box.height) return;
    this.canvas.width = Math.round(box.width * dense);
    this.canvas.height = Math.round(box.height * dense);
    Object.assign(this.under, { width: this.canvas.width, height: this.canvas.height });
    this.dense = dense;
    this.view.measure(box.width, box.height);
    this.blocked = null;
    this.paint();
    if (this.overview) this.askClose();
  }

  moved() {
    this.tip.hide();
    this.askClose();
    this.tellView();
  }

  step(factor) {
    this.view.go({ x: this.view.x, y: this.view.y, zoom: Math.min(Math.max(this.view.zoom * factor, 0.7), 400) });
  }

  lassoMode(on) {
    this.lassoing = on;
    this.lassoButton.setAttribute("aria-pressed", String(on));
    this.element.classList.toggle("lassoing", on);
    if (!on) { this.line.corners = null; this.paint(); }
  }

  /** The line was closed: corners in map units go out. */
  lassoed(corners) {
    this.lassoMode(false);
    if (corners) {
      this.tell("lasso", simplify(corners).map(([left, top]) => this.view.units(left, top).map((value) => Number(value.toFixed(5)))));
      announce("The texts inside the lasso are selected.");
    }
    this.paint();
  }

  /** Diameter of a point: larger when there are few and when looked at closely. */
  get size() {
    const many = this.points.n, base = many < 60 ? 8 : many < 800 ? 5 : many < 5000 ? 3.8 : many < 15000 ? 3.2 : 2.7;
    return Math.min(base * Math.max(this.view.zoom, 1) ** 0.4, 11);
  }

  paint() {
    if (this.painting || !this.view || !this.view.width) return;
    this.painting = requestAnimationFrame((now) => {
      this.painting = 0;
      this.pace(now);
      this.draw();
    });
  }

  /** Where frames are slow (no graphics card), fewer points are drawn while the map moves; at rest it has all of them. */
  pace(now) {
    const gap = now - (this.lastFrame || 0);
    this.lastFrame = now;
    if (gap > 500) this.slow = 0; // it stood still
    else this.slow = Math.min(Math.max(this.slow + (gap > 26 ? 1 : gap < 19 ? -1 : 0), -40), 6);
    if (this.slow >= 4 && this.thin < 16 && this.points.n / this.thin > 3000) Object.assign(this, { thin: this.thin * 2, slow: 0 });
    else if (this.slow <= -30 && this.thin > 1) Object.assign(this, { thin: this.thin / 2, slow: 0 });
    this.moving = gap < 500;
    this.settle();
  }

  draw() {
    const { view, dense, hovered } = this, { width, height } = view, chosen = this.params.topic ? -1 : this.chosen;
    const thin = this.moving ? this.thin : 1;
    this.painter.draw({ width, height, dense, matrix: view.matrix(), size: this.size, chosen, dim: 0.13, strength: this.dark.matches ? 0.95 : 0.85,
      thin });
    this.drawUnder(chosen);
    if (!this.overview) return this.marks.place(view, this.size, null, null);
    this.blocked ||= this.corners();
    this.names.place(view, chosen, this.blocked, this.points, !this.moving);
    this.marks.set("hover", hovered >= 0 ? [this.points.x[hovered], this.points.y[hovered]] : null);
    return this.marks.place(view, this.size, this.overview.topics[chosen], this.line.corners);
  }

  /** The shading behind the points, fainter where a topic is chosen or the points themselves are seen, and the small map. */
  drawUnder(chosen) {
    const { view, shade, dense } = this, brush = this.under.getContext("2d");
    brush.setTransform(1, 0, 0, 1, 0, 0);
    brush.clearRect(0, 0, this.under.width, this.under.height);
    if (shade) drawShading(brush, shade, view, dense, (chosen >= 0 ? 0.35 : 1) * Math.min(1, 2 / Math.max(view.zoom, 1)));
    this.small.draw(view, shade, dense);
  }

  /** Whether the map has the page for itself. */
  alone(is) {
    this.aloneButton.setAttribute("aria-pressed", String(is));
  }

  /** Corners of the map where buttons and words stand: [left, top, right, bottom]; read seldom, since asking lays the page out. */
  corners() {
    const { width, height } = this.view, { tools, said } = this, small = this.small.canvas, colour = this.element.querySelector(".map-colour");
    return [[width - small.offsetWidth - 14, height - small.offsetHeight - 14, width, height], [0, 0, colour ? colour.offsetWidth + 12 : 0, colour ? colour.offsetHeight + 10 : 0], [width - tools.offsetWidth - 14, 0, width, tools.offsetHeight + 12],
      [0, height - said.offsetHeight - 10, said.offsetWidth ? said.offsetWidth + 12 : 0, height]];
  }

  /** Take the point under the pointer, or none; `reach` in pixels. */
  hover(left, top, reach = 12) {
    const [x, y] = this.view.units(left, top), over = this.names.hit(left, top);
    const at = over >= 0 ? -1 : this.nearest(x, y, reach);
    this.element.classList.toggle("over-name", over >= 0);
    this.element.classList.toggle("over-text", at >= 0);
    if (at !== this.hovered) {
      this.hovered = at;
      this.paint();
    }
    if (at < 0 || this.points.row[at] !== this.opened) this.opened = null;
    if (at < 0 || this.opened !== null) this.tip.hide(); // the panel has the text that was opened
    else this.tip.show(this.points.row[at], this.head(at), this.view.screen(this.points.x[at], this.points.y[at]), this.view);
    return at;
  }

  nearest(x, y, reach) {
    // while a topic is chosen its texts come first: the dimmed ones are hardly seen
    const far = reach / this.view.scale, lit = this.chosen >= 0 ? (at) => this.points.topic[at] === this.chosen : null;
    const found = lit ? this.grid.nearest(x, y, far, lit) : -1;
    return found >= 0 ? found : this.grid.nearest(x, y, far);
  }

  head(at) {
    const topic = this.overview.topics[this.points.topic[at]];
    return h("p", { class: "map-tip-head" }, swatch(topic), bdi(topic ? cut(topic.label, 60) : ""),
      h("span", { class: "quiet" }, ` ${decimal(this.points.confidence[at] / 255)}`), groupName(this.points.group[at]));
  }

  async text(row) {
    const answer = await get(runPath("/texts", this.overview.name), { row, limit: 1 });
    return answer.rows.length ? answer.rows[0].text : "";
  }

  /** A click opens what is there. A finger hovers over nothing: its first tap shows the text, a second one opens it. */
  click(left, top, finger = false) {
    const over = this.names.hit(left, top), before = this.tip.row;
    if (over >= 0) return this.tell("topic", this.overview.topics[over].id);
    const at = this.hover(left, top, finger ? 22 : 16);
    if (at < 0) return finger && before !== null ? undefined : this.tell("topic", null);
    if (!finger || this.points.row[at] === before) return this.open(at);
    return this.tip.offer();
  }

  open(at) {
    this.opened = this.points.row[at];
    this.tip.hide();
    this.marks.set("row", [this.points.x[at], this.points.y[at]]);
    this.tell("row", this.points.row[at], this.overview.topics[this.points.topic[at]].id);
    this.paint();
  }

  destroy() {
    this.view.stop();
    cancelAnimationFrame(this.painting);
    for (const ask of Object.values(this.asking)) ask.cancel();
    this.askClose.cancel();
    this.tellView.cancel();
    this.settle.cancel();
    this.watcher.disconnect();
    this.dark.removeEventListener("change", this.redress);
    for (const stop of this.forget) stop();
    this.tip.clear();
    this.painter.destroy();
    this.element.replaceChildren();
  }
}
