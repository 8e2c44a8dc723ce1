// The search box: words or meaning, and a line that says what was understood.
import { bdi, byId, cut, h } from "./dom.js";
import { decimal } from "./numbers.js";
import { later } from "./ui.js";
import { state, subscribe, update } from "./state.js";

const NARROW = matchMedia("(max-width: 899px)");

/** Wire the box in the header. */
export function createSearch() {
  const form = byId("search"), box = byId("query"), modes = [...form.querySelectorAll("[name=mode]")];
  const typed = later(() => update({ q: box.value, ...back() }), 250);
  // a new search shows its best texts first, whatever the table was sorted by
  const back = () => (state.sort === null || state.sort === "match" ? { sort: null, descending: false } : {});
  box.addEventListener("input", typed);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    typed.cancel();
    update({ q: box.value, ...back(), view: "explore", ...(NARROW.matches ? { tab: "texts" } : {}) }, { push: true });
  });
  modes.forEach((mode) => mode.addEventListener("change", () => update({ mode: mode.value, q: box.value, sort: null, descending: false }, { push: true })));
  const show = () => {
    if (box.value !== state.q && document.activeElement !== box) box.value = state.q;
    else if (state.q === "" && box.value.trim() !== "" && document.activeElement !== box) box.value = "";
    modes.forEach((mode) => { mode.checked = mode.value === state.mode; });
  };
  subscribe(["q", "mode"], show);
  subscribe("ready", () => form.classList.toggle("counting", !state.ready));
  show();
}

/** Search for one word, from a term or a related word that was clicked. */
export function searchFor(word, mode = "words") {
  byId("query").value = word;
  update({ q: word, mode, sort: null, descending: false, ...(NARROW.matches ? { tab: "texts" } : {}) }, { push: true });
}

/** What a query was understood as: known words, unknown words, related words and through which. */
export function explain(query) {
  const words = (list) => list.map((word, at) => [at ? ", " : "", h("strong", {}, bdi(cut(word, 60)))]);
  const parts = [];
  if (query.unknown.length) parts.push([state.mode === "words" ? "No text contains " : query.unknown.length === 1 ? "Unknown word: " : "Unknown words: ", words(query.unknown.slice(0, 8)), "."]);
  if (state.mode === "meaning") {
    if (!query.known.length) parts.push("Try a search by words instead.");
    else if (query.related.length) parts.push(["Near ", words(query.known.slice(0, 8)), ": also ", query.related.slice(0, 8).map((one, at) => [at ? ", " : "", h("i", { class: "related", title: `through ${one.from}, similarity ${decimal(one.similarity)}` }, bdi(cut(one.term, 40))),
      query.known.length > 1 ? h("span", { class: "quiet" }, " (", bdi(cut(one.from, 40)), ")") : null]), "."]);
    else parts.push(["Similar to ", words(query.known.slice(0, 8)), "; there are no related words."]);
  }
  return parts.length ? h("span", { class: "explained" }, parts.map((part) => [part, " "])) : null;
}
