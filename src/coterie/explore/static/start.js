// The start: runs of the folder to open, and a file that becomes a new run.
import { bdi, button, cut, day, h } from "./dom.js";
import { many, percent } from "./numbers.js";
import { say } from "./ui.js";
import { get, send } from "./api.js";
import { apart, cancel, follow, progress, wording } from "./jobs.js";
import { openRun } from "./run.js";
import { state, subscribe, update } from "./state.js";

const TYPES = ".csv,.tsv,.tab,.txt,.text,.log,.json,.jsonl,.ndjson,.parquet,.pq,.xlsx,.gz";

/** Draw the view "start"; gives a function that ends it. */
export function openStart(element) {
  const work = h("section", { class: "start-new", "aria-labelledby": "start-new-title" }),
    runs = h("section", { class: "start-runs", "aria-labelledby": "start-runs-title" });
  const stop = new AbortController(), page = { work, upload: null, signal: stop.signal };
  element.replaceChildren(h("div", { class: "other-page start" },
    h("div", { class: "other-head" }, h("h2", {}, "Find topics"), state.run ? button("back to the run",
      () => update({ view: "explore" }, { push: true }), { class: "plain" }) : null),
    h("div", { class: "start-parts" }, work, runs)));
  const begin = () => {
    const file = state.dropped;
    if (file) { update({ dropped: null }); take(page, file); }
  };
  dropZone(page);
  begin();
  const list = () => drawRuns(runs);
  const stops = [subscribe(["runs", "about", "stirred"], list), subscribe("dropped", begin)];
  list();
  get("/runs").then((answer) => update({ runs: answer.runs }), say);
  return () => { for (const forget of stops) forget(); stop.abort(); discard(page); element.replaceChildren(); };
}

function drawRuns(box) {
  const { runs } = state, rows = (runs || []).map((run) => h("li", {}, run.error
    ? [h("strong", {}, bdi(run.name)), h("p", { class: "look small" }, bdi(cut(run.error, 300)))]
    : h("button", { type: "button", class: "run-card", onclick: () => openRun(run.name) }, h("strong", {}, bdi(run.name)),
      h("span", { class: "quiet" }, `${many(run.texts, "text")} · ${many(run.topics, "topic")}`),
        h("span", { class: "quiet small" }, run.source ? [bdi(cut(run.source.split(/[\\/]/).at(-1), 60)), " · "] : "", day(run.made)))));
  box.replaceChildren(h("h3", { id: "start-runs-title" }, "Runs in this folder"),
    rows.length ? h("ul", { class: "run-list" }, rows) : h("p", { class: "quiet" }, runs ? "None yet. Find the topics of a file to create one." : "…"));
}

// the file

function dropZone(page, trouble = null) {
  const limit = state.about && state.about.limits ? `, up to ${size(state.about.limits.upload_bytes)}` : "";
  const input = h("input", { type: "file", accept: TYPES, class: "hidden", tabindex: -1, "aria-label": "File of texts",
    onchange: () => { if (input.files.length) take(page, input.files[0]); } });
  const zone = h("div", { class: "drop" }, h("p", { class: "drop-say" }, "Drop a file of texts here"),
    button("choose a file", () => input.click(), { class: "main" }), input,
    h("p", { class: "quiet small" }, `CSV, TSV, JSON, Parquet, Excel or one text per line${limit}. The file stays on the machine that runs coterie.`),
    h("div", { role: "alert" }, trouble ? h("p", { class: "look" }, bdi(trouble)) : ""),
    h("p", { class: "sample quiet" }, "No file at hand? ", button("Try it with a sample", (event) => sample(page, event.currentTarget), { class: "link" }), " of messages to a bike shop."));
  zone.addEventListener("dragover", (event) => { event.preventDefault(); zone.classList.add("over"); });
  zone.addEventListener("dragleave", () => zone.classList.remove("over"));
  zone.addEventListener("drop", (event) => {
    event.preventDefault();
    zone.classList.remove("over");
    if (event.dataTransfer.files.length > 1) say("One file at a time: only the first is used.");
    if (event.dataTransfer.files.length) take(page, event.dataTransfer.files[0]);
  });
  page.work.replaceChildren(h("h3", { id: "start-new-title" }, "A new run"), zone);
}

/** The sample that comes with coterie, as if it had been dropped here. */
async function sample(page, from) {
  from.disabled = true;
  try {
    const upload = await send("POST", "/uploads/sample", undefined, { signal: page.signal });
    discard(page);
    page.upload = upload;
    preview(page);
  } catch (error) {
    if (error.name !== "AbortError") dropZone(page, error.message);
  }
}

function size(bytes) {
  const units = ["bytes", "kB", "MB", "GB"], step = Math.min(Math.floor(Math.log10(Math.max(bytes, 1)) / 3), 3);
  return `${(bytes / 1000 ** step).toFixed(step > 2 && bytes % 1e9 ? 1 : 0)} ${units[step]}`;
}

async function take(page, file) {
  const most = state.about?.limits?.upload_bytes;
  if (most && file.size > most) return dropZone(page,
    `${file.name} has ${size(file.size)}; at most ${size(most)} can be uploaded here. Split the file, or leave out columns that are not needed.`);
  page.work.replaceChildren(h("h3", { id: "start-new-title" }, "A new run"),
    h("div", { class: "drop waiting", role: "status" }, h("p", {}, "Reading ", bdi(file.name), ` (${size(file.size)}) …`),
    h("div", { class: "progress unknown" }, h("span", { "--part": "30%" }))));
  try {
    const upload = await send("PUT", "/uploads", file, { params: { name: file.name }, signal: page.signal });
    discard(page);
    page.upload = upload;
    preview(page);
  } catch (error) {
    if (error.name !== "AbortError") dropZone(page, error.message);
  }
  return undefined;
}

function discard(page) {
  if (page.upload) send("DELETE", `/uploads/${encodeURIComponent(page.upload.id)}`).catch(() => {}); // it is removed in time anyway
  page.upload = null;
}

// columns and settings

function preview(page, trouble = null) {
  const { upload } = page, wanted = { text: upload.guess.text };
  const form = settings(page, upload, wanted, trouble), submit = form.querySelector("[type=submit]");
  const table = h("div", { class: "scroll preview", tabindex: 0, role: "region", "aria-label": "First rows of the file" });
  const said = h("p", { class: "chosen-column", "aria-live": "polite" });
  const choose = (column) => {
    wanted.text = column;
    grid(table, upload, wanted, choose);
    submit.disabled = !column;
    said.replaceChildren(...(column
      ? ["The texts are in ", h("strong", {}, bdi(column)), h("span", { class: "quiet" }, ". Click another column header to change that.")]
      : ["No column looks like texts. Click the header of the column with the texts."]));
  };
  page.work.replaceChildren(h("h3", { id: "start-new-title" }, "A new run"),
    h("p", {}, h("strong", {}, bdi(upload.name)), h("span", { class: "quiet" }, ` · ${facts(upload)}`)),
    ...(upload.skipped ? [h("p", { class: "look" }, `${many(upload.skipped, "row")} could not be read and would be left out. `)] : []),
    place(page, upload), said, table, form);
  choose(wanted.text);
}

/** Where the table is: the sheet of a workbook, and the row with the column names. */
function place(page, upload) {
  const look = async (asked) => {
    try {
      page.upload = await send("POST", `/uploads/${encodeURIComponent(upload.id)}/look`, asked, { signal: page.signal });
      preview(page);
    } catch (error) {
      if (error.name !== "AbortError") preview(page, error.message);
    }
  };
  const parts = [];
  if (upload.sheets.length > 1) {
    const sheet = h("select", { onchange: () => look({ sheet: sheet.value }) },
      upload.sheets.map((name) => h("option", { value: name, selected: name === upload.sheet }, cut(name, 60))));
    parts.push(h("label", { class: "field" }, h("span", {}, "Sheet"), sheet));
  }
  if (upload.header_row !== null) {
    const row = h("input", { type: "number", min: 1, max: 1000000, value: upload.header_row,
      onchange: () => { if (row.value) look({ sheet: upload.sheet, header_row: Number(row.value) }); } });
    parts.push(h("label", { class: "field" }, h("span", {}, "Column names in row"), row));
  }
  return h("div", { class: "settings place" }, parts);
}

function settings(page, upload, wanted, before) {
  const field = (title, ...inputs) => h("label", { class: "field" }, h("span", {}, title), inputs);
  const column = (guess) => h("select", {}, h("option", { value: "" }, "(none)"),
    upload.columns.map(({ name }) => h("option", { value: name, selected: name === guess }, cut(name, 60))));
  const date = column(upload.guess.date), label = column(upload.guess.label);
  const order = h("select", {}, h("option", { value: "" }, "as the column shows, else 3 April"),
    h("option", { value: "day" }, "3 April: day first"), h("option", { value: "month" }, "March 4: month first"));
  const ordered = h("div", {}, field("3/4/2025 is", order)), open = () => upload.open_dates.includes(date.value);
  const ask = () => { ordered.hidden = !open(); };
  date.addEventListener("change", ask);
  ask();
  const auto = h("input", { type: "radio", name: "how-many", value: "auto", checked: true });
  const exact = h("input", { type: "radio", name: "how-many", value: "number" });
  const number = h("input", { type: "number", min: 1, max: 10000, value: 20, "aria-label": "Number of topics", onfocus: () => { exact.checked = true; } });
  const languages = state.about?.languages?.length ? state.about.languages : ["english"];
  const language = h("select", {}, languages.map((each) => h("option", { value: each, selected: each === upload.guess.language }, each)));
  const name = h("input", { type: "text", value: fresh(upload.name), maxlength: 100, required: true, autocomplete: "off" });
  const trouble = h("div", { role: "alert" }, before ? h("p", { class: "look" }, bdi(before)) : null);
  const form = h("form", { class: "settings" }, field("Dates", date), ordered, field("Known classes", label),
    h("fieldset", { class: "ways" }, h("legend", {}, "Topics"), h("label", {}, auto, "estimate the number"),
      h("span", { class: "with-number" }, h("label", {}, exact, "this many"), number)),
    field("Language", language), field("Name of the run", name), trouble,
    h("div", { class: "dialog-foot" }, button("another file", () => { discard(page); dropZone(page); }), h("span", { class: "space" }),
      h("button", { type: "submit", class: "main" }, "find topics")));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    trouble.replaceChildren();
    fit(page, form, trouble, { name: name.value.trim(), text: wanted.text, date: date.value || null, label: label.value || null,
      day_first: open() && order.value ? order.value === "day" : null,
      topics: exact.checked ? Number(number.value) : "auto", language: language.value });
  });
  return form;
}

async function fit(page, form, trouble, wanted) {
  for (const part of form.elements) part.disabled = true;
  try {
    const { upload } = page, job = await send("POST", `/uploads/${encodeURIComponent(upload.id)}/fit`, wanted);
    page.upload = null; // it belongs to the job now
    fitting(page, job, upload);
  } catch (error) {
    for (const part of form.elements) part.disabled = false;
    trouble.replaceChildren(h("p", { class: "look" }, bdi(error.message)));
  }
}

function facts(upload) {
  const format = { csv: "CSV", tsv: "TSV", jsonl: "JSON lines", json: "JSON", parquet: "Parquet", xlsx: "Excel", lines: "one text per line" }[upload.format]
    || upload.format;
  return [format, size(upload.bytes), upload.encoding, `first ${many(upload.rows_seen, "row")} looked at`].filter(Boolean).join(" · ");
}

function grid(box, upload, wanted, choose) {
  const at = upload.columns.findIndex((column) => column.name === wanted.text), had = box.contains(document.activeElement);
  const head = upload.columns.map((column, each) => h("th", { scope: "col", class: each === at ? "chosen" : null },
    h("button", { type: "button", "aria-pressed": String(each === at), title: "Use the texts in this column", onclick: () => choose(column.name) },
      h("strong", {}, bdi(cut(column.name, 40))), h("span", { class: "quiet small" }, `${column.kind} · ${percent(column.filled)} filled`),
        h("span", { class: "is-text small" }, each === at ? "✓ texts" : ""))));
  box.replaceChildren(h("table", {}, h("thead", {}, h("tr", {}, head)),
    h("tbody", {}, upload.preview.slice(0, 8)
      .map((row) => h("tr", {}, row.map((cell, each) => h("td", { class: each === at ? "chosen" : null }, bdi(cut(cell, 140)))))))));
  const chosen = box.querySelector("th.chosen");
  if (!had && chosen && chosen.offsetLeft + chosen.offsetWidth > box.clientWidth) box.scrollLeft = Math.max(chosen.offsetLeft - 40,
    0); // narrow: what is chosen is in sight
  if (had) box.querySelector("[aria-pressed=true]")?.focus();
}

function fresh(name) {
  const base = name.replace(/(\.(csv|tsv|tab|txt|text|log|jsonl?|ndjson|parquet|pq|xlsx|gz))+$/i, "").replace(/[^\p{L}\p{N}._-]+/gu, "-").replace(/^[.-]+|-+$/g, "")
    .slice(0, 60) || "run";
  const taken = new Set((state.runs || []).map((run) => run.name.toLowerCase()));
  if (!taken.has(base.toLowerCase())) return base;
  for (let number = 2; ; number++) if (!taken.has(`${base}-${number}`.toLowerCase())) return `${base}-${number}`;
}

async function fitting(page, job, upload) {
  const box = h("div", { class: "drop waiting" });
  page.work.replaceChildren(h("h3", { id: "start-new-title" }, "A new run"), box);
  const tell = (step) => box.replaceChildren(h("p", { class: "drop-say" }, bdi(step.title)), progress(step),
    h("p", { class: "quiet", role: "status" }, bdi(wording(step))), button("cancel", () => cancel(step)));
  tell(job);
  apart(job.id, true);
  page.signal.addEventListener("abort", () => apart(job.id, false)); // left: the bar at the top goes on with it
  const end = await follow(job, tell);
  if (page.signal.aborted) return;
  if (end.state === "done") { openRun(end.run); return; }
  page.upload = upload; // the server has kept it, to be tried with other settings
  preview(page, end.state === "failed" ? end.error : "Cancelled.");
}
