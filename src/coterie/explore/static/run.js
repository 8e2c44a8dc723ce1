// The run shown: asked for when its name changes, and again when it was changed.
import { say } from "./ui.js";
import { noFilters, state, topicOf, update } from "./state.js";
import { ApiError, get, latest, runPath } from "./api.js";

const asking = latest();

/** Ask for the run of the state; gives its overview, or null (an error is shown by whoever listens to `failed`). */
export async function loadRun(changes = {}) {
  const name = state.run;
  try {
    const overview = await asking((signal) => get(runPath("", name), {}, { signal }));
    const gone = state.topics.filter((id) => !overview.topics.some((topic) => topic.id === id));
    update({ overview, ready: overview.ready, ...changes, ...(gone.length ? { topics: state.topics.filter((id) => !gone.includes(id)) } : {}) });
    if (!overview.ready) wait(name);
    return overview;
  } catch (error) {
    if (error.name === "AbortError") return null;
    if (!(error instanceof ApiError)) throw error;
    failed(error);
    return null;
  }
}

/** After a change of the run (an edit, a refit): overview, panel, map and texts are asked for again. */
export async function reload() {
  last = loadRun({ stirred: state.stirred + 1 });
  await last;
}
let last = Promise.resolve();
/** Others wait for this work, which changes the run. */
export function during(work) {
  last = work.catch(() => {});
  return work;
}
/** Wait for a change or a reload that is under way: what is based on the version of the run needs the newest. */
export const reloaded = () => last;

/** Show another run; its filters start anew. */
export function openRun(name, changes = {}) {
  update({ run: name, ...noFilters(), colour: null, sort: null, descending: false, row: null, box: null, against: null, view: "explore", ...changes }, { push: true });
}

let failed = (error) => say(error);
/** Who shows that a run cannot be opened. */
export function onFailure(fn) { failed = fn; }

function wait(name) {
  // the server counts the texts in the background; until then search by meaning is not there
  setTimeout(async () => {
    if (state.run !== name || !state.overview) return;
    try {
      const overview = await get(runPath("", name));
      if (state.run !== name) return;
      if (overview.ready) update({ ready: true });
      else wait(name);
    } catch { /* the next question tells */ }
  }, 1500);
}

/** Choose a topic, or take the choice back when it is the one; `more` adds it to the choice. */
export function chooseTopic(id, { more = false } = {}) {
  if (id === null) return update({ topics: [], row: null }, { push: true });
  if (more) {
    const topics = state.topics.includes(id) ? state.topics.filter((other) => other !== id) : [...state.topics, id];
    return update({ topics, row: null, try: null }, { push: true });
  }
  if (!topicOf(id)) return undefined;
  return update({ topics: [id], row: null, try: null }, { push: true });
}
