"use strict";

const assert = require("assert");
const { execFileSync } = require("child_process");
const fs = require("fs");
const path = require("path");
const test = require("node:test");
const zlib = require("zlib");
const { extract, BadArchive } = require("../archive.js");
const { tar, zip } = require("./archives.js");
const { filesBelow, folder, HERE, realRelease, BINARY } = require("./support.js");

const content = Buffer.from("the program ".repeat(1000));
const good = { name: "a/aizo", content };
const other = { name: "a/README.md", content: Buffer.from("x") };
const gz = (files) => zlib.gzipSync(tar(files));
const kinds = [
  ["tar.gz", "aizo.tar.gz", gz],
  ["zip", "aizo.zip", zip],
];

for (const [kind, name, write] of kinds) {
  const refused = (files, why) => assert.throws(() => extract(write(files), name, "a/aizo"), (e) => e instanceof BadArchive && why.test(e.message));

  test(`${kind}: the member is taken, wherever it is`, () => {
    for (const files of [[good], [other, good], [good, other], [other, good, other]]) {
      assert.ok(extract(write(files), name, "a/aizo").equals(content));
    }
    assert.strictEqual(extract(write([{ name: "a/aizo" }]), name, "a/aizo").length, 0);
  });

  test(`${kind}: a name that leads elsewhere is no member, and nothing is written`, () => {
    const empty = folder();
    const before = process.cwd();
    process.chdir(empty);
    try {
      for (const hostile of ["../a/aizo", "/a/aizo", "../../aizo", "a/../a/aizo", "./a/aizo", "a\\aizo", "C:\\a\\aizo", "b/aizo", "a/aizo/"]) {
        refused([{ name: hostile, content }], /has no a\/aizo/);
        assert.ok(extract(write([{ name: hostile, content: Buffer.from("evil") }, good]), name, "a/aizo").equals(content));
      }
    } finally {
      process.chdir(before);
    }
    assert.deepStrictEqual(filesBelow(empty), []);
  });

  test(`${kind}: a member that is there twice is refused`, () => {
    refused([good, { name: "a/aizo", content: Buffer.from("evil") }], /twice/);
  });

  test(`${kind}: what is cut off anywhere is refused`, () => {
    const whole = write([other, good]);
    for (const length of [0, 1, 10, 30, 100, Math.floor(whole.length / 2), whole.length - 30]) {
      assert.throws(() => extract(whole.subarray(0, length), name, "a/aizo"), BadArchive, `${length}`);
    }
  });

  test(`${kind}: what is no archive is refused, and a changed byte leads to nothing worse`, () => {
    assert.throws(() => extract(Buffer.from("<html>log in to this network</html>"), name, "a/aizo"), BadArchive);
    const whole = write([other, good]);
    for (let at = 0; at < whole.length; at += 7) {
      const changed = Buffer.from(whole);
      changed[at] ^= 0x55;
      try {
        assert.strictEqual(extract(changed, name, "a/aizo").length, content.length);
      } catch (error) {
        assert.ok(error instanceof BadArchive, `${at}: ${error.stack}`);
      }
    }
  });
}

test("tar.gz: only a regular file is taken", () => {
  for (const kind of ["1", "2", "3", "4", "5", "6", "7", "L", "x"]) {
    assert.throws(() => extract(gz([{ name: "a/aizo", kind, link: "/bin/sh" }]), "x.tar.gz", "a/aizo"), /no regular file/, kind);
  }
  assert.ok(extract(gz([{ ...good, kind: "\0" }]), "x.tar.gz", "a/aizo").equals(content));
});

test("tar.gz: sizes and sums that cannot be are refused", () => {
  for (const size of [0o77777777777, 1e9, content.length + 4096]) {
    assert.throws(() => extract(gz([{ ...good, size }]), "x.tar.gz", "a/aizo"), /longer than the archive/);
  }
  assert.throws(() => extract(gz([{ ...good, sum: 1 }]), "x.tar.gz", "a/aizo"), /damaged/);
  const binary = tar([good]);
  binary.writeUInt32BE(0x80000000, 124);
  assert.throws(() => extract(zlib.gzipSync(binary), "x.tar.gz", "a/aizo"), /damaged/);
});

test("tar.gz: a bomb is given up before it fills the memory", () => {
  const bomb = zlib.gzipSync(Buffer.alloc(200 * 1024 * 1024));
  assert.throws(() => extract(bomb, "x.tar.gz", "a/aizo"), BadArchive);
});

test("tar.gz: long names stand in two fields", () => {
  const long = tar([{ name: "aizo", content }]);
  long.write("prefix", 345);
  long.write("        ", 148);
  long.write(`${long.subarray(0, 512).reduce((all, byte) => all + byte, 0).toString(8).padStart(6, "0")}\0`, 148);
  assert.ok(extract(zlib.gzipSync(long), "x.tar.gz", "prefix/aizo").equals(content));
});

test("zip: stored members, and a comment at the end", () => {
  assert.ok(extract(zip([other, { ...good, method: 0 }]), "x.zip", "a/aizo").equals(content));
  assert.ok(extract(zip([other, good], "a comment"), "x.zip", "a/aizo").equals(content));
});

test("zip: wrong sizes, links, and unknown packings are refused", () => {
  const refused = (more, why) => assert.throws(() => extract(zip([{ ...good, ...more }]), "x.zip", "a/aizo"), why, JSON.stringify(more));
  refused({ size: content.length + 1 }, /not the size/);
  refused({ size: content.length - 1 }, BadArchive);
  refused({ size: 0 }, BadArchive);
  refused({ size: 0xffffffff }, /larger than/);
  refused({ packedSize: 0xfffffff0 }, /longer than the archive/);
  refused({ packedSize: 10 }, BadArchive);
  refused({ method: 0, size: 5 }, /not the size/);
  refused({ offset: 0xfffffff0 }, BadArchive);
  refused({ offset: 1 }, /directory is damaged/);
  refused({ mode: 0o120777 }, /no regular file/);
  refused({ mode: 0o040755 }, /no regular file/);
  refused({ flags: 1 }, /unknown way/);
  refused({ method: 12 }, /unknown way/);
});

test("the archives of a release are read, and tar and unzip read them as well", () => {
  for (const [triple, name, program] of [
    [HERE.triple, HERE.archive, path.basename(HERE.file)],
    ["x86_64-pc-windows-msvc", "aizo-x86_64-pc-windows-msvc.zip", "aizo.exe"],
  ]) {
    const packed = path.join(realRelease(triple), name);
    const bytes = fs.readFileSync(packed);
    assert.ok(extract(bytes, name, `aizo-${triple}/${program}`).equals(fs.readFileSync(BINARY)), triple);
    if (name.endsWith(".tar.gz") && process.platform !== "win32") execFileSync("tar", ["-tzf", packed]);
    if (name.endsWith(".zip") && has("unzip")) execFileSync("unzip", ["-tqq", packed]);
  }
});

test("what the tests pack is what tar and unzip read", { skip: process.platform === "win32" }, () => {
  const at = folder();
  fs.writeFileSync(path.join(at, "x.tar.gz"), gz([other, good]));
  assert.strictEqual(execFileSync("tar", ["-xzOf", path.join(at, "x.tar.gz"), "a/aizo"], { encoding: "utf8" }), content.toString());
  fs.writeFileSync(path.join(at, "x.zip"), zip([other, good]));
  if (has("unzip")) assert.strictEqual(execFileSync("unzip", ["-p", path.join(at, "x.zip"), "a/aizo"], { encoding: "utf8" }), content.toString());
});

function has(tool) {
  try {
    execFileSync(tool, ["-v"], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}
