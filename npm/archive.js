"use strict";
// Takes one file out of a tar.gz or a zip. Nothing else in an archive is looked at and nothing is written, so that no name
// in it can lead anywhere.

const zlib = require("zlib");

/** No program is larger, whatever an archive says of it. */
const MOST = 128 * 1024 * 1024;
const BLOCK = 512;

/** Why an archive is not taken. */
class BadArchive extends Error {}

/** The bytes of a regular file in an archive. */
function extract(archive, name, member) {
  try {
    return name.endsWith(".zip") ? fromZip(archive, member) : fromTar(unzip(archive), member);
  } catch (error) {
    // What Node.js throws here: a read beyond the end, or a stream that is damaged or too long.
    throw error instanceof BadArchive ? error : new BadArchive(`it is damaged (${error.message})`);
  }
}

const unzip = (bytes) => zlib.gunzipSync(bytes, { maxOutputLength: MOST });

/** Sees to it that a member is there once. */
function only(found, member) {
  if (found.length === 0) throw new BadArchive(`it has no ${member}`);
  if (found.length > 1) throw new BadArchive(`it has ${member} twice`);
  return found[0]();
}

function fromTar(tar, member) {
  const found = [];
  let at = 0;
  while (at + BLOCK <= tar.length) {
    const header = tar.subarray(at, at + BLOCK);
    if (header.every((byte) => byte === 0)) break;
    const size = octal(header, 124, 12);
    const begin = at + BLOCK;
    if (octal(header, 148, 8) !== tarSum(header)) throw new BadArchive("a header in it is damaged");
    if (begin + size > tar.length) throw new BadArchive("a file in it is longer than the archive");
    if (tarName(header) === member) {
      const kind = header[156];
      found.push(() => {
        if (kind !== 0 && kind !== 0x30) throw new BadArchive(`${member} in it is no regular file`);
        return tar.subarray(begin, begin + size);
      });
    }
    at = begin + Math.ceil(size / BLOCK) * BLOCK;
  }
  return only(found, member);
}

const text = (bytes, from, length) => bytes.toString("latin1", from, from + length).split("\0")[0];

function tarName(header) {
  const prefix = text(header, 257, 5) === "ustar" ? text(header, 345, 155) : "";
  return (prefix ? `${prefix}/` : "") + text(header, 0, 100);
}

function octal(header, from, length) {
  const digits = text(header, from, length).trim();
  if (!/^[0-7]+$/.test(digits)) throw new BadArchive("a header in it is damaged");
  return parseInt(digits, 8);
}

/** The sum of a header's bytes, with spaces in the place of the sum itself. */
const tarSum = (header) => header.reduce((sum, byte, at) => sum + (at >= 148 && at < 156 ? 0x20 : byte), 0);

function fromZip(zip, member) {
  const end = endOfDirectory(zip);
  const found = [];
  let at = zip.readUInt32LE(end + 16);
  for (let count = zip.readUInt16LE(end + 10); count > 0; count--) {
    expect(zip, at, 0x02014b50);
    const entry = at;
    const [name, extra, comment] = [28, 30, 32].map((field) => zip.readUInt16LE(entry + field));
    if (text(zip, at + 46, name) === member) found.push(() => inflate(zip, entry, member));
    at += 46 + name + extra + comment;
  }
  return only(found, member);
}

/** Where the record at the end of a zip begins; a comment may follow it. */
function endOfDirectory(zip) {
  for (let at = zip.length - 22; at >= 0 && at >= zip.length - 22 - 0xffff; at--) {
    if (zip.readUInt32LE(at) === 0x06054b50 && at + 22 + zip.readUInt16LE(at + 20) === zip.length) return at;
  }
  throw new BadArchive("it is no zip");
}

function inflate(zip, entry, member) {
  const [flags, method] = [8, 10].map((field) => zip.readUInt16LE(entry + field));
  const [packed, size, attributes, local] = [20, 24, 38, 42].map((field) => zip.readUInt32LE(entry + field));
  const kind = (attributes >>> 16) & 0o170000;
  if (kind !== 0 && kind !== 0o100000) throw new BadArchive(`${member} in it is no regular file`);
  if (flags & 1 || (method !== 0 && method !== 8)) throw new BadArchive(`${member} in it is packed in an unknown way`);
  if (size > MOST) throw new BadArchive(`${member} in it is larger than ${MOST} bytes`);
  expect(zip, local, 0x04034b50);
  const begin = local + 30 + zip.readUInt16LE(local + 26) + zip.readUInt16LE(local + 28);
  if (begin + packed > zip.length) throw new BadArchive(`${member} in it is longer than the archive`);
  const bytes = zip.subarray(begin, begin + packed);
  const content = method === 0 ? bytes : zlib.inflateRawSync(bytes, { maxOutputLength: size || 1 });
  if (content.length !== size) throw new BadArchive(`${member} in it has not the size that it names`);
  return content;
}

function expect(zip, at, signature) {
  if (zip.readUInt32LE(at) !== signature) throw new BadArchive("its directory is damaged");
}

module.exports = { extract, BadArchive };
