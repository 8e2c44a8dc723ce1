// The map: texts as points, topics by name. Nothing is fetched, and nothing moves by itself.
import { topics } from "./content.js";
import { cut } from "./dom.js";

export class TopicMap {
  constructor(canvas, points, tell) {
    Object.assign(this, { canvas, points, tell, brush: canvas.getContext("2d"), chosen: -1, at: -1 });
    this.view = { x: 0, y: 0, zoom: 1 };
    this.bounds = this.extent();
    this.listen();
    this.resize();
  }

  extent() {
    const xs = topics.flatMap((t) => [t.at[0] - t.radius, t.at[0] + t.radius]);
    const ys = topics.flatMap((t) => [t.at[1] - t.radius, t.at[1] + t.radius]);
    const low = (list) => list.reduce((a, b) => Math.min(a, b), 0), high = (list) => list.reduce((a, b) => Math.max(a, b), 0);
    return { left: low(xs), right: high(xs), top: low(ys), bottom: high(ys) };
  }

  framed() {
    const { left, right, top, bottom } = this.bounds;
    return this.turned ? { left: top, right: bottom, top: left, bottom: right } : this.bounds;
  }

  resize() {
    const box = this.canvas.getBoundingClientRect(), dense = Math.min(window.devicePixelRatio || 1, 2);
    if (!box.width) return;
    Object.assign(this, { width: box.width, height: box.height, dense });
    this.canvas.width = Math.round(box.width * dense);
    this.canvas.height = Math.round(box.height * dense);
    this.turned = box.width < box.height; // the map is wider than high; a telephone is not
    const { left, right, top, bottom } = this.framed();
    const wide = Math.max(this.width - 2 * Math.min(110, this.width * 0.09), 80);
    this.fit = Math.min(wide / Math.max(right - left, 1), (this.height - 70) / Math.max(bottom - top, 1));
    this.draw();
  }

  screen(x, y) {
    const { left, right, top, bottom } = this.framed(), scale = this.fit * this.view.zoom;
    if (this.turned) [x, y] = [y, x];
    return [this.width / 2 + (x - (left + right) / 2 - this.view.x) * scale,
      this.height / 2 + (y - (top + bottom) / 2 - this.view.y) * scale];
  }

  draw(light) {
    const style = getComputedStyle(document.documentElement), ink = (name) => style.getPropertyValue(name).trim();
    const tint = light ? { ink: "#000", paper: "#fff" } : { ink: ink("--ink"), paper: ink("--raised") };
    const brush = this.brush;
    brush.setTransform(this.dense, 0, 0, this.dense, 0, 0);
    brush.clearRect(0, 0, this.width, this.height);
    this.drawPoints(brush, tint);
    this.drawNames(brush, tint);
  }

  drawPoints(brush, tint) {
    const { x, y, topic } = this.points, many = x.length, dark = matchMedia("(prefers-color-scheme: dark)").matches;
    const size = Math.min(1.7 * Math.sqrt(this.view.zoom) + (many < 60 ? 2.5 : many < 800 ? 0.9 : 0), 6);
    for (let place = 0; place < topics.length; place++) {
      brush.fillStyle = topics[place].colour;
      brush.globalAlpha = this.chosen < 0 ? (dark ? 0.8 : 0.6) : this.chosen === place ? 0.85 : 0.1;
      for (const at of this.members(place)) {
        const [left, top] = this.screen(x[at], y[at]);
        if (left < -9 || top < -9 || left > this.width + 9 || top > this.height + 9) continue;
        brush.beginPath();
        brush.arc(left, top, size, 0, 2 * Math.PI);
        brush.fill();
      }
    }
    brush.globalAlpha = 1;
    if (this.at < 0) return;
    const [left, top] = this.screen(x[this.at], y[this.at]);
    brush.beginPath();
    brush.arc(left, top, size + 3, 0, 2 * Math.PI);
    brush.lineWidth = 2;
    brush.strokeStyle = tint.ink;
    brush.stroke();
    brush.fillStyle = topics[topic[this.at]].colour;
    brush.fill();
  }

  members(place) {
    if (!this.lists) {
      this.lists = topics.map(() => []);
      this.points.topic.forEach((t, at) => this.lists[t].push(at));
    }
    return this.lists[place];
  }

  drawNames(brush, tint) {
    // the largest topics first; a name that finds no free place is left out until there is room
    const taken = [], narrow = this.width < 600, few = this.points.x.length < 200;
    const most = Math.max((this.width * this.height) / 14000, 12), crowded = topics.length > 60;
    brush.textAlign = "center";
    brush.textBaseline = "middle";
    brush.lineJoin = "round";
    const order = this.chosen < 0 ? topics.keys() : [this.chosen, ...[...topics.keys()].filter((t) => t !== this.chosen)];
    for (const place of order) {
      const topic = topics[place], [x, y] = this.screen(...topic.at), reach = topic.radius * this.fit * this.view.zoom;
      brush.font = `${place === this.chosen ? 700 : 600} ${narrow ? 11 : 12}px system-ui, sans-serif`;
      const full = taken.length >= most;
      if (full && crowded) break;
      if (x < -reach || y < -reach || x > this.width + reach || y > this.height + reach) continue;
      const name = `${topic.id} ${cut(topic.label, narrow ? 17 : 30)}`, id = String(topic.id);
      for (const text of crowded ? [name] : full ? [id] : [name, id]) {
        const half = brush.measureText(text).width / 2 + 4;
        const inside = Math.min(Math.max(x, half + 2), this.width - half - 2);
        const around = [y - reach - 8, y + reach + 8, y - 15, y + 15];
        const spot = (few ? [...around, y] : [y, ...around]).map((top) => [inside, top]).find(([left, top]) =>
          top > 8 && top < this.height - 8 && !taken.some((box) => Math.abs(box.x - left) < box.half + half && Math.abs(box.y - top) < 17));
        if (!spot || Math.abs(x - inside) > half + reach) continue;
        taken.push({ x: spot[0], y: spot[1], half });
        brush.globalAlpha = this.chosen < 0 || place === this.chosen ? 1 : 0.45;
        brush.lineWidth = 4;
        brush.strokeStyle = tint.paper;
        brush.strokeText(text, ...spot);
        brush.fillStyle = tint.ink;
        brush.fillText(text, ...spot);
        break;
      }
    }
    brush.globalAlpha = 1;
  }

  nearest(left, top, most, fits = () => true) {
    let best = -1, least = most * most;
    for (let at = 0; at < this.points.x.length; at++) {
      const [x, y] = this.screen(this.points.x[at], this.points.y[at]), away = (x - left) ** 2 + (y - top) ** 2;
      if (away < least && fits(x - left, y - top)) [best, least] = [at, away];
    }
    return best;
  }

  show(at) {
    if (at === this.at) return;
    this.at = at;
    this.tell(at, this.chosen);
    this.draw();
  }

  choose(place) {
    this.chosen = place;
    this.tell(this.at, place);
    this.canvas.dispatchEvent(new CustomEvent("chosen", { detail: place }));
    this.draw();
  }

  zoom(factor, left = this.width / 2, top = this.height / 2) {
    const before = this.fit * this.view.zoom;
    this.view.zoom = Math.min(Math.max(this.view.zoom * factor, 0.8), 40);
    const after = this.fit * this.view.zoom;
    this.view.x += (left - this.width / 2) * (1 / before - 1 / after);
    this.view.y += (top - this.height / 2) * (1 / before - 1 / after);
    this.canvas.style.touchAction = this.view.zoom > 1.05 ? "none" : ""; // a finger scrolls the page until there is more to see
    this.draw();
  }

  reset() {
    this.view = { x: 0, y: 0, zoom: 1 };
    this.canvas.style.touchAction = "";
    this.choose(-1);
  }

  listen() {
    const canvas = this.canvas;
    let held = null;
    canvas.addEventListener("pointerdown", (event) => {
      held = { x: event.clientX, y: event.clientY, moved: false };
    });
    canvas.addEventListener("pointermove", (event) => {
      if (held && (event.buttons || event.pointerType === "touch")) this.drag(held, event);
      else if (event.pointerType !== "touch") this.show(this.nearest(event.offsetX, event.offsetY, 14));
    });
    canvas.addEventListener("pointerup", (event) => {
      if (held && !held.moved) this.click(event.offsetX, event.offsetY);
      held = null;
    });
    canvas.addEventListener("pointercancel", () => { held = null; });
    canvas.addEventListener("wheel", (event) => {
      if (document.activeElement !== canvas && !event.ctrlKey) return; // the page scrolls until the map is clicked
      event.preventDefault();
      this.zoom(Math.exp(-event.deltaY * 0.0015), event.offsetX, event.offsetY);
    }, { passive: false });
    canvas.addEventListener("focus", () => {
      if (this.at < 0 && canvas.matches(":focus-visible")) this.show(this.nearest(this.width / 2, this.height / 2, 1e6));
    });
    canvas.addEventListener("keydown", (event) => this.key(event));
    window.addEventListener("resize", () => this.resize());
    window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.draw());
    window.addEventListener("beforeprint", () => this.draw(true));
    window.addEventListener("afterprint", () => this.draw());
  }

  drag(held, event) {
    const scale = this.fit * this.view.zoom, right = event.clientX - held.x, down = event.clientY - held.y;
    if (!held.moved && Math.abs(right) + Math.abs(down) < 5) return;
    if (!held.moved) this.canvas.setPointerCapture(event.pointerId);
    this.view.x -= right / scale;
    this.view.y -= down / scale;
    Object.assign(held, { x: event.clientX, y: event.clientY, moved: true });
    this.draw();
  }

  click(left, top) {
    const at = this.nearest(left, top, 20);
    this.show(at);
    this.choose(at < 0 ? -1 : this.points.topic[at]);
  }

  key(event) {
    const ways = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
    if (ways[event.key] && this.at >= 0) {
      const [x, y] = this.screen(this.points.x[this.at], this.points.y[this.at]), [right, down] = ways[event.key];
      const next = this.nearest(x, y, 1e6, (dx, dy) => dx * right + dy * down > 3 && Math.abs(dx * down) + Math.abs(dy * right) <= dx * right + dy * down);
      if (next >= 0) this.show(next);
    } else if (event.key === "+" || event.key === "=") this.zoom(1.4);
    else if (event.key === "-") this.zoom(1 / 1.4);
    else if (event.key === "0" || event.key === "Escape") this.reset();
    else if (event.key === "Enter" && this.at >= 0) location.hash = `topic-${topics[this.points.topic[this.at]].id}`;
    else return;
    event.preventDefault();
  }
}
