// Names over the map, as elements: groups from far, topics, words of the neighbourhood closer, texts at last.
import { bdi, cut, h } from "./dom.js";
import { Crowd, fromFar, leader, LEADING, placeNames, ringsOf, typeSizes, wrapped } from "./map-layout.js";

// from which zoom on words of each level stand there; topics come smaller beside them
const WORDS = [2.2, 4.5, 10], GROUPS = 1.7, GROUP = 16.5, FAR = 1.3; // closer than FAR all topics are named beside groups

export class Names {
  constructor(layer, lines) {
    Object.assign(this, { layer, lines, topics: [], groups: [], over: null, words: [], texts: [], shown: [], widths: new Map(), elements: new Map(), seen: null });
    this.brush = document.createElement("canvas").getContext("2d");
  }

  show(topics) {
    Object.assign(this, { topics, groups: [], words: [], texts: [], seen: null });
    this.busy(true);
    this.clear();
  }

  /** Take groups and words when they are there. */
  more({ groups, words }) {
    this.busy(false);
    Object.assign(this, { groups, words: words || [], seen: null });
  }

  /** Names that will be others soon. */
  busy(is) {
    if (is) this.layer.setAttribute("aria-busy", "true");
    else this.layer.removeAttribute("aria-busy");
  }

  /** Name these groups instead of topics; null names topics. */
  level(over) {
    Object.assign(this, { over, seen: null });
    this.clear();
  }

  /** Texts beside their points, where only few are in sight: [{ row, text, at }]. */
  tell(texts) {
    Object.assign(this, { texts, seen: null });
  }

  clear() {
    this.elements.clear();
    this.layer.replaceChildren();
    this.lines.setAttribute("d", "");
    this.shown = [];
  }

  width(line, size) {
    const key = `${size} ${line}`;
    if (!this.widths.has(key)) {
      if (this.widths.size > 4000) this.widths.clear();
      this.brush.letterSpacing = size === GROUP ? "0.06em" : "0px";
      this.brush.font = `${size >= 15 ? 700 : 600} ${size}px ${this.family}`;
      this.widths.set(key, this.brush.measureText(line).width);
    }
    return this.widths.get(key);
  }

  /** Put the names where they belong. Places are found anew where the view is another one; while it is dragged they go with it. */
  place(view, chosen, blocked, points, still) {
    this.family ||= getComputedStyle(this.layer).fontFamily || "system-ui, sans-serif";
    const now = { zoom: view.zoom, x: view.x, y: view.y, width: view.width, height: view.height, fit: view.fit, chosen, points, blocked };
    const before = this.seen, same = before && Object.keys(now).every((key) => now[key] === before[key]);
    const near = before && before.points === points && before.chosen === chosen && before.width === now.width && Math.abs(now.zoom / before.zoom - 1) < 0.15;
    if (!same && (still || !near)) {
      this.shown = this.find(view, chosen, blocked, points);
      this.seen = now;
    } else if (!same) this.follow(view);
    else return;
    this.draw(view, chosen);
  }

  follow(view) {
    for (const name of this.shown) {
      const at = view.screen(...name.spot);
      name.x += at[0] - name.at[0];
      name.y += at[1] - name.at[1];
      name.at = at;
    }
  }

  find(view, chosen, blocked, points) {
    const narrow = view.width < 520, crowd = new Crowd(points, view, chosen), wanted = this.wanted(view, chosen, narrow);
    const before = new Map(this.stay(view) ? this.shown.map((name) => [name.key, name]) : []);
    for (const name of wanted) {
      name.at = view.screen(...name.spot);
      const was = before.get(name.key);
      if (was && was.size === name.size) name.kept = [was.x - was.at[0], was.y - was.at[1]];
    }
    const most = Math.max((view.width * view.height) / (narrow ? 9000 : 7500), 10);
    return placeNames(wanted, view, { width: (line, size) => this.width(line, size), crowd, blocked, most, room: this.far(view) ? fromFar(view, narrow).room : undefined });
  }

  /**
   * Whether names stay where they were, so that none jumps while the map is dragged. Before there were points, or where the map had another size, nobody has looked for them yet:
   * a page must end up the same, whatever arrives first.
   */
  stay({ zoom, width, height }) {
    const { seen } = this;
    return seen !== null && seen.points.n > 0 && seen.width === width && seen.height === height && Math.abs(zoom / seen.zoom - 1) < 0.02;
  }

  /** Whether so much is in sight that groups stand for most of their topics. */
  far(view) {
    return this.over !== null || (this.groups.length > 0 && view.zoom < FAR);
  }

  /** What could stand on the map at this zoom, the most important first. */
  wanted(view, chosen, narrow) {
    const { zoom } = view, { topics } = this, groups = this.over || this.groups, sizes = typeSizes(topics, view);
    const named = topics.map((topic, at) => ({ kind: "topic", key: `t${topic.id}`, topic: at, spot: topic.at, lines: wrapped(topic.label, narrow ? 14 : 22).map((line) => cut(line, 40)),
      size: sizes[at] }));
    const bySize = [...named].sort((a, b) => topics[b.topic].size - topics[a.topic].size);
    bySize.forEach((name, rank) => { name.far = ringsOf(rank, narrow); });
    const first = chosen < 0 ? [] : [named[chosen]], largest = bySize.filter(({ topic }) => topic !== chosen && topics[topic].size);
    const others = this.over ? [] : this.far(view) ? largest.slice(0, fromFar(view, narrow).topics) : largest;
    const above = this.over || zoom < GROUPS ? groups.map((group, at) => ({ kind: "group", key: `g${at}`, topic: -1, spot: group.at, lines: wrapped(group.label.toUpperCase(), narrow ? 14 : 24), size: narrow ? 13 : GROUP, far: 4, middle: true })) : [];
    const texts = this.texts.map((one) => ({ kind: "text", key: `x${one.row}`, topic: -1, spot: one.at, lines: wrapped(cut(one.text, 110), 40), size: 11.5 }));
    const level = WORDS.filter((from) => zoom >= from).length - 1, taken = new Set(topics.filter((topic) => topic.label).flatMap((topic) => (zoom < 10 ? topic.label.split(", ") : [])));
    const words = texts.length ? [] : this.words.filter((word) => word.level === level && !taken.has(word.term)).sort((a, b) => b.texts - a.texts)
      .map((word) => ({ kind: "word", key: `w${word.term} ${word.at}`, topic: -1, spot: word.at, lines: [cut(word.term, 40)], size: 11.5, far: 2 }));
    return [...first, ...above, ...texts, ...others, ...words];
  }

  draw(view, chosen) {
    const wanted = new Set(this.shown.map((name) => name.key));
    for (const [key, element] of this.elements) if (!wanted.has(key)) { element.remove(); this.elements.delete(key); }
    for (const name of this.shown) {
      const element = this.elements.get(name.key) || this.make(name);
      element.style.transform = `translate(${name.x.toFixed(1)}px, ${name.y.toFixed(1)}px) translate(-50%, -50%)`;
      element.style.fontSize = `${name.size}px`;
      element.classList.toggle("chosen", name.topic >= 0 && name.topic === chosen);
      element.classList.toggle("faint", chosen >= 0 && name.topic !== chosen);
    }
    this.lines.setAttribute("d", this.shown.filter((name) => name.aside && name.kind !== "group").map(leader).join(""));
  }

  make(name) {
    const element = h("span", { class: `map-name ${name.kind}${name.size >= 15 ? " large" : ""}` }, name.lines.flatMap((line, at) => (at ? [" ", h("br"), bdi(line)] : [bdi(line)])));
    element.style.lineHeight = LEADING;
    if (name.topic >= 0) element.style.setProperty("--shade", this.topics[name.topic].colour);
    this.elements.set(name.key, element);
    this.layer.append(element);
    return element;
  }

  /** Give the index of the topic whose name is under the pointer, or -1. */
  hit(left, top) {
    const found = this.shown.find((name) => name.topic >= 0 && Math.abs(name.x - left) < name.half && Math.abs(name.y - top) < name.high);
    return found ? found.topic : -1;
  }
}
