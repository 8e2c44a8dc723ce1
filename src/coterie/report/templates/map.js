// The map: texts as points, topics by name. Nothing is fetched, and nothing moves by itself.
import { topics } from "./content.js";
import { cut } from "./dom.js";
import { Crowd, fromFar, leader, LEADING, placeNames, ringsOf, typeSizes, wrapped } from "./map-layout.js";
import { drawShading, shading } from "./map-shade.js";
import { View } from "./map-view.js";

const FAR = 1.3; // nearer than this all topics are named, without groups

export class TopicMap {
  constructor(canvas, points, tell) {
    Object.assign(this, { canvas, points, tell, brush: canvas.getContext("2d"), chosen: -1, at: -1, groups: null });
    this.view = new View(() => {
      canvas.style.touchAction = this.view.zoom > 1.05 ? "none" : ""; // a finger scrolls the page until there is more to see
      this.draw();
    }, 40);
    this.view.frame(points.extent);
    this.colour();
    this.view.all(true);
    this.listen();
    this.resize();
  }

  /** Colours of topics, or of the groups they are in. */
  colour() {
    const of = new Map((this.groups || []).flatMap((group) => group.topics.map((id) => [id, group.colour])));
    this.colours = topics.map(({ id, colour }) => of.get(id) || colour);
    this.shade = shading(this.points, this.colours.map((colour) => [1, 3, 5].map((from) => parseInt(colour.slice(from, from + 2), 16))));
  }

  /** Show groups of topics, or topics if they are null. */
  level(groups) {
    this.groups = groups;
    this.colour();
    this.draw();
  }

  resize() {
    const box = this.canvas.getBoundingClientRect();
    if (!box.width) return;
    this.dense = Math.min(window.devicePixelRatio || 1, 2);
    this.canvas.width = Math.round(box.width * this.dense);
    this.canvas.height = Math.round(box.height * this.dense);
    this.view.measure(box.width, box.height);
    this.draw();
  }

  draw(light) {
    if (!this.view.width) return;
    const style = getComputedStyle(document.documentElement), ink = (name) => style.getPropertyValue(name).trim();
    const tint = light ? { ink: "#000", paper: "#fff" } : { ink: ink("--ink"), paper: ink("--raised") };
    const brush = this.brush;
    brush.setTransform(this.dense, 0, 0, this.dense, 0, 0);
    brush.clearRect(0, 0, this.view.width, this.view.height);
    if (this.shade) drawShading(brush, this.shade, this.view, this.dense, this.chosen < 0 ? 1 : 0.35);
    brush.setTransform(this.dense, 0, 0, this.dense, 0, 0);
    this.drawPoints(brush, tint);
    this.drawNames(brush, tint);
  }

  drawPoints(brush, tint) {
    const { view } = this, { x, y, topic } = this.points, many = x.length, dark = matchMedia("(prefers-color-scheme: dark)").matches;
    const size = Math.min(1.7 * Math.sqrt(view.zoom) + (many < 60 ? 2.5 : many < 800 ? 0.9 : 0), 6);
    for (let place = 0; place < topics.length; place++) {
      brush.fillStyle = this.colours[place];
      brush.globalAlpha = this.chosen < 0 ? (dark ? 0.8 : 0.6) : this.chosen === place ? 0.85 : 0.1;
      for (const at of this.members(place)) {
        const [left, top] = view.screen(x[at], y[at]);
        if (left < -9 || top < -9 || left > view.width + 9 || top > view.height + 9) continue;
        brush.beginPath();
        brush.arc(left, top, size, 0, 2 * Math.PI);
        brush.fill();
      }
    }
    brush.globalAlpha = 1;
    if (this.at < 0) return;
    const [left, top] = view.screen(x[this.at], y[this.at]);
    brush.beginPath();
    brush.arc(left, top, size + 3, 0, 2 * Math.PI);
    brush.lineWidth = 2;
    brush.strokeStyle = tint.ink;
    brush.stroke();
    brush.fillStyle = this.colours[topic[this.at]];
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
    const { view } = this, narrow = view.width < 600, font = (size) => `${size >= 15 ? 700 : 600} ${size}px system-ui, sans-serif`;
    const width = (line, size) => { brush.font = font(size); return brush.measureText(line).width; };
    const sizes = typeSizes(topics, view);
    const names = topics.map((topic, at) => ({ topic: at, at: view.screen(...topic.at), size: sizes[at],
      lines: wrapped(topic.label, narrow ? 14 : 22).map((line) => cut(line, 40)), far: ringsOf(at, narrow) })); // the largest topic comes first
    if (this.chosen >= 0) names.unshift(...names.splice(this.chosen, 1));
    const areas = this.groups || this.points.groups || [], far = areas.length && (this.groups || view.zoom < FAR) ? fromFar(view, narrow) : null; // older reports have no groups
    if (this.groups && this.chosen < 0) far.topics = 0;
    const groups = far ? areas.map(({ label, at }) => ({ topic: -1, at: view.screen(...at), size: narrow ? 13 : 16, far: 4, middle: true, lines: wrapped(label.toUpperCase(), narrow ? 14 : 24) })) : [];
    const some = far ? [...names.slice(0, this.chosen < 0 ? 0 : 1), ...groups, ...names.slice(this.chosen < 0 ? 0 : 1, far.topics)] : names;
    const placed = placeNames(some.filter(({ topic }) => topic < 0 || topics[topic].size), view, { width, crowd: new Crowd(this.points, view, this.chosen), most: Math.max((view.width * view.height) / 7000, 10), room: far ? far.room : undefined });
    brush.strokeStyle = tint.ink;
    brush.lineWidth = 1;
    brush.globalAlpha = 0.35;
    for (const name of placed) if (name.aside && name.topic >= 0) brush.stroke(new Path2D(leader(name)));
    Object.assign(brush, { textAlign: "center", textBaseline: "middle", lineJoin: "round", lineWidth: 4, strokeStyle: tint.paper, fillStyle: tint.ink });
    for (const name of placed) {
      brush.font = font(name.size);
      brush.globalAlpha = this.chosen < 0 || name.topic === this.chosen ? 1 : 0.45;
      name.lines.forEach((line, row) => {
        const top = name.y + (row - (name.lines.length - 1) / 2) * LEADING * name.size;
        brush.strokeText(line, name.x, top);
        brush.fillText(line, name.x, top);
      });
    }
    brush.globalAlpha = 1;
  }

  nearest(left, top, most, fits = () => true) {
    let best = -1, least = most * most;
    for (let at = 0; at < this.points.x.length; at++) {
      const [x, y] = this.view.screen(this.points.x[at], this.points.y[at]), away = (x - left) ** 2 + (y - top) ** 2;
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

  zoom(factor, left, top) {
    this.view.zoomBy(factor, left, top);
  }

  reset() {
    this.view.all(true);
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
      if (this.at < 0 && canvas.matches(":focus-visible")) this.show(this.nearest(this.view.width / 2, this.view.height / 2, 1e6));
    });
    canvas.addEventListener("keydown", (event) => this.key(event));
    window.addEventListener("resize", () => this.resize());
    window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.draw());
    window.addEventListener("beforeprint", () => this.draw(true));
    window.addEventListener("afterprint", () => this.draw());
  }

  drag(held, event) {
    const right = event.clientX - held.x, down = event.clientY - held.y;
    if (!held.moved && Math.abs(right) + Math.abs(down) < 5) return;
    if (!held.moved) this.canvas.setPointerCapture(event.pointerId);
    Object.assign(held, { x: event.clientX, y: event.clientY, moved: true });
    this.view.pan(right, down);
  }

  click(left, top) {
    const at = this.nearest(left, top, 20);
    this.show(at);
    this.choose(at < 0 ? -1 : this.points.topic[at]);
  }

  key(event) {
    const ways = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
    if (ways[event.key] && this.at >= 0) {
      const [x, y] = this.view.screen(this.points.x[this.at], this.points.y[this.at]), [right, down] = ways[event.key];
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
