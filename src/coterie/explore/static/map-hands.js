// Pointer, wheel, fingers and keys of the map.

/** Listen on the map's canvas; gives a function that stops listening. */
export function listen(map) {
  const { canvas } = map, stop = new AbortController(), on = (name, fn, options = {}) => canvas.addEventListener(name, fn,
    { signal: stop.signal, ...options });
  const hands = new Hands(map);
  on("pointerdown", (event) => hands.down(event));
  on("pointermove", (event) => hands.move(event));
  on("pointerup", (event) => hands.up(event));
  on("pointercancel", (event) => hands.leave(event));
  on("pointerleave", (event) => { if (!hands.held.size && event.pointerType !== "touch") map.hover(-1e6, -1e6); });
  on("dblclick", (event) => { event.preventDefault(); map.view.zoomBy(event.shiftKey ? 0.5 : 2, event.offsetX, event.offsetY); });
  on("wheel", (event) => hands.wheel(event), { passive: false });
  on("keydown", (event) => hands.key(event));
  on("blur", () => map.hover(-1e6, -1e6));
  return () => stop.abort();
}

class Hands {
  constructor(map) {
    Object.assign(this, { map, held: new Map(), moved: false });
  }

  place(event) {
    const box = this.map.canvas.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  }

  down(event) {
    if (event.button > 0) return;
    const { map } = this, [left, top] = this.place(event);
    this.held.set(event.pointerId, [left, top]);
    if (this.held.size === 1) this.moved = false;
    map.view.stop();
    if (this.held.size === 1 && (map.lassoing || event.shiftKey)) {
      map.canvas.setPointerCapture(event.pointerId);
      map.line.begin(left, top);
    } else if (this.held.size > 1) map.line.corners = null; // a second finger: this is a pinch
  }

  move(event) {
    const { map } = this, now = this.place(event), before = this.held.get(event.pointerId);
    if (!before) {
      if (event.pointerType !== "touch" && !event.buttons) map.hover(...now);
      return;
    }
    if (map.line.corners) {
      map.line.add(...now);
      map.paint();
      return;
    }
    const [right, down] = [now[0] - before[0], now[1] - before[1]];
    if (!this.moved && Math.abs(right) + Math.abs(down) < 5) return;
    if (!this.moved) map.canvas.setPointerCapture(event.pointerId);
    this.moved = true;
    if (this.held.size === 2) this.pinch(event.pointerId, before, now);
    else if (this.held.size === 1) map.view.pan(right, down);
    this.held.set(event.pointerId, now);
    map.element.classList.add("dragging");
  }

  pinch(id, before, now) {
    const other = [...this.held].find(([each]) => each !== id)[1], { view } = this.map;
    const apart = (a, b) => Math.max(Math.hypot(a[0] - b[0], a[1] - b[1]), 8);
    const middle = (a, b) => [(a[0] + b[0]) / 2, (a[1] + b[1]) / 2];
    const [left, top] = middle(before, other), [toLeft, toTop] = middle(now, other);
    view.pan(toLeft - left, toTop - top);
    view.zoomBy(apart(now, other) / apart(before, other), toLeft, toTop);
  }

  up(event) {
    const { map } = this, at = this.held.get(event.pointerId);
    if (!at) return;
    if (map.line.corners) map.lassoed(map.line.finish());
    else if (!this.moved && this.held.size === 1 && map.overview) map.click(...this.place(event), event.pointerType === "touch");
    this.leave(event);
  }

  leave(event) {
    this.held.delete(event.pointerId);
    if (!this.held.size) this.map.element.classList.remove("dragging");
  }

  wheel(event) {
    event.preventDefault();
    const lines = event.deltaMode === 1 ? 16 : event.deltaMode === 2 ? 400 : 1;
    const turn = Math.min(Math.max(event.deltaY * lines, -240), 240);
    this.map.view.zoomBy(Math.exp(-turn * (event.ctrlKey ? 0.008 : 0.002)), ...this.place(event));
  }

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const { map } = this, { view } = map, step = event.shiftKey ? 200 : 60;
    const ways = { ArrowLeft: [step, 0], ArrowRight: [-step, 0], ArrowUp: [0, step], ArrowDown: [0, -step] };
    if (ways[event.key]) view.pan(...ways[event.key]);
    else if (event.key === "+" || event.key === "=") view.zoomBy(1.4);
    else if (event.key === "-" || event.key === "−") view.zoomBy(1 / 1.4);
    else if (event.key === "0") view.all();
    else if (event.key === "Enter" && map.hovered >= 0) map.open(map.hovered);
    else if (event.key === "Escape" && map.lassoing) map.lassoMode(false);
    else return;
    event.preventDefault();
    event.stopPropagation();
    // what is in the middle is what Enter opens
    if (map.overview && event.key !== "Enter" && event.key !== "Escape") map.hover(view.width / 2, view.height / 2, 40);
  }
}
