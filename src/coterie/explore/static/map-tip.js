// What stands beside the pointer: topic and confidence at once, the text as soon as it is there.
import { bdi, button, cut, h } from "./dom.js";
import { later } from "./ui.js";

const KEPT = 400, LONG = 320;

export class Tip {
  /** `ask(row)` gives a promise of the text, `open()` opens the text that is shown. */
  constructor(box, ask, open) {
    Object.assign(this, { box, ask, open, row: null, texts: new Map() });
    box.addEventListener("mousedown", (event) => event.preventDefault()); // the map keeps the focus, and with it this box
    this.fetch = later((row) => this.read(row), 90);
  }

  show(row, head, [left, top], view) {
    if (row === this.row && !this.box.hidden) return;
    this.row = row;
    const text = this.texts.get(row);
    this.body = h("p", { class: text === undefined ? "map-tip-text quiet" : "map-tip-text" }, text === undefined ? "…" : bdi(text));
    this.box.replaceChildren(head, this.body);
    this.box.hidden = false;
    this.box.classList.remove("offers");
    this.spot = { left, top, view };
    this.place();
    if (text === undefined) this.fetch(row);
  }

  place() {
    const { left, top, view } = this.spot, narrow = view.width < 520;
    this.box.classList.toggle("narrow", narrow); // along the bottom, out of the finger's way
    const wide = this.box.offsetWidth, high = this.box.offsetHeight;
    const x = left + 14 + wide > view.width ? Math.max(left - 14 - wide, 4) : left + 14;
    const y = top + 14 + high > view.height ? Math.max(top - 14 - high, 4) : top + 14;
    this.box.style.transform = narrow ? "" : `translate(${Math.round(x)}px, ${Math.round(y)}px)`;
  }

  /** For fingers: a button that opens the text. */
  offer() {
    this.box.classList.add("offers");
    this.box.append(button("open this text", () => this.open()));
    this.place();
  }

  async read(row) {
    try {
      const text = cut(await this.ask(row), LONG);
      if (this.texts.size >= KEPT) this.texts.delete(this.texts.keys().next().value);
      this.texts.set(row, text);
      if (this.row !== row || this.box.hidden) return;
      this.body.className = "map-tip-text";
      this.body.replaceChildren(bdi(text));
      this.place();
    } catch (error) {
      if (this.row === row && this.body) this.body.replaceChildren(bdi(error.message));
    }
  }

  hide() {
    this.row = null;
    this.box.hidden = true;
    this.fetch.cancel();
  }

  clear() {
    this.hide();
    this.texts.clear();
  }
}
