"use strict";
// A key and a certificate for 127.0.0.1 that signs itself, made anew for each run: a small part of X.509, in DER.

const { generateKeyPairSync, randomBytes, sign } = require("crypto");

function item(tag, ...parts) {
  const content = Buffer.concat(parts.map((part) => Buffer.from(part)));
  const length = content.length;
  const size = length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 255];
  return Buffer.concat([Buffer.from([tag, ...size]), content]);
}

const sequence = (...parts) => item(0x30, ...parts);
const oid = (...bytes) => item(0x06, bytes);
const time = (text) => item(0x18, Buffer.from(text));

function certificate() {
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const algorithm = sequence(oid(0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 0x02)); // ECDSA with SHA-256
  const name = sequence(item(0x31, sequence(oid(0x55, 0x04, 0x03), item(0x0c, Buffer.from("aizo test")))));
  const extension = (id, content) => sequence(oid(0x55, 0x1d, id), item(0x04, content));
  const constraints = extension(0x13, sequence(item(0x01, [0xff])));
  const addresses = extension(0x11, sequence(item(0x87, [127, 0, 0, 1]), item(0x82, Buffer.from("release.test"))));
  const body = sequence(
    item(0xa0, item(0x02, [2])),
    item(0x02, [1], randomBytes(8)),
    algorithm,
    name,
    sequence(time("20200101000000Z"), time("21200101000000Z")),
    name,
    publicKey.export({ type: "spki", format: "der" }),
    item(0xa3, sequence(constraints, addresses)),
  );
  const signature = sign("sha256", body, privateKey);
  const der = sequence(body, algorithm, item(0x03, [0], signature));
  const cert = `-----BEGIN CERTIFICATE-----\n${der.toString("base64").replace(/.{64}/g, "$&\n")}\n-----END CERTIFICATE-----\n`;
  return { cert, key: privateKey.export({ type: "pkcs8", format: "pem" }) };
}

module.exports = { certificate };
