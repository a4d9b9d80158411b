// What waits for a person, and their decision.

import { element, fillList } from "./draw.js";
import { observation } from "./entry.js";
import { accept, editWaiting, reject } from "./forms.js";
import { band } from "./decay.js";
import { store } from "./store.js";
import { date, say, score } from "./words.js";

let parts;

export function show(place) {
  parts = {
    list: element("ol", { class: "waiting" }),
    none: element("p", { class: "note" }, say("review.none")),
  };
  place.append(
    element("header", { class: "title" }, element("h1", { tabindex: -1 }, say("review")), element("p", { class: "about" }, say("review.about"))),
    parts.none,
    parts.list,
  );
}

export function update() {
  parts.none.hidden = store.waiting.length > 0;
  const held = parts.list.contains(document.activeElement);
  fillList(parts.list, store.waiting, (proposal) => proposal.id, draw);
  // What was decided is gone, and its buttons with it.
  if (held && document.activeElement === document.body) (parts.list.querySelector("button") ?? document.querySelector("main h1")).focus();
}

function draw(proposal) {
  const act = (name, act, main) =>
    element("button", { type: "button", class: main ? "main" : null, onclick: () => act(proposal), "aria-label": `${say(name)}: ${proposal.item}` }, say(name));
  const kind = proposal.score === null ? null : band(proposal.score);
  const { evidence } = proposal;
  return element(
    "li",
    {},
    kind && element("p", { class: `kind ${kind}` }, say(`band.${kind}`), " ", element("span", {}, score(proposal.score))),
    element("h2", {}, proposal.item),
    proposal.reason && proposal.reason !== evidence?.quote && element("p", { class: "because" }, proposal.reason),
    element("p", { class: "why" }, element("span", { class: "about" }, `${say("waits")} `), proposal.why),
    evidence?.quote ? element("ol", { class: "evidence" }, observation(evidence)) : element("p", { class: "about" }, date(proposal.proposed_at)),
    [...proposal.scenarios, ...proposal.keywords].length > 0 && element("p", { class: "about" }, [...proposal.scenarios, ...proposal.keywords].join(", ")),
    proposal.pattern.map((pattern) => element("code", {}, pattern)),
    store.writes && element("div", { class: "acts" }, act("accept", accept, true), act("edit", editWaiting), act("reject", reject)),
  );
}
