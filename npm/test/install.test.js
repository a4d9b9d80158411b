"use strict";

const assert = require("assert");
const fs = require("fs");
const http = require("http");
const path = require("path");
const test = require("node:test");
const { install, takeOver } = require("../install.js");
const { programFor } = require("../program.js");
const {
  archive, BINARY, environment, folder, HERE, node, packed, programsIn, serve, serveFiles, sumOf, unpacked, VERSION, WINDOWS,
} = require("./support.js");

const NPM = { npm_config_user_agent: "npm/11.19.1 node/v20.20.2 linux x64 workspaces/false" };
const good = archive();
const name = HERE.archive;

/** Runs install.js of a package whose release is on a server: `files` by name, and the sums that the package knows. */
async function installing({ files = { [name]: good }, sums = { [name]: sumOf(good) }, env = {}, copy = unpacked(sums), words = [] }) {
  const server = await serveFiles(files);
  try {
    const at = environment(folder(), { AIZO_DOWNLOAD_BASE: server.base, ...env });
    const ended = await node([...words, path.join(copy, "install.js")], { env: at, cwd: copy });
    return { copy, asked: server.asked, file: programFor(process.platform, process.arch, copy).file, ...ended };
  } finally {
    await server.close();
  }
}

const runs = (file) => node(["-e", `console.log(require("child_process").execFileSync(process.argv[1], ["--version"], { encoding: "utf8" }))`, file], {});

/** What install.js left: nothing that could be taken for a program, finished or not. */
function leftNothing({ copy }) {
  assert.deepStrictEqual(programsIn(copy), []);
  const native = path.join(copy, "native", HERE.triple);
  if (fs.existsSync(native)) assert.deepStrictEqual(fs.readdirSync(native), []);
}

/** It ended well, with one line. */
function oneLine(ended, what) {
  assert.strictEqual(ended.code, 0, ended.stderr);
  assert.strictEqual(ended.stdout, "");
  assert.match(ended.stderr, /^aizo: [^\n]*\n$/);
  assert.match(ended.stderr, what);
  leftNothing(ended);
}

/** It failed, with one line. */
function refused(ended, what) {
  assert.strictEqual(ended.code, 1, ended.stderr);
  assert.match(ended.stderr, /^aizo: [^\n]* is not used: [^\n]*cargo install aizo`\n$/);
  assert.match(ended.stderr, what);
  leftNothing(ended);
}

test("the program is downloaded from the release of this version, and runs", async () => {
  const ended = await installing({});
  assert.strictEqual(ended.code, 0, ended.stderr);
  assert.strictEqual(ended.stderr + ended.stdout, "");
  assert.deepStrictEqual(ended.asked, [`/v${VERSION}/${name}`]);
  assert.ok(fs.readFileSync(ended.file).equals(fs.readFileSync(BINARY)));
  assert.strictEqual((await runs(ended.file)).stdout.trim(), `aizo ${VERSION}`);
  assert.deepStrictEqual(fs.readdirSync(path.dirname(ended.file)), [path.basename(ended.file)]);
});

test("a base may end in a slash", async () => {
  const server = await serveFiles({ [name]: good });
  const copy = unpacked({ [name]: sumOf(good) });
  await install({ folder: copy, env: { AIZO_DOWNLOAD_BASE: `${server.base}/mirror//` } });
  assert.deepStrictEqual(server.asked, [`/mirror/v${VERSION}/${name}`]);
  await server.close();
});

test("without a mirror it is GitHub that is asked, over https", async () => {
  const server = http.createServer();
  const tunnels = [];
  server.on("connect", (request, socket) => {
    tunnels.push(request.url);
    socket.end("HTTP/1.1 403 Forbidden\r\n\r\n");
  });
  const proxy = await serve(() => {}, server);
  const env = { https_proxy: proxy.base };
  await assert.rejects(install({ folder: unpacked({ [name]: sumOf(good) }), env }), /answers 403/);
  assert.deepStrictEqual(tunnels, ["github.com:443"]);
  await proxy.close();
});

for (const [platform, arch] of [["linux", "x64"], ["linux", "arm64"], ["darwin", "x64"], ["darwin", "arm64"], ["win32", "x64"], ["win32", "arm64"]]) {
  test(`${platform} ${arch} gets its own archive`, { skip: WINDOWS && "it runs the program under each name" }, async () => {
    const program = programFor(platform, arch);
    const bytes = archive(program);
    const server = await serveFiles({ [program.archive]: bytes });
    const copy = unpacked({ [program.archive]: sumOf(bytes) });
    const { file } = await install({ platform, arch, folder: copy, env: { AIZO_DOWNLOAD_BASE: server.base } });
    assert.ok(fs.readFileSync(file).equals(fs.readFileSync(BINARY)));
    assert.ok(file.endsWith(path.join("native", ...program.member.slice("aizo-".length).split("/"))));
    await server.close();
  });
}

// --- The command -----------------------------------------------------------------------------------------------------

test("under npm the program takes the place of the command", { skip: WINDOWS }, async () => {
  const ended = await installing({ env: NPM });
  const command = path.join(ended.copy, "bin", "aizo");
  assert.ok(fs.readFileSync(command).equals(fs.readFileSync(BINARY)));
  assert.strictEqual(fs.statSync(command).ino, fs.statSync(ended.file).ino, "once on the disk");
  assert.strictEqual(fs.statSync(command).mode & 0o777, 0o755);
  const again = await installing({ env: NPM, copy: ended.copy });
  assert.strictEqual(again.code, 0, again.stderr);
  assert.deepStrictEqual(again.asked, [], "it is there and runs");
  assert.deepStrictEqual(fs.readdirSync(path.join(ended.copy, "bin")), ["aizo"]);
});

test("the file that npm unpacked is replaced, and not written into: a store may have linked it", { skip: WINDOWS }, async () => {
  const copy = unpacked({ [name]: sumOf(good) });
  const command = path.join(copy, "bin", "aizo");
  fs.linkSync(command, path.join(copy, "in the store"));
  await installing({ env: NPM, copy });
  assert.match(fs.readFileSync(path.join(copy, "in the store"), "utf8"), /run\.js/);
});

test("elsewhere the command stays a script: others start it with Node.js", async () => {
  for (const agent of ["pnpm/9.15.9 npm/? node/v20.20.2 linux x64", "yarn/1.22.22 npm/? node/v20.20.2 linux x64", "bun/1.3.0 npm/? node/v24.3.0 linux x64", undefined]) {
    const { copy, code } = await installing({ env: agent ? { npm_config_user_agent: agent } : {} });
    assert.strictEqual(code, 0);
    assert.match(fs.readFileSync(path.join(copy, "bin", "aizo"), "utf8"), /run\.js/);
  }
});

test("a folder of commands that cannot be written is no failure", { skip: WINDOWS || (process.getuid() === 0 && "root writes everywhere") }, async () => {
  const copy = unpacked({ [name]: sumOf(good) });
  fs.chmodSync(path.join(copy, "bin"), 0o555);
  const ended = await installing({ env: NPM, copy });
  fs.chmodSync(path.join(copy, "bin"), 0o755);
  assert.strictEqual(ended.code, 0, ended.stderr);
});

test("where files cannot be linked, the program is copied", { skip: WINDOWS }, async () => {
  const { copy, file } = await installing({});
  const { linkSync } = fs;
  fs.linkSync = () => {
    throw Object.assign(new Error("no links here"), { code: "EPERM" });
  };
  try {
    takeOver({ file }, copy);
  } finally {
    fs.linkSync = linkSync;
  }
  const command = path.join(copy, "bin", "aizo");
  assert.ok(fs.readFileSync(command).equals(fs.readFileSync(BINARY)));
  assert.strictEqual(fs.statSync(command).mode & 0o777, 0o755);
});

// --- No program, and no failure --------------------------------------------------------------------------------------

test("offline it ends well, and says what to do", async () => {
  const closed = await serve(() => {});
  await closed.close();
  oneLine(await installing({ env: { AIZO_DOWNLOAD_BASE: closed.base } }), /ECONNREFUSED.*next `aizo` tries again; AIZO_DOWNLOAD_BASE.*`cargo install aizo`/);
});

test("with npm offline nothing is asked", async () => {
  const ended = await installing({ env: { npm_config_offline: "true" } });
  oneLine(ended, /npm is offline/);
  assert.deepStrictEqual(ended.asked, []);
});

test("a release that is not there, a truncated body, and a redirect loop end well", async () => {
  oneLine(await installing({ files: {} }), /answers 404/);
  for (const [answer, what] of [
    [(request, response) => response.writeHead(200, { "Content-Length": good.length }).write(good.subarray(0, 100_000), () => response.destroy()), /aborted|ended too early/],
    [(request, response) => response.writeHead(302, { Location: request.url }).end(), /redirects more than 5 times/],
  ]) {
    const server = await serve(answer);
    oneLine(await installing({ env: { AIZO_DOWNLOAD_BASE: server.base } }), what);
    await server.close();
  }
});

test("on another machine it ends well, and says what to do", async () => {
  const fake = path.join(folder(), "fake.js");
  fs.writeFileSync(fake, `Object.defineProperty(process, "platform", { value: "freebsd" });`);
  const ended = await installing({ words: ["-r", fake] });
  oneLine(ended, /no program for freebsd \w+; build it with `cargo install aizo`/);
  assert.deepStrictEqual(ended.asked, []);
});

test("a checkout is no release, and says so", async () => {
  const ended = await installing({ sums: require("../checksums.json") });
  oneLine(ended, /no release and knows no checksums; build from source: `cargo install --path \.`/);
  assert.deepStrictEqual(ended.asked, []);
});

// --- What is wrong ---------------------------------------------------------------------------------------------------

test("a wrong checksum is refused, and not tried again", async () => {
  const ended = await installing({ sums: { [name]: "0".repeat(64) } });
  refused(ended, new RegExp(`SHA-256 is ${sumOf(good)} and not 0{64}`));
  assert.strictEqual(ended.asked.length, 1);
});

test("a page that stands in the place of the archive is refused", async () => {
  refused(await installing({ files: { [name]: Buffer.from("<html>log in to this network</html>") } }), /SHA-256/);
});

const hostile = {
  "a name that leads out of the folder": [{ name: `../${HERE.member}` }],
  "an absolute name": [{ name: `/${HERE.member}` }],
  "a link": [{ name: HERE.member, kind: "2", mode: 0o120777, link: "/bin/sh", content: Buffer.from("/bin/sh"), method: 0 }],
  "no program": [{ name: "README.md" }],
  "a huge size": [{ name: HERE.member, size: 0xfffffff0 }],
  "an empty program": [{ name: HERE.member }],
};
for (const [what, files] of Object.entries(hostile)) {
  test(`an archive with ${what} is refused, though its checksum is right`, async () => {
    const bytes = hostileArchive(files);
    const ended = await installing({ files: { [name]: bytes }, sums: { [name]: sumOf(bytes) } });
    refused(ended, /./);
    assert.ok(!fs.existsSync(path.join(path.dirname(ended.copy), HERE.member)));
  });
}

function hostileArchive(files) {
  const { tar, zip } = require("./archives.js");
  const evil = files.map((file) => ({ content: Buffer.alloc(0), ...file }));
  return name.endsWith(".zip") ? zip(evil) : require("zlib").gzipSync(tar(evil));
}

test("what is no archive is refused, though its checksum is right", async () => {
  const bytes = Buffer.from("no archive");
  refused(await installing({ files: { [name]: bytes }, sums: { [name]: sumOf(bytes) } }), /damaged|no zip/);
});

test("a program that does not run, or is of another version, is refused", { skip: WINDOWS }, async () => {
  for (const [script, what] of [["not a program", /says undefined/], ["#!/bin/sh\necho aizo 0.0.1\n", /says "aizo 0\.0\.1"/], ["#!/bin/sh\nexit 1\n", /says undefined/]]) {
    const bytes = packed(HERE, Buffer.from(script));
    refused(await installing({ files: { [name]: bytes }, sums: { [name]: sumOf(bytes) } }), what);
  }
});

test("a program in place that does not run is replaced; a wrong download leaves it", async () => {
  const { copy, file } = await installing({});
  fs.writeFileSync(file, "broken");
  const wrong = await installing({ copy, files: { [name]: Buffer.from("wrong") } });
  assert.strictEqual(wrong.code, 1);
  assert.strictEqual(fs.readFileSync(file, "utf8"), "broken");
  const repaired = await installing({ copy });
  assert.strictEqual(repaired.code, 0, repaired.stderr);
  assert.ok(fs.readFileSync(file).equals(fs.readFileSync(BINARY)));
});

// --- At once ---------------------------------------------------------------------------------------------------------

test("two installs at once both end well", async () => {
  const copy = unpacked({ [name]: sumOf(good) });
  const both = await Promise.all([installing({ copy, env: NPM }), installing({ copy, env: NPM })]);
  for (const ended of both) assert.strictEqual(ended.code, 0, ended.stderr);
  assert.ok(fs.readFileSync(both[0].file).equals(fs.readFileSync(BINARY)));
  assert.deepStrictEqual(fs.readdirSync(path.dirname(both[0].file)), [path.basename(both[0].file)]);
  assert.deepStrictEqual(fs.readdirSync(path.join(copy, "bin")), ["aizo"]);
});

test("a move that another program hinders for a moment is tried again, and is done where the same program is there", async () => {
  const { renameSync } = fs;
  const server = await serveFiles({ [name]: good });
  const env = { AIZO_DOWNLOAD_BASE: server.base };
  const hindered = (times) => {
    fs.renameSync = (from, to) => {
      if (times-- > 0) throw Object.assign(new Error("busy"), { code: "EBUSY" });
      renameSync(from, to);
    };
  };
  try {
    hindered(2);
    const copy = unpacked({ [name]: sumOf(good) });
    const { file } = await install({ folder: copy, env });
    assert.ok(fs.readFileSync(file).equals(fs.readFileSync(BINARY)));

    // Another install puts the same program there, which then runs and cannot be replaced.
    const other = unpacked({ [name]: sumOf(good) });
    const { file: there } = programFor(process.platform, process.arch, other);
    fs.renameSync = () => {
      fs.copyFileSync(BINARY, there);
      throw Object.assign(new Error("busy"), { code: "EPERM" });
    };
    await install({ folder: other, env });
    assert.deepStrictEqual(fs.readdirSync(path.dirname(there)), [path.basename(there)]);
  } finally {
    fs.renameSync = renameSync;
    await server.close();
  }
});
