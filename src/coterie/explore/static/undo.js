// The last edit taken back: by Ctrl+Z, or from the message that says what was done.
import { say } from "./ui.js";
import { runPath, send } from "./api.js";
import { follow } from "./jobs.js";
import { state } from "./state.js";

let busy = false;

/** Undo the last edit of the run; a message says which that was. */
export async function undoLast() {
  if (busy || !state.overview || !state.about?.writable) return;
  if (!state.overview.can_undo) { say("There is no edit to undo."); return; }
  busy = true;
  try {
    const end = await follow(await send("POST", runPath("/undo"), { version: state.overview.version }));
    if (end.state === "failed") throw new Error(end.error);
  } catch (error) { say(error); } finally { busy = false; }
}
