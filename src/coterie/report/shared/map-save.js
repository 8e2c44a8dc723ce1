// The picture of the map as a file: an SVG as it is, or a PNG drawn from it, fine enough for print.

const FINE = 2.5; // pixels of the PNG to one of the SVG

/** Save an SVG under a name, as "svg" or "png". */
export const savePicture = async (svg, name, kind) => {
  const blob = kind === "svg" ? new Blob([svg], { type: "image/svg+xml" }) : await drawn(svg);
  const link = document.createElement("a"), address = URL.createObjectURL(blob);
  Object.assign(link, { href: address, download: `${name}.${kind}` });
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 10000);
};

/** The SVG as a PNG. */
async function drawn(svg) {
  const [, width, height] = svg.match(/viewBox="0 0 (\d+) (\d+)"/).map(Number), image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`;
  await image.decode();
  const canvas = document.createElement("canvas");
  Object.assign(canvas, { width: FINE * width, height: FINE * height });
  canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((done) => { canvas.toBlob(done, "image/png"); });
}
