// Texts marked in the table by hand, on whatever page or search they were found, to be moved together.
import { button, h } from "./dom.js";
import { count, many } from "./numbers.js";
import { announce, say } from "./ui.js";
import { state } from "./state.js";

const marked = new Set();
let last = null; // where a range begins
let told = () => {};

/** Whether texts can be marked: only where something can be done with them. */
export const canPick = () => Boolean(state.about && state.about.writable);
/** `fn()` hears of every change. */
export function onPicks(fn) { told = fn; }

/** Take all marks away: another run, or they were moved. */
export function clearPicks() {
  if (!marked.size) return;
  marked.clear();
  last = null;
  told();
}

/** Mark a row of the table or take its mark away; with `range` all rows since the last one get the same. */
export function pick(line, flag, range = false) {
  const all = [...line.parentElement.children], to = all.indexOf(line), from = all.findIndex((one) => Number(one.dataset.row) === last);
  const lines = range && from >= 0 ? all.slice(Math.min(from, to), Math.max(from, to) + 1) : [line];
  last = Number(line.dataset.row);
  put(lines.map((one) => Number(one.dataset.row)), flag);
}
/** Turn the mark of a row of the table around. */
export const turn = (line) => pick(line, !marked.has(Number(line.dataset.row)));

function put(rows, flag) {
  rows.forEach((row) => (flag ? marked.add(row) : marked.delete(row)));
  announce(marked.size ? `${many(marked.size, "text")} marked` : "No text is marked");
  told();
}

/** The cell of a row. The row has the focus and Space, so that the boxes are no stops on the way by Tab. */
export function pickCell(row) {
  const box = h("input", { type: "checkbox", tabindex: -1, "aria-label": `Mark text ${count(row + 1)}`,
    onclick: (event) => pick(box.closest("tr"), box.checked, event.shiftKey) });
  return h("td", { role: "cell", class: "c-pick" }, h("label", {}, box));
}

/** The head of the column: all rows of the page. */
export function pickHead(rows) {
  const box = h("input", { type: "checkbox", "aria-label": "Mark all texts of this page", onchange: () => put(rows, box.checked) });
  return h("th", { scope: "col", role: "columnheader", class: "c-pick" }, h("label", {}, box));
}

/** Boxes as the marks are. */
export function showPicks(table) {
  const lines = [...table.querySelectorAll("tbody tr")];
  let set = 0;
  for (const line of lines) {
    const is = marked.has(Number(line.dataset.row)), box = line.querySelector(".c-pick input");
    if (box) box.checked = is;
    if (is) set += 1;
  }
  const head = table.querySelector("thead .c-pick input");
  if (head) Object.assign(head, { checked: set > 0 && set === lines.length, indeterminate: set > 0 && set < lines.length });
}

/** What can be done with the marked texts, or nothing. */
export function pickTools() {
  if (!marked.size) return null;
  const move = async () => {
    try { (await import("./edit.js")).openMove([...marked], clearPicks); } catch (error) { say(error); }
  };
  return h("span", { class: "picks" }, h("strong", {}, `${count(marked.size)} marked`), button("move…", move, { class: "plain", "aria-label": `Move the ${many(marked.size, "marked text")}` }),
    button("clear", clearPicks, { class: "plain", "aria-label": "Clear the selection" }));
}
