"use strict";
// What the tests share: the real program, its archives, a server to download them from, and folders with a space in their names.

const { spawn, execFileSync } = require("child_process");
const { createHash } = require("crypto");
const fs = require("fs");
const http = require("http");
const os = require("os");
const path = require("path");
const zlib = require("zlib");
const { programFor } = require("../program.js");
const { tar, zip } = require("./archives.js");

const ROOT = path.join(__dirname, "..", "..");
const PACKAGE = path.join(ROOT, "npm");
const VERSION = require("../package.json").version;
const HERE = programFor(process.platform, process.arch);
const WINDOWS = process.platform === "win32";
const PYTHON = WINDOWS ? "python" : "python3";

const BINARY = path.resolve(process.env.AIZO_BINARY || "");
if (!process.env.AIZO_BINARY || !fs.existsSync(BINARY)) {
  throw new Error("AIZO_BINARY names no program: AIZO_BINARY=target/release/aizo node --test npm/test/*.test.js");
}

const made = [];
process.on("exit", () => made.forEach((folder) => fs.rmSync(folder, { recursive: true, force: true, maxRetries: 5 })));

/** An empty folder, gone when the tests are. */
function folder() {
  made.push(fs.mkdtempSync(path.join(fs.realpathSync(os.tmpdir()), "aizo npm ")));
  return made[made.length - 1];
}

/** The environment of a machine without settings. */
function environment(home, more = {}) {
  const foreign = /^(npm_|aizo_|node_|https?_proxy$|no_proxy$|all_proxy$|init_cwd$)/i;
  const kept = Object.entries(process.env).filter(([name]) => !foreign.test(name));
  return { ...Object.fromEntries(kept), HOME: home, USERPROFILE: home, NO_COLOR: "1", ...more };
}

/** Runs a command to its end. `input` is its standard input; `during` gets the process. */
function run(command, words, { env, cwd, input, during, shell = false } = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, words, { env, cwd, shell, stdio: "pipe" });
    const heard = { stdout: "", stderr: "" };
    for (const name of ["stdout", "stderr"]) {
      child[name].setEncoding("utf8");
      child[name].on("data", (part) => {
        heard[name] += part;
        child.emit("heard", heard);
      });
    }
    child.on("error", reject);
    child.on("close", (code, signal) => resolve({ code, signal, ...heard }));
    child.stdin.on("error", () => {});
    if (input !== undefined) child.stdin.end(input);
    else if (!during) child.stdin.end();
    if (during) during(child);
  });
}

/** Runs a script with this Node.js; AIZO_NODE names another one, as an older one that has no tests of its own. */
const node = (words, options) => run(process.env.AIZO_NODE || process.execPath, words, options);

/** Runs npm. On Windows it is a script, which only a shell starts. */
const npm = (words, options) => run(WINDOWS ? "npm.cmd" : "npm", words, { ...options, shell: WINDOWS });

/** A server on this machine: `answer` gets each request, and `asked` lists their addresses. */
async function serve(answer, server = http.createServer()) {
  const asked = [];
  const sockets = new Set();
  server.on("request", (request, response) => {
    asked.push(request.url);
    answer(request, response);
  });
  server.on("connection", (socket) => sockets.add(socket.on("error", () => {}).unref()));
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  server.unref(); // A test that fails leaves it open.
  const close = () => {
    sockets.forEach((socket) => socket.destroy());
    return new Promise((resolve) => server.close(resolve));
  };
  const { port } = server.address();
  return { asked, close, port, base: `http://127.0.0.1:${port}` };
}

/** Serves files by the last part of their addresses. */
const serveFiles = (files) =>
  serve((request, response) => {
    const bytes = files[path.posix.basename(request.url)];
    response.writeHead(bytes ? 200 : 404, bytes && { "Content-Length": bytes.length });
    response.end(bytes);
  });

/** Packs a program as a release does, in a hurry. */
function packed(program, bytes) {
  const files = [{ name: program.member, content: bytes, mode: 0o755 }];
  return program.archive.endsWith(".zip") ? zip(files) : zlib.gzipSync(tar(files), { level: 1 });
}

const packs = {};

/** The archive of a machine with the real program, packed once. */
const archive = (program = HERE) => (packs[program.archive] = packs[program.archive] || packed(program, fs.readFileSync(BINARY)));

const releases = {};

/** A folder with the archive that the release workflow makes, the licences aside. It is made once. */
const realRelease = (triple = HERE.triple) => (releases[triple] = releases[triple] || release(triple));

function release(triple) {
  const dist = folder();
  const licenses = folder();
  fs.writeFileSync(path.join(licenses, "crates.txt"), "see the release workflow\n");
  execFileSync(PYTHON, [path.join(ROOT, ".github/scripts/archive"), triple, BINARY, licenses, dist]);
  return dist;
}

const sumOf = (bytes) => createHash("sha256").update(bytes).digest("hex");

/** A copy of the package as npm would unpack it, with these checksums. */
function unpacked(sums) {
  const copy = path.join(folder(), "node_modules", "aizo");
  fs.mkdirSync(path.join(copy, "bin"), { recursive: true });
  for (const name of require("../package.json").files.concat("package.json")) fs.copyFileSync(path.join(PACKAGE, name), path.join(copy, name));
  fs.writeFileSync(path.join(copy, "checksums.json"), JSON.stringify(sums));
  return copy;
}

/** All files below a folder. */
function filesBelow(base) {
  return fs.readdirSync(base, { withFileTypes: true }).flatMap((entry) => {
    const at = path.join(base, entry.name);
    return entry.isDirectory() ? filesBelow(at) : [at];
  });
}

/** What lies in a package that was not in it: a program, or what is left of one. */
const programsIn = (copy) => filesBelow(copy).filter((file) => fs.statSync(file).size > 100_000);

module.exports = {
  BINARY, HERE, PACKAGE, PYTHON, ROOT, VERSION, WINDOWS,
  archive, environment, filesBelow, folder, node, npm, packed, programsIn, realRelease, release, run, serve, serveFiles, sumOf, unpacked,
};
