// Soft colour behind the points, stronger where there are more: a small picture that is stretched over the map.

const SIDE = 110, SOFT = 2;

/** The shading of points in the colours of their topics: { picture, x0, y0, x1, y1 } in map units, or null. */
export function shading(points, colours) {
  const { x, y, topic } = points, n = x.length;
  if (!n) return null;
  let [x0, y0, x1, y1] = [Infinity, Infinity, -Infinity, -Infinity];
  for (let at = 0; at < n; at++) {
    [x0, y0, x1, y1] = [Math.min(x0, x[at]), Math.min(y0, y[at]), Math.max(x1, x[at]), Math.max(y1, y[at])];
  }
  const margin = 0.06 * Math.max(x1 - x0, y1 - y0, 1e-6);
  [x0, y0, x1, y1] = [x0 - margin, y0 - margin, x1 + margin, y1 + margin];
  const step = Math.max(x1 - x0, y1 - y0) / SIDE, wide = Math.ceil((x1 - x0) / step), high = Math.ceil((y1 - y0) / step);
  const layers = [0, 1, 2, 3].map(() => new Float32Array(wide * high)), cells = new Int32Array(n).fill(-1);
  for (let at = 0; at < n; at++) {
    const colour = topic[at] < 0 ? null : colours[topic[at]];
    if (!colour) continue;
    cells[at] = Math.floor((x[at] - x0) / step) + wide * Math.floor((y[at] - y0) / step);
    layers[0][cells[at]] += 1;
    for (let part = 0; part < 3; part++) layers[part + 1][cells[at]] += colour[part];
  }
  const [many, ...tints] = layers.map((layer) => softened(layer, wide, high));
  const found = [...cells].filter((cell) => cell >= 0).map((cell) => many[cell]).sort((a, b) => a - b), usual = found[Math.floor(0.8 * found.length)] || 1;
  const image = new ImageData(wide, high);
  for (let cell = 0; cell < wide * high; cell++) {
    for (let part = 0; part < 3; part++) image.data[4 * cell + part] = tints[part][cell] / Math.max(many[cell], 1e-9);
    image.data[4 * cell + 3] = 78 * Math.min(many[cell] / usual, 1) ** 0.7;
  }
  const picture = document.createElement("canvas");
  Object.assign(picture, { width: wide, height: high });
  picture.getContext("2d").putImageData(image, 0, 0);
  return { picture, x0, y0, x1: x0 + wide * step, y1: y0 + high * step };
}

/** Draw it where the view has it; `part` makes it fainter. */
export function drawShading(brush, shade, view, dense, part = 1) {
  const [a, b, c, d, e, f] = view.matrix();
  brush.save();
  brush.setTransform(dense * a, dense * b, dense * c, dense * d, dense * e, dense * f);
  brush.globalAlpha = part;
  brush.imageSmoothingEnabled = true;
  brush.imageSmoothingQuality = "high";
  brush.drawImage(shade.picture, shade.x0, shade.y0, shade.x1 - shade.x0, shade.y1 - shade.y0);
  brush.restore();
}

/** A layer blurred: three passes of a box come near to a bell. */
function softened(layer, wide, high) {
  let now = layer;
  for (let pass = 0; pass < 3; pass++) now = boxed(boxed(now, wide, high, 1, wide), high, wide, wide, 1);
  return now;
}

function boxed(layer, length, lines, step, jump) {
  const out = new Float32Array(layer.length), across = 2 * SOFT + 1;
  for (let line = 0; line < lines; line++) {
    let sum = 0;
    const from = line * jump;
    for (let at = -SOFT; at < length; at++) {
      if (at + SOFT < length) sum += layer[from + (at + SOFT) * step];
      if (at - SOFT - 1 >= 0) sum -= layer[from + (at - SOFT - 1) * step];
      if (at >= 0) out[from + at * step] = sum / across;
    }
  }
  return out;
}
