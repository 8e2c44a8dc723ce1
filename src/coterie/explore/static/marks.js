// A text with its deciding words, words of the query and related words marked, each in its own form.
import { bdi, h } from "./dom.js";
import { link, linkPieces } from "./links.js";

const FORMS = { word: () => h("b", { class: "word" }), query: () => h("mark", { class: "query" }), related: () => h("i", { class: "related" }) };
const RANK = { query: 0, word: 1, related: 2 };

/** The text as <bdi>; marks are [start, end, kind] in code points and may overlap: what was searched for wins. */
export function marked(text, marks) {
  return h("bdi", { dir: "auto" }, pieces(text, marks || []).map(([piece, kind]) => formed(piece, kind)));
}

/** The same with its addresses as links; marks inside an address stay. */
export function markedLinks(text, marks) {
  const left = pieces(text, marks || []);
  return h("bdi", { dir: "auto" }, linkPieces(text).map(([part, address]) => {
    const inside = [];
    for (let missing = part.length; missing > 0;) {
      const [piece, kind] = left.shift();
      inside.push(formed(piece.slice(0, missing), kind));
      if (piece.length > missing) left.unshift([piece.slice(missing), kind]);
      missing -= piece.length;
    }
    return address ? link(address, h("bdi", { dir: "auto" }, inside)) : inside;
  }));
}

function formed(piece, kind) {
  if (!kind) return piece;
  const form = FORMS[kind]();
  form.append(piece);
  return form;
}

/** [piece, kind|null] in order. */
export function pieces(text, marks) {
  const clean = marks.filter(([start, end, kind]) => end > start && start >= 0 && kind in RANK).sort((a, b) => a[0] - b[0] || RANK[a[2]] - RANK[b[2]]);
  const taken = [];
  for (const mark of clean) {
    const last = taken.at(-1);
    if (!last || mark[0] >= last[1]) taken.push(mark);
    else if (RANK[mark[2]] < RANK[last[2]]) taken[taken.length - 1] = mark;
  }
  const places = offsets(text, taken), cut = [];
  let from = 0;
  taken.forEach(([, , kind], at) => {
    const [start, end] = [places[2 * at], places[2 * at + 1]];
    if (start > from) cut.push([text.slice(from, start), null]);
    if (end > start) cut.push([text.slice(start, end), kind]);
    from = Math.max(from, end);
  });
  if (from < text.length) cut.push([text.slice(from), null]);
  return cut;
}

function offsets(text, marks) {
  // code points → UTF-16, in one walk
  const wanted = marks.flatMap(([start, end]) => [start, end]), found = [];
  let point = 0, unit = 0;
  for (const next of wanted) {
    while (point < next && unit < text.length) {
      unit += text.codePointAt(unit) > 0xffff ? 2 : 1;
      point += 1;
    }
    found.push(unit);
  }
  return found;
}

/** What the forms mean; only the kinds that occur. */
export function legend(kinds) {
  const told = { word: ["deciding words", FORMS.word], query: ["search words", FORMS.query], related: ["related words", FORMS.related] };
  return h("span", { class: "legend quiet small" }, kinds.map((kind) => {
    const form = told[kind][1]();
    form.append(told[kind][0]);
    return form;
  }));
}

/** Words as a reason: "LINQ, join; related: subquery". Empty when there is none. */
export function reason(text) {
  const words = text.words || [], related = text.related || [], parts = [];
  if (words.length) parts.push(bdi(words.join(", ")));
  if (related.length) parts.push(h("span", { class: "quiet" }, words.length ? " · related: " : "related: ", bdi(related.join(", "))));
  if (text.note) parts.push(h("span", { class: "quiet" }, parts.length ? " · " : "", bdi(text.note)));
  return parts;
}
