// Names of topics over the map: the largest first; one that finds no free place waits until there is room.
import { bdi, cut, h } from "./dom.js";

const LINE = 17;

export class Names {
  constructor(layer) {
    Object.assign(this, { layer, topics: [], shown: [], brush: document.createElement("canvas").getContext("2d"), widths: new Map() });
  }

  show(topics) {
    this.topics = topics;
    this.elements = new Map();
    this.widths.clear();
    this.layer.replaceChildren();
  }

  width(text, bold) {
    const key = bold ? `!${text}` : text;
    if (!this.widths.has(key)) {
      this.brush.font = `${bold ? 700 : 600} ${this.narrow ? 11 : 12}px ${this.family}`;
      this.widths.set(key, this.brush.measureText(text).width);
    }
    return this.widths.get(key);
  }

  /** Find places for this view and put the names there. */
  place(view, chosen, blocked) {
    const narrow = view.width < 520;
    if (narrow !== this.narrow || !this.family) {
      Object.assign(this, { narrow, family: getComputedStyle(this.layer).fontFamily || "system-ui, sans-serif" });
      this.widths.clear();
      this.layer.classList.toggle("narrow", narrow);
    }
    this.shown = this.layout(view, chosen, blocked);
    const wanted = new Set(this.shown.map((name) => name.key));
    for (const [key, element] of this.elements) if (!wanted.has(key)) { element.remove(); this.elements.delete(key); }
    for (const name of this.shown) {
      const element = this.elements.get(name.key) || this.make(name);
      element.style.transform = `translate(${name.x.toFixed(1)}px, ${name.y.toFixed(1)}px) translate(-50%, -50%)`;
      element.classList.toggle("chosen", name.at === chosen);
      element.classList.toggle("faint", chosen >= 0 && name.at !== chosen);
    }
  }

  make(name) {
    const element = h("span", { class: "map-name" }, bdi(name.label));
    this.elements.set(name.key, element);
    this.layer.append(element);
    return element;
  }

  layout(view, chosen, blocked) {
    const free = (x, y, half) => y > 9 && y < view.height - 9 && !blocked.some(([left, top, right, bottom]) => x + half > left && x - half < right
      && y + 8 > top && y - 8 < bottom)
      && !taken.some((box) => Math.abs(box.x - x) < box.half + half && Math.abs(box.y - y) < LINE);
    const taken = [], { topics, narrow } = this, crowded = topics.length > 60;
    const most = Math.max((view.width * view.height) / 11000, 10);
    const order = chosen < 0 ? topics.keys() : [chosen, ...[...topics.keys()].filter((at) => at !== chosen)];
    for (const at of order) {
      const full = taken.length >= most;
      if (full && crowded) break;
      const topic = topics[at], [x, y] = view.screen(...topic.at), reach = topic.radius * view.scale;
      if (x < -reach || y < -reach || x > view.width + reach || y > view.height + reach) continue;
      const label = cut(topic.label, narrow ? 18 : 28), short = cut(topic.label.split(",")[0], 14);
      for (const text of full ? [short] : crowded ? [label] : [label, short]) {
        const half = this.width(text, at === chosen) / 2 + 5;
        const inside = Math.min(Math.max(x, half + 2), view.width - half - 2);
        if (Math.abs(x - inside) > half + reach) continue;
        const near = Math.min(reach, 60) + 8;
        const top = [y, y - near, y + near, y - 15, y + 15].map((each) => (reach > 60 ? Math.min(Math.max(each, 14), view.height - 14) : each))
          .find((each) => free(inside, each, half));
        if (top === undefined) continue;
        taken.push({ key: `${topic.id} ${text}`, at, label: text, x: inside, y: top, half });
        break;
      }
    }
    return taken;
  }

  /** Give the place of the topic whose name is under the pointer, or -1. */
  hit(left, top) {
    const found = this.shown.find((name) => Math.abs(name.x - left) < name.half && Math.abs(name.y - top) < LINE / 2);
    return found ? found.at : -1;
  }
}
