// Save what is selected as a file.
import { bdi, button, cut, h } from "./dom.js";
import { count, decimal, many } from "./numbers.js";
import { get, runPath, url } from "./api.js";
import { openDialog } from "./dialogs.js";
import { savePicture } from "./map-save.js";
import { filters, state, topicOf } from "./state.js";
import { say } from "./ui.js";

const FORMATS = [["csv", "CSV", "for spreadsheets; cells that look like formulas are made harmless"],
  ["parquet", "Parquet", "for programs; smaller, with types"]];

/** Ask for the format and give the link. */
export function openExport() {
  const asked = filters(), link = h("a", { class: "button main", download: "" }, "save the file"),
    said = h("p", { class: "sum", "aria-live": "polite" }, "Counting the texts …");
  const point = (format) => { link.href = url(runPath("/export"), { format, ...asked }); };
  const ways = h("fieldset", { class: "ways" }, h("legend", {}, "Format"), FORMATS.map(([value, name, note], at) => h("label", {},
    h("input", { type: "radio", name: "export-format", value, checked: at === 0, onchange: () => point(value) }),
      h("span", {}, name, " ", h("span", { class: "quiet small" }, note)))));
  point("csv");
  const dialog = openDialog({ title: "Save the selected texts",
    content: [h("ul", { class: "selection" }, inWords().map((part) => h("li", {}, part))), said, ways, pictures()], more: [link] });
  link.addEventListener("click", () => setTimeout(() => dialog.close(), 50));
  tell(asked, said, link);
}

/** The map as a picture, as light or dark as the page is. */
function pictures() {
  const ground = matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light", run = state.run;
  const save = async (kind) => {
    try {
      const answer = await fetch(url(runPath("/map/picture", run), { ground }));
      if (!answer.ok) throw new Error((await answer.json()).error || "The picture cannot be drawn.");
      await savePicture(await answer.text(), run, kind);
    } catch (error) { say(error); }
  };
  return h("p", { class: "pictures" }, "The map as a picture: ", ["svg", "png"].map((kind) => [button(kind.toUpperCase(), () => save(kind)), " "]));
}

async function tell(asked, said, link) {
  try {
    const { total } = await get(runPath("/texts"), { ...asked, limit: 1 });
    const all = state.overview.texts, part = total === all ? "All" : `${count(total)} of`;
    said.textContent = total ? `${part} ${many(all, "text")}, each with its topic, confidence and reason.` : "No text matches; there is nothing to save.";
    if (!total) link.removeAttribute("href");
  } catch (error) {
    said.replaceChildren(bdi(error.message));
  }
}

/** Columns that the texts are filtered by, other than the class, each with its values. */
function chosenValues() {
  const found = new Map();
  for (const one of state.only) {
    const number = one.slice(0, one.indexOf(":")), name = state.counts?.columns.find((column) => String(column.column) === number)?.name ?? `column ${number}`;
    found.set(name, [...(found.get(name) ?? []), one.slice(number.length + 1)]);
  }
  return found;
}

/** The filters that are set, each as a phrase. */
function inWords() {
  const parts = [], { least, most, since, until } = state, put = (is, ...what) => { if (is) parts.push(what); };
  put(state.topics.length, state.topics.length === 1 ? "topic " : "topics ",
    state.topics.flatMap((id, at) => [at ? ", " : "", bdi(cut(topicOf(id)?.label ?? String(id), 60))]));
  put(state.q.trim(), state.mode === "meaning" ? "similar in meaning to " : "with the words ", h("q", {}, bdi(cut(state.q.trim(), 100))));
  put(least !== null, `confidence from ${decimal(least ?? 0)}`);
  put(most !== null, `confidence up to ${decimal(most ?? 1)}`);
  put(state.classes.length, bdi(cut((state.overview && state.overview.label) || "class", 40)), " ",
    state.classes.slice(0, 8).flatMap((name, at) => [at ? " or " : "", bdi(cut(name || "(none)", 40))]));
  for (const [name, values] of chosenValues()) put(true, bdi(cut(name, 40)), " ", values.slice(0, 8).flatMap((value, at) => [at ? " or " : "", bdi(cut(value || "(none)", 40))]));
  put(since, `since ${since}`);
  put(until, `until ${until}`);
  put(state.lasso, "selected on the map");
  put(state.known !== null, state.known ? "with a known word" : "without a known word");
  return parts.length ? parts : [["all texts of the run ", bdi(state.run)]];
}
