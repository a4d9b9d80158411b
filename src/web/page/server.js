// What is asked of `aizo web`. The page speaks the command line: it sends the words of a command, and gets what `--json` prints.

import { key, unlock } from "./address.js";

// An answer that is an error: what happened, and what to try.
export class Refusal extends Error {
  constructor(status, { kind, message, hint }) {
    super(message);
    Object.assign(this, { status, kind, hint });
  }
}

async function send(path, body) {
  let reply;
  try {
    reply = await fetch(path, {
      method: body ? "POST" : "GET",
      headers: { Authorization: `Bearer ${key()}` },
      body: body && JSON.stringify(body),
      cache: "no-store",
    });
  } catch {
    throw new Refusal(0, { kind: "unreachable", message: "aizo web does not answer" });
  }
  let answer;
  try {
    answer = await reply.json();
  } catch {
    throw new Refusal(reply.status, { kind: "failed", message: `the answer cannot be read (${reply.status})` });
  }
  if (answer.error) throw new Refusal(reply.status, answer.error);
  return answer;
}

// Runs a command: `ask("why", "--", item)`. The answer has `now`, the moment it was true, and `notes`.
export const ask = (...words) => send("/api/ask", words);

// A browser is started with a ticket, since its command line is for everybody to see: the key is given for it, once.
export async function enter() {
  if (key().startsWith("once-")) unlock((await send("/api/enter", [])).key);
}

// What to look at often: a stamp that changes with the store, and whether the page may change anything.
export const look = () => send("/api/look");
