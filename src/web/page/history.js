// What was changed, newest first, and taking it back.

import { link } from "./address.js";
import { element, fillList } from "./draw.js";
import { undo } from "./forms.js";
import { ask } from "./server.js";
import { store } from "./store.js";
import { moment, say, score } from "./words.js";

const STEP = 100;
// Lines of one change that are shown at once.
const FEW = 4;

let most = STEP;
let parts;

export function show(place) {
  parts = {
    list: element("ol", { class: "history" }),
    none: element("p", { class: "note", hidden: true }, say("history.none")),
    more: element("button", { type: "button", hidden: true, onclick: () => ((most += STEP), update()) }, say("history.more")),
  };
  place.append(
    element("header", { class: "title" }, element("h1", {}, say("history")), element("p", { class: "about" }, say("history.about"))),
    parts.none,
    parts.list,
    parts.more,
  );
}

export async function update() {
  const { answer } = await ask("history", `--limit=${most}`);
  parts.none.hidden = answer.length > 0;
  parts.more.hidden = answer.length < most;
  fillList(parts.list, batches(withDevices(answer)), (batch) => batch[0].batch, draw);
}

// Where lines come from more than one device, each says from which.
export function withDevices(lines) {
  const isMany = new Set(lines.map((line) => line.device)).size > 1;
  return lines.map((line) => ({ ...line, where: isMany ? line.device.slice(-8) : null }));
}

// One command is one batch: taken back together.
function batches(lines) {
  const list = [];
  for (const line of lines) {
    if (list.at(-1)?.[0].batch === line.batch) list.at(-1).push(line);
    else list.push([line]);
  }
  return list;
}

function draw(batch) {
  const [first] = batch;
  const rows = batch.map((line) =>
    element(
      "div",
      { class: "change" },
      element("span", { class: "what" }, say(`op.${line.op}`)),
      element("span", {}, nameOf(line), element("span", { class: "how" }, details(line))),
    ),
  );
  return element(
    "li",
    { class: first.undone ? "undone" : null },
    element("div", { class: "when" }, element("time", { datetime: first.at }, moment(first.at)), element("span", { class: "number" }, first.change)),
    element(
      "div",
      { class: "changes" },
      rows.slice(0, FEW),
      rows.length > FEW && element("details", {}, element("summary", {}, say("more.lines", rows.length - FEW)), rows.slice(FEW)),
    ),
    store.writes && !first.undone && element("button", { type: "button", class: "quiet", onclick: () => undo(first.change) }, say("undo")),
  );
}

function nameOf(line) {
  const name = line.item ?? line.kind;
  const isThere = line.kind === "entry" && store.byId.has(line.id);
  return isThere ? element("a", { class: "item", href: link("entry", line.id) }, name) : element("span", { class: "item" }, name);
}

// What a line did: the fields with what they were and what they are.
export function details(line) {
  const told = [];
  if (line.undoes !== null) told.push(say("undoes", line.undoes));
  if (line.op === "keep" && line.observed_score !== null) told.push(say("not.taken", score(line.observed_score)));
  const { before, after } = line;
  if (before && after) {
    for (const [field, value] of Object.entries(after)) {
      // These change with everything and say nothing by themselves.
      if (field === "last_seen" || field === "touch_count") continue;
      told.push([`${fieldName(field)} `, was(before[field], field), " → ", is(value, field)]);
    }
  } else {
    const values = before ?? after ?? {};
    if (typeof values.base_score === "number") told.push(say("score.of", score(values.base_score)));
    if (typeof values.why === "string") told.push(values.why);
  }
  if (line.where) told.push(say("elsewhere", line.where));
  if (line.undone) told.push(element("em", {}, say("undone")));
  return told.flatMap((part, index) => (index ? ["; ", part] : [part])).flat();
}

const IN_FORMS = ["item", "reason", "score", "base_score"];
const fieldName = (field) => say(IN_FORMS.includes(field) ? `field.${field}` : field).toLowerCase();
const was = (value, field) => element("del", {}, text(value, field));
const is = (value, field) => element("ins", {}, text(value, field));

function text(value, field) {
  if (value === null || value === undefined || value === "" || value.length === 0) return say("none");
  if (Array.isArray(value)) return value.join(", ");
  if (typeof value === "number") return field.endsWith("score") ? score(value) : String(value);
  return String(value);
}
