"use strict";

const assert = require("assert");
const fs = require("fs");
const http = require("http");
const https = require("https");
const net = require("net");
const path = require("path");
const test = require("node:test");
const { download, DownloadError } = require("../download.js");
const { proxyFor } = require("../proxy.js");
const { certificate } = require("./certificate.js");
const { environment, folder, node, serve } = require("./support.js");

const FAST = { waits: [10, 10], silence: 2_000, whole: 10_000 };
const CONTENT = Buffer.from("what was asked for ".repeat(5000));

/** Answers the n-th request as the n-th function says, and further ones as the last. */
async function served(answers, use) {
  let count = 0;
  const server = await serve((request, response) => answers[Math.min(count++, answers.length - 1)](request, response));
  try {
    return await use(server);
  } finally {
    await server.close();
  }
}

const get = (address, limits = {}, env = {}) => download(address, { env, limits: { ...FAST, ...limits } });
const failed = (promise, why) => assert.rejects(promise, (error) => error instanceof DownloadError && why.test(error.message));

const ok = (_, response) => response.end(CONTENT);
const status = (code) => (_, response) => {
  response.statusCode = code;
  response.end("no");
};
const redirect = (to, code = 302) => (request, response) => {
  response.writeHead(code, { Location: to });
  response.end();
};
const drop = (request) => request.socket.destroy();
/** Half of what it announces. */
const truncate = (_, response) => {
  response.writeHead(200, { "Content-Length": CONTENT.length });
  response.write(CONTENT.subarray(0, CONTENT.length / 2), () => response.destroy());
};
/** The same without saying how much there is. */
const truncateChunks = (_, response) => response.write(CONTENT.subarray(0, 1000), () => response.destroy());
const stall = (_, response) => {
  response.writeHead(200, { "Content-Length": CONTENT.length });
  response.write(CONTENT.subarray(0, 1000));
};
const trickle = (_, response) => {
  const timer = setInterval(() => response.write("x"), 20);
  response.on("close", () => clearInterval(timer));
};

test("a file arrives whole", () => served([ok], async ({ base }) => assert.ok((await get(`${base}/file`)).equals(CONTENT))));

for (const [name, answer] of Object.entries({ drop, truncate, truncateChunks, "500": status(500), "503": status(503), "429": status(429) })) {
  test(`${name}: what passes is tried again`, async () => {
    await served([answer, answer, ok], async ({ base, asked }) => {
      assert.ok((await get(`${base}/file`)).equals(CONTENT));
      assert.strictEqual(asked.length, 3);
    });
  });

  test(`${name}: after two more tries it is given up`, async () => {
    await served([answer], async ({ base, asked }) => {
      await failed(get(`${base}/file`), /./);
      assert.strictEqual(asked.length, 3);
    });
  });
}

for (const code of [400, 403, 404, 410, 304, 204]) {
  test(`${code} is final`, () =>
    served([status(code)], async ({ base, asked }) => {
      await failed(get(`${base}/file`), new RegExp(`answers ${code}`));
      assert.strictEqual(asked.length, 1);
    }));
}

for (const code of [301, 302, 303, 307, 308]) {
  test(`${code} is followed, to a path as well`, () =>
    served([redirect("/other?key=1", code), ok], async ({ base, asked }) => {
      assert.ok((await get(`${base}/file`)).equals(CONTENT));
      assert.deepStrictEqual(asked, ["/file", "/other?key=1"]);
    }));
}

test("five redirects are followed, and no more", () => {
  const five = Array(5).fill(redirect("/next"));
  return served([...five, ok], async ({ base }) => assert.ok((await get(`${base}/file`)).equals(CONTENT)));
});

test("a redirect loop ends", () =>
  served([redirect("/file")], async ({ base, asked }) => {
    await failed(get(`${base}/file`), /redirects more than 5 times/);
    assert.strictEqual(asked.length, 6);
  }));

test("a redirect leads to http and https only, and says nothing secret", async () => {
  for (const to of ["file:///etc/passwd", "ftp://example.test/file", "data:text/plain,x", "http://["]) {
    await served([redirect(to)], async ({ base, asked }) => {
      await failed(get(`${base}/file`), /neither http nor https|no address/);
      assert.strictEqual(asked.length, 1);
    });
  }
  await served([status(403)], async ({ base }) => {
    const address = `${base.replace("//", "//user:password@")}/file?signature=secret`;
    await assert.rejects(get(address), (error) => !/password|secret/.test(error.message));
  });
});

test("a login in the address is sent", () =>
  served([(request, response) => response.end(request.headers.authorization)], async ({ base }) => {
    const sent = await get(`${base.replace("//", "//user:pass%40word@")}/file`);
    assert.strictEqual(sent.toString(), `Basic ${Buffer.from("user:pass@word").toString("base64")}`);
  }));

test("silence has a limit", () =>
  served([stall], async ({ base, asked }) => {
    await failed(get(`${base}/file`, { silence: 100 }), /nothing came for 0.1 seconds/);
    assert.strictEqual(asked.length, 3);
  }));

test("a server that never answers has a limit", () =>
  served([() => {}], ({ base }) => failed(get(`${base}/file`, { silence: 100 }), /nothing came/)));

test("a whole try has a limit, however much comes", () =>
  served([trickle], ({ base }) => failed(get(`${base}/file`, { whole: 200 }), /longer than 0.2 seconds/)));

test("the size has a limit, announced or not", async () => {
  const announced = (_, response) => response.writeHead(200, { "Content-Length": 2000 }).end(CONTENT.subarray(0, 2000));
  for (const answer of [announced, ok]) {
    await served([answer], async ({ base, asked }) => {
      await failed(get(`${base}/file`, { bytes: 1000 }), /larger than 1000 bytes/);
      assert.strictEqual(asked.length, 1);
    });
  }
});

test("no server, no host, and no address are told", async () => {
  const closed = await serve(ok);
  await closed.close();
  await failed(get(`${closed.base}/file`), /ECONNREFUSED/);
  await failed(get("not an address"), /is no address/);
  await failed(get("file:///etc/passwd"), /neither http nor https/);
});

// --- Proxies ---------------------------------------------------------------------------------------------------------

test("a proxy is taken from the variables, and from npm's settings", () => {
  const proxy = (address, env) => {
    const found = proxyFor(new URL(address), env);
    return found && found.href;
  };
  const P = "http://proxy:3128/";
  assert.strictEqual(proxy("https://a.test/", {}), undefined);
  assert.strictEqual(proxy("https://a.test/", { HTTPS_PROXY: P }), P);
  assert.strictEqual(proxy("https://a.test/", { https_proxy: P, HTTPS_PROXY: "http://other" }), P);
  assert.strictEqual(proxy("https://a.test/", { HTTP_PROXY: P }), undefined);
  assert.strictEqual(proxy("http://a.test/", { HTTP_PROXY: P }), P);
  assert.strictEqual(proxy("http://a.test/", { HTTPS_PROXY: P }), undefined);
  assert.strictEqual(proxy("https://a.test/", { ALL_PROXY: P }), P);
  assert.strictEqual(proxy("https://a.test/", { HTTPS_PROXY: "proxy:3128" }), P);
  assert.strictEqual(proxy("https://a.test/", { npm_config_https_proxy: P }), P);
  assert.strictEqual(proxy("https://a.test/", { npm_config_proxy: P }), P);
  assert.throws(() => proxy("https://a.test/", { HTTPS_PROXY: "socks5://proxy" }), /socks5:\/\/ is not supported/);
});

const EXCEPTED = [
  ["https://a.test/", "a.test", true],
  ["https://a.test/", "A.TEST", true],
  ["https://x.a.test/", "a.test", true],
  ["https://x.a.test/", ".a.test", true],
  ["https://x.a.test/", "*.a.test", true],
  ["https://xa.test/", "a.test", false],
  ["https://a.test/", "b.test, a.test", true],
  ["https://a.test/", "b.test a.test", true],
  ["https://a.test/", "*", true],
  ["https://a.test/", "a.test:443", true],
  ["https://a.test/", "a.test:8443", false],
  ["http://127.0.0.1:8080/", "127.0.0.1:8080", true],
  ["http://[::1]/", "::1", true],
  ["http://[::1]:8080/", "[::1]:8080", true],
  ["http://[::1]:8080/", "[::1]:80", false],
  ["https://a.test/", "", false],
  ["https://a.test/", ",", false],
];

test("NO_PROXY excepts names, what is below them, and single ports", () => {
  for (const [address, list, excepted] of EXCEPTED) {
    for (const name of ["no_proxy", "NO_PROXY", "npm_config_noproxy"]) {
      const found = proxyFor(new URL(address), { all_proxy: "http://proxy", [name]: list });
      assert.strictEqual(found === undefined, excepted, `${address} and ${name}=${list}`);
    }
  }
});

test("http goes through the proxy as a whole address", async () => {
  const seen = [];
  const proxy = await serve((request, response) => {
    seen.push([request.url, request.headers.host, request.headers["proxy-authorization"]]);
    response.end(CONTENT);
  });
  try {
    const env = { HTTP_PROXY: `http://user:p%40ss@127.0.0.1:${proxy.port}` };
    assert.ok((await get("http://release.test/v1/file?a=b", {}, env)).equals(CONTENT));
    const login = `Basic ${Buffer.from("user:p@ss").toString("base64")}`;
    assert.deepStrictEqual(seen, [["http://release.test/v1/file?a=b", "release.test", login]]);
  } finally {
    await proxy.close();
  }
});

/** A download in a process of its own, which trusts the test's certificate. */
async function through(proxy, address, { secure, more = {} }) {
  const home = folder();
  fs.writeFileSync(path.join(home, "ca.pem"), secure.cert);
  const script = `
    require(${JSON.stringify(path.join(__dirname, "..", "download.js"))})
      .download(${JSON.stringify(address)}, { limits: ${JSON.stringify(FAST)} })
      .then((bytes) => console.log(bytes.length), (error) => console.log(error.message));`;
  const env = environment(home, { NODE_EXTRA_CA_CERTS: path.join(home, "ca.pem"), HTTPS_PROXY: proxy, ...more });
  const { stdout, stderr } = await node(["-e", script], { env });
  assert.strictEqual(stderr, "");
  return stdout.trim();
}

/** A proxy that connects everything to one port. */
async function tunnels(port, server, answer = "HTTP/1.1 200 Connection established\r\n\r\n") {
  const proxy = await serve(() => {}, server);
  const seen = [];
  server.on("connect", (request, socket) => {
    seen.push([request.url, request.headers["proxy-authorization"]]);
    socket.on("error", () => {});
    socket.write(answer);
    if (!answer.includes(" 200 ")) return socket.end();
    const target = net.connect(port, "127.0.0.1");
    target.on("error", () => socket.destroy());
    target.pipe(socket).pipe(target);
  });
  return { ...proxy, seen };
}

test("https goes through a tunnel, with a login, from a proxy that is asked over http or https", async () => {
  const secure = certificate();
  const origin = await serve(ok, https.createServer(secure));
  try {
    for (const [scheme, server] of [["http", http.createServer()], ["https", https.createServer(secure)]]) {
      const proxy = await tunnels(origin.port, server);
      const address = `${scheme}://user:pass@127.0.0.1:${proxy.port}`;
      assert.strictEqual(await through(address, "https://release.test/file", { secure }), `${CONTENT.length}`);
      assert.deepStrictEqual(proxy.seen, [["release.test:443", `Basic ${Buffer.from("user:pass").toString("base64")}`]]);
      assert.deepStrictEqual(proxy.asked, [], "nothing but the tunnel");
      await proxy.close();
    }
    assert.deepStrictEqual(origin.asked, ["/file", "/file"]);
  } finally {
    await origin.close();
  }
});

test("in the tunnel the certificate must be that of the address", async () => {
  const secure = certificate();
  const origin = await serve(ok, https.createServer(secure));
  const proxy = await tunnels(origin.port, http.createServer());
  try {
    const use = (address, more) => through(`http://127.0.0.1:${proxy.port}`, address, { secure, more });
    assert.match(await use("https://other.test/file"), /altnames|other\.test/);
    assert.match(await use("https://release.test/file", { NODE_EXTRA_CA_CERTS: "" }), /self.signed/);
    assert.strictEqual(await use("https://127.0.0.1/file"), `${CONTENT.length}`);
    assert.deepStrictEqual(origin.asked, ["/file"]);
  } finally {
    await Promise.all([origin.close(), proxy.close()]);
  }
});

test("a proxy that refuses, or is not there, is told", async () => {
  const secure = certificate();
  const proxy = await tunnels(1, http.createServer(), "HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n");
  const address = `http://user:secret@127.0.0.1:${proxy.port}`;
  const told = await through(address, "https://release.test/file", { secure });
  assert.strictEqual(told, `the proxy 127.0.0.1:${proxy.port} answers 407`);
  assert.strictEqual(proxy.seen.length, 1);
  await proxy.close();
  assert.match(await through(address, "https://release.test/file", { secure }), /ECONNREFUSED/);
});

test("a redirect that leaves https is refused", async () => {
  const secure = certificate();
  const origin = await serve(redirect("http://release.test/file"), https.createServer(secure));
  try {
    const address = `https://127.0.0.1:${origin.port}/file`;
    const told = await through("", address, { secure });
    assert.match(told, /leads away from https to http:\/\/release\.test\/file/);
    assert.strictEqual(origin.asked.length, 1);
  } finally {
    await origin.close();
  }
});
