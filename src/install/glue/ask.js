import { spawn } from "node:child_process";

const PROGRAM = "AIZO";
const PATIENCE = 8000;

// What aizo says to an event; an empty object where it says nothing, or something goes wrong.
function ask(event, payload) {
  return new Promise((answer) => {
    let child;
    const timer = setTimeout(() => {
      answer({});
      try {
        child?.kill();
      } catch {}
    }, PATIENCE);
    const done = (text) => {
      clearTimeout(timer);
      try {
        answer(JSON.parse(text) ?? {});
      } catch {
        answer({});
      }
    };
    try {
      child = spawn(PROGRAM, ["hook", "HOST", event], { stdio: ["pipe", "pipe", "ignore"], windowsHide: true });
      let out = "";
      child.stdout.setEncoding("utf8");
      child.stdout.on("data", (part) => (out += part));
      child.on("error", () => done(""));
      child.on("close", () => done(out));
      child.stdin.on("error", () => {});
      child.stdin.end(JSON.stringify(payload));
    } catch {
      done("");
    }
  });
}
