"use strict";
// Writes archives as releases have them, and as nobody should: each field of a file can be given a false value.

const zlib = require("zlib");

/** A tar of files: `{ name, content, mode, kind, link, size, sum }`. */
function tar(files) {
  const blocks = files.flatMap(({ name, content = Buffer.alloc(0), mode = 0o644, kind = "0", link = "", size, sum }) => {
    const header = Buffer.alloc(512);
    const octal = (value, from, length) => header.write(`${value.toString(8).padStart(length - 1, "0")}\0`, from);
    header.write(name, 0);
    octal(mode, 100, 8);
    octal(0, 108, 8);
    octal(0, 116, 8);
    octal(size === undefined ? content.length : size, 124, 12);
    octal(0, 136, 12);
    header.write("        ", 148);
    header.write(kind, 156);
    header.write(link, 157);
    header.write("ustar\0" + "00", 257);
    octal(sum === undefined ? header.reduce((all, byte) => all + byte, 0) : sum, 148, 7);
    return [header, content, Buffer.alloc((512 - (content.length % 512)) % 512)];
  });
  return Buffer.concat([...blocks, Buffer.alloc(1024)]);
}

/** A zip of files: `{ name, content, mode, method, size, packedSize, flags, offset }`. */
function zip(files, comment = "") {
  const parts = [];
  const directory = [];
  let at = 0;
  for (const { name, content = Buffer.alloc(0), mode = 0o100755, method = 8, flags = 0, size, packedSize, offset } of files) {
    const bytes = method === 8 ? zlib.deflateRawSync(content, { level: 1 }) : content;
    const shared = Buffer.alloc(26);
    shared.writeUInt16LE(20, 0);
    shared.writeUInt16LE(flags, 2);
    shared.writeUInt16LE(method, 4);
    shared.writeUInt32LE(crc32(content), 10);
    shared.writeUInt32LE(packedSize === undefined ? bytes.length : packedSize, 14);
    shared.writeUInt32LE(size === undefined ? content.length : size, 18);
    shared.writeUInt16LE(Buffer.byteLength(name), 22);
    const rest = Buffer.alloc(14);
    rest.writeUInt32LE((mode << 16) >>> 0, 6);
    rest.writeUInt32LE(offset === undefined ? at : offset, 10);
    directory.push(signature(0x02014b50), Buffer.from([20, 3]), shared, rest, Buffer.from(name));
    const local = [signature(0x04034b50), shared, Buffer.from(name), bytes];
    parts.push(...local);
    at += local.reduce((sum, part) => sum + part.length, 0);
  }
  const listed = Buffer.concat(directory);
  const end = Buffer.alloc(18);
  end.writeUInt16LE(files.length, 4);
  end.writeUInt16LE(files.length, 6);
  end.writeUInt32LE(listed.length, 8);
  end.writeUInt32LE(at, 12);
  end.writeUInt16LE(comment.length, 16);
  return Buffer.concat([...parts, listed, signature(0x06054b50), end, Buffer.from(comment)]);
}

function signature(value) {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}

/** gzip ends with the sum that a zip wants. */
function crc32(content) {
  const packed = zlib.gzipSync(content, { level: 0 });
  return packed.readUInt32LE(packed.length - 8);
}

module.exports = { tar, zip };
