import { afterEach, describe, expect, it, vi } from "vitest";
import { createFakeClock } from "../../../src/host/fake/fake-clock.ts";
import { getNode, until, useSmallWorld } from "./small-client.ts";
import { answerJson, NODE, type Protocol } from "./small-server.ts";
import { type SocksProxy, startSocksProxy } from "./socks-proxy.ts";

const world = useSmallWorld();
afterEach(() => vi.unstubAllEnvs());

const FAR = "https://api.example.com:6443";
const serve = async (protocol: Protocol = "h2") =>
  await world.serve((_, response) => answerJson(response, 200, NODE), { protocol });
const startProxy = async (...args: Parameters<typeof startSocksProxy>): Promise<SocksProxy> => {
  const proxy = await startSocksProxy(...args);
  world.later(() => proxy.close());
  return proxy;
};
const failureOf = async (proxyUrl: string, url = FAR): Promise<unknown> => {
  const client = await world.connect(url, { connection: { proxyUrl } });
  return await getNode(client).catch((error: unknown) => error);
};

describe("a SOCKS proxy", () => {
  it.each([
    ["h2", "2.0"],
    ["http/1.1", "1.1"],
    ["plain", "1.1"],
  ] as const)("leads to a server of %s", async (protocol, httpVersion) => {
    const server = await serve(protocol);
    const proxy = await startProxy(server.port);
    const client = await world.connect(server.url, { connection: { proxyUrl: `socks5://${proxy.host}` } });
    for (let call = 0; call < 3; call++) expect(await getNode(client)).toEqual(NODE);
    await Promise.all(Array.from({ length: 20 }, async () => await getNode(client)));
    expect(server.requests).toHaveLength(23);
    expect(new Set(server.requests.map((request) => request.httpVersion))).toEqual(new Set([httpVersion]));
    expect(proxy.seen[0]).toEqual({
      methods: [0],
      credentials: undefined,
      target: `127.0.0.1:${server.port}`,
      kind: "IPv4",
    });
    if (protocol === "h2") expect(proxy.opened).toBe(1);
    else expect(proxy.opened).toBeGreaterThan(1);
  });

  it.each(["socks5", "socks5h"])("is asked for a name by %s, and looks it up itself", async (scheme) => {
    const proxy = await startProxy((await serve()).port);
    const connection = { proxyUrl: `${scheme}://${proxy.host}`, tlsServerName: "kubernetes" };
    expect(await getNode(await world.connect(FAR, { connection }))).toEqual(NODE);
    expect(proxy.seen).toMatchObject([{ target: "api.example.com:6443", kind: "name" }]);
  });

  it("is asked for an address of IPv6 as one", async () => {
    const proxy = await startProxy((await serve()).port);
    const connection = { proxyUrl: `socks5://${proxy.host}`, tlsServerName: "kubernetes" };
    expect(await getNode(await world.connect("https://[fd00::1]:6443", { connection }))).toEqual(NODE);
    expect(proxy.seen).toMatchObject([{ target: "[fd00::1]:6443", kind: "IPv6" }]);
  });

  it.each([
    ["me:s%3Acr%C3%A9t", "me:s:crét"],
    ["me", "me:"],
  ])("is told the name and the password of its URL: %s", async (userInfo, credentials) => {
    const server = await serve();
    const proxy = await startProxy(server.port, { credentials });
    const client = await world.connect(server.url, { connection: { proxyUrl: `socks5://${userInfo}@${proxy.host}` } });
    expect(await getNode(client)).toEqual(NODE);
    expect(proxy.seen).toMatchObject([{ methods: [0, 2], credentials }]);
  });

  it("of the environment is gone through, but not for what it excepts", async () => {
    const proxy = await startProxy((await serve()).port);
    vi.stubEnv("HTTPS_PROXY", `socks5://${proxy.host}`);
    vi.stubEnv("NO_PROXY", "excepted.example.com");
    const connection = { tlsServerName: "kubernetes" };
    expect(await getNode(await world.connect(FAR, { connection }))).toEqual(NODE);
    expect(proxy.seen).toHaveLength(1);
    const excepted = await world.connect("https://excepted.example.com", { connection, timeoutMs: 300 });
    await expect(getNode(excepted)).rejects.toMatchObject({ code: "unreachable" });
    expect(proxy.opened).toBe(1);
  });
});

describe("a SOCKS proxy that does not lead there", () => {
  it.each([
    ["without a password that it wants", "", { credentials: "me:canary" }, /no accepted authentication type/],
    ["with a wrong password", "me:canary@", { credentials: "me:other" }, /Authentication failed/],
    ["to a target that refuses", "", { reply: 5 }, /rejected connection - ConnectionRefused/],
    ["to a target that nobody can reach", "", { reply: 4 }, /rejected connection - HostUnreachable/],
    ["by its rules", "me:canary@", { reply: 2 }, /rejected connection - NotAllowed/],
  ])("is named, and its password is not: %s", async (_, userInfo, options, words) => {
    const proxy = await startProxy(1, options);
    const failure = await failureOf(`socks5://${userInfo}${proxy.host}`);
    expect(failure).toMatchObject({
      code: "unreachable",
      message: expect.stringContaining(`socks connect tcp ${proxy.host}->api.example.com:6443: `),
    });
    expect(String(failure)).toMatch(words);
    expect(JSON.stringify(causesOf(failure)) + world.logged.join()).not.toContain("canary");
    await until(() => proxy.open === 0);
  });

  it("is named where it is not there", async () => {
    expect(String(await failureOf("socks5://127.0.0.1:1"))).toContain(
      "proxyconnect tcp: dial tcp 127.0.0.1:1: connect ECONNREFUSED 127.0.0.1:1",
    );
  });

  it.each([
    ["a password without a name", ":canary@"],
    ["a long name", `${"n".repeat(256)}@`],
    ["a long password", `me:${"canary".repeat(50)}@`],
    ["a name that is long in bytes", `${"%C3%A9".repeat(128)}@`],
  ])("is not told what the protocol cannot carry: %s", async (_, userInfo) => {
    const proxy = await startProxy(1);
    const failure = String(await failureOf(`socks5://${userInfo}${proxy.host}`));
    expect(failure).toContain("invalid username/password");
    expect(failure).not.toContain("canary");
    await until(() => proxy.open === 0);
  });

  it.each(["greeting", "connect"] as const)("is left when it says nothing (%s)", async (silentAt) => {
    const proxy = await startProxy(1, { silentAt });
    const clock = createFakeClock();
    const client = await world.connect(FAR, { connection: { proxyUrl: `socks5://${proxy.host}` }, clock });
    const failed = expect(getNode(client, { timeoutMs: 60_000 })).rejects.toMatchObject({
      code: "unreachable",
      message: expect.stringContaining("i/o timeout after 10000 ms"),
    });
    await until(() => (silentAt === "connect" ? proxy.seen.length === 1 : proxy.open === 1));
    await clock.advance(10_000);
    await failed;
    await until(() => proxy.open === 0);
  });

  it("leaves nothing open when the client is closed meanwhile", async () => {
    const proxy = await startProxy(1, { silentAt: "connect" });
    const client = await world.connect(FAR, { connection: { proxyUrl: `socks5://${proxy.host}` } });
    const failed = expect(getNode(client)).rejects.toMatchObject({ name: "AbortError" });
    await until(() => proxy.seen.length === 1);
    await client.close();
    await failed;
    await until(() => proxy.open === 0);
    expect(proxy.opened).toBe(1);
  });
});

function causesOf(error: unknown): unknown[] {
  if (!(error instanceof Error)) return [error];
  return [{ ...error, message: error.message }, ...causesOf(error.cause ?? undefined)];
}
