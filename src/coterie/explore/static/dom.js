// Elements, words and numbers for people. Texts enter the page as text nodes only.
const SVG = "http://www.w3.org/2000/svg";

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (typeof value === "function") node.addEventListener(name.slice(2), value);
    else if (name.startsWith("--")) node.style.setProperty(name, value);
    else if (value !== null && value !== undefined && value !== false) node.setAttribute(name, value === true ? "" : value);
  }
  for (const child of children.flat(Infinity)) {
    if (child !== null && child !== undefined && child !== false) node.append(child instanceof Node ? child : String(child));
  }
  return node;
}

/** An HTML element. `onclick: fn` listens, `--name: value` sets a custom property, null and false leave out. */
export const h = (tag, attributes, ...children) => fill(document.createElement(tag), attributes, children);
/** The same in SVG. */
export const s = (tag, attributes, ...children) => fill(document.createElementNS(SVG, tag), attributes, children);
/** A text from outside, with its own direction. */
export const bdi = (text) => h("bdi", { dir: "auto" }, text);
/** A small button; `name` is read out and shown as a title where the sign alone does not say it. */
export function button(label, onclick, attributes = {}) {
  return h("button", { type: "button", onclick, ...attributes }, label);
}
export const byId = (id) => document.getElementById(id);

const whole = new Intl.NumberFormat("en-US");
export const count = (number) => whole.format(number);
export const many = (number, one, more) => `${count(number)} ${number === 1 ? one : more || one + "s"}`;
export const decimal = (number, digits = 2) => number.toFixed(digits).replace("-", "−");

export function percent(part, all = 1) {
  const value = all ? (100 * part) / all : 0;
  if (value === 0 || value === 100) return `${value} %`;
  if (value < 0.05) return "<0.1 %";
  return value < 9.95 ? `${value.toFixed(1)} %` : `${Math.round(value)} %`;
}

/** At most so many characters, the last one "…". */
export function cut(text, most) {
  if (text.length <= most) return text;
  const signs = Array.from(text.slice(0, 2 * most + 2)); // never more work than the answer needs
  return signs.length <= most && text.length <= 2 * most + 2 ? text : signs.slice(0, most - 1).join("") + "…";
}

export function day(made) {
  const date = new Date(made);
  if (!made || Number.isNaN(date.getTime())) return made || "";
  return date.toLocaleDateString("en-GB", { day: "numeric", month: "long", year: "numeric", timeZone: "UTC" });
}

/** How sure a confidence is, in words; a number alone is read as more than it says. */
export function sureness(confidence) {
  if (confidence <= 0) return "no known word";
  if (confidence < 0.35) return "a guess";
  if (confidence < 0.5) return "unsure";
  if (confidence < 0.7) return "fairly sure";
  return confidence < 0.85 ? "sure" : "very sure";
}

export const swatch = (topic) => h("span", { class: "swatch", "--shade": topic ? topic.colour : "var(--line)", "aria-hidden": "true" });
/** Swatch and label of a topic, as every part of the page writes it. */
export function topicName(topic, most = 200) {
  if (!topic) return h("span", { class: "topic-name quiet" }, "no topic");
  const label = cut(topic.label, most);
  return h("span", { class: "topic-name", title: topic.label }, swatch(topic), bdi(label));
}
export const track = (part, shade) => h("span", { class: "track", "aria-hidden": "true" },
  h("span", { class: "fill", "--part": `${(100 * Math.max(0, Math.min(1, part))).toFixed(2)}%`, "--shade": shade || "var(--bar)" }));

let told = null;
/** Say it to screen readers, once, when things have come to rest. */
export function announce(text) {
  clearTimeout(told);
  told = setTimeout(() => { byId("live").textContent = text; }, 300);
}

/** A passing message: an error (its sentence) or a sentence. It goes by itself, or by a click. */
export function say(error, kind = error instanceof Error ? "error" : "note") {
  if (error && error.name === "AbortError") return;
  const text = error instanceof Error ? error.message : String(error);
  const toast = h("div", { class: `toast ${kind}` }, bdi(cut(text, 600)), button("×", () => toast.remove(), { class: "plain", "aria-label": "Close this message" }));
  const box = byId("toasts");
  for (const old of box.children) if (old.firstChild.textContent === toast.firstChild.textContent) old.remove();
  box.append(toast);
  while (box.children.length > 4) box.firstChild.remove();
  setTimeout(() => toast.remove(), kind === "error" ? 12000 : 6000);
}

/** Call fn when so many milliseconds passed without another call. */
export function later(fn, milliseconds) {
  let timer = null;
  const call = (...values) => { clearTimeout(timer); timer = setTimeout(() => fn(...values), milliseconds); };
  call.cancel = () => clearTimeout(timer);
  return call;
}
