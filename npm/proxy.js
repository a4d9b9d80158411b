"use strict";
// Which proxy stands before an address, by the variables that curl knows and by npm's own settings.

/** The proxy for an address; none where nothing names one, or it is excepted. */
function proxyFor(url, env) {
  const variable = (name) => env[name.toLowerCase()] || env[name.toUpperCase()];
  const excepted = variable("no_proxy") || env.npm_config_noproxy || "";
  if (isExcepted(url, excepted)) return undefined;
  const named =
    url.protocol === "https:"
      ? variable("https_proxy") || env.npm_config_https_proxy || env.npm_config_proxy
      : variable("http_proxy") || env.npm_config_proxy;
  const address = named || variable("all_proxy");
  if (!address) return undefined;
  const proxy = new URL(address.includes("://") ? address : `http://${address}`);
  if (!/^https?:$/.test(proxy.protocol)) throw new Error(`a proxy of the kind ${proxy.protocol}// is not supported`);
  return proxy;
}

/** Whether a list such as `localhost, .example.org, 10.0.0.1:8080` holds the address. A name stands for all below it. */
function isExcepted(url, list) {
  const host = url.hostname.replace(/^\[|\]$/g, "").toLowerCase();
  const port = url.port || (url.protocol === "https:" ? "443" : "80");
  return list
    .toLowerCase()
    .split(/[\s,]+/)
    .filter(Boolean)
    .some((entry) => {
      if (entry === "*") return true;
      const [, name, only] =
        entry.match(/^\[([^\]]*)\](?::(\d+))?$/) || entry.match(/^([^:]*)(?::(\d+))?$/) || [entry, entry];
      if (only && only !== port) return false;
      const domain = name.replace(/^\*?\./, "");
      return host === domain || host.endsWith(`.${domain}`);
    });
}

/** The header that logs in at the proxy. */
function credentials(proxy) {
  if (!proxy.username) return {};
  const login = `${decodeURIComponent(proxy.username)}:${decodeURIComponent(proxy.password)}`;
  return { "Proxy-Authorization": `Basic ${Buffer.from(login).toString("base64")}` };
}

module.exports = { proxyFor, credentials };
