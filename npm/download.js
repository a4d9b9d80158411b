"use strict";
// Gets one file: through a proxy where one is set, with bounded redirects, size and time, and two more tries. Whether what
// came is the right file is for others to say.

const http = require("http");
const https = require("https");
const net = require("net");
const tls = require("tls");
const { credentials, proxyFor } = require("./proxy.js");

const LIMITS = {
  redirects: 5,
  bytes: 64 * 1024 * 1024,
  /** Milliseconds in which nothing comes. */
  silence: 15_000,
  /** Milliseconds of one try. */
  whole: 180_000,
  /** Milliseconds before each further try. */
  waits: [1_000, 3_000],
};
const REDIRECTS = new Set([301, 302, 303, 307, 308]);

/** Why there is no file. `passing` is what another try may not meet again. */
class DownloadError extends Error {
  constructor(message, passing = false) {
    super(message);
    this.passing = passing;
  }
}

/** The bytes at an address. */
async function download(address, { env = process.env, agent = "aizo", limits = {} } = {}) {
  const bounds = { ...LIMITS, ...limits };
  for (const wait of [...bounds.waits, undefined]) {
    const watch = new Watch(bounds);
    try {
      return await follow(address, { env, agent, bounds, watch });
    } catch (error) {
      const failure = error instanceof DownloadError ? error : new DownloadError(reason(error), Boolean(error.code));
      if (!failure.passing || wait === undefined) throw failure;
      await new Promise((resolve) => setTimeout(resolve, wait));
    } finally {
      watch.end();
    }
  }
}

async function follow(address, { env, agent, bounds, watch }) {
  let url = parse(address);
  for (let redirects = 0; redirects <= bounds.redirects; redirects++) {
    const response = await ask(url, { env, agent, watch });
    const { statusCode: status, headers } = response;
    if (REDIRECTS.has(status) && headers.location) {
      response.destroy();
      const next = parse(headers.location, url);
      if (url.protocol === "https:" && next.protocol !== "https:") {
        throw new DownloadError(`${shown(url)} leads away from https to ${shown(next)}`);
      }
      url = next;
    } else if (status === 200) {
      return body(response, { url, bounds, watch });
    } else {
      response.destroy();
      throw new DownloadError(`${shown(url)} answers ${status}`, status >= 500 || status === 429 || status === 408);
    }
  }
  throw new DownloadError(`${shown(parse(address))} redirects more than ${bounds.redirects} times`);
}

/** The answer's head; its body is still to be read. */
async function ask(url, { env, agent, watch }) {
  const headers = { "User-Agent": agent, Accept: "*/*" };
  const proxy = proxyFor(url, env);
  if (proxy && url.protocol === "https:") {
    const socket = await tunnel(proxy, url, watch);
    const host = url.hostname.replace(/^\[|\]$/g, "");
    const secure = () => tls.connect({ socket, host, servername: net.isIP(host) ? "" : host });
    return answer(https.request(url, { headers, createConnection: secure }), "response", watch);
  }
  if (proxy) {
    const path = `${url.origin}${url.pathname}${url.search}`;
    const through = { headers: { ...headers, Host: url.host, ...credentials(proxy) }, path, auth: login(url), agent: false };
    return answer(library(proxy).request(proxy, through), "response", watch);
  }
  return answer(library(url).request(url, { headers, agent: false }), "response", watch);
}

/** A connection through the proxy to the address. */
async function tunnel(proxy, url, watch) {
  const target = `${url.hostname}:${url.port || 443}`;
  const options = { method: "CONNECT", path: target, headers: { Host: target, ...credentials(proxy) }, auth: undefined, agent: false };
  const response = await answer(library(proxy).request(proxy, options), "connect", watch);
  response.socket.on("error", () => {}); // What runs over it says so too.
  if (response.statusCode !== 200) {
    response.socket.destroy();
    throw new DownloadError(`the proxy ${proxy.host} answers ${response.statusCode}`, response.statusCode >= 500);
  }
  return response.socket;
}

function answer(request, event, watch) {
  return new Promise((resolve, reject) => {
    watch.hold(request);
    request.on("error", reject);
    request.on(event, resolve);
    request.end();
  });
}

async function body(response, { url, bounds, watch }) {
  const announced = Number(response.headers["content-length"]);
  if (announced > bounds.bytes) {
    response.destroy();
    throw new DownloadError(`${shown(url)} is larger than ${bounds.bytes} bytes`);
  }
  const parts = [];
  let size = 0;
  watch.hold(response);
  for await (const part of response) {
    watch.hold(response);
    size += part.length;
    if (size > bounds.bytes) throw new DownloadError(`${shown(url)} is larger than ${bounds.bytes} bytes`);
    parts.push(part);
  }
  if (!response.complete) throw new DownloadError(`${shown(url)} ended too early`, true);
  return Buffer.concat(parts);
}

/** Ends what takes too long: a whole try, or one step of it. */
class Watch {
  constructor({ silence, whole }) {
    this.silence = silence;
    this.end = () => [this.step, all].forEach(clearTimeout);
    const all = setTimeout(() => this.give(`it took longer than ${whole / 1000} seconds`), whole);
  }

  /** Begins a step with what can be ended. */
  hold(stream) {
    this.stream = stream;
    clearTimeout(this.step);
    this.step = setTimeout(() => this.give(`nothing came for ${this.silence / 1000} seconds`), this.silence);
  }

  give(message) {
    if (this.stream) this.stream.destroy(new DownloadError(message, true));
  }
}

function parse(address, base) {
  let url;
  try {
    url = new URL(address, base);
  } catch {
    throw new DownloadError(`${address} is no address`);
  }
  if (!/^https?:$/.test(url.protocol)) throw new DownloadError(`${shown(url)} is neither http nor https`);
  return url;
}

const library = (url) => (url.protocol === "https:" ? https : http);
const login = (url) => (url.username ? `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}` : undefined);

/** An address without what may be secret in it. */
const shown = (url) => `${url.protocol}//${url.host}${url.pathname}`;

/** What went wrong in one line; of several addresses of a host that were tried, the first. */
const reason = (error) => (error.errors ? error.errors[0] : error).message;

module.exports = { download, DownloadError };
