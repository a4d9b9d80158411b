"use strict";
// Runs the program with the same arguments, input, output, signals and exit code. Where it is not there yet, because npm ran
// no install script or had no network, it is fetched first.

const { spawn } = require("child_process");
const { programFor } = require("./program.js");

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT", "SIGBREAK"];
const windows = process.platform === "win32";
const words = process.argv.slice(2);

function run(program, missing) {
  let child;
  // A console's Ctrl-C reaches the program by itself; on Windows all that can be sent on would end it at once.
  const pass = (signal) => windows || child.kill(signal);
  const known = SIGNALS.filter((signal) => windows || signal !== "SIGBREAK");
  // Before the program begins: it could be the reason for a signal.
  known.forEach((signal) => process.on(signal, pass));
  const over = () => known.forEach((signal) => process.off(signal, pass));
  const failed = (error) => {
    over();
    if (error.code === "ENOENT") missing();
    else fail(`${program.file} cannot be run (${error.code})`, "install it anew: `npm rebuild aizo`");
  };
  try {
    child = spawn(program.file, words, { stdio: "inherit" });
  } catch (error) {
    return failed(error);
  }
  child.on("error", failed);
  child.on("exit", (code, signal) => {
    over();
    process.exitCode = signal ? 128 + require("os").constants.signals[signal] : code;
    if (signal) process.kill(process.pid, signal);
  });
}

async function fetchFirst() {
  // A host waits for its hook and may take a failure for a refusal: there is nothing to say, and no time to fetch.
  if (words[0] === "hook") return console.error("aizo: the program is not installed yet; any other command fetches it");
  const { install, takeOver } = require("./install.js");
  console.error("aizo: fetching the program, once");
  try {
    const program = await install();
    if (startedByLink()) takeOver(program);
    run(program, () => fail(`${program.file} is gone`, "install it anew: `npm rebuild aizo`"));
  } catch (error) {
    fail(error.message, error.hint || `run \`node "${require.resolve("./install.js")}"\` as someone who may write there`);
  }
}

/** Whether the command is a link to `bin/aizo`, which the system starts by itself. */
function startedByLink() {
  const fs = require("fs");
  const command = process.argv[1];
  return !windows && fs.lstatSync(command).isSymbolicLink() && fs.realpathSync(command) === require.main.filename;
}

/** Ends as the program does where it fails. */
function fail(message, hint) {
  const error = { kind: "failed", message, hint };
  console.error(words.includes("--json") ? JSON.stringify({ error }) : `error: ${message}\nhint: ${hint}`);
  process.exitCode = 1;
}

const program = programFor(process.platform, process.arch);
if (program) run(program, fetchFirst);
else fail(`there is no program for ${process.platform} ${process.arch}`, "build it with `cargo install aizo`");
