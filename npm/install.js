"use strict";
// Brings the program of this version to its place: downloads its archive, compares it with the checksum in this package,
// takes the program out, tries it, and moves it in one step. npm runs this after an install, run.js at the first use.

const { execFileSync } = require("child_process");
const { createHash, randomBytes } = require("crypto");
const fs = require("fs");
const path = require("path");
const { extract, BadArchive } = require("./archive.js");
const { download, DownloadError } = require("./download.js");
const { programFor } = require("./program.js");

const RELEASES = "https://github.com/mmmarcinho/aizo/releases/download";
const FROM_SOURCE = "build it with `cargo install aizo`";

/** Why there is no program. What is `refused` was there and is wrong, which must not go by unnoticed. */
class NoProgram extends Error {
  constructor(message, hint, refused = false) {
    super(message);
    this.hint = hint;
    this.refused = refused;
  }
}

/** Installs the program, unless it is there and runs. */
async function install({ platform = process.platform, arch = process.arch, folder = __dirname, env = process.env, limits } = {}) {
  const { version } = read(folder, "package.json");
  const program = programFor(platform, arch, folder);
  if (!program) throw new NoProgram(`there is no program for ${platform} ${arch}`, FROM_SOURCE);
  if (versionOf(program.file) === `aizo ${version}`) return program;

  const sum = read(folder, "checksums.json")[program.archive];
  if (!sum) {
    throw new NoProgram("this copy of the package is no release and knows no checksums", "build from source: `cargo install --path .`");
  }
  if (env.npm_config_offline === "true") throw new NoProgram("npm is offline", "the next `aizo` downloads the program");
  const base = (env.AIZO_DOWNLOAD_BASE || RELEASES).replace(/\/+$/, "");
  const archive = await get(`${base}/v${version}/${program.archive}`, { env, limits, agent: `aizo/${version} (npm)` });
  const actual = createHash("sha256").update(archive).digest("hex");
  if (actual !== sum) throw refused(program, `its SHA-256 is ${actual} and not ${sum}`);
  try {
    place(extract(archive, program.archive, program.member), program.file, version);
  } catch (error) {
    throw error instanceof BadArchive ? refused(program, error.message) : error;
  }
  return program;
}

const read = (folder, name) => JSON.parse(fs.readFileSync(path.join(folder, name), "utf8"));

const refused = ({ archive }, why) =>
  new NoProgram(`${archive} was downloaded and is not used: ${why}`, `try again, or ${FROM_SOURCE}`, true);

async function get(address, options) {
  try {
    return await download(address, options);
  } catch (error) {
    if (!(error instanceof DownloadError)) throw error;
    const hint = `the next \`aizo\` tries again; AIZO_DOWNLOAD_BASE names a mirror; or ${FROM_SOURCE}`;
    throw new NoProgram(`the program could not be downloaded (${error.message})`, hint);
  }
}

/** What a program says to `--version`; nothing where it does not run. */
function versionOf(file) {
  try {
    return execFileSync(file, ["--version"], { encoding: "utf8", timeout: 30_000, stdio: ["ignore", "pipe", "ignore"] }).trim();
  } catch {
    return undefined;
  }
}

/** Writes the program beside its place, tries it there, and moves it. Whoever else does the same moves the same bytes. */
function place(bytes, file, version) {
  fs.mkdirSync(path.dirname(file), { recursive: true });
  const room = fs.mkdtempSync(path.join(path.dirname(file), ".new-"));
  try {
    const fresh = path.join(room, path.basename(file));
    const handle = fs.openSync(fresh, "wx", 0o755);
    fs.writeFileSync(handle, bytes);
    fs.fchmodSync(handle, 0o755);
    fs.fsyncSync(handle);
    fs.closeSync(handle);
    const says = versionOf(fresh);
    if (says !== `aizo ${version}`) throw new BadArchive(`to --version it says ${JSON.stringify(says)} and not "aizo ${version}"`);
    move(fresh, file);
  } finally {
    fs.rmSync(room, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** Moves a file in one step. On Windows a scanner may hold it for a moment; and a program that runs cannot be replaced, which
 * is well where it is the same one, of another install. */
function move(from, to) {
  for (let tries = 20; ; tries--) {
    try {
      return fs.renameSync(from, to);
    } catch (error) {
      if (!["EPERM", "EACCES", "EBUSY"].includes(error.code) || tries === 0) throw error;
      if (fs.existsSync(to) && fs.readFileSync(to).equals(fs.readFileSync(from))) return undefined;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 100);
    }
  }
}

/** Puts the program in the place of `bin/aizo`, which the command links to, so that no Node.js starts before it. */
function takeOver(program, folder = __dirname) {
  const command = path.join(folder, "bin", "aizo");
  const beside = `${command}.${randomBytes(6).toString("hex")}`;
  try {
    try {
      fs.linkSync(program.file, beside);
    } catch {
      fs.copyFileSync(program.file, beside);
    }
    fs.renameSync(beside, command);
  } catch {
    // It works without, by way of run.js.
  } finally {
    fs.rmSync(beside, { force: true });
  }
}

async function main() {
  try {
    const program = await install();
    // npm links the command to bin/aizo. Others, and npm on Windows, write a script that starts it with Node.js.
    if (process.platform !== "win32" && /^npm\//.test(process.env.npm_config_user_agent || "")) takeOver(program);
  } catch (error) {
    console.error(`aizo: ${error.message}${error.hint ? `; ${error.hint}` : ""}`);
    process.exitCode = error instanceof NoProgram && !error.refused ? 0 : 1;
  }
}

if (require.main === module) main();

module.exports = { install, takeOver };
