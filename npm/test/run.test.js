"use strict";

const assert = require("assert");
const fs = require("fs");
const path = require("path");
const test = require("node:test");
const { programFor } = require("../program.js");
const { archive, BINARY, environment, folder, HERE, node, programsIn, run, serve, serveFiles, sumOf, unpacked, VERSION, WINDOWS } = require("./support.js");

const good = archive();
const sums = { [HERE.archive]: sumOf(good) };

/** A package with its program in place. */
function ready() {
  const copy = unpacked(sums);
  const { file } = programFor(process.platform, process.arch, copy);
  fs.mkdirSync(path.dirname(file), { recursive: true });
  fs.copyFileSync(BINARY, file);
  return copy;
}

/** Runs `aizo` of a package by way of Node.js. */
const aizo = (copy, words, { home = folder(), env = {}, ...more } = {}) =>
  node([path.join(copy, "bin", "aizo"), ...words], { env: environment(home, env), cwd: home, ...more });

test("arguments pass as they are", async () => {
  const home = folder();
  const copy = ready();
  const item = `a "quoted" 'item' $HOME %PATH% * \\ with 引号 and  two spaces`;
  const added = await aizo(copy, ["add", item, "because", "--score", "8", "--json"], { home });
  assert.strictEqual(added.code, 0, added.stderr);
  const direct = await run(BINARY, ["show", "--json"], { env: environment(home), cwd: home });
  assert.deepStrictEqual(JSON.parse(direct.stdout).map((entry) => entry.item), [item]);
});

test("standard input passes, of any size", async () => {
  const home = folder();
  const lines = Array.from({ length: 200 }, (_, n) => JSON.stringify({ item: `item ${n}`, reason: "x".repeat(2000) }));
  const added = await aizo(ready(), ["add", "--stdin", "--json"], { home, input: `${lines.join("\n")}\n` });
  assert.strictEqual(added.code, 0, added.stderr);
  assert.strictEqual(JSON.parse(added.stdout).length, lines.length);
});

test("both outputs pass, and each exit code", async () => {
  const home = folder();
  const copy = ready();
  const codes = [
    [["--version"], 0, `aizo ${VERSION}\n`, /^$/],
    [["recall", "nothing", "--json"], 0, "[]\n", /nothing is stored/i],
    [["show", "nothing"], 1, "", /./],
    [["nonsense"], 2, "", /nonsense/],
    [["add", "emojis", "no", "--score", "1", "--pattern", "@emoji", "--json"], 0, undefined, /^$/],
    [["check", "done ✨"], 3, undefined, /^/],
  ];
  for (const [words, code, stdout, stderr] of codes) {
    const ended = await aizo(copy, words, { home });
    assert.strictEqual(ended.code, code, `${words}: ${ended.stderr}`);
    if (stdout !== undefined) assert.strictEqual(ended.stdout, stdout);
    assert.match(ended.stderr, stderr);
  }
});

for (const signal of ["SIGTERM", "SIGINT", "SIGHUP", "SIGQUIT"]) {
  test(`${signal} reaches the program, and is what the command ends by`, { skip: WINDOWS }, async () => {
    const home = folder();
    let inner;
    const ended = await aizo(ready(), ["mcp"], {
      home,
      during(child) {
        const ask = { jsonrpc: "2.0", id: 1, method: "initialize", params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "test", version: "1" } } };
        child.stdin.write(`${JSON.stringify(ask)}\n`);
        child.once("heard", async () => {
          inner = (await run("ps", ["-o", "pid=", "--ppid", `${child.pid}`], {})).stdout.trim();
          child.kill(signal);
        });
      },
    });
    assert.strictEqual(ended.signal, signal);
    assert.match(inner, /^\d+$/);
    assert.throws(() => process.kill(Number(inner), 0), { code: "ESRCH" });
  });
}

test("the signal that ends the program ends the command", { skip: WINDOWS }, async () => {
  const copy = ready();
  const { file } = programFor(process.platform, process.arch, copy);
  for (const signal of ["SIGKILL", "SIGTERM", "SIGPIPE"]) {
    fs.writeFileSync(file, `#!/bin/sh\nkill -${signal.slice(3)} $$\n`);
    const ended = await aizo(copy, []);
    assert.deepStrictEqual([ended.signal || ended.code], [signal === "SIGPIPE" ? 141 : signal]);
  }
});

test("a program that outlives a signal has the last word", { skip: WINDOWS }, async () => {
  const copy = ready();
  const { file } = programFor(process.platform, process.arch, copy);
  fs.writeFileSync(file, `#!/bin/sh\ntrap 'echo heard; exit 7' TERM\necho ready\nwhile :; do sleep 0.05; done\n`);
  const ended = await aizo(copy, [], { during: (child) => child.once("heard", () => child.kill("SIGTERM")) });
  assert.deepStrictEqual([ended.code, ended.stdout], [7, "ready\nheard\n"]);
});

// --- First use -------------------------------------------------------------------------------------------------------

test("the first use fetches the program, says so once, and answers", async () => {
  const server = await serveFiles({ [HERE.archive]: good });
  const copy = unpacked(sums);
  const env = { AIZO_DOWNLOAD_BASE: server.base };
  const first = await aizo(copy, ["recall", "--json"], { env });
  assert.strictEqual(first.code, 0, first.stderr);
  assert.strictEqual(first.stdout, "[]\n");
  assert.match(first.stderr, /^aizo: fetching the program, once\n/);
  const second = await aizo(copy, ["--version"], { env });
  assert.deepStrictEqual([second.stdout, second.stderr], [`aizo ${VERSION}\n`, ""]);
  assert.strictEqual(server.asked.length, 1);
  await server.close();
});

test("two first uses at once both answer", async () => {
  const server = await serveFiles({ [HERE.archive]: good });
  const copy = unpacked(sums);
  const env = { AIZO_DOWNLOAD_BASE: server.base };
  const both = await Promise.all([aizo(copy, ["--version"], { env }), aizo(copy, ["--version"], { env })]);
  for (const ended of both) assert.deepStrictEqual([ended.code, ended.stdout], [0, `aizo ${VERSION}\n`], ended.stderr);
  await server.close();
});

test("a first use through a link puts the program there; one through a script does not", { skip: WINDOWS }, async () => {
  const server = await serveFiles({ [HERE.archive]: good });
  const env = environment(folder(), { AIZO_DOWNLOAD_BASE: server.base });
  const copy = unpacked(sums);
  const command = path.join(copy, "bin", "aizo");
  fs.chmodSync(command, 0o755);
  const link = path.join(folder(), "aizo");
  fs.symlinkSync(command, link);
  const first = await run(link, ["--version"], { env });
  assert.strictEqual(first.stdout, `aizo ${VERSION}\n`, first.stderr);
  assert.ok(fs.readFileSync(command).equals(fs.readFileSync(BINARY)));
  assert.strictEqual((await run(link, ["--version"], { env })).stdout, `aizo ${VERSION}\n`);

  const other = unpacked(sums);
  await aizo(other, ["--version"], { env: { AIZO_DOWNLOAD_BASE: server.base } });
  assert.match(fs.readFileSync(path.join(other, "bin", "aizo"), "utf8"), /run\.js/);
  await server.close();
});

test("without a program and without the network it fails, and says what to do", async () => {
  const closed = await serve(() => {});
  await closed.close();
  const copy = unpacked(sums);
  const env = { AIZO_DOWNLOAD_BASE: closed.base };
  const text = await aizo(copy, ["recall"], { env });
  assert.deepStrictEqual([text.code, text.stdout], [1, ""]);
  assert.match(text.stderr, /error: the program could not be downloaded \(.*ECONNREFUSED.*\)\nhint: .*AIZO_DOWNLOAD_BASE.*`cargo install aizo`\n$/);
  const json = await aizo(copy, ["recall", "--json"], { env });
  assert.deepStrictEqual([json.code, json.stdout], [1, ""]);
  const { error } = JSON.parse(json.stderr.trim().split("\n").pop());
  assert.deepStrictEqual(Object.keys(error), ["kind", "message", "hint"]);
  assert.strictEqual(error.kind, "failed");
});

test("a wrong checksum at the first use fails, and leaves nothing", async () => {
  const server = await serveFiles({ [HERE.archive]: Buffer.from("wrong") });
  const copy = unpacked(sums);
  const ended = await aizo(copy, ["recall"], { env: { AIZO_DOWNLOAD_BASE: server.base } });
  assert.strictEqual(ended.code, 1);
  assert.match(ended.stderr, /is not used: its SHA-256/);
  assert.deepStrictEqual(programsIn(copy), []);
  await server.close();
});

test("a hook is not kept waiting, and a missing program does not block its host", async () => {
  const server = await serveFiles({ [HERE.archive]: good });
  const ended = await aizo(unpacked(sums), ["hook", "claude-code"], { env: { AIZO_DOWNLOAD_BASE: server.base }, input: "{}" });
  assert.deepStrictEqual([ended.code, ended.stdout], [0, ""]);
  assert.match(ended.stderr, /^aizo: the program is not installed yet[^\n]*\n$/);
  assert.deepStrictEqual(server.asked, []);
  await server.close();
});

test("on another machine it says what to do", async () => {
  const fake = path.join(folder(), "fake.js");
  fs.writeFileSync(fake, `Object.defineProperty(process, "arch", { value: "ia32" });`);
  const home = folder();
  const ended = await node(["-r", fake, path.join(unpacked(sums), "bin", "aizo"), "recall"], { env: environment(home) });
  assert.deepStrictEqual([ended.code, ended.stderr], [1, `error: there is no program for ${process.platform} ia32\nhint: build it with \`cargo install aizo\`\n`]);
});

test("a program that cannot be run is named", { skip: WINDOWS }, async () => {
  const copy = ready();
  const { file } = programFor(process.platform, process.arch, copy);
  fs.chmodSync(file, 0o644);
  const ended = await aizo(copy, ["recall"]);
  assert.strictEqual(ended.code, 1);
  assert.match(ended.stderr, /aizo cannot be run \(EACCES\)\nhint: install it anew: `npm rebuild aizo`\n/);
});

test("a folder that this user may not write is named with the command to run", { skip: WINDOWS || (process.getuid() === 0 && "root writes everywhere") }, async () => {
  const server = await serveFiles({ [HERE.archive]: good });
  const copy = unpacked(sums);
  fs.chmodSync(copy, 0o555);
  const ended = await aizo(copy, ["recall"], { env: { AIZO_DOWNLOAD_BASE: server.base } });
  fs.chmodSync(copy, 0o755);
  assert.strictEqual(ended.code, 1);
  assert.match(ended.stderr, /EACCES.*\nhint: run `node ".*install\.js"` as someone who may write there\n/);
  await server.close();
});
