// The lasso: a line drawn around texts becomes a polygon in map units.

const MOST = 120; // corners; the API takes up to 200

/** Leave out corners until at most MOST are left: those that bend the line least first. */
export function simplify(corners, most = MOST) {
  const kept = corners.slice();
  const bend = (at) => {
    const [a, b, c] = [kept[(at + kept.length - 1) % kept.length], kept[at], kept[(at + 1) % kept.length]];
    return Math.abs((b[0] - a[0]) * (c[1] - a[1]) - (c[0] - a[0]) * (b[1] - a[1]));
  };
  while (kept.length > most) {
    let least = 0, size = Infinity;
    for (let at = 0; at < kept.length; at++) {
      const now = bend(at);
      if (now < size) [least, size] = [at, now];
    }
    kept.splice(least, 1);
  }
  return kept;
}

/** The line while it is being drawn: begin and add at screen places, finish gives corners in screen places or null. */
export class Line {
  constructor() {
    this.corners = null;
  }

  begin(x, y) {
    this.corners = [[x, y]];
  }

  add(x, y) {
    const [left, top] = this.corners.at(-1);
    if (Math.hypot(x - left, y - top) >= 4) this.corners.push([x, y]);
  }

  finish() {
    const corners = this.corners;
    this.corners = null;
    if (!corners || corners.length < 3) return null;
    const xs = corners.map(([x]) => x), ys = corners.map(([, y]) => y);
    const small = Math.max(...xs) - Math.min(...xs) < 6 && Math.max(...ys) - Math.min(...ys) < 6;
    return small ? null : corners;
  }
}
