// How many texts that match are in each topic, value and period: asked for once for all parts that show it.
import { say } from "./ui.js";
import { FILTER_KEYS, filters, state, subscribe, tooEarly, update } from "./state.js";
import { get, latest, runPath } from "./api.js";

const asking = latest();

/** Keep state.counts as the filters are. */
export function createCounts() {
  subscribe("run", () => update({ counts: null }));
  subscribe([...FILTER_KEYS, "overview", "stirred", "ready"], load);
  load();
}

async function load() {
  if (!state.overview || state.overview.name !== state.run) return;
  const { q, mode, ...rest } = filters();
  try {
    const counts = await asking((signal) => get(runPath("/counts"), q && !tooEarly() ? { q, mode, ...rest } : rest, { signal }));
    update({ counts });
  } catch (error) {
    if (error.name === "AbortError" || !error.status || error.retry !== null) return;
    if (error.status !== 422) say(error); // the table says what is wrong with a filter
  }
}

/** Texts of a topic that match; null where no filter but that of topics is set. */
export function matchesOf(id) {
  const { topic, ...rest } = filters();
  if (!Object.keys(rest).length || !state.counts) return null;
  return state.counts.topics.find((one) => one.id === id)?.count ?? 0;
}
