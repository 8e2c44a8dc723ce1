// Points at hand: put together from a wide sample and a close one, found by position.

const GHOSTS = 10000; // enough to tell where the others are

/**
 * One set to draw: the close points, the wide ones outside the close box (inside they are among the close ones
 * already, since points come by a fixed priority), and ghosts for texts that no filter matches.
 */
export function joinPoints({ ghosts, wide, close, box }) {
  const size = (set) => (set ? set.n : 0);
  const seen = new Set(), most = size(ghosts) + size(wide) + size(close);
  const out = { n: 0, x: new Float32Array(most), y: new Float32Array(most), row: new Uint32Array(most), topic: new Int32Array(most),
    confidence: new Uint8Array(most), group: new Int16Array(most) };
  const put = (set, at, topic) => {
    const to = out.n++;
    out.x[to] = set.x[at];
    out.y[to] = set.y[at];
    out.row[to] = set.row[at];
    out.topic[to] = topic;
    out.confidence[to] = set.confidence[at];
    out.group[to] = set.group ? set.group[at] : -1;
  };
  const inside = (x, y) => box && x >= box.x0 && x <= box.x1 && y >= box.y0 && y <= box.y1;
  if (ghosts) for (const set of [wide, close]) if (set) for (let at = 0; at < set.n; at++) seen.add(set.row[at]);
  if (ghosts) for (let at = 0; at < Math.min(ghosts.n, GHOSTS); at++) if (!seen.has(ghosts.row[at])) put(ghosts, at, -1);
  if (wide) for (let at = 0; at < wide.n; at++) if (!close || !inside(wide.x[at], wide.y[at])) put(wide, at, wide.topic[at]);
  if (close) for (let at = 0; at < close.n; at++) put(close, at, close.topic[at]);
  for (const name of ["x", "y", "row", "topic", "confidence", "group"]) out[name] = out[name].subarray(0, out.n);
  return out;
}

/** A grid over the points, so that the nearest one is found by looking at a few cells. */
export class Grid {
  constructor(points, side = 128) {
    Object.assign(this, { points, side });
    const { x, y, n } = points;
    this.x0 = this.y0 = Infinity;
    let right = -Infinity, bottom = -Infinity;
    for (let at = 0; at < n; at++) {
      this.x0 = Math.min(this.x0, x[at]);
      this.y0 = Math.min(this.y0, y[at]);
      right = Math.max(right, x[at]);
      bottom = Math.max(bottom, y[at]);
    }
    this.step = Math.max(right - this.x0, bottom - this.y0, 1e-6) / side * 1.0001;
    this.starts = new Uint32Array(side * side + 1);
    const cells = new Uint32Array(n);
    for (let at = 0; at < n; at++) {
      cells[at] = this.column(x[at], this.x0) + side * this.column(y[at], this.y0);
      this.starts[cells[at] + 1]++;
    }
    for (let cell = 0; cell < side * side; cell++) this.starts[cell + 1] += this.starts[cell];
    const next = this.starts.slice();
    this.members = new Uint32Array(n);
    for (let at = 0; at < n; at++) this.members[next[cells[at]]++] = at;
  }

  column(value, from) {
    return Math.min(Math.max(Math.floor((value - from) / this.step), 0), this.side - 1);
  }

  /** Give the number of the nearest point within `reach` map units that is no ghost, or -1; `fits` may refuse points. */
  nearest(x, y, reach, fits = null) {
    const { points, side, starts, members } = this;
    if (!points.n) return -1;
    let best = -1, least = reach * reach;
    const low = this.column(x - reach, this.x0), high = this.column(x + reach, this.x0);
    const top = this.column(y - reach, this.y0), bottom = this.column(y + reach, this.y0);
    for (let line = top; line <= bottom; line++) {
      for (let each = starts[low + side * line]; each < starts[high + side * line + 1]; each++) {
        const at = members[each], away = (points.x[at] - x) ** 2 + (points.y[at] - y) ** 2;
        if (away < least && points.topic[at] >= 0 && (!fits || fits(at))) [best, least] = [at, away];
      }
    }
    return best;
  }
}
