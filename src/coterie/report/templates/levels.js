// Levels of topics: which one is shown, and the control that chooses it. The last level is the topics.
import { content, topicOf } from "./content.js";
import { h } from "./dom.js";
import { many } from "./numbers.js";

const levels = (content.levels || []).map(({ groups }) => groups.map((group) => ({ ...group, label: group.label ?? topicOf.get(group.topics[0]).label }))); // older reports have none
const followers = [];
let now = levels.length;

/** Call a function with the groups to show, null for the topics: now, and whenever another level is chosen. */
export function followLevel(show) {
  followers.push(show);
  if (levels.length) show(levels[now] || null);
}

function choose(level) {
  now = level;
  for (const box of document.querySelectorAll("input[data-level]")) box.checked = Number(box.dataset.level) === level;
  for (const show of followers) show(levels[now] || null);
}

/** Buttons for the levels, from the broadest on; null where topics are the only one. */
export function levelControl(name) {
  if (!levels.length) return null;
  const option = (level, text) => h("label", {}, h("input", { type: "radio", name, "data-level": level, checked: level === now, onchange: () => choose(level) }), h("span", {}, text));
  return h("fieldset", { class: "levels no-print" }, h("legend", {}, "Level"),
    levels.map((groups, level) => option(level, many(groups.length, "group"))), option(levels.length, many(topicOf.size, "topic")));
}
