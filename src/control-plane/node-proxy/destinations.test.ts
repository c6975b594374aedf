import { describe, expect, it } from "vitest";
import { createDestinations } from "./destinations.ts";
import { splitNameAndPort } from "./name-and-port.ts";
import { isProxyable } from "./reachable-address.ts";
import { rewriteLocation } from "./rewrite-location.ts";

describe("the name of a proxied object", () => {
  it.each([
    ["web", { scheme: "", name: "web", port: "" }],
    ["web:80", { scheme: "", name: "web", port: "80" }],
    ["web:", { scheme: "", name: "web", port: "" }],
    ["https:web:", { scheme: "https", name: "web", port: "" }],
    ["http:web:http", { scheme: "http", name: "web", port: "http" }],
    [":web:80", { scheme: "", name: "web", port: "80" }],
    ["ftp:web:80", undefined],
    ["", undefined],
    [":80", undefined],
    ["http::80", undefined],
    ["a:b:c:d", undefined],
  ])("%j says %j", (text, said) => expect(splitNameAndPort(text)).toEqual(said));
});

describe("an address that may be proxied to", () => {
  it.each(["10.0.0.1", "192.168.1.1", "8.8.8.8", "fd00::1", "2001:db8::1", "240.0.0.1"])("is %s", (address) => {
    expect(isProxyable(address)).toBe(true);
  });

  it.each([
    ...["", "name", "0.0.0.0", "127.0.0.1", "127.1.2.3", "169.254.169.254", "224.0.0.1", "255.255.255.255"],
    ...["::", "::1", "fe80::1", "ff02::1", "::ffff:127.0.0.1", "::ffff:169.254.169.254", "10.0.0.1:80"],
  ])("is not %j", (address) => expect(isProxyable(address)).toBe(false));
});

describe("a redirect through a proxy", () => {
  const prefix = "/api/v1/nodes/n/proxy";
  const hosts = ["10.0.0.1:80", "api:6443"];
  it.each([
    ["/a?b=c#d", `${prefix}/a?b=c#d`],
    ["/", `${prefix}/`],
    ["http://10.0.0.1:80/a", `${prefix}/a`],
    ["https://api:6443/a/", `${prefix}/a/`],
    ["//10.0.0.1:80/a", `${prefix}/a`],
    [`${prefix}/a`, `${prefix}/a`],
    ["http://elsewhere/a", "http://elsewhere/a"],
    ["next", "next"],
    ["?page=2", "?page=2"],
    ["", ""],
  ])("to %j leads to %j", (location, rewritten) => {
    expect(rewriteLocation(location, { prefix, hosts })).toBe(rewritten);
  });
});

describe("a node that is proxied to", () => {
  const node = {
    apiVersion: "v1",
    kind: "Node",
    metadata: { name: "n" },
    status: { addresses: [{ type: "InternalIP", address: "10.0.0.1" }] },
  };
  const of = async (name: string, address = "10.0.0.1") => {
    const destinations = createDestinations({
      reader: { get: () => node },
      localNode: { name: "n", address: "127.0.0.1" },
      resolveHost: async () => await Promise.resolve([address]),
      identity: { certificatePem: "certificate", keyPem: "key" },
      random: () => 0,
    });
    const { scheme, host, port } = await destinations.ofNode({
      name,
      request: { signal: new AbortController().signal },
    });
    return `${scheme}://${host}:${port}`;
  };

  it.each([
    ["n", "https://127.0.0.1:10250"],
    ["n:10250", "https://127.0.0.1:10250"],
    // The API server listens on loopback too, and whatever else this machine runs.
    ["n:6443", "http://10.0.0.1:6443"],
    ["https:n:2379", "https://10.0.0.1:2379"],
    ["other", "https://10.0.0.1:10250"],
  ])("as %s is reached at %s", async (name, at) => expect(await of(name)).toBe(at));

  it("is not reached on loopback because somebody wrote so into its status", async () => {
    await expect(of("other", "127.0.0.1")).rejects.toThrow("address not allowed");
  });
});
