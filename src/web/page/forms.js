// What changes the store: the forms, the writes, and what is said about how they ended.

import { link } from "./address.js";
import { band } from "./decay.js";
import { element } from "./draw.js";
import { ask } from "./server.js";
import { named, store } from "./store.js";
import { say, score } from "./words.js";

// How long a word about a change stays.
const LINGER = 12_000;
// So many words at once.
const FEW = 2;

const told = () => document.getElementById("told");
let renewed = async () => {};

// Names what reads the store anew after a change.
export function onChange(act) {
  renewed = act;
}

function notice(kind, ...content) {
  const close = element("button", { type: "button", class: "step", "aria-label": say("close"), onclick: () => node.remove() }, "×");
  const node = element("div", { class: `notice ${kind}`, role: kind === "wrong" ? "alert" : null }, element("p", {}, content), close);
  told().append(node);
  while (told().childElementCount > FEW + 1) told().firstChild.remove();
  const leave = () => (node.matches(":hover, :focus-within") ? setTimeout(leave, 2000) : node.remove());
  setTimeout(leave, LINGER);
}

// Says what went wrong, in the program's own words.
export function tell(refusal) {
  if (refusal.kind === "unreachable") return;
  notice("wrong", refusal.message, refusal.hint && element("span", { class: "hint" }, refusal.hint));
}

// Runs a command that changes something, and says what became of it.
async function change(...words) {
  let done;
  try {
    done = await ask(...words);
  } catch (refusal) {
    tell(refusal);
    return null;
  }
  const outcomes = Array.isArray(done.answer) ? done.answer : [done.answer];
  for (const outcome of outcomes) {
    const list = outcome.undone ?? [outcome];
    if (list.length > FEW) notice("done", say("more.lines", list.length - FEW));
    for (const one of list.slice(0, FEW)) {
      const result = outcome.undone ? "undone" : one.result;
      notice(
        result === "not_found" ? "wrong" : "done",
        element("strong", {}, one.item ?? one.kind),
        ` ${say(`result.${result}`)}`,
        scores(one),
        outcome.change && element("button", { type: "button", class: "quiet", onclick: () => undo(outcome.change) }, say("undo")),
        (result === "cooldown" || result === "kept" || result === "pending") && one.hint && element("span", { class: "hint" }, one.hint),
      );
    }
  }
  for (const note of done.notes) notice("done", note);
  await renewed();
  return done.answer;
}

function scores({ score_before: before, score_after: after }) {
  if (before === null || after === null || before === undefined || before === after) return "";
  return ` · ${score(before)} → ${score(after)}`;
}

export const undo = (number) => change("undo", String(number));
export const touch = (entry) => change("touch", "--", named(entry));
export const accept = (proposal) => change("review", "accept", String(proposal.id));
export const reject = (proposal) => change("review", "reject", String(proposal.id));

export async function remove(entry) {
  if (await change("remove", "--", named(entry))) location.hash = link();
}

const FIELDS = ["item", "reason", "score", "keywords", "scenarios", "pattern"];

// What stands in the fields for an entry, as texts.
function valuesOf({ item, reason, base_score, score: proposed, keywords, scenarios, pattern }) {
  const number = base_score ?? proposed;
  return {
    item,
    reason,
    score: typeof number === "number" ? String(number) : "",
    keywords: keywords.join(", "),
    scenarios: scenarios.join(", "),
    pattern: pattern.join("\n"),
  };
}

const patternsIn = (text) => text.split("\n").map((line) => line.trim()).filter(Boolean);

// The options for what differs. Only that is sent, so that what was changed elsewhere meanwhile stays.
function options(before, after, names) {
  const words = [];
  for (const [field, name] of Object.entries(names)) {
    if (after[field].trim() === before[field].trim()) continue;
    if (field !== "pattern") words.push(`${name}=${after[field].trim()}`);
    else if (patternsIn(after.pattern).length) words.push(...patternsIn(after.pattern).map((pattern) => `${name}=${pattern}`));
    else words.push(`${name}=`);
  }
  return words;
}

const UPDATE = { item: "--new-item", reason: "--reason", score: "--score", keywords: "--keywords", scenarios: "--scenarios", pattern: "--pattern" };
const { pattern: _, ...EDIT } = { ...UPDATE, item: "--item" };
const { item: __, reason: ___, ...ADD } = UPDATE;

export function editEntry(entry) {
  const before = valuesOf(entry);
  const isOld = () => JSON.stringify(valuesOf(store.byId.get(entry.id) ?? entry)) !== JSON.stringify(before);
  form("edit.title", before, FIELDS, isOld, (after) => {
    const words = options(before, after, UPDATE);
    return words.length ? change("update", ...words, "--", named(entry)) : same();
  });
}

export function editWaiting(proposal) {
  const before = valuesOf(proposal);
  form("edit.waiting", before, Object.keys(EDIT), () => false, (after) => {
    const words = options(before, after, EDIT);
    return words.length ? change("review", "edit", String(proposal.id), ...words) : same();
  });
}

export function addEntry() {
  const empty = { item: "", reason: "", score: "9", keywords: "", scenarios: "", pattern: "" };
  form("add.title", empty, FIELDS, () => false, (after) =>
    change("add", ...options({ ...empty, score: "" }, after, ADD), "--", after.item, after.reason),
  );
}

function same() {
  notice("done", say("nothing.changed"));
  return true;
}

let isOutdated = () => false;

// Says in an open form that its entry was changed elsewhere.
export function compare() {
  const note = document.querySelector("dialog[open] .meanwhile");
  if (note) note.hidden = !isOutdated();
}

function form(title, values, fields, isOld, save) {
  isOutdated = isOld;
  const inputs = {};
  const judge = element("output", { class: "judge" });
  const field = (name) => {
    const id = `field-${name}`;
    const input = name === "reason" || name === "pattern" ? element("textarea", { id, rows: 2 }) : element("input", { id, autocomplete: "off" });
    input.value = values[name];
    input.spellcheck = name === "reason";
    if (name === "item" || name === "reason") input.required = true;
    if (name === "scenarios") input.setAttribute("list", "known-scenarios");
    inputs[name] = input;
    return element("div", { class: "field" }, element("label", { for: id }, say(`field.${name}`)), name === "score" ? scale(input, judge) : input);
  };
  const dialog = element(
    "dialog",
    { "aria-labelledby": "form-title", onclose: () => dialog.remove() },
    element(
      "form",
      {
        method: "dialog",
        onsubmit: async (event) => {
          event.preventDefault();
          const after = Object.fromEntries(Object.keys(values).map((name) => [name, inputs[name]?.value ?? values[name]]));
          if (await save(after)) dialog.close();
        },
      },
      element("h2", { id: "form-title" }, say(title)),
      element("p", { class: "note meanwhile", role: "status", hidden: true }, say("changed.meanwhile")),
      fields.map(field),
      element("datalist", { id: "known-scenarios" }, store.scenarios.map(({ name }) => element("option", { value: name }))),
      element(
        "div",
        { class: "acts" },
        element("button", { type: "submit", class: "main" }, say("save")),
        element("button", { type: "button", onclick: () => dialog.close() }, say("cancel")),
      ),
    ),
  );
  document.body.append(dialog);
  dialog.showModal();
}

// A score as a number and on a scale, with the band it makes.
function scale(input, judge) {
  const slider = element("input", { type: "range", min: 0, max: 10, step: 0.1, "aria-label": say("field.score") });
  Object.assign(input, { type: "number", min: 0, max: 10, step: "any", required: true });
  const look = () => {
    slider.value = input.value;
    const name = input.value === "" ? null : band(Number(input.value));
    judge.textContent = name ? say(`band.${name}`) : "";
    judge.className = `judge ${name}`;
  };
  input.addEventListener("input", look);
  slider.addEventListener("input", () => {
    input.value = slider.value;
    look();
  });
  look();
  return [element("div", { class: "scale" }, slider, input, judge), element("p", { class: "about" }, say("score.scale"))];
}
