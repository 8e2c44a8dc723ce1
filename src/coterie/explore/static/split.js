// The line between map and texts: dragged, or moved with the arrow keys; a double click takes it back.
import { byId, h } from "./dom.js";

const KEY = "coterie.split", LEAST = 0.15, MOST = 0.85, USUAL = 0.66;

/** Put the line into #explore; where it was left is kept in this browser. */
export function createSplit() {
  const grid = byId("explore");
  const line = h("div", { id: "split", role: "separator", tabindex: 0, "aria-orientation": "horizontal", "aria-label": "Height of the map and the table",
    "aria-valuemin": 100 * LEAST, "aria-valuemax": 100 * MOST, title: "Drag to resize" });
  let part = USUAL;
  const put = (wanted, keep = true) => {
    part = Math.max(LEAST, Math.min(MOST, wanted));
    grid.style.setProperty("--map-part", `${part}fr`);
    grid.style.setProperty("--texts-part", `${1 - part}fr`);
    line.setAttribute("aria-valuenow", Math.round(100 * part));
    if (keep) try { localStorage.setItem(KEY, part.toFixed(3)); } catch { /* a browser that keeps nothing */ }
  };
  let kept = NaN;
  try { kept = Number.parseFloat(localStorage.getItem(KEY)); } catch { /* the same */ }
  if (kept >= LEAST && kept <= MOST) put(kept, false); else line.setAttribute("aria-valuenow", Math.round(100 * USUAL));
  line.addEventListener("pointerdown", (event) => {
    event.preventDefault();
    line.setPointerCapture(event.pointerId);
    const box = grid.getBoundingClientRect(), move = (now) => put((now.clientY - box.top) / box.height);
    line.addEventListener("pointermove", move);
    const end = () => line.removeEventListener("pointermove", move);
    line.addEventListener("pointerup", end, { once: true });
    line.addEventListener("pointercancel", end, { once: true });
  });
  line.addEventListener("dblclick", () => put(USUAL));
  line.addEventListener("keydown", (event) => {
    const step = { ArrowUp: -0.05, ArrowDown: 0.05 }[event.key];
    if (!step) return;
    event.preventDefault();
    put(part + step);
  });
  byId("texts").before(line);
}
