"use strict";

const assert = require("assert");
const { execFileSync } = require("child_process");
const fs = require("fs");
const path = require("path");
const test = require("node:test");
const {
  BINARY, environment, folder, HERE, npm, PACKAGE, programsIn, PYTHON, realRelease, ROOT, run, serveFiles, sumOf, unpacked, VERSION, WINDOWS,
} = require("./support.js");

const QUIET = { npm_config_audit: "false", npm_config_fund: "false", npm_config_update_notifier: "false" };
const scripts = path.join(ROOT, ".github/scripts");

/** A copy of the package's sources whose checksums are those of the archives in a folder. */
function releasing(dist) {
  const sources = path.join(folder(), "npm");
  fs.cpSync ? fs.cpSync(PACKAGE, sources, { recursive: true }) : execFileSync("cp", ["-R", PACKAGE, sources]);
  execFileSync(PYTHON, [path.join(scripts, "checksums"), dist, "--npm", sources, "--some"]);
  return sources;
}

/** What a person has after `npm install ./aizo-x.tgz` in an empty project. */
async function installed({ more = {}, words = [], served = true } = {}) {
  const dist = realRelease();
  const bytes = fs.readFileSync(path.join(dist, HERE.archive));
  const server = await serveFiles(served ? { [HERE.archive]: bytes } : {});
  const home = folder();
  const env = environment(home, { ...QUIET, npm_config_cache: path.join(home, "cache"), AIZO_DOWNLOAD_BASE: server.base, ...more });
  const packing = await npm(["pack", "--json", "--pack-destination", home.includes(" ") && WINDOWS ? `"${home}"` : home], { env, cwd: releasing(dist) });
  assert.strictEqual(packing.code, 0, packing.stderr);
  const tarball = `aizo-${VERSION}.tgz`;
  assert.ok(fs.existsSync(path.join(home, tarball)));
  const project = path.join(home, "an empty project");
  fs.mkdirSync(project);
  fs.copyFileSync(path.join(home, tarball), path.join(project, tarball));
  const ended = await npm(["install", ...words, `./${tarball}`], { env, cwd: project });
  const copy = path.join(project, "node_modules", "aizo");
  return { ...ended, copy, env, project, server };
}

const aizo = ({ env, project }, ...words) => run(WINDOWS ? "npx.cmd" : "npx", ["aizo", ...words], { env, cwd: project, shell: WINDOWS });

test("npm install ./aizo-x.tgz into an empty project, and npx aizo recall --json", async () => {
  const here = await installed({ words: ["--foreground-scripts"] });
  assert.strictEqual(here.code, 0, here.stderr);
  const added = await aizo(here, "add", "tabs", "because", "--json");
  assert.strictEqual(added.code, 0, added.stderr);
  const found = await aizo(here, "recall", "--json");
  assert.strictEqual(found.code, 0, found.stderr);
  assert.deepStrictEqual(JSON.parse(found.stdout).map((entry) => entry.item), ["tabs"]);
  assert.strictEqual((await aizo(here, "check", "--command", "true")).code, 0);
  assert.strictEqual((await aizo(here, "nonsense")).code, 2);
  assert.strictEqual(here.server.asked.length, 1);
  if (!WINDOWS) {
    const command = path.join(here.project, "node_modules", ".bin", "aizo");
    assert.ok(fs.readFileSync(command).equals(fs.readFileSync(BINARY)), "the command is the program itself");
    const removed = await npm(["uninstall", "aizo"], { env: here.env, cwd: here.project });
    assert.strictEqual(removed.code, 0, removed.stderr);
    assert.ok(!fs.existsSync(command) && !fs.existsSync(here.copy), "nothing stays behind");
  }
  await here.server.close();
});

test("npm install --ignore-scripts succeeds, and npx aizo fetches the program", async () => {
  const here = await installed({ words: ["--ignore-scripts"] });
  assert.strictEqual(here.code, 0, here.stderr);
  assert.deepStrictEqual([here.server.asked, programsIn(here.copy)], [[], []]);
  for (const stderr of [/^aizo: fetching the program, once\n/, /^nothing is stored/]) {
    const found = await aizo(here, "recall", "--json");
    assert.deepStrictEqual([found.code, found.stdout], [0, "[]\n"], found.stderr);
    assert.match(found.stderr, stderr);
  }
  assert.strictEqual(here.server.asked.length, 1);
  await here.server.close();
});

test("npm install without the release succeeds, and npx aizo says what to do", async () => {
  const here = await installed({ served: false, words: ["--foreground-scripts"] });
  assert.strictEqual(here.code, 0, here.stderr);
  assert.match(here.stdout + here.stderr, /aizo: the program could not be downloaded \([^\n]*answers 404\)/);
  const found = await aizo(here, "recall", "--json");
  assert.deepStrictEqual([found.code, found.stdout], [1, ""]);
  assert.match(found.stderr, /cargo install aizo/);
  await here.server.close();
});

test("npm install fails on a wrong checksum, and leaves nothing", async () => {
  const dist = realRelease();
  const sources = releasing(dist);
  const home = folder();
  const server = await serveFiles({ [HERE.archive]: Buffer.from("something else") });
  const env = environment(home, { ...QUIET, npm_config_cache: path.join(home, "cache"), AIZO_DOWNLOAD_BASE: server.base });
  await npm(["pack"], { env, cwd: sources });
  fs.renameSync(path.join(sources, `aizo-${VERSION}.tgz`), path.join(home, `aizo-${VERSION}.tgz`));
  const ended = await npm(["install", "--foreground-scripts", `./aizo-${VERSION}.tgz`], { env, cwd: home });
  assert.notStrictEqual(ended.code, 0);
  assert.match(ended.stdout + ended.stderr, /is not used: its SHA-256/);
  assert.ok(!fs.existsSync(path.join(home, "node_modules", "aizo")));
  await server.close();
});

test("the package holds what it needs and nothing else", async () => {
  const home = folder();
  const env = environment(home, { ...QUIET, npm_config_cache: path.join(home, "cache") });
  const { stdout, stderr, code } = await npm(["pack", "--dry-run", "--json"], { env, cwd: PACKAGE });
  assert.strictEqual(code, 0, stderr);
  const [{ files, size }] = [].concat(Object.values(JSON.parse(stdout)));
  const { files: named } = require("../package.json");
  assert.deepStrictEqual(files.map((file) => file.path).sort(), [...named, "LICENSE", "README.md", "package.json"].sort());
  assert.strictEqual(files.find((file) => file.path === "bin/aizo").mode & 0o111, WINDOWS ? 0 : 0o111);
  assert.ok(size < 20_000, `${size}`);
  const manifest = require("../package.json");
  for (const kind of ["dependencies", "optionalDependencies", "peerDependencies", "bundledDependencies"]) assert.strictEqual(manifest[kind], undefined);
});

test("every file that the program of the package asks for is in it", () => {
  const copy = unpacked({});
  for (const name of ["run.js", "install.js", "bin/aizo"]) {
    const source = fs.readFileSync(path.join(copy, name), "utf8");
    for (const [, wanted] of source.matchAll(/require\("(\.[^"]*)"\)/g)) assert.ok(fs.existsSync(path.join(copy, path.dirname(name), wanted)), wanted);
  }
});

test("the licence is that of the repository", () => {
  assert.strictEqual(fs.readFileSync(path.join(PACKAGE, "LICENSE"), "utf8"), fs.readFileSync(path.join(ROOT, "LICENSE"), "utf8"));
});

// --- Versions --------------------------------------------------------------------------------------------------------

const NAMING = ["Cargo.toml", "Cargo.lock", "npm/package.json", "npm/checksums.json", "README.md", "README.zh.md", "docs/CHANGELOG.md", "install.sh"];

/** What the script says of a checkout. */
function versions(...words) {
  return run(PYTHON, [path.join(scripts, "versions"), ...words], {});
}

test("every place names the same version", async () => {
  const { code, stdout, stderr } = await versions();
  assert.deepStrictEqual([code, stdout, stderr], [0, `${VERSION}\n`, ""]);
  const { stdout: said } = await run(BINARY, ["--version"], {});
  assert.strictEqual(said, `aizo ${VERSION}\n`);
});

test("a place that names another one is found", async () => {
  for (const changed of NAMING.filter((name) => name !== "npm/checksums.json")) {
    const root = folder();
    for (const name of NAMING) {
      fs.mkdirSync(path.join(root, path.dirname(name)), { recursive: true });
      let text = fs.readFileSync(path.join(ROOT, name), "utf8");
      if (name === changed) text = text.split(VERSION).join("0.9.8");
      fs.writeFileSync(path.join(root, name), text);
    }
    const { code, stderr } = await versions("--root", root);
    assert.strictEqual(code, 1, changed);
    assert.ok(changed === "Cargo.toml" || stderr.startsWith(`${changed} says 0.9.8`), stderr);
  }
});

test("a tag must be that of the version, and a release knows its checksums", async () => {
  assert.strictEqual((await versions("--tag", `v${VERSION}`)).code, 0);
  assert.strictEqual((await versions("--tag", "v0.9.8")).code, 1);
  const { code, stderr } = await versions("--released");
  assert.strictEqual(code, 1);
  assert.strictEqual(stderr.match(/has no checksum of/g).length, 6);
});

test("a checkout cannot be published", async () => {
  const home = folder();
  const env = environment(home, { ...QUIET, npm_config_cache: path.join(home, "cache"), npm_config_registry: "http://127.0.0.1:9" });
  const { code, stderr } = await npm(["publish", "--dry-run"], { env, cwd: PACKAGE });
  assert.notStrictEqual(code, 0);
  assert.match(stderr, /has no checksum of/);
});

test("the checksums are written for the release and the package alike", async () => {
  const dist = folder();
  const sources = path.join(folder(), "npm");
  fs.mkdirSync(sources);
  fs.copyFileSync(path.join(PACKAGE, "checksums.json"), path.join(sources, "checksums.json"));
  const checksums = (...words) => run(PYTHON, [path.join(scripts, "checksums"), dist, "--npm", sources, ...words], {});
  const names = Object.keys(require("../checksums.json"));
  for (const name of names.slice(1)) fs.writeFileSync(path.join(dist, name), name);
  const incomplete = await checksums();
  assert.strictEqual(incomplete.code, 1);
  assert.match(incomplete.stderr, new RegExp(`missing: ${names[0]}`));
  fs.writeFileSync(path.join(dist, names[0]), names[0]);
  assert.strictEqual((await checksums()).code, 0);
  const expected = Object.fromEntries(names.map((name) => [name, sumOf(name)]));
  assert.deepStrictEqual(JSON.parse(fs.readFileSync(path.join(sources, "checksums.json"), "utf8")), expected);
  const lines = fs.readFileSync(path.join(dist, "SHA256SUMS"), "utf8");
  assert.strictEqual(lines, names.map((name) => `${sumOf(name)}  ${name}\n`).join(""));
  if (process.platform === "linux") execFileSync("sha256sum", ["--check", "--quiet", "SHA256SUMS"], { cwd: dist });
  fs.writeFileSync(path.join(dist, "aizo-another.zip"), "");
  assert.match((await checksums()).stderr, /no archive of a release: aizo-another\.zip/);
});
