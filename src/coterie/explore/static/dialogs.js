// Dialogs: a frame that keeps focus and gives it back, waits for jobs and tells errors; a list to choose topics from.
import { bdi, button, cut, h, swatch } from "./dom.js";
import { many } from "./numbers.js";
import { say } from "./ui.js";
import { runPath, send } from "./api.js";
import { apart, follow, progress, wording } from "./jobs.js";
import { reload, reloaded } from "./run.js";
import { state } from "./state.js";

/**
 * Open a dialog. `content` are its elements, `act` what its button says, `run(dialog)` what the button does.
 * Gives { element, close, fail(error), busy(flag), ready(flag) }.
 */
export function openDialog({ title, content, act, run, wide = false, more = [] }) {
  const trouble = h("div", { class: "trouble", role: "alert" }), work = h("div", { class: "work", "aria-live": "off" });
  const main = act ? h("button", { type: "submit", class: "main" }, act) : null;
  const quit = button(act ? "cancel" : "close", () => element.close(), { autofocus: !act });
  const form = h("form", { method: "dialog" }, h("h2", { id: "dialog-title" }, title), h("div", { class: "dialog-body" }, content), trouble, work,
    h("div", { class: "dialog-foot" }, more, h("span", { class: "space" }), quit, main));
  const element = h("dialog", { class: wide ? "wide" : null, "aria-labelledby": "dialog-title" }, form);
  const dialog = {
    element,
    close: () => element.close(),
    ready: (flag) => { if (main) main.disabled = !flag; },
    busy(flag) {
      element.classList.toggle("working", flag);
      if (main) main.disabled = flag;
      for (const part of form.querySelectorAll(".dialog-body :is(input, select, textarea, button)")) part.disabled = flag;
      quit.textContent = flag ? "continue in the background" : act ? "cancel" : "close";
      if (!flag) work.replaceChildren();
    },
    work(job) {
      work.replaceChildren(progress(job), h("p", { class: "quiet" }, bdi(wording(job))));
    },
    fail(error) {
      dialog.busy(false);
      const again = error.status === 409 ? button("reload", () => { element.close(); reload(); }) : null;
      trouble.replaceChildren(h("p", {}, bdi(error.message)), again || "");
    },
  };
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    trouble.replaceChildren();
    if (run && !(main && main.disabled)) run(dialog);
  });
  element.addEventListener("click", (event) => { if (event.target === element) element.close(); });
  element.addEventListener("close", () => element.remove());
  document.body.append(element);
  element.showModal();
  return dialog;
}

/** Send a change of the run and wait for its job; true when it is done, otherwise the dialog says why not. */
export async function change(dialog, path, body) {
  dialog.busy(true);
  try {
    await reloaded();
    const job = await send("POST", runPath(path), { version: state.overview.version, ...body });
    apart(job.id, true);
    dialog.element.addEventListener("close", () => apart(job.id, false));
    const end = await follow(job, (step) => dialog.work(step));
    if (end.state === "failed") throw new Error(end.error || "The operation failed.");
    if (end.state === "done") dialog.close();
    else dialog.busy(false);
    return end.state === "done";
  } catch (error) {
    if (dialog.element.isConnected) dialog.fail(error);
    else say(error);
    return false;
  }
}

/**
 * A list of topics to choose from, with a field that narrows it. `several`: boxes instead of one choice;
 * `first`: [{ id, note }] stand above the others; `leave`: ids not offered. `changed(ids)` hears every choice.
 */
export function topicPicker({ several = false, first = [], leave = [], chosen = [], changed = () => {}, label }) {
  const wanted = new Set(chosen), name = `pick-${Math.random().toString(36).slice(2)}`;
  const list = h("div", { class: "pick-list", role: several ? "group" : "radiogroup", "aria-label": label });
  const field = h("input", { type: "search", placeholder: "find a topic by its words", "aria-label": "Find a topic by its words",
    oninput: () => show() });
  const item = (topic, note) => h("label", { class: "pick" },
    h("input", { type: several ? "checkbox" : "radio", name, checked: wanted.has(topic.id), onchange: (event) => {
      if (!several) wanted.clear();
      if (event.target.checked) wanted.add(topic.id);
      else wanted.delete(topic.id);
      changed([...wanted]);
    } }),
    swatch(topic), h("span", { class: "id" }, topic.id), h("span", { class: "pick-name" }, bdi(cut(topic.label, 80)), " ",
      h("span", { class: "quiet small" }, bdi(topic.terms.filter((term) => !topic.label.includes(term)).slice(0, 5).join(", ")))),
    h("span", { class: "number quiet small" }, note ? `${note} · ` : "", many(topic.size, "text")));
  const show = () => {
    const words = field.value.toLowerCase().split(/\s+/).filter(Boolean),
      offered = state.overview.topics.filter((topic) => !leave.includes(topic.id));
    const fits = (topic) => words.every((word) => `${topic.id} ${topic.label} ${topic.terms.join(" ")}`.toLowerCase().includes(word));
    const notes = new Map(first.map(({ id, note }) => [id, note])), near = first.map(({ id }) => offered.find((topic) => topic.id === id))
      .filter(Boolean);
    const shown = [...near, ...offered.filter((topic) => !notes.has(topic.id))].filter((topic) => fits(topic) || wanted.has(topic.id));
    list.replaceChildren(...shown.map((topic) => item(topic, notes.get(topic.id))));
    if (!shown.length) list.append(h("p", { class: "quiet" }, "No topic has these words."));
  };
  show();
  return { element: h("div", { class: "picker" }, field, list), chosen: () => [...wanted],
    rank(more, without = leave) { first = more; leave = without; show(); } };
}
