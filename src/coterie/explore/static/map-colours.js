// Colours of points: by topic, confidence, period, or the values of a column.
import { bdi, cut, h } from "./dom.js";
import { decimal } from "./numbers.js";
import { state } from "./state.js";

// values of a column: hues far apart, each readable on white and on black; further values share a grey
const HUES = ["#3f7fd0", "#e07b1f", "#2f9e5b", "#c94f9a", "#8a6fd8", "#b0861c", "#1b9aa6", "#d5493f", "#7d9a2f", "#a3674a", "#5a6fa8", "#cf7fb0"];
const OTHER = "#8b8f94";
const TIME = ["#3a4fa3", "#2f86b0", "#35a884", "#9dbb46", "#e0a52e", "#d8592f"], SURE = ["#d8592f", "#dda25a", "#a9aba6", "#5f9bcf", "#2563b5"];
const STEPS = 16; // of confidence

const rgb = (colour) => [1, 3, 5].map((from) => parseInt(colour.slice(from, from + 2), 16));
const hex = (colour) => `#${colour.map((part) => Math.round(part).toString(16).padStart(2, "0")).join("")}`;

/** A colour between the first (0) and the last (1) of a row of colours. */
export function between(row, part) {
  const place = Math.max(0, Math.min(1, part)) * (row.length - 1), from = Math.min(Math.floor(place), row.length - 2), a = rgb(row[from]), b = rgb(row[from + 1]);
  return hex(a.map((value, at) => value + (b[at] - value) * (place - from)));
}

/** What the points are coloured by: { kind, title, colours, names }; null for topics, or until it is known. */
export function colouring() {
  const { colour, counts } = state;
  if (colour === null) return null;
  if (colour === "confidence") {
    const [low, high] = state.reach, names = Array.from({ length: STEPS }, (_, at) => decimal(low + ((high - low) * (at + 0.5)) / STEPS));
    return { kind: "scale", title: "confidence", colours: names.map((_, at) => between(SURE, at / (STEPS - 1))), names, ends: [`≤ ${decimal(low)}`, `≥ ${decimal(high)}`],
      note: "Stretched over the values that occur." };
  }
  if (!counts) return null;
  if (colour === "date") {
    const periods = counts.over_time ? counts.over_time.periods : [];
    return { kind: "scale", title: "date", colours: periods.map((_, at) => between(TIME, periods.length > 1 ? at / (periods.length - 1) : 0)), names: periods.map((one) => one.name),
      ends: periods.length ? [periods[0].name, periods.at(-1).name] : ["", ""] };
  }
  const column = counts.columns.find((one) => String(one.column) === colour);
  if (!column) return null;
  return { kind: "values", title: column.name, column, colours: column.values.map((_, at) => (column.values.length <= HUES.length || at < HUES.length - 1 ? HUES[at] : OTHER)), names: column.values.map((one) => one.name) };
}

/** Confidences (0 to 255) between which all but 5 % at either end are, as numbers from 0 to 1; a step apart at least. */
export function reachOf(confidence) {
  const sorted = Uint8Array.from(confidence).sort(), at = (part) => (sorted.length ? sorted[Math.round(part * (sorted.length - 1))] / 255 : part);
  const low = at(0.05), high = at(0.95);
  return high - low < 0.02 ? [Math.max(0, low - 0.01), Math.min(1, high + 0.01)] : [low, high];
}

/** The colour of texts without a value, and of the values that share one. */
export const noValue = OTHER;

function stepOf(confidence) {
  const [low, high] = state.reach;
  return Math.max(0, Math.min(STEPS - 1, Math.floor((STEPS * (confidence - low)) / (high - low))));
}

/** A shade for each point and the colours of the shades; `topics` are the colours of the topics. */
export function shadesOf(points, topics) {
  const by = colouring();
  if (!by) return { shades: points.topic, colours: topics };
  const colours = [...by.colours.map(rgb), rgb(OTHER)], none = by.colours.length;
  const shades = state.colour === "confidence" ? Int32Array.from(points.confidence, (value) => stepOf(value / 255))
    : Int32Array.from(points.group, (value) => (value < 0 || value >= none ? none : value));
  return { shades, colours };
}

/** The value that colours a point, for the box beside the pointer; null where the head says it already. */
export function groupName(group) {
  const by = colouring();
  if (!by || state.colour === "confidence") return null;
  return h("span", { class: "quiet" }, " · ", bdi(cut(by.names[group] ?? "none", 40)));
}
