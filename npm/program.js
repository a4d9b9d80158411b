"use strict";
// Which of the six programs this machine runs, and where it lies. Every start reads this file, so it stays small.

const path = require("path");

const TRIPLES = {
  "linux x64": "x86_64-unknown-linux-musl",
  "linux arm64": "aarch64-unknown-linux-musl",
  "darwin x64": "x86_64-apple-darwin",
  "darwin arm64": "aarch64-apple-darwin",
  "win32 x64": "x86_64-pc-windows-msvc",
  "win32 arm64": "aarch64-pc-windows-msvc",
};

/** The program for a platform: its archive, its place in there, and its place in this folder. None where there is no such program. */
function programFor(platform, arch, folder = __dirname) {
  const triple = TRIPLES[`${platform} ${arch}`];
  if (!triple) return undefined;
  const windows = platform === "win32";
  const name = windows ? "aizo.exe" : "aizo";
  return {
    triple,
    archive: `aizo-${triple}.${windows ? "zip" : "tar.gz"}`,
    member: `aizo-${triple}/${name}`,
    file: path.join(folder, "native", triple, name),
  };
}

module.exports = { programFor };
