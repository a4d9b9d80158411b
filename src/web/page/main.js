// The page: which view is open, in which language and light, and what happens when the store changes underneath.

import { key, link, route } from "./address.js";
import * as agent from "./agent.js";
import { compare, onChange, tell } from "./forms.js";
import * as history from "./history.js";
import * as profile from "./profile.js";
import * as review from "./review.js";
import { Refusal, enter } from "./server.js";
import * as state from "./state.js";
import { refresh, store } from "./store.js";
import { count, keep, kept, otherLanguage, say, sayAll } from "./words.js";

// How often the store is looked at.
const PAUSE = 2000;

const VIEWS = { profile, agent, review, history, state };
const main = document.querySelector("main");
const away = document.getElementById("away");
let open = null;

// The name of the view that the address means: an entry is shown beside the profile.
const viewOf = () => (route()[0] in VIEWS ? route()[0] : "profile");

function navigate() {
  if (open === "profile" && viewOf() === "profile") return profile.opened();
  build();
  scrollTo(0, 0);
}

// Builds the view that the address names.
function build() {
  VIEWS[open]?.leave?.();
  open = viewOf();
  main.replaceChildren();
  main.dataset.view = open;
  for (const tab of document.querySelectorAll("nav a")) {
    const name = tab.dataset.view;
    tab.href = name === "profile" ? link() : link(name);
    tab.toggleAttribute("data-open", name === open);
    if (name === open) {
      tab.setAttribute("aria-current", "page");
      tab.scrollIntoView({ block: "nearest", inline: "nearest" });
    } else tab.removeAttribute("aria-current");
  }
  VIEWS[open].show(main);
  document.title = `${say(open)} · aizo`;
  head();
  if (store.loaded || open === "profile") return VIEWS[open].update();
}

function head() {
  const waiting = document.getElementById("waiting");
  waiting.textContent = store.waiting.length ? count(store.waiting.length) : "";
  const only = document.getElementById("read-only");
  only.hidden = !store.loaded || store.writes;
  only.title = say("read.only.why");
}

// Looks at the store, and shows what is new.
async function renew() {
  const wasLoaded = store.loaded;
  try {
    const isNew = await refresh();
    away.hidden = true;
    if (!isNew) return;
    if (!wasLoaded) return build();
    head();
    compare();
    await VIEWS[open].update();
  } catch (refusal) {
    if (!(refusal instanceof Refusal)) throw refusal;
    if (refusal.status === 401) return lock();
    away.hidden = false;
    away.textContent = refusal.status ? `${refusal.message}${refusal.hint ? ` · ${refusal.hint}` : ""}` : say("unreachable");
  }
}

async function watch() {
  if (!document.hidden) await renew();
  if (!document.body.classList.contains("locked")) setTimeout(watch, PAUSE);
}

// Without its key the page shows nothing but how to come by it.
function lock() {
  document.body.classList.add("locked");
  document.getElementById("locked").hidden = false;
}

function themes() {
  const names = ["auto", "light", "dark"];
  const button = document.getElementById("theme");
  let now = names.includes(kept("theme")) ? kept("theme") : "auto";
  const apply = () => {
    document.documentElement.dataset.theme = now;
    button.title = `${say("theme")}: ${say(`theme.${now}`)}`;
    button.setAttribute("aria-label", button.title);
  };
  button.addEventListener("click", () => {
    now = names[(names.indexOf(now) + 1) % names.length];
    keep("theme", now);
    apply();
  });
  apply();
  return apply;
}

const applyTheme = themes();

document.getElementById("language").addEventListener("click", () => {
  otherLanguage();
  sayAll(document);
  applyTheme();
  build();
});

document.getElementById("skip").addEventListener("click", () => main.focus());

addEventListener("hashchange", (event) => {
  const keyOf = (address) => new URL(address).hash.split("/")[0];
  // Another key is another page.
  if (keyOf(event.oldURL) !== keyOf(event.newURL)) location.reload();
  else navigate();
});
addEventListener("visibilitychange", () => document.hidden || renew());
addEventListener("unhandledrejection", (event) => {
  if (!(event.reason instanceof Refusal)) return;
  event.preventDefault();
  if (event.reason.status === 401) lock();
  else tell(event.reason);
});
addEventListener("keydown", (event) => {
  if (event.key !== "/" || event.target.closest("input, textarea, select, dialog") || event.ctrlKey || event.metaKey) return;
  const search = document.getElementById("search");
  if (!search) return;
  event.preventDefault();
  search.focus();
});

onChange(renew);
sayAll(document);
enter().then(
  () => {
    if (!key()) return lock();
    build();
    watch();
  },
  lock,
);
