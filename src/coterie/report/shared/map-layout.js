// Where names stand on a map: near what they name, over as few points as can be, none on another.

/** Height of a line, by the size of the type. */
export const LEADING = 1.16;
const CELL = 6, RINGS = [0, 0.9, 1.6, 2.5, 3.6, 5, 7, 9.5, 12.5], WAYS = 16, COVERED = 1, WAY = 0.05;
// a name may lie over so much of the points of other topics: a stray one, not a cluster
const OTHERS = 0.1, HIDDEN = 10;
// names of groups have this room around them, and so many pixels of the map go to each topic named beside them
const ROOM = 9, LARGEST = 8, SEEN_FROM_FAR = { wide: 36000, narrow: 60000 };

/** Points on the screen, counted in cells: tells how much of a box is covered with them, and with those of which topics. */
export class Crowd {
  constructor(points, view, chosen = -1) {
    const columns = Math.ceil(view.width / CELL) + 1, rows = Math.ceil(view.height / CELL) + 1, [a, b, c, d, e, f] = view.matrix();
    const cells = new Uint8Array(columns * rows), own = new Int32Array(columns * rows).fill(-1), { x, y, topic } = points;
    for (let at = 0; at < x.length; at++) {
      const column = Math.floor((a * x[at] + c * y[at] + e) / CELL), row = Math.floor((b * x[at] + d * y[at] + f) / CELL);
      if (column >= 0 && row >= 0 && column < columns && row < rows) {
        cells[row * columns + column] = 1;
        if (own[row * columns + column] !== chosen || chosen < 0) own[row * columns + column] = topic[at];
      }
    }
    const wide = columns + 1;
    this.sums = new Uint32Array(wide * (rows + 1));
    for (let row = 0; row < rows; row++) {
      for (let column = 0, line = 0; column < columns; column++) {
        line += cells[row * columns + column];
        this.sums[(row + 1) * wide + column + 1] = this.sums[row * wide + column + 1] + line;
      }
    }
    Object.assign(this, { wide, columns, rows, own, chosen });
  }

  /** The cells of a box: the first and the one after the last, across and down. */
  cellsOf(left, top, right, bottom) {
    const clip = (value, most) => Math.min(Math.max(Math.floor(value / CELL), 0), most);
    return [clip(left, this.columns), clip(top, this.rows), clip(right + CELL, this.columns), clip(bottom + CELL, this.rows)];
  }

  /** Whether a name of a topic (-1: none) hides nothing there: neither points of other topics nor any of the chosen one. */
  clear(topic, ...box) {
    const [l, t, r, b] = this.cellsOf(...box), { own, chosen, columns } = this;
    let others = 0;
    for (let row = t; row < b; row++) {
      for (let column = l; column < r; column++) {
        const there = own[row * columns + column];
        if (there >= 0 && there === chosen) return false;
        if (there >= 0 && topic >= 0 && there !== topic) others += 1;
      }
    }
    return others <= OTHERS * (r - l) * (b - t);
  }

  /** The part of a box that points cover. */
  covered(left, top, right, bottom) {
    const { sums, wide } = this, [l, t, r, b] = this.cellsOf(left, top, right, bottom);
    const inside = sums[b * wide + r] - sums[t * wide + r] - sums[b * wide + l] + sums[t * wide + l];
    return inside / Math.max((r - l) * (b - t), 1);
  }
}

/** A name in lines of about the same length, at most three. */
export function wrapped(text, most = 22) {
  const words = text.split(/\s+/).filter(Boolean), number = Math.min(Math.max(Math.ceil(text.length / most), 1), 3, Math.max(words.length, 1));
  const lines = [""];
  for (const word of words) {
    const last = lines[lines.length - 1], longer = last ? `${last} ${word}` : word;
    if (last && lines.length < number && longer.length > text.length / number + 3) lines.push(word);
    else lines[lines.length - 1] = longer;
  }
  return lines;
}

/**
 * Places for names, the first first; one that finds none, or only over the points of another topic, waits until there is room. The chosen topic has its name in any case.
 * `names` are { topic, at: [x, y] in pixels, lines, size, far: how many rings around are tried, kept: where it was, from `at`, middle: whether its middle shall be near }, `width(line, size)` the pixels a line takes, `blocked` boxes [left, top, right,
 * bottom] that stay free, `room` the pixels between names. Gives the same with x, y (the middle), half, high (half of width and height), and aside: a line must lead there.
 */
export function placeNames(names, view, { width, crowd, blocked = [], most = Infinity, room = 2 }) {
  const taken = [];
  const free = (x, y, half, high) => x - half > 2 && x + half < view.width - 2 && y - high > 2 && y + high < view.height - 2
    && !blocked.some(([left, top, right, bottom]) => x + half > left && x - half < right && y + high > top && y - high < bottom)
    && !taken.some((box) => Math.abs(box.x - x) < box.half + half + 2 * room && Math.abs(box.y - y) < box.high + high + room);
  for (const name of names) {
    if (taken.length >= most) break;
    const { at: [left, top], lines, size, far = 6 } = name;
    if (left < -20 || top < -20 || left > view.width + 20 || top > view.height + 20) continue;
    const half = Math.max(...lines.map((line) => width(line, size))) / 2 + 3, high = (LEADING / 2) * size * lines.length + 1;
    const [stayX, stayY] = name.kept ? [left + name.kept[0], top + name.kept[1]] : [0, 0], always = name.topic >= 0 && name.topic === crowd.chosen;
    const hides = (x, y) => !crowd.clear(name.topic, x - half, y - high, x + half, y + high), stays = name.kept && free(stayX, stayY, half, high) && !hides(stayX, stayY);
    let best = stays ? [stayX, stayY] : null, least = Infinity;
    for (const ring of stays ? [] : RINGS.slice(0, far)) {
      if (WAY * (ring - 1) > least) break;
      for (let turn = 0; turn < (ring ? WAYS : 1); turn++) {
        const angle = (2 * Math.PI * turn) / WAYS, across = Math.cos(angle), down = Math.sin(angle);
        const x = left + across * (ring * size + (ring ? half * Math.abs(across) : 0)), y = top + down * (ring * size + (ring ? high * Math.abs(down) : 0));
        if (!free(x, y, half, high)) continue;
        const [gapX, gapY] = name.middle ? [0, 0] : [half, high]; // what stands for an area stands in the middle of it
        const way = Math.hypot(Math.max(Math.abs(x - left) - gapX, 0), Math.max(Math.abs(y - top) - gapY, 0));
        const cost = COVERED * crowd.covered(x - half, y - high, x + half, y + high) + (WAY * way) / size;
        if (cost >= least - 1e-6) continue;
        const hidden = hides(x, y) ? HIDDEN : 0;
        if ((!hidden || always) && cost + hidden < least - 1e-6) [best, least] = [[x, y], cost + hidden];
      }
    }
    if (!best) continue;
    const [x, y] = best, aside = Math.abs(x - left) > half + 3 || Math.abs(y - top) > high + 3;
    taken.push({ ...name, x, y, half, high, aside });
  }
  return taken;
}

/** Sizes of type for topics: their area grows with the topic, and with the room that the map has for each. */
export function typeSizes(topics, view) {
  const most = Math.max(...topics.map((topic) => topic.size), 1), between = (value, low, high) => Math.min(Math.max(value, low), high);
  const room = Math.sqrt((view.width * view.height) / Math.max(topics.length, 8)) * between(view.zoom, 1, 2);
  const least = between(room / 11, 10, 12), largest = between(room / 7, 12, 20);
  return topics.map(({ size }) => Math.round(2 * (least + (largest - least) * Math.sqrt(size / most))) / 2);
}

/** How many rings around a topic are tried for its name; `rank` is 0 for the largest. A line leads from far away rather than that a large topic has no name. */
export function ringsOf(rank, narrow) {
  return narrow ? 4 : rank < LARGEST ? RINGS.length : 6;
}

/** The line from the edge of a name to what it names. */
export function leader({ x, y, half, high, at: [left, top] }) {
  const fromX = Math.min(Math.max(left, x - half + 5), x + half - 5), fromY = Math.min(Math.max(top, y - high), y + high);
  return `M${fromX.toFixed(1)} ${fromY.toFixed(1)}L${left.toFixed(1)} ${top.toFixed(1)}`;
}

/** How names are placed where groups are named too: only so many topics, the largest, and clear room between all. */
export function fromFar(view, narrow) {
  return { topics: Math.round((view.width * view.height) / (narrow ? SEEN_FROM_FAR.narrow : SEEN_FROM_FAR.wide)), room: ROOM };
}
