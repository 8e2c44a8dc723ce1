// What the report shows, and how it writes a topic and a part of the page.
import { bdi, byId, h, swatch } from "./dom.js";

export const content = JSON.parse(byId("content").textContent);
export const topics = content.topics;
export const topicOf = new Map(topics.map((topic) => [topic.id, topic]));

export function topicLink(id) {
  const topic = topicOf.get(id);
  return h("a", { class: "topic-link", href: `#topic-${id}`, title: topic.label },
    swatch(topic), h("span", { class: "id" }, id), bdi(topic.label));
}

export function section(id, title, ...children) {
  return h("section", { id, "aria-labelledby": `${id}-title` }, h("h2", { id: `${id}-title` }, title), children);
}
