// The server, asked: JSON in and out, errors as the sentences it gives.
import { state, update } from "./state.js";

/** What went wrong, as a sentence for people; status 0 means that no server answered; retry: seconds to wait, or null. */
export class ApiError extends Error {
  constructor(sentence, status, retry = null) {
    super(sentence);
    Object.assign(this, { name: "ApiError", status, retry });
  }
}

/** "/api/runs/{run}" + rest, the name made safe. */
export const runPath = (rest = "", run = state.run) => `/runs/${encodeURIComponent(run)}${rest}`;

/** The address of a request; arrays repeat their name, null and undefined are left out. */
export function url(path, params = {}) {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(params)) {
    for (const one of [].concat(value)) if (one !== null && one !== undefined) query.append(name, one);
  }
  const text = query.toString();
  return `/api${path}${text ? `?${text}` : ""}`;
}

const started = new Map();
/** Ask early: the same question, asked soon after, takes this answer. */
export function ahead(path, params) {
  const address = url(path, params), answer = fetch(address, { credentials: "same-origin" });
  answer.catch(() => {}); // whoever asks next hears of it
  started.set(address, answer);
}
/** The colour as /map is asked for it: topic and confidence come with every point. */
export const colourAsked = (colour = state.colour) => (colour === "confidence" ? null : colour);
/** How many points the map asks for first. */
export const FIRST_POINTS = 20000;

async function ask(address, options) {
  let response;
  try {
    const early = options.method ? undefined : started.get(address);
    started.delete(address); // an answer serves once
    response = await (early || fetch(address, { credentials: "same-origin", ...options }));
  } catch (error) {
    if (error.name === "AbortError") throw error;
    update({ gone: true });
    listen();
    throw new ApiError("The server does not respond. Is coterie still running in its terminal?", 0);
  }
  if (state.gone) update({ gone: false });
  if (!response.ok) throw await failure(response);
  return response;
}

async function failure(response) {
  let body = null;
  try { body = await response.json(); } catch { /* not JSON: the status has to do */ }
  const sentence = body && typeof body.error === "string" ? body.error : `The server returned an error (${response.status}).`;
  return new ApiError(sentence, response.status, body && typeof body.retry === "number" ? body.retry : null);
}

/** JSON of GET /api{path}. */
export async function get(path, params, { signal } = {}) {
  return (await ask(url(path, params), { signal })).json();
}

/** JSON of another method; `body` is sent as JSON, a Blob or File as it is. Gives null for an empty answer. */
export async function send(method, path, body, { signal, params } = {}) {
  const headers = { "X-Coterie": "1" }, raw = body instanceof Blob;
  if (body !== undefined && body !== null) headers["Content-Type"] = raw ? "application/octet-stream" : "application/json";
  const response = await ask(url(path, params), { method, headers, signal, body: raw || body === undefined || body === null ? body : JSON.stringify(body) });
  return response.status === 204 ? null : response.json();
}

/** Points of the map: { n, inView, all, x, y, row, group or null, topic, confidence } as typed arrays. */
export async function points(path, params, { signal } = {}) {
  const bytes = await (await ask(url(path, params), { signal })).arrayBuffer();
  const [n, inView, all, grouped] = new Uint32Array(bytes, 0, 4);
  let at = 16;
  const take = (Kind) => { const part = new Kind(bytes, at, n); at += part.byteLength; return part; };
  return { n, inView, all, x: take(Float32Array), y: take(Float32Array), row: take(Uint32Array), group: grouped ? take(Int16Array) : null, topic: take(Uint16Array), confidence: take(Uint8Array) };
}

/** Only the latest of several requests counts: latest(signal => get(…)) aborts the one before. */
export function latest() {
  let controller = null;
  const run = async (asking) => {
    if (controller) controller.abort();
    const mine = controller = new AbortController();
    try {
      const answer = await asking(mine.signal);
      if (mine.signal.aborted) throw new DOMException("Replaced by a later question.", "AbortError");
      return answer;
    } catch (error) {
      if (mine.signal.aborted) throw new DOMException("Replaced by a later question.", "AbortError");
      throw error;
    }
  };
  run.cancel = () => { if (controller) controller.abort(); };
  return run;
}

let waiting = null;
function listen() {
  // ask now and then until the server is back, then let every part of the page ask again
  if (waiting) return;
  waiting = setInterval(async () => {
    try {
      const response = await fetch("/api/about", { cache: "no-store" });
      if (!response.ok) return;
      clearInterval(waiting);
      waiting = null;
      update({ gone: false, stirred: state.stirred + 1 });
    } catch { /* still gone */ }
  }, 2000);
}
