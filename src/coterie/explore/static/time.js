// Texts over time under the map: a window that can be drawn, moved with the arrow keys, and played.
import { button, h, s } from "./dom.js";
import { count, many } from "./numbers.js";
import { announce } from "./ui.js";
import { state, subscribe, update } from "./state.js";

const HIGH = 34, PAUSE = 900; // milliseconds that each step stays
const STILL = matchMedia("(prefers-reduced-motion: reduce)");

/** Put the strip under the map; it is there for runs with dates only. */
export function createTime(map) {
  const strip = new Strip(map);
  subscribe(["counts", "since", "until"], () => strip.draw());
  subscribe(["run", "view"], () => strip.pause());
  strip.draw();
}

class Strip {
  constructor(map) {
    Object.assign(this, { map, timer: null, drag: null, drawn: null });
    this.svg = s("svg", { class: "time-bars", tabindex: 0, role: "slider", "aria-label": "Period shown", preserveAspectRatio: "none" });
    this.said = h("span", { class: "time-said quiet" });
    this.player = button("▶", () => this.play(), { class: "play" });
    this.clear = button("all dates", () => this.choose(null), { class: "plain" });
    this.element = h("div", { class: "time", hidden: true }, this.player, h("div", { class: "time-field" }, this.svg, h("div", { class: "time-ends quiet" })), h("div", { class: "time-tell" }, this.said, this.clear));
    map.append(this.element);
    this.svg.addEventListener("pointerdown", (event) => this.down(event));
    this.svg.addEventListener("pointermove", (event) => this.move(event));
    this.svg.addEventListener("pointerup", () => this.up());
    this.svg.addEventListener("pointercancel", () => { this.drag = null; this.mark(); });
    this.svg.addEventListener("keydown", (event) => this.key(event));
    STILL.addEventListener("change", () => { this.pause(); this.label(); });
    this.label();
  }

  get periods() {
    return state.counts && state.counts.over_time ? state.counts.over_time.periods : [];
  }

  /** First and last period of the window; null where there is none. */
  get window() {
    const { periods } = this, { since, until } = state;
    if (!periods.length || (since === null && until === null)) return null;
    const first = since === null ? 0 : periods.findIndex((one) => one.last >= since), after = until === null ? -1 : periods.findIndex((one) => one.first > until);
    const from = first < 0 ? periods.length - 1 : first;
    return [from, Math.max(from, (after < 0 ? periods.length : after) - 1)];
  }

  draw() {
    const { periods, svg } = this, there = periods.length > 1;
    this.element.hidden = !there;
    this.map.classList.toggle("timed", there);
    if (!there) { this.pause(); return; }
    // one scale for both: the texts that match stand inside all texts
    const most = Math.max(...periods.map((one) => one.texts), 1), tall = (number) => (number ? Math.max((number / most) * HIGH, 1) : 0);
    svg.setAttribute("viewBox", `0 0 ${periods.length} ${HIGH}`);
    this.shade = s("rect", { class: "window", y: 0, height: HIGH });
    const bar = (kind, at, number) => s("rect", { class: kind, x: at + 0.08, width: 0.84, y: HIGH - tall(number), height: tall(number) });
    svg.replaceChildren(this.shade, ...periods.flatMap((one, at) => [bar("all", at, one.texts), bar("some", at, one.count),
      s("rect", { class: "room", x: at, width: 1, y: 0, height: HIGH }, s("title", {}, `${one.name}: ${many(one.count, "text")}${one.count < one.texts ? ` of ${count(one.texts)}` : ""}`))]));
    this.element.querySelector(".time-ends").replaceChildren(h("span", {}, periods[0].name), h("span", {}, periods.at(-1).name));
    this.mark();
  }

  mark(window = this.window) {
    const { periods, svg } = this;
    if (!periods.length) return;
    const [from, to] = window || [0, periods.length - 1], name = from === to ? periods[from].name : `${periods[from].name} to ${periods[to].name}`;
    this.shade.setAttribute("x", from);
    this.shade.setAttribute("width", window ? to - from + 1 : 0);
    svg.querySelectorAll(".some").forEach((bar, at) => bar.classList.toggle("out", Boolean(window) && (at < from || at > to)));
    this.said.textContent = window ? name : `by ${state.counts.over_time.every}`;
    this.clear.hidden = !window;
    for (const [key, value] of [["min", 0], ["max", periods.length - 1], ["now", from], ["text", window ? name : "all dates"]]) svg.setAttribute(`aria-value${key}`, value);
  }

  /** Show the texts of these periods only; null: of all. */
  choose(window, push = true) {
    const { periods } = this;
    update(window ? { since: periods[window[0]].first, until: periods[window[1]].last } : { since: null, until: null }, { push });
  }

  at(event) {
    const box = this.svg.getBoundingClientRect(), { periods } = this;
    return Math.max(0, Math.min(periods.length - 1, Math.floor(((event.clientX - box.left) / box.width) * periods.length)));
  }

  down(event) {
    if (event.button > 0) return;
    this.pause();
    this.svg.setPointerCapture(event.pointerId);
    this.drag = [this.at(event), this.at(event)];
    this.mark(this.drag);
  }

  move(event) {
    if (!this.drag) return;
    this.drag[1] = this.at(event);
    this.mark([Math.min(...this.drag), Math.max(...this.drag)]);
  }

  up() {
    if (!this.drag) return;
    const wanted = [Math.min(...this.drag), Math.max(...this.drag)], now = this.window;
    this.drag = null;
    const again = now && wanted[0] === wanted[1] && now[0] === wanted[0] && now[1] === wanted[1]; // a click on what is chosen takes it back
    this.choose(again ? null : wanted);
    this.mark();
  }

  key(event) {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (event.altKey || event.ctrlKey || event.metaKey || (!step && event.key !== "Escape")) return;
    if (event.key === "Escape" && !this.window) return;
    event.preventDefault();
    event.stopPropagation();
    this.pause();
    if (!step) { this.choose(null); return; }
    const [from, to] = this.window || (step > 0 ? [-1, -1] : [this.periods.length, this.periods.length]), last = this.periods.length - 1;
    if (event.shiftKey && this.window) this.choose([from, Math.max(from, Math.min(last, to + step))], false);
    else if (from + step >= 0 && to + step <= last) this.choose([from + step, to + step], false);
  }

  // playing: the window moves on by itself; for those who want no motion each click moves it once

  play() {
    if (STILL.matches) { this.step(); return; }
    if (this.timer) { this.pause(); return; }
    this.timer = setInterval(() => this.step(), PAUSE);
    this.label();
    this.step();
  }

  pause() {
    clearInterval(this.timer);
    this.timer = null;
    this.label();
  }

  step() {
    const { periods, window } = this, wide = Math.max(1, Math.round(periods.length / 24));
    if (!periods.length) return;
    const whole = window && window[0] === 0 && window[1] === periods.length - 1;
    const [from, to] = window && !whole ? [window[0] + 1, window[1] + 1] : [0, wide - 1];
    if (to < periods.length) this.choose([from, to], false);
    else if (this.timer) this.pause(); // the end; the next click begins again
    else this.choose([0, to - from], false);
    if (this.timer && to >= periods.length - 1) this.pause();
    announce(this.said.textContent);
  }

  label() {
    const name = STILL.matches ? "Next period" : this.timer ? "Pause" : "Play the texts over time";
    this.player.replaceChildren(STILL.matches ? "▸|" : this.timer ? "❚❚" : "▶");
    this.player.setAttribute("aria-label", name);
    this.player.title = name;
  }
}
