"use strict";
// What the release workflow relies on, as far as a checkout can tell; actionlint looks at its syntax.

const assert = require("assert");
const fs = require("fs");
const path = require("path");
const test = require("node:test");
const zlib = require("zlib");
const { extract } = require("../archive.js");
const { BINARY, folder, HERE, PYTHON, realRelease, release, ROOT, run, sumOf, VERSION } = require("./support.js");

const text = (name) => fs.readFileSync(path.join(ROOT, name), "utf8").replace(/\r\n/g, "\n");
const workflow = text(".github/workflows/release.yml");
const archives = Object.keys(require("../checksums.json"));

test("the workflow builds the six targets that the package knows", () => {
  const built = [...workflow.matchAll(/- target: (\S+)/g)].map(([, triple]) => triple);
  const known = archives.map((name) => name.replace(/^aizo-|\.tar\.gz$|\.zip$/g, ""));
  assert.deepStrictEqual(built.sort(), known.sort());
});

test("the workflows call scripts that are there, and actions of a fixed commit", () => {
  for (const name of fs.readdirSync(path.join(ROOT, ".github/workflows"))) {
    const page = text(`.github/workflows/${name}`);
    for (const [, script] of page.matchAll(/(\.github\/scripts\/\w+)/g)) assert.ok(fs.existsSync(path.join(ROOT, script)), script);
    for (const [, action] of page.matchAll(/uses: (?!docker:)(.*)/g)) assert.match(action, /^[\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/);
  }
});

test("an archive has the program, its completions and pages, and the licences, in one folder", () => {
  const { archive, triple, member } = HERE;
  const bytes = fs.readFileSync(path.join(realRelease(), archive));
  const top = `aizo-${triple}`;
  assert.ok(extract(bytes, archive, member).equals(fs.readFileSync(BINARY)));
  for (const [name, source] of [["README.md", "README.md"], ["README.zh.md", "README.zh.md"], ["CHANGELOG.md", "docs/CHANGELOG.md"], ["LICENSE", "LICENSE"]]) {
    assert.ok(extract(bytes, archive, `${top}/${name}`).equals(fs.readFileSync(path.join(ROOT, source))), name);
  }
  const holds = (name, what) => assert.match(extract(bytes, archive, `${top}/${name}`).toString(), what, name);
  holds("completions/aizo.bash", /complete .*aizo/);
  holds("completions/_aizo", /#compdef aizo/);
  holds("completions/aizo.fish", /complete -c aizo/);
  holds("completions/_aizo.ps1", /Register-ArgumentCompleter/);
  holds("completions/aizo.elv", /edit:completion/);
  holds("man/man1/aizo.1", /\.TH aizo 1/);
  holds("man/man1/aizo-recall.1", /\.TH aizo-recall 1/);
  holds("licenses/crates.txt", /./);
});

test("the same files make the same archive, and nothing in it says who packed it", () => {
  for (const triple of [HERE.triple, "aarch64-pc-windows-msvc"]) {
    const [first, second] = [realRelease(triple), release(triple)].map((dist) => {
      const [archive] = fs.readdirSync(dist).filter((name) => name.startsWith("aizo-"));
      return fs.readFileSync(path.join(dist, archive));
    });
    assert.strictEqual(sumOf(first), sumOf(second), triple);
    if (triple.includes("linux")) {
      const tar = zlib.gunzipSync(first);
      assert.deepStrictEqual([108, 116, 265, 297].map((at) => tar.toString("latin1", at, at + 8).replace(/[0\0]/g, "")), ["", "", "", ""]);
    }
  }
});

test("a program of another version is not packed", { skip: process.platform === "win32" }, async () => {
  const at = folder();
  const fake = path.join(at, "aizo");
  fs.writeFileSync(fake, "#!/bin/sh\necho aizo 0.9.8\n", { mode: 0o755 });
  const ended = await run(PYTHON, [path.join(ROOT, ".github/scripts/archive"), HERE.triple, fake, at, path.join(at, "dist")], {});
  assert.strictEqual(ended.code, 1);
  assert.match(ended.stderr, new RegExp(`says 'aizo 0\\.9\\.8', and Cargo\\.toml ${VERSION}`));
  assert.ok(!fs.existsSync(path.join(at, "dist")));
});

test("the text of a release is what the changelog says of its version", async () => {
  const { code, stdout } = await run(PYTHON, [path.join(ROOT, ".github/scripts/changes")], {});
  assert.strictEqual(code, 0);
  assert.ok(text("docs/CHANGELOG.md").includes(stdout.trim()));
  assert.ok(stdout.length > 200 && !/^## /m.test(stdout));
});

test("both READMEs install what a release has", () => {
  const address = "https://github.com/mmmarcinho/aizo/releases/latest/download/install.sh";
  for (const name of ["README.md", "README.zh.md"]) {
    const page = text(name);
    for (const line of ["npm install -g aizo", `curl -fsSL ${address} | sh`, "cargo install aizo"]) assert.ok(page.includes(`\n${line} `), `${name}: ${line}`);
  }
  assert.match(workflow, /cp install\.sh dist\//);
  assert.match(text("Cargo.toml"), /repository = "https:\/\/github\.com\/mmmarcinho\/aizo"/);
});
