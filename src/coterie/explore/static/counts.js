// How many texts that match are in each topic, value and period: asked for once for all parts that show it.
import { bdi, cut } from "./dom.js";
import { count, many } from "./numbers.js";
import { say } from "./ui.js";
import { FILTER_KEYS, filters, state, subscribe, tooEarly, topicOf, update } from "./state.js";
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

/** Where the texts that match are, if topics are chosen and others match elsewhere: "0 in battery · 141 in all topics"; null otherwise. */
export function elsewhere() {
  const { topic, ...rest } = filters(), { counts, topics } = state;
  if (!topics.length || !Object.keys(rest).length || !counts || counts.in_all_topics <= counts.total) return null;
  const name = topics.length === 1 ? bdi(cut(topicOf(topics[0])?.label ?? `topic ${topics[0]}`, 40)) : many(topics.length, "topic");
  return [`${count(counts.total)} in `, name, ` · ${count(counts.in_all_topics)} in all topics`];
}

/** Texts of a topic that match; null where no filter but that of topics is set. */
export function matchesOf(id) {
  const { topic, ...rest } = filters();
  if (!Object.keys(rest).length || !state.counts) return null;
  return state.counts.topics.find((one) => one.id === id)?.count ?? 0;
}
