// Runs before the rest of the page is there: what the first view needs is asked for while the other modules still load.
import { state, textsAsked, tooEarly } from "./state.js";
import { FIRST_POINTS, ahead, colourAsked, runPath } from "./api.js";

if (state.run && state.view === "explore") {
  ahead(runPath());
  if (!tooEarly()) ahead(runPath("/texts"), textsAsked());
  ahead(runPath("/map"), { limit: FIRST_POINTS, colour: colourAsked() });
  if (state.topic !== null && state.row === null && state.try === null) ahead(runPath(`/topics/${state.topic}`));
}
ahead("/runs");
ahead("/about");
