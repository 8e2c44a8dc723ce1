// Work in the background: its progress in a bar at the top, cancel, and what happens when it ends.
// Jobs live on the server, so a page that is loaded again finds them.
import { bdi, button, h } from "./dom.js";
import { count } from "./numbers.js";
import { announce, say } from "./ui.js";
import { get, send } from "./api.js";
import { state, update } from "./state.js";
import { openRun, reload } from "./run.js";

const ACTIVE = ["waiting", "running"], SOON = 120, OFTEN = 400, SELDOM = 10000;
const jobs = new Map(); // id → the job as last heard of
const waiters = new Map(); // id → [{ tell, resolve }]
const closed = new Set(); // ended ones that need not be shown (any more)
const elsewhere = new Set(); // shown in a dialog or a page of their own
let box = null, timer = null, first = true;

/** Show the jobs in this element from now on. */
export function showJobs(element) {
  box = element;
  ask();
}

/** The job is shown elsewhere, or not any more: the bar leaves it out meanwhile. */
export function apart(id, flag) {
  if (flag) elsewhere.add(id);
  else elsewhere.delete(id);
  draw();
}

/** Wait for the end of a job; `tell(job)` hears of every step. Gives the job that ended. */
export function follow(job, tell = () => {}) {
  return new Promise((resolve) => {
    waiters.set(job.id, [...(waiters.get(job.id) || []), { tell, resolve }]);
    heard(job);
    draw();
    plan(60);
  });
}

/** Seconds for people. */
export function duration(seconds) {
  if (seconds < 1) return "less than a second";
  if (seconds < 90) return `${Math.round(seconds)} s`;
  return seconds < 5400 ? `${Math.round(seconds / 60)} min` : `${(seconds / 3600).toFixed(1)} h`;
}

/** What a job is at, in words. */
export function wording(job) {
  if (job.state === "waiting") return "waiting";
  const far = job.total ? `${count(job.done)} of ${count(job.total)} ${job.unit}` : job.done ? `${count(job.done)} ${job.unit}` : "";
  const left = job.remaining !== null ? `about ${duration(job.remaining)} left` : job.seconds >= 2 ? `${duration(job.seconds)} so far` : "";
  return [job.stage, far, left].filter(Boolean).join(" · ") || "begins";
}

/** A bar for a job: filled where it is known how far it is, moving otherwise. */
export function progress(job) {
  const known = job.total > 0, part = known ? Math.min(job.done / job.total, 1) : null;
  return h("div", { class: known ? "progress" : "progress unknown", role: "progressbar", "aria-label": job.title, "aria-valuemin": 0,
    "aria-valuemax": 100,
    "aria-valuenow": known ? Math.round(100 * part) : null, "aria-valuetext": wording(job) },
  h("span", { "--part": known ? `${(100 * part).toFixed(1)}%` : "30%" }));
}

function plan(milliseconds) {
  clearTimeout(timer);
  timer = setTimeout(ask, milliseconds);
}

async function ask() {
  try {
    const known = [...jobs.keys()], answer = await get("/jobs"); // one that begins meanwhile is not in this answer
    const listed = new Set(answer.jobs.map((job) => job.id));
    answer.jobs.slice().reverse().forEach(heard);
    for (const id of known) if (!listed.has(id)) lost(id);
    first = false;
    draw();
  } catch (error) {
    if (error.status) say(error); // a server that is gone has its own banner
  }
  const active = [...jobs.values()].filter((job) => ACTIVE.includes(job.state));
  plan(active.some((job) => job.seconds < 2) ? SOON : active.length || waiters.size ? OFTEN : SELDOM);
}

function heard(job) {
  const before = jobs.get(job.id);
  jobs.set(job.id, job);
  for (const { tell } of waiters.get(job.id) || []) tell(job);
  if (ACTIVE.includes(job.state)) return;
  const mine = waiters.get(job.id) || [];
  waiters.delete(job.id);
  const fresh = before ? ACTIVE.includes(before.state) || mine.length : !first;
  if (!fresh && !before) closed.add(job.id); // over before this page was opened
  // who waits goes on when the page shows what has changed
  Promise.resolve(fresh ? ended(job, mine.length > 0) : null).catch(say).finally(() => mine.forEach(({ resolve }) => resolve(job)));
}

function lost(id) {
  // the server was started anew and knows nothing of it
  const job = { ...jobs.get(id), state: "failed", error: "The server was restarted in the meantime." };
  jobs.delete(id);
  for (const { resolve } of waiters.get(id) || []) resolve(job);
  waiters.delete(id);
}

function ended(job, mine) {
  announce(`${job.title}: ${job.state === "done" ? "done" : job.state === "failed" ? `failed. ${job.error}` : "cancelled"}.`);
  if (job.state === "cancelled") { say(`Cancelled: ${job.title}.`); closed.add(job.id); }
  if (job.state === "failed" && mine) closed.add(job.id); // who waits for it says so
  if (job.state !== "done") return undefined;
  const made = job.kind === "fit" || job.kind === "refit";
  if (made) get("/runs").then(({ runs }) => update({ runs }), () => {});
  if (job.run === state.run || !made || elsewhere.has(job.id)) closed.add(job.id); // the others wait to be opened
  if (job.run !== state.run || (job.version && job.version === state.overview?.version)) return undefined;
  if (job.kind === "undo") say(`Undone: ${job.title.replace(/^undo: /, "")}.`);
  else say(`Done: ${job.title}.`, "note", job.kind === "edit" ? ["Undo", () => import("./undo.js").then(({ undoLast }) => undoLast(), say)] : null);
  return reload();
}

function draw() {
  if (!box) return;
  const shown = [...jobs.values()].filter(visible);
  box.hidden = !shown.length;
  const held = document.activeElement && box.contains(document.activeElement) ? document.activeElement.dataset.key : null;
  box.replaceChildren(...shown.map(line));
  if (held) box.querySelector(`[data-key="${CSS.escape(held)}"]`)?.focus();
}

function visible(job) {
  if (!ACTIVE.includes(job.state)) return !closed.has(job.id);
  const short = ["edit", "undo"].includes(job.kind) && job.seconds < 0.7; // mostly done before it is read
  return !elsewhere.has(job.id) && !short;
}

function line(job) {
  const active = ACTIVE.includes(job.state), done = job.state === "done";
  const close = () => { closed.add(job.id); draw(); };
  const said = active ? wording(job) : done ? `done in ${duration(job.seconds)}` : job.error || job.state;
  return h("div", { class: `job ${job.state}` }, h("strong", {}, bdi(job.title)), h("span", { class: "job-said quiet" }, bdi(said)),
    active ? progress(job) : null,
    active ? button("cancel", () => cancel(job), { "data-key": `cancel ${job.id}`, "aria-label": `Cancel: ${job.title}` }) : null,
    done ? button("open it", () => { close(); openRun(job.run); }, { class: "main", "data-key": `open ${job.id}` }) : null,
    active ? null : button("×", close, { class: "plain", "aria-label": "Close", "data-key": `close ${job.id}` }));
}

/** Cancel a job; one that is being written already is finished. */
export async function cancel(job) {
  try {
    heard(await send("DELETE", `/jobs/${encodeURIComponent(job.id)}`));
    draw();
    plan(100);
  } catch (error) {
    say(error);
  }
}
