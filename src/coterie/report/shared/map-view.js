// Where the map is looked at: map units ⇄ screen, zoom and pan, moves that take a moment.

/** `changed` is called after every move; `closest` is the largest zoom. */
export class View {
  constructor(changed, closest = 400) {
    Object.assign(this, { changed, closest, x: 0, y: 0, zoom: 1, width: 0, height: 0, fit: 1, turned: false, moving: 0 });
    this.bounds = { left: 0, right: 1, top: 0, bottom: 1 };
  }

  /** Take the extent of the map, [left, top, right, bottom], so that zoom 1 shows all of it. */
  frame([left, top, right, bottom]) {
    this.bounds = { left, right, top, bottom };
    this.measure(this.width, this.height);
  }

  /** `margin` is room for names at each side. */
  measure(width, height, margin = Math.min(70, width * 0.08)) {
    const { left, right, top, bottom } = this.bounds;
    this.turned = width < height * 0.85 && right - left > bottom - top; // the map is wider than high; a telephone is not
    const [wide, high] = this.turned ? [bottom - top, right - left] : [right - left, bottom - top];
    Object.assign(this, { width, height });
    this.fit = Math.min(Math.max(width - 2 * margin, 60) / Math.max(wide, 1e-6), Math.max(height - Math.min(2 * margin, 60), 60) / Math.max(high, 1e-6));
  }

  get middle() {
    return [(this.bounds.left + this.bounds.right) / 2, (this.bounds.top + this.bounds.bottom) / 2];
  }

  /** Whether it is looked at as in the beginning. */
  get whole() {
    const [x, y] = this.middle;
    return Math.abs(this.zoom - 1) < 1e-6 && Math.abs(this.x - x) + Math.abs(this.y - y) < 1e-6;
  }

  get scale() {
    return this.fit * this.zoom;
  }

  /** Six numbers: screen x = a·x + c·y + e, screen y = b·x + d·y + f. */
  matrix() {
    const scale = this.scale, [across, down] = this.turned ? [this.y, this.x] : [this.x, this.y];
    const e = this.width / 2 - across * scale, f = this.height / 2 - down * scale;
    return this.turned ? [0, scale, scale, 0, e, f] : [scale, 0, 0, scale, e, f];
  }

  screen(x, y) {
    const [a, b, c, d, e, f] = this.matrix();
    return [a * x + c * y + e, b * x + d * y + f];
  }

  units(left, top) {
    const across = (left - this.width / 2) / this.scale, down = (top - this.height / 2) / this.scale;
    return this.turned ? [this.x + down, this.y + across] : [this.x + across, this.y + down];
  }

  /** The part of the map in sight, with a margin so that a short pan finds points already there. */
  box(margin = 0.25) {
    const [[x0, y0], [x1, y1]] = [this.units(-margin * this.width, -margin * this.height),
      this.units((1 + margin) * this.width, (1 + margin) * this.height)];
    return { x0: Math.min(x0, x1), y0: Math.min(y0, y1), x1: Math.max(x0, x1), y1: Math.max(y0, y1) };
  }

  pan(right, down) {
    this.stop();
    [this.x, this.y] = this.units(this.width / 2 - right, this.height / 2 - down);
    this.keep();
    this.changed();
  }

  zoomBy(factor, left = this.width / 2, top = this.height / 2) {
    this.stop();
    const [x, y] = this.units(left, top);
    this.zoom = Math.min(Math.max(this.zoom * factor, 0.7), this.closest);
    const [nowX, nowY] = this.units(left, top);
    this.x += x - nowX;
    this.y += y - nowY;
    this.keep();
    this.changed();
  }

  /** The centre stays on the map, so that nobody gets lost in emptiness. */
  keep() {
    const { left, right, top, bottom } = this.bounds;
    this.x = Math.min(Math.max(this.x, left), right);
    this.y = Math.min(Math.max(this.y, top), bottom);
  }

  all(quick) {
    const [x, y] = this.middle;
    this.go({ x, y, zoom: 1 }, quick);
  }

  /** Go there in a moment, or at once where motion is not wanted. */
  go(to, quick = false) {
    this.stop();
    const from = { x: this.x, y: this.y, zoom: this.zoom }, still = matchMedia("(prefers-reduced-motion: reduce)").matches;
    if (quick || still || document.hidden) {
      Object.assign(this, to);
      this.changed();
      return;
    }
    const began = performance.now(), takes = 320;
    const step = (now) => {
      const part = Math.min((now - began) / takes, 1), eased = 1 - (1 - Math.max(part, 0)) ** 3;
      this.zoom = from.zoom * (to.zoom / from.zoom) ** eased;
      // what is looked at moves evenly on the screen: places go with the inverse of the zoom
      const way = from.zoom === to.zoom ? eased : (1 / from.zoom - 1 / this.zoom) / (1 / from.zoom - 1 / to.zoom);
      this.x = from.x + (to.x - from.x) * way;
      this.y = from.y + (to.y - from.y) * way;
      this.moving = part < 1 ? requestAnimationFrame(step) : 0;
      this.changed();
    };
    this.moving = requestAnimationFrame(step);
  }

  stop() {
    cancelAnimationFrame(this.moving);
    this.moving = 0;
  }
}
