// The state of the store and of its sync, each part as its command tells it.

import { element } from "./draw.js";
import { ask } from "./server.js";
import { count, say } from "./words.js";

// What is looked at: a heading, the words of a command, and how its answer is shown, with what is said beside the answer of
// another one.
const PARTS = [
  { title: "doctor", words: ["doctor"], draw: findings },
  { title: "odd", words: ["info"], beside: ["scenarios"], draw: odd },
  { title: "sync", words: ["sync", "status"], draw: sync },
  { title: "store", words: ["info"], draw: file },
  { title: "decay", words: ["config", "show"], draw: fading },
];

let places;

export function show(place) {
  places = PARTS.map(() => element("div", { class: "told" }, say("loading")));
  place.append(
    element("header", { class: "title" }, element("h1", {}, say("state"))),
    element("div", { class: "state" }, PARTS.map(({ title }, index) => element("section", {}, element("h2", {}, say(title)), places[index]))),
  );
}

export async function update() {
  const asked = new Map();
  const once = (words) => {
    const command = words.join(" ");
    if (!asked.has(command)) asked.set(command, ask(...words));
    return asked.get(command);
  };
  await Promise.all(
    PARTS.map(async ({ words, beside, draw }, index) => {
      try {
        const [{ answer }, other] = await Promise.all([once(words), beside && once(beside)]);
        places[index].replaceChildren(draw(answer, other?.notes));
      } catch (refusal) {
        places[index].replaceChildren(element("p", { class: "note" }, refusal.message, refusal.hint && element("span", { class: "hint" }, refusal.hint)));
      }
    }),
  );
}

function pairs(rows) {
  return element(
    "dl",
    { class: "facts" },
    rows.filter(([, value]) => value !== null && value !== "").map(([name, value]) => element("div", {}, element("dt", {}, say(name)), element("dd", {}, value))),
  );
}

function findings(reply) {
  const about = element("p", { class: "about" }, reply.findings.length ? say("doctor.about") : say("doctor.none", count(reply.checks.length)));
  const finding = ({ level, what, why, hint }) =>
    element("li", { class: level }, element("strong", {}, `${say(`level.${level}`)}: `), what, element("p", { class: "about" }, why), hint && element("code", {}, hint));
  return element("div", {}, about, reply.findings.length > 0 && element("ul", { class: "odd" }, reply.findings.map(finding)));
}

function odd(info, notes) {
  const list = [
    ...notes,
    info.outside_changes && say("odd.outside", count(info.outside_changes)),
    info.future_times.length && say("odd.future", info.future_times.join(", ")),
    info.unreadable_times.length && say("odd.times", info.unreadable_times.join(", ")),
    info.unreadable_scores.length && say("odd.scores", info.unreadable_scores.join(", ")),
    info.decay_repaired && say("odd.decay"),
  ].filter(Boolean);
  if (list.length === 0) return element("p", { class: "about" }, say("odd.none"));
  return element("ul", { class: "odd" }, list.map((line) => element("li", {}, line)));
}

function file(info) {
  const bands = Object.entries(info.bands).map(([name, number]) => `${say(`band.${name}`)} ${count(number)}`);
  return pairs([
    ["path", element("code", {}, info.path)],
    ["size", `${count(Math.ceil(info.size_bytes / 1024))} KiB`],
    ["bands.count", `${count(info.entries)} · ${bands.join(" · ")}`],
    ["changes", count(info.changes)],
    ["observations", count(info.evidence)],
    ["sessions", count(info.sessions)],
    ["version", info.version],
  ]);
}

function fading({ half_life_days: days, floor }) {
  return pairs([
    ["half.life", say("days", count(days))],
    ["floor", count(floor)],
  ]);
}

function sync(status) {
  if (!status.set_up) return element("p", { class: "about" }, say("sync.off"));
  const devices = status.devices.map((device) =>
    element(
      "li",
      {},
      element("code", {}, device.device.slice(-8)),
      ` ${say("lines", count(device.lines))}`,
      device.this ? ` · ${say("device.this")}` : !device.complete && ` · ${say("device.behind")}`,
    ),
  );
  return pairs([
    ["repository", element("code", {}, status.url)],
    ["branch", status.branch],
    ["to.push", say("lines", count(status.to_push))],
    ["devices", element("ul", {}, devices)],
  ]);
}
