// The last edit taken back: by Ctrl+Z, or from the message that says what was done.
import { say } from "./ui.js";
import { runPath, send } from "./api.js";
import { follow } from "./jobs.js";
import { reload, reloaded } from "./run.js";
import { state } from "./state.js";

let busy = false;

/** Undo the last edit of the run; a message says which that was. */
export async function undoLast() {
  if (busy || !state.overview || !state.about?.writable) return;
  busy = true;
  try {
    await reloaded();
    if (!state.overview.can_undo) { say("There is no edit to undo."); return; }
    const end = await follow(await send("POST", runPath("/undo"), { version: state.overview.version }));
    if (end.state === "failed") throw new Error(end.error);
  } catch (error) {
    say(error);
    if (error.status === 409) reload(); // somebody else has edited it: what that was is shown before it can be undone
  } finally { busy = false; }
}
