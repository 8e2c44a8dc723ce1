// Addresses in a cell of the file: those of web pages become links, everything else stays text.
import { bdi, h } from "./dom.js";

const ADDRESS = /https?:\/\/[^\s<>"'`{}|\\^\u0000-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]+/gi, LONGEST = 2000, MOST = 50;

/** The address as the browser reads it, or null where it should not be followed: another scheme, or a name and password in it. */
export function safeAddress(text) {
  if (text.length > LONGEST) return null;
  try {
    const url = new URL(text);
    return (url.protocol === "http:" || url.protocol === "https:") && url.hostname && !url.username && !url.password ? url.href : null;
  } catch { return null; }
}

/** [piece, address or null] in order; signs that end a sentence are no part of an address. */
export function linkPieces(text) {
  const pieces = [];
  let from = 0, found = 0;
  for (const match of text.matchAll(ADDRESS)) {
    let spelled = match[0].replace(/[.,;:!?…]+$/, "");
    while (/[)\]]$/.test(spelled) && spelled.split(/[([]/).length < spelled.split(/[)\]]/).length) spelled = spelled.slice(0, -1);
    const address = found < MOST ? safeAddress(spelled) : null;
    if (!address) continue;
    found += 1;
    if (match.index > from) pieces.push([text.slice(from, match.index), null]);
    pieces.push([spelled, address]);
    from = match.index + spelled.length;
  }
  if (from < text.length) pieces.push([text.slice(from), null]);
  return pieces;
}

/** A cell with its addresses as links, which learn nothing of this page. */
export function linked(text) {
  const box = h("bdi", { dir: "auto" });
  for (const [piece, address] of linkPieces(text)) box.append(address ? link(address, bdi(piece)) : piece);
  return box;
}

/** A link to an address from linkPieces. */
export function link(address, ...inside) {
  return h("a", { href: address, target: "_blank", rel: "noopener noreferrer", referrerpolicy: "no-referrer", title: `Opens ${new URL(address).host}` }, inside);
}
