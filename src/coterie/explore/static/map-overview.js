// The small map in the corner, while only a part of the large one is in sight: where that part is; a click goes there.
import { h } from "./dom.js";
import { drawShading } from "./map-shade.js";
import { View } from "./map-view.js";

const WIDE = 132, HIGH = 96;

export class SmallMap {
  constructor(go) {
    this.canvas = h("canvas", { class: "map-small", hidden: true, "aria-hidden": "true", title: "The whole map; click to go there" });
    this.view = new View(() => {});
    const to = (event) => go(...this.view.units(event.offsetX, event.offsetY));
    this.canvas.addEventListener("pointerdown", (event) => { event.preventDefault(); to(event); });
    this.canvas.addEventListener("pointermove", (event) => { if (event.buttons) to(event); });
  }

  draw(view, shade, dense) {
    const { canvas } = this, show = Boolean(shade) && view.zoom > 1.3;
    if (canvas.hidden === show) canvas.hidden = !show;
    if (!show) return;
    if (canvas.width !== WIDE * dense) Object.assign(canvas, { width: WIDE * dense, height: HIGH * dense });
    this.view.bounds = view.bounds;
    this.view.measure(WIDE, HIGH, 4);
    this.view.turned = view.turned;
    [this.view.x, this.view.y] = view.middle;
    const brush = canvas.getContext("2d"), style = getComputedStyle(canvas);
    brush.setTransform(1, 0, 0, 1, 0, 0);
    brush.clearRect(0, 0, canvas.width, canvas.height);
    drawShading(brush, shade, this.view, dense, 1);
    drawShading(brush, shade, this.view, dense, 1);
    const seen = view.box(0), [left, top] = this.view.screen(seen.x0, seen.y0), [right, bottom] = this.view.screen(seen.x1, seen.y1);
    brush.setTransform(dense, 0, 0, dense, 0, 0);
    brush.strokeStyle = style.color;
    brush.lineWidth = 1.5;
    brush.strokeRect(Math.min(left, right), Math.min(top, bottom), Math.abs(right - left), Math.abs(bottom - top));
  }
}
