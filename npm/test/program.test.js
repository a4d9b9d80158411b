"use strict";

const assert = require("assert");
const path = require("path");
const test = require("node:test");
const { programFor } = require("../program.js");

const SIX = [
  ["linux", "x64", "x86_64-unknown-linux-musl", "tar.gz", "aizo"],
  ["linux", "arm64", "aarch64-unknown-linux-musl", "tar.gz", "aizo"],
  ["darwin", "x64", "x86_64-apple-darwin", "tar.gz", "aizo"],
  ["darwin", "arm64", "aarch64-apple-darwin", "tar.gz", "aizo"],
  ["win32", "x64", "x86_64-pc-windows-msvc", "zip", "aizo.exe"],
  ["win32", "arm64", "aarch64-pc-windows-msvc", "zip", "aizo.exe"],
];

for (const [platform, arch, triple, ending, name] of SIX) {
  test(`${platform} ${arch} runs ${triple}`, () => {
    assert.deepStrictEqual(programFor(platform, arch, "here"), {
      triple,
      archive: `aizo-${triple}.${ending}`,
      member: `aizo-${triple}/${name}`,
      file: path.join("here", "native", triple, name),
    });
  });
}

test("the checksums are those of the six archives and no other", () => {
  const archives = SIX.map(([platform, arch]) => programFor(platform, arch).archive);
  assert.deepStrictEqual(Object.keys(require("../checksums.json")).sort(), archives.sort());
});

test("other machines have no program", () => {
  for (const [platform, arch] of [["freebsd", "x64"], ["linux", "ia32"], ["linux", "riscv64"], ["android", "arm64"], ["win32", "ia32"]]) {
    assert.strictEqual(programFor(platform, arch), undefined);
  }
});
