// The formulas of src/scoring, for the curves: what an entry weighs on any day is computed here and not asked for.
//
//   d(t) = floor + (1 - floor) * 2^(-t / half-life)      t = days since it was last seen
//   w    = s * d^((10 - s) / 10)

import { shape } from "./draw.js";
import { date, say, short } from "./words.js";

export const DAY = 86_400_000;
export const HARD_LIMIT = 1.5;
export const BANDS = ["taboo", "aversion", "habit", "style", "preference"];

// The band of a score.
export function band(score) {
  if (score <= HARD_LIMIT) return "taboo";
  return score < 4 ? "aversion" : score < 6.5 ? "habit" : score < 7 ? "style" : "preference";
}

export function coefficient(decay, days) {
  return decay.floor + (1 - decay.floor) * 2 ** (-Math.max(0, days) / decay.half_life_days);
}

export function weight(decay, score, days) {
  return score * coefficient(decay, days) ** ((10 - score) / 10);
}

// When an entry was last seen; one whose times cannot be read was never.
export function lastSeen(entry) {
  const seen = Date.parse(entry.last_seen);
  if (!Number.isNaN(seen)) return seen;
  const added = Date.parse(entry.added_at);
  return Number.isNaN(added) ? -Infinity : added;
}

// The weight of an entry on a day from now on.
export function weightIn(decay, entry, now, days) {
  return weight(decay, entry.base_score, days + Math.max(0, now - lastSeen(entry)) / DAY);
}

const path = (points) => "M" + points.map(([x, y]) => `${x.toFixed(1)} ${y.toFixed(1)}`).join("L");

// A line of the table in small: how much of its score an entry keeps for half a year.
export function sparkline(decay, entry, now) {
  const [width, height, days] = [88, 20, 180];
  const kept = (day) => (entry.hard_limit ? 1 : entry.base_score ? weightIn(decay, entry, now, day) / entry.base_score : 0);
  const points = [];
  for (let step = 0; step <= 22; step++) {
    points.push([(step / 22) * width, height - 1 - kept((step / 22) * days) * (height - 3)]);
  }
  return shape(
    "svg",
    { viewBox: `0 0 ${width} ${height}`, class: `spark ${entry.band}`, "aria-hidden": "true" },
    shape("path", { class: "area", d: `${path(points)}L${width} ${height}L0 ${height}Z` }),
    shape("path", { class: "line", d: path(points) }),
  );
}

// What was the score and the time of the last look at each moment of an entry's past, oldest first.
export function past(history) {
  const moments = [];
  let [score, seen] = [null, null];
  for (const line of [...history].reverse()) {
    if (line.kind !== "entry") continue;
    const values = line.after ?? {};
    const was = seen;
    if (typeof values.base_score === "number") score = values.base_score;
    if (values.last_seen) seen = Date.parse(values.last_seen);
    const at = Date.parse(line.at);
    if (score === null || Number.isNaN(seen) || Number.isNaN(at)) continue;
    moments.push({ at, score, seen, op: line.op, refreshed: seen !== was });
  }
  return moments;
}

// How high the line of a hard limit is drawn.
const LEVEL = 6;

// The past and the fading of an entry as a drawing: a saw of looks and pauses up to now, and the curve from now on.
export function chart(decay, entry, history, now) {
  const [width, height, left, right, top, bottom] = [440, 168, 22, 6, 12, 22];
  const ahead = 180;
  const moments = past(history);
  const age = moments.length ? (now - moments[0].at) / DAY : 0;
  const behind = Math.min(Math.max(age * 1.04, 45), 365);
  // A hard limit has no weight that matters: it is in force, and its line is level.
  const level = (score) => entry.hard_limit && score <= HARD_LIMIT;
  const most = entry.hard_limit || entry.base_score > 5 || moments.some((moment) => moment.score > 5) ? 10 : 5;
  const x = (day) => left + ((day + behind) / (behind + ahead)) * (width - left - right);
  const y = (value) => top + (1 - value / most) * (height - top - bottom);
  const day = (time) => (time - now) / DAY;

  const before = [];
  const touches = [];
  moments.forEach((moment, index) => {
    const end = moments[index + 1]?.at ?? now;
    const from = Math.max(day(moment.at), -behind);
    const to = day(end);
    if (to < -behind) return;
    const value = (at) => (level(moment.score) ? LEVEL : weight(decay, moment.score, at - day(moment.seen)));
    for (let step = 0; step <= 16; step++) {
      const at = from + ((to - from) * step) / 16;
      before.push([x(at), y(value(at))]);
    }
    if (moment.refreshed && day(moment.at) >= -behind) touches.push([moment, x(day(moment.at)), y(value(day(moment.at)))]);
  });
  const later = [];
  for (let step = 0; step <= 60; step++) {
    const at = (step / 60) * ahead;
    later.push([x(at), y(entry.hard_limit ? LEVEL : weightIn(decay, entry, now, at))]);
  }

  const number = (value, across, up, anchor, name) =>
    shape("text", { x: across, y: up, "text-anchor": anchor, class: name ?? "tick" }, value);
  return shape(
    "svg",
    { viewBox: `0 0 ${width} ${height}`, class: `chart ${entry.band}`, role: "img", "aria-label": fading(decay, entry, now) },
    (entry.hard_limit ? [0] : [0, most / 2, most]).map((value) => [
      shape("line", { class: "grid", x1: left, x2: width - right, y1: y(value), y2: y(value) }),
      !entry.hard_limit && number(String(value), left - 6, y(value) + 3.5, "end"),
    ]),
    shape("path", { class: "area", d: `${path(later)}L${x(ahead)} ${y(0)}L${x(0)} ${y(0)}Z` }),
    before.length > 1 && shape("path", { class: "before", d: path(before) }),
    shape("path", { class: "line", d: path(later) }),
    touches.map(([moment, across, up]) =>
      shape("circle", { class: "touch", cx: across, cy: up, r: 3 }, shape("title", {}, `${say(`op.${moment.op}`)}, ${date(moment.at)}`)),
    ),
    shape("line", { class: "now", x1: x(0), x2: x(0), y1: top - 4, y2: y(0) }),
    number(say("now"), x(0), height - 7, "middle", "tick strong"),
    x(-behind) < x(0) - 60 && number(date(now - behind * DAY, true), left, height - 7, "start"),
    number(say("days.ahead", 90), x(90), height - 7, "middle"),
    number(say("days.ahead", 180), width - right, height - 7, "end"),
  );
}

// The same in a sentence.
export function fading(decay, entry, now) {
  const at = (days) => short(weightIn(decay, entry, now, days));
  if (entry.hard_limit) return say("fade.limit");
  if (entry.base_score === 10) return say("fade.never");
  return say("fade.curve", at(0), at(30), at(180), short(weightIn(decay, entry, now, Infinity)));
}
