// What an agent would see for a task and a budget: each line with why it is there, and what was left out.

import { link } from "./address.js";
import { after, element, fillList } from "./draw.js";
import { ask } from "./server.js";
import { store } from "./store.js";
import { count, say, score, short } from "./words.js";

const GROUPS = ["hard_limits", "avoid", "prefer", "habits"];
const NEAREST = 40;

// The form stays as it was left while the page is open.
const form = { task: "", scenario: "auto", budget: 800 };
let parts;
let asked = 0;

export function show(place) {
  const later = after(350, put);
  const task = element("textarea", { id: "task", rows: 4, maxlength: 4000, placeholder: say("task.example"), oninput: () => ((form.task = task.value), later()) });
  task.value = form.task;
  const scenario = element("select", { id: "task-scenario", onchange: () => ((form.scenario = scenario.value), put()) });
  const slider = element("input", { type: "range", min: 50, max: 3000, step: 50, "aria-label": say("budget"), oninput: () => spend(slider) });
  const number = element("input", { id: "budget", type: "number", min: 1, max: 100000, oninput: () => spend(number) });
  const spend = (from) => {
    const tokens = Number(from.value);
    if (!(tokens >= 1)) return;
    form.budget = Math.round(tokens);
    for (const input of [slider, number]) if (input !== from) input.value = form.budget;
    later();
  };
  slider.value = number.value = form.budget;
  parts = {
    scenario,
    spent: element("p", { class: "spent", role: "status" }),
    result: element("div", { class: "block", "aria-busy": "false" }),
  };
  place.append(
    element("header", { class: "title" }, element("h1", {}, say("agent")), element("p", { class: "about" }, say("agent.about"))),
    element(
      "div",
      { class: "asking" },
      element(
        "form",
        { onsubmit: (event) => (event.preventDefault(), put()) },
        element("div", { class: "field" }, element("label", { for: "task" }, say("task")), task),
        element("div", { class: "field" }, element("label", { for: "task-scenario" }, say("scenario")), scenario),
        element("div", { class: "field" }, element("label", { for: "budget" }, say("budget")), element("div", { class: "scale" }, slider, number)),
      ),
      element("div", {}, parts.spent, parts.result),
    ),
  );
}

export function update() {
  const option = (value, text) => element("option", { value, selected: value === form.scenario }, text);
  parts.scenario.replaceChildren(
    option("auto", say("scenario.auto")),
    option("", say("scenario.no")),
    ...store.scenarios.map(({ name }) => option(name, name)),
  );
  return put();
}

// Asks what the agent is told, and what else comes close to the task.
async function put() {
  const ticket = ++asked;
  const task = form.task.trim();
  const { scenario, budget } = form;
  parts.result.setAttribute("aria-busy", "true");
  // With neither a task nor a kind of task, nothing is near to anything.
  const kind = scenario && (task || scenario !== "auto") ? [`--scenario=${scenario}`] : [];
  const [block, near] = await Promise.all([
    ask("context", `--budget=${budget}`, "--format=json", ...kind, "--", task),
    task ? ask("recall", "--related", `--limit=${NEAREST + 60}`, "--", task) : { answer: store.entries },
  ]).finally(() => ticket === asked && parts.result.setAttribute("aria-busy", "false"));
  if (ticket === asked) draw(block.answer, near.answer, task);
}

function draw(block, near, task) {
  const there = new Set(block.lines.map((line) => line.id));
  const share = Math.min(1, block.estimated_tokens / block.budget);
  const meter = element("span", { class: "meter", "aria-hidden": "true" }, element("span"));
  meter.firstChild.style.width = `${share * 100}%`;
  meter.classList.toggle("over", block.estimated_tokens > block.budget);
  const missing = near.filter((entry) => !there.has(entry.id)).slice(0, NEAREST);
  const left = Math.max(block.left_out ?? 0, missing.length);
  const kind = block.scenario ? ` · ${say("scenario.is", block.scenario)}` : "";
  parts.spent.replaceChildren(meter, say("spent", count(block.estimated_tokens), count(block.budget)) + kind);
  parts.result.replaceChildren(
    ...[
      block.limits_left_out > 0 && element("p", { class: "note wrong" }, say("limits.left.out", count(block.limits_left_out))),
      block.limits_shortened && element("p", { class: "note" }, say("limits.shortened")),
      block.lines.length === 0 && element("p", { class: "note" }, say("nothing.to.say")),
      ...GROUPS.map((name) => group(name, block.lines.filter((line) => line.group === name))),
      block.text && element("details", { class: "verbatim" }, element("summary", {}, say("as.text")), element("pre", {}, block.text)),
      element("h2", { class: "left" }, say("left.out")),
      element("p", { class: "about" }, left === 0 ? say("left.out.none") : say(task ? "left.out.about" : "left.out.bare", count(left))),
      element("ul", { class: "missing" }, missing.map(absent)),
      left > missing.length && missing.length > 0 && element("p", { class: "about" }, say("left.out.more", count(left - missing.length))),
    ].filter(Boolean),
  );
}

function group(name, lines) {
  if (lines.length === 0) return null;
  return element(
    "section",
    { class: `group ${name}` },
    element("h2", {}, say(`group.${name}`)),
    element("ul", {}, lines.map((line) => told(line, name))),
  );
}

function told(line, name) {
  return element(
    "li",
    {},
    element("p", {}, element("a", { href: link("entry", line.id) }, line.item), line.reason && element("span", { class: "reason" }, ` ${line.reason}`)),
    element(
      "p",
      { class: "because" },
      because(line, name),
      line.said !== "full" && element("span", { class: "said" }, ` · ${say(`said.${line.said}`)}`),
    ),
  );
}

// Why a line is there.
function because({ match, matched, relevance, base_score: felt }, name) {
  const words = matched.join(", ");
  const reason = {
    keyword: () => (words ? say("why.keyword", words) : say("why.keyword.bare")),
    scenario: () => say("why.scenario", words),
    related: () => say("why.related", short(relevance ?? 0)),
  }[match]?.();
  if (name === "hard_limits") return reason ? say("and", say("why.limit"), reason) : say("why.limit");
  return reason ?? say("why.strong", score(felt));
}

function absent(entry) {
  return element(
    "li",
    {},
    element("a", { href: link("entry", entry.id) }, entry.item),
    element("span", { class: "about" }, entry.relevance === null ? say("score.of", score(entry.base_score)) : because(entry, "")),
  );
}
