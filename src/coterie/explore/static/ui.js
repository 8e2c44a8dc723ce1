// What only the live page has: names of topics, confidence in words, messages, calls that wait.
import { bdi, button, byId, cut, h, swatch } from "./dom.js";

/** How sure a confidence is, in words; a number alone is read as more than it says. */
export function sureness(confidence) {
  if (confidence <= 0) return "no known word";
  if (confidence < 0.35) return "a guess";
  if (confidence < 0.5) return "unsure";
  if (confidence < 0.7) return "fairly sure";
  return confidence < 0.85 ? "sure" : "very sure";
}

/** Swatch and label of a topic, as every part of the page writes it. */
export function topicName(topic, most = 200) {
  if (!topic) return h("span", { class: "topic-name quiet" }, "no topic");
  const label = cut(topic.label, most);
  return h("span", { class: "topic-name", title: topic.label }, swatch(topic), bdi(label));
}

let told = null;
/** Say it to screen readers, once, when things have come to rest. */
export function announce(text) {
  clearTimeout(told);
  told = setTimeout(() => { byId("live").textContent = text; }, 300);
}

/** A passing message: an error (its sentence) or a sentence. It goes by itself, or by a click; `act` is a button in it, [name, fn]. */
export function say(error, kind = error instanceof Error ? "error" : "note", act = null) {
  if (error && error.name === "AbortError") return;
  const text = error instanceof Error ? error.message : String(error);
  const toast = h("div", { class: `toast ${kind}` }, bdi(cut(text, 600)), act ? button(act[0], () => { toast.remove(); act[1](); }, { class: "plain act" }) : null, button("×", () => toast.remove(), { class: "plain", "aria-label": "Close this message" }));
  const box = byId("toasts");
  if (kind !== "error") for (const old of box.querySelectorAll(".act")) old.remove(); // only the last edit can be undone
  for (const old of box.children) if (old.firstChild.textContent === toast.firstChild.textContent) old.remove();
  box.append(toast);
  while (box.children.length > 4) box.firstChild.remove();
  setTimeout(() => toast.remove(), kind === "error" || act ? 12000 : 6000);
}

/** Call fn when so many milliseconds passed without another call. */
export function later(fn, milliseconds) {
  let timer = null;
  const call = (...values) => { clearTimeout(timer); timer = setTimeout(() => fn(...values), milliseconds); };
  call.cancel = () => clearTimeout(timer);
  return call;
}

/** An arrow where the share of a topic clearly changed; what it means is said beside it, for those who cannot see it. */
export function trendArrow(change) {
  return change && change.trend ? h("span", { class: `arrow ${change.trend}`, "aria-hidden": "true" }, change.trend === "fell" ? "↓" : "↑") : null;
}
