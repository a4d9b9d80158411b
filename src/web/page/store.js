// What is known of the store: read whole, and read anew when its stamp has changed.

import { ask, look } from "./server.js";

// So many entries are listed at most; more would not fit into one answer that a browser reads at once.
export const MOST = 20_000;

export const store = {
  loaded: false,
  // Whether the page may change anything.
  writes: false,
  // When what is here was true.
  now: 0,
  entries: [],
  byId: new Map(),
  waiting: [],
  scenarios: [],
  decay: { half_life_days: 30, floor: 0.1 },
};

let stamp;

// Looks whether the store has changed, and reads it again if so. Says whether anything was read.
export async function refresh() {
  const seen = await look();
  store.writes = seen.writes;
  if (seen.stamp === stamp) return false;
  const [entries, waiting, scenarios, decay] = await Promise.all([
    ask("top", String(MOST)),
    ask("review"),
    ask("scenarios"),
    ask("config", "show"),
  ]);
  for (const entry of entries.answer) {
    entry.text = folded([entry.item, entry.reason, ...entry.keywords, ...entry.scenarios].join("\n"));
  }
  Object.assign(store, {
    loaded: true,
    now: Date.parse(entries.now),
    entries: entries.answer,
    byId: new Map(entries.answer.map((entry) => [entry.id, entry])),
    waiting: waiting.answer,
    scenarios: scenarios.answer,
    decay: decay.answer,
  });
  stamp = seen.stamp;
  return true;
}

// A text as it is compared with what is typed.
export const folded = (text) => text.normalize("NFKC").toLowerCase();

// The word that names an entry on a command line. An item goes before an id there, so it is the safer name.
export const named = (entry) => entry.item.trim() || String(entry.id);
