// Where names of topics stand on a map.

/** Pixels from one name to the next below. */
export const LINE = 17;

/**
 * Places for names: [{ at, text, x, y, half }], the largest topics first; a name that finds no free place waits until there is room.
 * `names(topic)` gives the long and the short one, `width(text, bold)` the pixels it takes, `blocked` lists boxes [left, top,
 * right, bottom] that stay free. `beside`: rather beside the texts of the topic than over them.
 */
export function placeNames(topics, view, { names, width, chosen = -1, blocked = [], beside = false }) {
  const taken = [], crowded = topics.length > 60, most = Math.max((view.width * view.height) / 11000, 10);
  const free = (x, y, half) => y > 9 && y < view.height - 9
    && !blocked.some(([left, top, right, bottom]) => x + half > left && x - half < right && y + 8 > top && y - 8 < bottom)
    && !taken.some((box) => Math.abs(box.x - x) < box.half + half && Math.abs(box.y - y) < LINE);
  const order = chosen < 0 ? topics.keys() : [chosen, ...[...topics.keys()].filter((at) => at !== chosen)];
  for (const at of order) {
    const full = taken.length >= most;
    if (full && crowded) break;
    const topic = topics[at], [x, y] = view.screen(...topic.at), reach = topic.radius * view.scale;
    if (x < -reach || y < -reach || x > view.width + reach || y > view.height + reach) continue;
    const [long, short] = names(topic), near = (beside ? reach : Math.min(reach, 60)) + 8, around = [y - near, y + near, y - 15, y + 15];
    for (const text of full ? [short] : crowded ? [long] : [long, short]) {
      const half = width(text, at === chosen) / 2 + 5;
      const inside = Math.min(Math.max(x, half + 2), view.width - half - 2);
      if (Math.abs(x - inside) > half + reach) continue;
      const top = (beside ? [...around, y] : [y, ...around])
        .map((each) => (reach > 60 ? Math.min(Math.max(each, 14), view.height - 14) : each)).find((each) => free(inside, each, half));
      if (top === undefined) continue;
      taken.push({ at, text, x: inside, y: top, half });
      break;
    }
  }
  return taken;
}
