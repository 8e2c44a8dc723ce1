"use strict";
// Elements and words. Texts enter the page as text nodes only.
const content = JSON.parse(document.getElementById("content").textContent);
const SVG = "http://www.w3.org/2000/svg";

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (name.startsWith("--")) node.style.setProperty(name, value);
    else if (value !== null && value !== false) node.setAttribute(name, value === true ? "" : value);
  }
  for (const child of children.flat(Infinity)) {
    if (child !== null && child !== undefined) node.append(typeof child === "object" ? child : String(child));
  }
  return node;
}
const h = (tag, attributes, ...children) => fill(document.createElement(tag), attributes, children);
const s = (tag, attributes, ...children) => fill(document.createElementNS(SVG, tag), attributes, children);
const bdi = (text) => h("bdi", { dir: "auto" }, text);

const whole = new Intl.NumberFormat("en-US");
const count = (number) => whole.format(number);
const many = (number, one, more) => `${count(number)} ${number === 1 ? one : more || one + "s"}`;
const decimal = (number, digits = 2) => number.toFixed(digits).replace("-", "−");

function percent(part, all = 1) {
  const value = all ? (100 * part) / all : 0;
  if (value === 0 || value === 100) return `${value} %`;
  if (value < 0.05) return "<0.1 %";
  return value < 10 ? `${value.toFixed(1)} %` : `${Math.round(value)} %`;
}
const cut = (text, most) => {
  const signs = Array.from(text);
  return signs.length <= most ? text : signs.slice(0, most - 1).join("") + "…";
};
function day(made) {
  const date = new Date(made);
  if (!made || Number.isNaN(date.getTime())) return made;
  return date.toLocaleDateString("en-GB", { day: "numeric", month: "long", year: "numeric", timeZone: "UTC" });
}

const topics = content.topics;
const topicOf = new Map(topics.map((topic) => [topic.id, topic]));
const swatch = (topic) => h("span", { class: "swatch", "--shade": topic.colour, "aria-hidden": "true" });
function topicLink(id) {
  const topic = topicOf.get(id);
  return h("a", { class: "topic-link", href: `#topic-${id}`, title: topic.label },
    swatch(topic), h("span", { class: "id" }, id), bdi(topic.label));
}
function section(id, title, ...children) {
  return h("section", { id, "aria-labelledby": `${id}-title` }, h("h2", { id: `${id}-title` }, title), children);
}
const track = (part, shade) => h("span", { class: "track" },
  h("span", { class: "fill", "--part": `${(100 * part).toFixed(2)}%`, "--shade": shade || "var(--bar)" }));
