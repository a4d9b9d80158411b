"use strict";
// install.sh at the top of the repository, against a server with the archives of a release.

const assert = require("assert");
const { execFileSync } = require("child_process");
const fs = require("fs");
const https = require("https");
const path = require("path");
const test = require("node:test");
const zlib = require("zlib");
const { programFor } = require("../program.js");
const { tar } = require("./archives.js");
const { certificate } = require("./certificate.js");
const { archive, BINARY, environment, folder, HERE, packed, realRelease, ROOT, run, serve, serveFiles, sumOf, VERSION, WINDOWS } = require("./support.js");

const SCRIPT = path.join(ROOT, "install.sh");
const POSIX = { skip: WINDOWS && "it is for Linux and macOS" };
const TOOLS = ["sh", "uname", "mktemp", "tar", "gzip", "awk", "cut", "cp", "chmod", "mv", "mkdir", "rm", "cat", "curl", "sha256sum", "shasum"];

const where = (tool) => process.env.PATH.split(path.delimiter).map((at) => path.join(at, tool)).find((file) => fs.existsSync(file));
const shells = WINDOWS ? [] : ["sh", "dash", "bash", "busybox", "zsh"].filter(where);

/** A folder with only these tools, and scripts in the place of others. */
function tools(names, fakes = {}) {
  const at = folder();
  for (const name of names) if (where(name)) fs.symlinkSync(where(name), path.join(at, name));
  for (const [name, text] of Object.entries(fakes)) {
    fs.rmSync(path.join(at, name), { force: true });
    fs.writeFileSync(path.join(at, name), `#!/bin/sh\n${text}\n`, { mode: 0o755 });
  }
  return at;
}

/** The files of a release with one archive, and its sum. */
function release(bytes = archive(), name = HERE.archive, sum = sumOf(bytes)) {
  return { [name]: bytes, SHA256SUMS: Buffer.from(`${"0".repeat(64)}  another.tar.gz\n${sum}  ${name}\n`) };
}

/** Runs the script in an empty home whose path has a space. */
async function installing(words, { files = release(), bin = process.env.PATH, shell = ["sh"], home = folder(), more = {} } = {}) {
  const server = await serveFiles(files);
  const env = environment(home, { AIZO_DOWNLOAD_BASE: server.base, TMPDIR: folder(), PATH: bin, ...more });
  const ended = await run(where(shell[0]), [...shell.slice(1), SCRIPT, ...words], { env, cwd: home });
  await server.close();
  const left = fs.readdirSync(env.TMPDIR);
  assert.deepStrictEqual(left, [], "no file is left in the temporary folder");
  return { home, asked: server.asked, ...ended };
}

/** It failed, said why, and put nothing anywhere. */
function refused(ended, why) {
  assert.notStrictEqual(ended.code, 0);
  assert.match(ended.stderr, why);
  assert.strictEqual(ended.stdout, "");
  assert.deepStrictEqual(fs.readdirSync(ended.home), []);
}

for (const shell of shells) {
  test(`${shell}: the program is in ~/.local/bin, and what to put on PATH is said`, async () => {
    const ended = await installing([], { shell: shell === "busybox" ? ["busybox", "sh"] : [shell] });
    const bin = path.join(ended.home, ".local", "bin");
    assert.deepStrictEqual([ended.code, ended.stdout], [0, ""], ended.stderr);
    assert.strictEqual(ended.stderr, `aizo ${VERSION} is in ${bin}\nput it on PATH: export PATH="${bin}:$PATH"\n`);
    assert.deepStrictEqual(fs.readdirSync(bin), ["aizo"]);
    assert.ok(fs.readFileSync(path.join(bin, "aizo")).equals(fs.readFileSync(BINARY)));
    assert.strictEqual(fs.statSync(path.join(bin, "aizo")).mode & 0o777, 0o755);
    assert.deepStrictEqual(ended.asked, [`/v${VERSION}/SHA256SUMS`, `/v${VERSION}/${HERE.archive}`]);
  });
}

test("the archive of a release is installed", POSIX, async () => {
  const bytes = fs.readFileSync(path.join(realRelease(), HERE.archive));
  const ended = await installing(["--to", "here"], { files: release(bytes) });
  assert.strictEqual(ended.code, 0, ended.stderr);
  assert.strictEqual(execFileSync(path.join(ended.home, "here", "aizo"), ["--version"], { encoding: "utf8" }), `aizo ${VERSION}\n`);
});

test("--to names a folder, made where it is missing; a program there is replaced, also while it runs", POSIX, async () => {
  for (const to of ["a b/c", "-d", "$(touch evil)"]) {
    const home = folder();
    const first = await installing(["--to", to], { home });
    assert.strictEqual(first.code, 0, first.stderr);
    const program = path.join(home, to, "aizo");
    const running = run(program, ["mcp"], { env: environment(home), cwd: home, during: (child) => setTimeout(() => child.kill(), 3000) });
    const second = await installing(["--to", path.join(home, to)], { home, more: { PATH: `${path.join(home, to)}:${process.env.PATH}` } });
    assert.deepStrictEqual([second.code, second.stderr], [0, `aizo ${VERSION} is in ${path.join(home, to)}\n`]);
    assert.deepStrictEqual(fs.readdirSync(path.dirname(program)), ["aizo"]);
    assert.ok(!fs.existsSync(path.join(home, "evil")));
    await running;
  }
});

test("the script is piped into a shell, and does nothing when it was cut off", POSIX, async () => {
  const text = fs.readFileSync(SCRIPT, "utf8");
  const server = await serveFiles(release());
  const piped = async (input) => {
    const home = folder();
    const ended = await run("sh", ["-s", "--", "--to", "here"], { env: environment(home, { AIZO_DOWNLOAD_BASE: server.base }), cwd: home, input });
    return [ended.code, fs.readdirSync(home).length];
  };
  assert.deepStrictEqual(await piped(text), [0, 1]);
  for (const share of [0.2, 0.5, 0.8, 0.95, 0.99]) {
    const [, files] = await piped(text.slice(0, Math.floor(text.length * share)));
    assert.strictEqual(files, 0, `${share}`);
  }
  await server.close();
});

test("wrong usage is told", POSIX, async () => {
  refused(await installing(["--nonsense"]), /--nonsense is not known/);
  refused(await installing(["--to"]), /--to wants a value/);
  refused(await installing(["--version", ""]), /--version wants a value/);
  const help = await installing(["--help"]);
  assert.strictEqual(help.code, 0);
  assert.match(help.stdout, /--to DIR/);
  refused(await installing([], { more: { HOME: "" } }), /no HOME: name a folder with --to/);
});

test("another version may be asked for, and is what is then expected", POSIX, async () => {
  for (const version of ["0.9.8", "v0.9.8"]) {
    const ended = await installing(["--version", version]);
    assert.strictEqual(ended.asked[0], "/v0.9.8/SHA256SUMS");
    assert.match(ended.stderr, /says "aizo 2\.\d+\.\d+" and not "aizo 0\.9\.8"/);
    assert.deepStrictEqual(fs.readdirSync(path.join(ended.home, ".local", "bin")), []);
  }
});

test("a wrong checksum, and a missing one, are refused", POSIX, async () => {
  refused(await installing([], { files: release(undefined, undefined, "1".repeat(64)) }), /is not used: its SHA-256 is [0-9a-f]{64} and not 1{64}/);
  refused(await installing([], { files: { ...release(), SHA256SUMS: Buffer.from("<html></html>") } }), /has no sum for/);
  refused(await installing([], { files: { ...release(), [HERE.archive]: Buffer.from("<html></html>") } }), /is not used/);
});

test("what is not there is told, with what to do", POSIX, async () => {
  refused(await installing([], { files: {} }), /could not be downloaded; AIZO_DOWNLOAD_BASE.*cargo install aizo/);
  const closed = await serve(() => {});
  await closed.close();
  const fast = { AIZO_DOWNLOAD_BASE: closed.base };
  refused(await installing([], { more: fast }), /could not be downloaded/);
});

test("a hostile archive is refused, though its checksum is right", POSIX, async () => {
  const top = `aizo-${HERE.triple}`;
  for (const [files, why] of [
    [[{ name: `../${top}/aizo`, content: Buffer.from("evil") }], /has no program/],
    [[{ name: `${top}/aizo`, kind: "2", link: "/bin/sh" }], /has no program/],
    [[{ name: `${top}/aizo/x`, content: Buffer.from("evil") }], /has no program/],
    [[{ name: "README.md" }], /has no program/],
  ]) {
    refused(await installing([], { files: release(zlib.gzipSync(tar(files))) }), why);
  }
});

test("a program that does not run is not put there", POSIX, async () => {
  const bytes = packed(HERE, Buffer.from("#!/bin/sh\nexit 1\n"));
  const ended = await installing(["--to", "here"], { files: release(bytes) });
  assert.notStrictEqual(ended.code, 0);
  assert.match(ended.stderr, /does not run here/);
  assert.deepStrictEqual(fs.readdirSync(path.join(ended.home, "here")), []);
});

test("a folder of the program's name is left alone", POSIX, async () => {
  const home = folder();
  fs.mkdirSync(path.join(home, "here", "aizo"), { recursive: true });
  const ended = await installing(["--to", "here"], { home });
  assert.match(ended.stderr, /aizo is a folder/);
  assert.deepStrictEqual(fs.readdirSync(path.join(home, "here", "aizo")), []);
});

const MACHINES = [
  ["Linux", "x86_64", "linux", "x64"],
  ["Linux", "amd64", "linux", "x64"],
  ["Linux", "aarch64", "linux", "arm64"],
  ["Darwin", "arm64", "darwin", "arm64"],
  ["Darwin", "x86_64", "darwin", "x64"],
];
for (const [system, machine, platform, arch] of MACHINES) {
  test(`${system} ${machine} gets its own archive`, POSIX, async () => {
    const program = programFor(platform, arch);
    const uname = `case $1 in -s) echo ${system} ;; -m) echo ${machine} ;; esac`;
    const bin = tools(TOOLS, { uname, sysctl: "exit 1" });
    const ended = await installing([], { bin, files: release(archive(program), program.archive) });
    assert.strictEqual(ended.code, 0, ended.stderr);
  });
}

test("a shell under Rosetta gets the program of the chip", POSIX, async () => {
  const bin = tools(TOOLS, { uname: "case $1 in -s) echo Darwin ;; -m) echo x86_64 ;; esac", sysctl: "echo 1" });
  const ended = await installing([], { bin, files: {} });
  assert.match(ended.stderr, /could not be downloaded/);
  const program = programFor("darwin", "arm64");
  assert.strictEqual((await installing([], { bin, files: release(archive(program), program.archive) })).code, 0);
});

test("other machines are told what to do", POSIX, async () => {
  for (const [system, machine, why] of [["Linux", "riscv64", /cargo install aizo/], ["FreeBSD", "amd64", /cargo install aizo/], ["MINGW64_NT-10.0", "x86_64", /npm install -g aizo/]]) {
    const bin = tools(TOOLS, { uname: `case $1 in -s) echo ${system} ;; -m) echo ${machine} ;; esac` });
    const ended = await installing([], { bin });
    refused(ended, why);
    assert.deepStrictEqual(ended.asked, []);
  }
});

test("wget does where curl is missing, shasum and openssl where sha256sum is, and without any nothing is trusted", POSIX, async () => {
  const without = (...gone) => TOOLS.filter((tool) => !gone.includes(tool));
  const sums = ["sha256sum", "shasum"];
  if (where("wget")) assert.strictEqual((await installing([], { bin: tools([...without("curl"), "wget"]) })).code, 0);
  refused(await installing([], { bin: tools(without("curl")) }), /neither curl nor wget/);
  if (where("shasum")) assert.strictEqual((await installing([], { bin: tools([...without("sha256sum"), "perl", "env"]) })).code, 0);
  if (where("openssl")) assert.strictEqual((await installing([], { bin: tools([...without(...sums), "openssl"]) })).code, 0);
  refused(await installing([], { bin: tools(without(...sums)) }), /cannot be verified/);
});

test("https is not redirected to http, neither by curl nor by wget", POSIX, async () => {
  const secure = certificate();
  const at = folder();
  fs.writeFileSync(path.join(at, "ca.pem"), secure.cert);
  fs.writeFileSync(path.join(at, "wgetrc"), `ca_certificate = ${path.join(at, "ca.pem")}\n`);
  const files = release();
  const plain = await serveFiles(files);
  const redirect = (base) => (request, response) => response.writeHead(302, { Location: `${base}${request.url}` }).end();
  const trusted = await serve((request, response) => response.end(files[path.posix.basename(request.url)]), https.createServer(secure));
  const secured = (server) => server.base.replace("http:", "https:");
  const near = await serve(redirect(secured(trusted)), https.createServer(secure));
  const evil = await serve(redirect(plain.base), https.createServer(secure));
  for (const tool of ["curl", "wget"].filter(where)) {
    const bin = tools([...TOOLS.filter((name) => name !== "curl"), tool]);
    const through = (server) => ({ bin, more: { AIZO_DOWNLOAD_BASE: secured(server), CURL_CA_BUNDLE: path.join(at, "ca.pem"), WGETRC: path.join(at, "wgetrc") } });
    const ended = await installing([], through(near));
    assert.strictEqual(ended.code, 0, `${tool}: ${ended.stderr}`);
    refused(await installing([], through(evil)), tool === "curl" ? /could not be downloaded/ : /redirected to http/);
  }
  for (const server of [plain, trusted, near, evil]) await server.close();
  refused(await installing([], { more: { AIZO_DOWNLOAD_BASE: "http://mirror.example" } }), /only https is, and http on this machine/);
  refused(await installing([], { more: { AIZO_DOWNLOAD_BASE: "http://127.0.0.1.mirror.example" } }), /only https is/);
});

test("shellcheck finds nothing", { skip: WINDOWS || !where("shellcheck") ? "shellcheck is not here" : false }, () => {
  execFileSync("shellcheck", ["-s", "sh", SCRIPT], { encoding: "utf8" });
  execFileSync("shellcheck", [path.join(ROOT, ".ci", "run")], { encoding: "utf8" });
});
