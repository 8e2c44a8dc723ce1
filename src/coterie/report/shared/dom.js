// Elements. Texts enter the page as text nodes only.
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

export const swatch = (topic) => h("span", { class: "swatch", "--shade": topic ? topic.colour : "var(--line)", "aria-hidden": "true" });
/** A bar as long as `part` (0 to 1) of its room. */
export const track = (part, shade) => h("span", { class: "track", "aria-hidden": "true" },
  h("span", { class: "fill", "--part": `${(100 * Math.max(0, Math.min(1, part))).toFixed(2)}%`, "--shade": shade || "var(--bar)" }));
