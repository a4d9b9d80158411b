// One entry: its curve, its evidence with the words that were said, and its history.

import { link } from "./address.js";
import { chart, fading } from "./decay.js";
import { element } from "./draw.js";
import { editEntry, remove, tell, touch, undo } from "./forms.js";
import { details, withDevices } from "./history.js";
import { ask } from "./server.js";
import { named, store } from "./store.js";
import { ago, count, date, moment, say, score, short } from "./words.js";

let shown = null;
let asked = 0;

// Shows an entry beside the table, or nothing.
export async function showEntry(place, id, neighbours) {
  const ticket = ++asked;
  const isNew = id !== shown;
  shown = id;
  if (id === null) {
    place.hidden = true;
    place.replaceChildren();
    return;
  }
  const entry = store.byId.get(id);
  if (!entry) {
    if (!store.loaded) return;
    fill(place, neighbours, element("p", { class: "note" }, say("gone")));
    return;
  }
  let known;
  try {
    known = (await ask("why", "--", named(entry))).answer;
  } catch (refusal) {
    if (ticket === asked) tell(refusal);
    return;
  }
  if (ticket !== asked) return;
  const scrolled = isNew ? 0 : place.scrollTop;
  const held = place.contains(document.activeElement) ? document.activeElement.dataset.name : undefined;
  fill(place, neighbours, ...page(known));
  place.scrollTop = scrolled;
  if (isNew) document.getElementById("entry-title").focus({ preventScroll: true });
  else if (held) place.querySelector(`[data-name="${held}"]`)?.focus({ preventScroll: true });
}

function fill(place, { previous, next, back }, ...content) {
  place.hidden = false;
  const go = (entry, name, sign) =>
    entry && element("a", { class: "step", href: link("entry", entry.id), "aria-label": say(name), title: say(name) }, sign);
  const close = () => {
    location.hash = link();
    back();
  };
  place.onkeydown = (event) => event.key === "Escape" && close();
  place.replaceChildren(
    element(
      "div",
      { class: "bar" },
      go(previous, "previous", "↑"),
      go(next, "next", "↓"),
      element("button", { type: "button", class: "step close", "data-name": "close", "aria-label": say("close"), title: say("close"), onclick: close }, "×"),
    ),
    ...content,
  );
}

function page({ entry, evidence, history }) {
  const { decay, now } = store;
  const act = (name, act) => element("button", { type: "button", "data-name": name, onclick: () => act(entry) }, say(name));
  return [
    element("p", { class: `kind ${entry.band}` }, say(`band.${entry.band}`), " ", element("span", {}, score(entry.base_score))),
    element("h2", { id: "entry-title", tabindex: -1 }, entry.item),
    entry.reason && element("p", { class: "because" }, entry.reason),
    element("figure", {}, chart(decay, entry, history, now), element("figcaption", {}, fading(decay, entry, now))),
    facts(entry, now),
    store.writes && element("div", { class: "acts" }, act("edit", editEntry), act("touch", touch), act("remove", remove)),
    element("h3", {}, say("evidence")),
    evidence.length
      ? element("ol", { class: "evidence" }, evidence.toReversed().map(observation))
      : element("p", { class: "about" }, say("evidence.none")),
    element("h3", {}, say("history")),
    element("ol", { class: "lines" }, withDevices(history).map(line)),
  ];
}

function facts(entry, now) {
  const times = (number) => (number === 0 ? say("never") : number === 1 ? say("once") : say("times", count(number)));
  const rows = [
    ["seen", element("time", { datetime: entry.last_seen, title: moment(entry.last_seen) }, ago(entry.last_seen, now))],
    ["added", element("time", { datetime: entry.added_at, title: moment(entry.added_at) }, date(entry.added_at))],
    ["used", times(entry.touch_count)],
    ["keywords", entry.keywords.join(", ")],
    ["scenarios", entry.scenarios.join(", ")],
    ["pattern", entry.pattern.length > 0 && entry.pattern.map((pattern) => element("code", {}, pattern))],
    ["source", `${entry.source}, ${say(`origin.${entry.origin}`)}`],
  ];
  return element(
    "dl",
    { class: "facts" },
    rows.filter(([, value]) => value).map(([name, value]) => element("div", {}, element("dt", {}, say(name)), element("dd", {}, value))),
  );
}

// Words that were said, and where. Used for what waits, too.
export function observation(observed) {
  const where = [observed.agent, observed.session, observed.place].filter(Boolean).join(" · ");
  const score = observed.score === null ? null : say("score.of", short(observed.score).replace(/0$/, ""));
  return element(
    "li",
    {},
    observed.quote ? element("blockquote", {}, observed.quote) : element("p", { class: "about" }, say("evidence.confirmed")),
    element(
      "p",
      { class: "about" },
      element("time", { datetime: observed.at }, moment(observed.at)),
      [say(`origin.${observed.origin}`), score, observed.confidence !== null && say("confidence", short(observed.confidence))]
        .filter(Boolean)
        .map((part) => ` · ${part}`),
    ),
    where && element("p", { class: "about where" }, where),
  );
}

function line(change) {
  return element(
    "li",
    { class: change.undone ? "undone" : null },
    element("span", { class: "what" }, say(`op.${change.op}`)),
    element("span", { class: "how" }, details(change)),
    element("time", { datetime: change.at, title: moment(change.at) }, date(change.at)),
    store.writes &&
      !change.undone &&
      element("button", { type: "button", class: "quiet", "data-name": `undo ${change.change}`, onclick: () => undo(change.change) }, say("undo")),
  );
}
