// The keys of the page, as a dialog.
import { h } from "./dom.js";
import { openDialog } from "./dialogs.js";

const KEYS = [
  ["Everywhere", [["/", "search the texts"], ["t", "try a text"], ["f", "the map alone, and back"], ["[  ]", "previous, next topic"], ["Ctrl Z", "undo the last edit"], ["Esc", "close, then clear the filters"], ["?", "this list"]]],
  ["Topics", [["↑  ↓", "go through the list"], ["Shift click", "choose one more; two are shown side by side"]]],
  ["Map", [["← → ↑ ↓", "move"], ["+  −", "zoom in, out"], ["0", "show all"], ["Enter", "open the text in the middle"], ["Shift drag", "lasso"]]],
  ["Dates under the map", [["←  →", "move the window"], ["Shift ← →", "make it longer or shorter"], ["Esc", "all dates"]]],
  ["Texts", [["↑  ↓", "go through the table"], ["Enter", "open a text"], ["Space", "select a text"]]],
];

/** Show the list. */
export function openKeys() {
  openDialog({ title: "Keys", wide: true, content: h("div", { class: "key-parts" }, KEYS.map(([title, keys]) => h("section", {}, h("h3", {}, title),
    h("dl", { class: "keys" }, keys.map(([key, what]) => [h("dt", {}, key.split(/ +/).map((one, at) => [at ? " " : "", h("kbd", {}, one)])), h("dd", {}, what)]))))) });
}
