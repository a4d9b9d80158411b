// The profile: the limits on top, the distribution of scores, and the table with its filters.

import { link, route } from "./address.js";
import { band, BANDS, lastSeen, sparkline, weightIn } from "./decay.js";
import { after, element, fillList, shape } from "./draw.js";
import { showEntry } from "./entry.js";
import { addEntry } from "./forms.js";
import { ask } from "./server.js";
import { folded, MOST, store } from "./store.js";
import { Table } from "./table.js";
import { ago, count, date, say, score, short } from "./words.js";

// So many limits are shown at once, and that many more before some of them are hidden.
const FEW_LIMITS = 6;
const SOME_MORE = 3;

// What is filtered and sorted stays while the page is open, whatever view is looked at.
const wanted = { words: "", bands: new Set(), scenario: "", sort: "effective_weight", descending: true, allLimits: false };

// The numbers of the entries that belong to the chosen scenario; null for all.
let ofScenario = null;

const inOrder = new Intl.Collator().compare;

const SORTS = {
  item: (a, b) => inOrder(a.item, b.item),
  base_score: (a, b) => a.base_score - b.base_score,
  effective_weight: (a, b) => a.effective_weight - b.effective_weight,
  last_seen: (a, b) => lastSeen(a) - lastSeen(b),
  touch_count: (a, b) => a.touch_count - b.touch_count,
};

let parts;

// Builds the view once; `update` fills it.
export function show(place) {
  const table = new Table({
    label: say("table"),
    key: (entry) => entry.id,
    opens: (entry) => link("entry", entry.id),
    onsort: sortBy,
    columns: [
      { name: "item", title: say("col.item"), sortable: true, draw: itemAndReason },
      { name: "scenarios", title: say("col.scenarios"), draw: (entry) => entry.scenarios.join(", ") },
      { name: "base_score", title: say("col.base_score"), sortable: true, draw: scoreOf },
      { name: "effective_weight", title: say("col.effective_weight"), sortable: true, draw: (entry) => short(entry.effective_weight) },
      { name: "fade", title: say("col.fade"), draw: fade },
      { name: "last_seen", title: say("col.last_seen"), sortable: true, draw: seen },
      { name: "touch_count", title: say("col.touch_count"), sortable: true, draw: (entry) => count(entry.touch_count) },
    ],
  });
  parts = {
    table,
    list: element("div", { class: "list" }),
    limits: element("ul", { class: "limits" }),
    about: element("span", { class: "about" }),
    more: element("button", { type: "button", class: "quiet", onclick: allLimits }),
    bars: element("div", { class: "bars" }),
    bands: element("div", { class: "bands", role: "group", "aria-label": say("bands") }),
    scenario: element("select", { "aria-label": say("scenario"), onchange: chooseScenario }),
    sort: element("select", { "aria-label": say("sort"), class: "sort", onchange: (event) => sortBy(...event.target.value.split(" ")) }),
    found: element("p", { class: "matches", role: "status" }),
    note: element("div", { class: "note", hidden: true }),
    entry: element("aside", { class: "entry", "aria-labelledby": "entry-title", hidden: true }),
  };
  const search = element("input", {
    type: "search",
    id: "search",
    placeholder: say("search"),
    "aria-label": say("search"),
    "aria-keyshortcuts": "/",
    value: wanted.words,
    autocomplete: "off",
    spellcheck: "false",
    oninput: after(60, () => filterWords(search.value)),
  });
  parts.list.append(
    element(
      "section",
      { class: "never", "aria-labelledby": "limits" },
      element("header", {}, element("h1", { id: "limits" }, say("limits")), parts.about),
      parts.limits,
      parts.more,
    ),
    element(
      "section",
      { class: "filters", "aria-label": say("bands") },
      element("div", { class: "scores" }, parts.bars, parts.bands),
      element(
        "div",
        { class: "narrow" },
        search,
        element("div", { class: "choices" }, parts.scenario, parts.sort, store.writes && element("button", { type: "button", onclick: addEntry }, say("add"))),
        parts.found,
      ),
    ),
    parts.note,
    table.node,
  );
  place.append(parts.list, parts.entry);
  fillSorts();
}

// How a store comes by what it holds.
function beginnings() {
  const ways = [
    ["aizo add ITEM REASON", "empty.add"],
    ["aizo analyze --all", "empty.analyze"],
    ["aizo import FILE", "empty.import"],
    ["aizo install --all", "empty.install"],
  ];
  return [
    element("strong", {}, say("empty")),
    element("ul", { class: "ways" }, ways.map(([words, what]) => element("li", {}, element("code", {}, words), ` ${say(what)}`))),
  ];
}

// Fills in what the store holds now.
export function update() {
  drawLimits();
  drawScenarios();
  const cut = store.entries.length >= MOST;
  parts.note.hidden = !cut && store.entries.length > 0;
  parts.note.replaceChildren(...(cut ? [say("cut", count(MOST))] : beginnings()));
  if (wanted.scenario) chooseScenario();
  drawList();
  opened();
}

// The entry that the address names is shown beside the table.
export function opened() {
  const [view, id] = route();
  const entry = view === "entry" ? Number(id) : null;
  parts.table.mark(entry);
  document.body.classList.toggle("reading", entry !== null);
  // On a narrow screen the entry lies over the list.
  parts.list.inert = entry !== null && matchMedia("(max-width: 860px)").matches;
  showEntry(parts.entry, entry, neighbours(entry));
}

export function leave() {
  document.body.classList.remove("reading");
}

function neighbours(id) {
  const list = parts.table.items;
  const at = list.findIndex((entry) => entry.id === id);
  const back = () => {
    parts.list.inert = false;
    parts.table.focus(Math.max(at, 0));
  };
  return { previous: list[at - 1], next: at < 0 ? undefined : list[at + 1], back };
}

function drawLimits() {
  const limits = store.entries.filter((entry) => entry.hard_limit).sort((a, b) => a.base_score - b.base_score || lastSeen(b) - lastSeen(a));
  parts.about.textContent = limits.length ? say("limits.about", count(limits.length)) : store.loaded ? say("limits.none") : "";
  const isLong = limits.length > FEW_LIMITS + SOME_MORE;
  parts.more.hidden = !isLong;
  parts.more.textContent = wanted.allLimits ? say("limits.few") : say("limits.all", count(limits.length));
  parts.more.setAttribute("aria-expanded", wanted.allLimits);
  fillList(parts.limits, isLong && !wanted.allLimits ? limits.slice(0, FEW_LIMITS) : limits, (entry) => entry.id, (entry) =>
    element(
      "li",
      {},
      element("a", { href: link("entry", entry.id) }, entry.item),
      element("span", { class: "reason" }, entry.reason),
    ),
  );
}

function allLimits() {
  wanted.allLimits = !wanted.allLimits;
  drawLimits();
}

// Bars of half a point each; what is filtered out is pale.
function drawScores(found) {
  const bins = Array.from({ length: 20 }, (_, index) => ({ from: index / 2, all: 0, found: 0 }));
  const binOf = (entry) => bins[Math.min(19, Math.floor(entry.base_score * 2))];
  for (const entry of store.entries) binOf(entry).all++;
  for (const entry of found) binOf(entry).found++;
  const most = Math.max(1, ...bins.map((bin) => bin.all));
  const [width, height, gap] = [400, 72, 3];
  const step = width / 20;
  const tall = (number) => (number ? Math.max(2, (number / most) * (height - 14)) : 0);
  const bar = (bin, number, name) =>
    shape("rect", { class: `${name} ${band(bin.from + 0.25)}`, x: bin.from * 2 * step + gap / 2, y: height - 14 - tall(number), width: step - gap, height: tall(number), rx: 1 });
  const told = BANDS.map((name) => `${say(`band.${name}`)} ${count(store.entries.filter((entry) => entry.band === name).length)}`).join(", ");
  parts.bars.replaceChildren(
    shape(
      "svg",
      { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": say("scores.about", told) },
      bins.map((bin) => [
        bin.all > 0 && bar(bin, bin.all, "all"),
        shape("g", {}, shape("title", {}, say("scores.bar", bin.from, bin.from + 0.5, count(bin.all))), bar(bin, bin.found, "found")),
      ]),
      shape("line", { class: "axis", x1: 0, x2: width, y1: height - 13.5, y2: height - 13.5 }),
      [0, 1.5, 4, 6.5, 7, 10].map((tick) =>
        shape("text", { class: "tick", x: tick * 2 * step, y: height - 2, "text-anchor": tick === 0 ? "start" : tick === 10 ? "end" : tick === 6.5 ? "end" : tick === 7 ? "start" : "middle" }, tick),
      ),
    ),
  );
}

function drawBands(entries) {
  const number = (name) => entries.filter((entry) => entry.band === name).length;
  fillList(parts.bands, BANDS.map((name) => ({ name, number: number(name), pressed: wanted.bands.has(name) })), ({ name, number, pressed }) => `${name} ${number} ${pressed}`, ({ name, number, pressed }) =>
    element(
      "button",
      { type: "button", class: `band ${name}`, "aria-pressed": String(pressed), onclick: () => toggleBand(name) },
      say(`band.${name}`),
      " ",
      element("span", { class: "number" }, count(number)),
    ),
  );
}

function toggleBand(name) {
  const held = wanted.bands.delete(name);
  if (!held) wanted.bands.add(name);
  drawList();
  parts.bands.querySelector(`.${name}`).focus();
}

function filterWords(words) {
  wanted.words = words;
  drawList();
}

function drawScenarios() {
  const known = store.scenarios.filter((scenario) => scenario.entries > 0 || scenario.name === wanted.scenario);
  const option = (value, text) => element("option", { value, selected: value === wanted.scenario }, text);
  parts.scenario.replaceChildren(
    option("", say("scenario.all")),
    ...known.map(({ name, entries }) => option(name, say("scenario.count", name, count(entries)))),
  );
}

// What belongs to a scenario is what `recall` finds: the tagged, and what holds one of its keywords.
async function chooseScenario() {
  const name = (wanted.scenario = parts.scenario.value);
  if (name) {
    const { answer } = await ask("recall", `--scenario=${name}`);
    if (name !== wanted.scenario) return;
    ofScenario = new Set(answer.map((entry) => entry.id));
  } else ofScenario = null;
  drawList();
}

function sortBy(name, descending) {
  const usual = name !== "item";
  wanted.descending = descending === undefined ? (name === wanted.sort ? !wanted.descending : usual) : descending === "true";
  wanted.sort = name;
  drawList();
}

function fillSorts() {
  parts.sort.replaceChildren(
    ...Object.keys(SORTS).flatMap((name) =>
      [true, false].map((descending) =>
        element("option", { value: `${name} ${descending}` }, `${say(`col.${name}`)} ${descending ? "↓" : "↑"}`),
      ),
    ),
  );
}

function drawList() {
  const words = folded(wanted.words).split(/\s+/).filter(Boolean);
  const fits = (entry) => words.every((word) => entry.text.includes(word)) && (!ofScenario || ofScenario.has(entry.id));
  const narrowed = store.entries.filter(fits);
  const found = wanted.bands.size ? narrowed.filter((entry) => wanted.bands.has(entry.band)) : narrowed;
  const sign = wanted.descending ? -1 : 1;
  found.sort((a, b) => sign * SORTS[wanted.sort](a, b) || a.id - b.id);
  drawBands(narrowed);
  drawScores(found);
  const all = store.entries.length;
  parts.found.replaceChildren(
    !store.loaded
      ? say("loading")
      : found.length === all
        ? say("entries", count(all))
        : found.length
          ? say("entries.some", count(found.length), count(all))
          : say("entries.none"),
  );
  if (found.length < all) parts.found.append(" ", element("button", { type: "button", class: "quiet", onclick: showAll }, say("clear.filters")));
  parts.sort.value = `${wanted.sort} ${wanted.descending}`;
  parts.table.show(found, wanted.sort, wanted.descending);
}

function showAll() {
  Object.assign(wanted, { words: "", scenario: "" });
  wanted.bands.clear();
  ofScenario = null;
  document.getElementById("search").value = "";
  parts.scenario.value = "";
  drawList();
  document.getElementById("search").focus();
}

function itemAndReason(entry) {
  return [element("span", { class: "name" }, entry.item), element("span", { class: "reason" }, entry.reason)];
}

function scoreOf(entry) {
  return element("span", { class: `score ${entry.band}` }, score(entry.base_score), unseen(say(`band.${entry.band}`)));
}

function fade(entry) {
  const later = entry.hard_limit ? say("never.fades") : short(weightIn(store.decay, entry, store.now, 180));
  return [sparkline(store.decay, entry, store.now), unseen(later)];
}

// What a drawing or a colour says, for who does not see it.
function unseen(text) {
  return element("span", { class: "unseen" }, ` ${text}`);
}

function seen(entry) {
  return element("time", { datetime: entry.last_seen, title: date(entry.last_seen) }, ago(lastSeen(entry), store.now));
}
