// Names of topics over the map, as elements.
import { bdi, cut, h } from "./dom.js";
import { LINE, placeNames } from "./map-layout.js";

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
    const names = ({ label }) => [cut(label, narrow ? 18 : 28), cut(label.split(",")[0], 14)];
    this.shown = placeNames(this.topics, view, { names, width: (text, bold) => this.width(text, bold), chosen, blocked });
    for (const name of this.shown) name.key = `${this.topics[name.at].id} ${name.text}`;
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
    const element = h("span", { class: "map-name" }, bdi(name.text));
    this.elements.set(name.key, element);
    this.layer.append(element);
    return element;
  }

  /** Give the index of the topic whose name is under the pointer, or -1. */
  hit(left, top) {
    const found = this.shown.find((name) => Math.abs(name.x - left) < name.half && Math.abs(name.y - top) < LINE / 2);
    return found ? found.at : -1;
  }
}
