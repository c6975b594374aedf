import { PassThrough, Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { describe, expect, it } from "vitest";
import { forbiddenError } from "../../api/api-error.ts";
import { createFakeRequest } from "../../host/fake/fake-request.ts";
import type { UpgradeCall, UpgradeResult } from "../../host/upgrade-call.ts";
import type { WebCall, WebReply } from "../../host/web-call.ts";
import type { ConnectDeps } from "./connect-deps.ts";
import { createNodeProxy } from "./node-proxy.ts";

const UPGRADE = { connection: "Upgrade", upgrade: "websocket", host: "api:6443" };

interface World {
  /** The addresses of each lookup of the node's name; the last one stays. */
  readonly lookups?: ReadonlyArray<readonly string[]>;
  readonly upgraded?: UpgradeResult;
  /** What the node declares. */
  readonly features?: string[];
  /** The client's WebSocket is of a protocol that API servers translate. */
  readonly isTranslated?: boolean;
  /** What the node answers. Default: nothing, with 200. */
  readonly page?: { readonly headers: WebReply["headers"]; readonly bytes: Uint8Array };
}

/** A node `n` with a pod `p`, of a name that a resolver knows. */
function createWorld({ lookups = [["10.0.0.7"]], upgraded, page, features = [], isTranslated = false }: World = {}) {
  const web: WebCall[] = [];
  const upgrades: UpgradeCall[] = [];
  let asked = 0;
  const translations: string[] = [];
  const node = { status: { declaredFeatures: features, addresses: [{ type: "Hostname", address: "n.example.com" }] } };
  const pod = { spec: { nodeName: "n", containers: [{ name: "main" }] } };
  const deps: ConnectDeps = {
    reader: {
      get: ({ resource, name }) => {
        const metadata = { name };
        if (resource === "nodes") return { apiVersion: "v1", kind: "Node", metadata, ...node };
        return { apiVersion: "v1", kind: "Pod", metadata, ...pod };
      },
    },
    callWeb: async (call) => {
      web.push(call);
      const body = Readable.from(page === undefined ? [] : [page.bytes]);
      return await Promise.resolve({ status: 200, headers: page?.headers ?? {}, body });
    },
    callUpgrade: async (call) => {
      upgrades.push(call);
      const refused = { kind: "answered", status: 403, headers: {}, body: Readable.from(["no"]) } as const;
      return await Promise.resolve(upgraded ?? refused);
    },
    resolveHost: async () => await Promise.resolve(lookups[Math.min(asked++, lookups.length - 1)] ?? []),
    identity: { certificatePem: "certificate", keyPem: "key" },
    localNode: undefined,
    streams: {
      wantsTranslation: () => isTranslated,
      wantsTunnel: () => isTranslated,
      wantsWebSocket: ({ header }) => header("upgrade")[0] === "websocket",
      sendOutput: async (_call, output) => void output.destroy(),
      translate: async () => await Promise.resolve(void translations.push("translate")),
      tunnel: async () => await Promise.resolve(void translations.push("tunnel")),
    },
    random: () => 0,
  };
  const handlers = createNodeProxy(deps);
  /** `granted` are the verbs that the user has beside that of the request. */
  const ask = async (
    target: string,
    { method = "GET", rest = "", headers = {}, granted = ["create"] }: Partial<Asked> = {},
  ) => {
    const [handler = ""] = /^\w+\/\w+/.exec(target) ?? [];
    const isNode = target.startsWith("nodes/");
    return await handlers.get(handler)?.({
      request: createFakeRequest(`/api/v1/${handler}${rest}`, { method, headers }),
      namespace: isNode ? "" : "default",
      name: isNode ? "n" : "p",
      rest,
      requireVerb(verb) {
        if (!granted.includes(verb)) throw forbiddenError({ group: "", resource: "x" }, "n", `needs ${verb}`);
      },
    });
  };
  return { web, upgrades, translations, ask, lookups: () => asked };
}

interface Asked {
  readonly method: string;
  readonly rest: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly granted: readonly string[];
}

describe("a WebSocket of a protocol that the API server knows", () => {
  const paths = ["pods/exec", "pods/attach", "pods/portforward"];
  const headers = { ...UPGRADE, "sec-websocket-protocol": "v5.channel.k8s.io" };

  it.each(paths)("is passed on as it is to a node that declares it: %s", async (path) => {
    const { ask, upgrades } = createWorld({ features: ["ExtendWebSocketsToKubelet"], isTranslated: true });
    expect(await ask(path, { headers })).toMatchObject({ status: 403 });
    const passed = { upgrade: ["websocket"], "sec-websocket-protocol": ["v5.channel.k8s.io"] };
    expect(upgrades).toMatchObject([{ method: "GET", headers: passed }]);
  });

  it.each(paths)("is translated for any other node: %s", async (path) => {
    const { ask, upgrades, translations } = createWorld({ features: ["Other"], isTranslated: true });
    const answer = await ask(path, { headers });
    if (typeof answer?.body !== "object" || !("takeOver" in answer.body)) throw new Error("it is not taken over");
    await answer.body.takeOver(new PassThrough());
    expect([translations, upgrades]).toEqual([[path === "pods/portforward" ? "tunnel" : "translate"], []]);
  });
});

describe("whoever may only read through the proxy of a node runs nothing in its pods", () => {
  it.each([
    "/exec/default/p/main",
    "/exec",
    "/attach/default/p/main",
    "/portForward/default/p",
    "/run/default/p/main",
    "//exec/default/p/main",
    "/x/../exec/default/p/main",
    "/x/%2e%2e/exec/default/p/main",
    "/%65xec/default/p/main",
    "/x%2F..%2Fexec/default/p/main",
    "/exec%2Fdefault/p/main",
    "/%zz",
  ])("with a WebSocket to %s", async (rest) => {
    const { ask, upgrades, web } = createWorld();
    await expect(ask("nodes/proxy", { rest, headers: UPGRADE, granted: [] })).rejects.toThrow("needs create");
    await expect(ask("nodes/proxy", { rest, granted: [] })).rejects.toThrow("needs create");
    expect([upgrades, web]).toEqual([[], []]);
    await ask("nodes/proxy", { rest, headers: UPGRADE });
    expect(upgrades).toHaveLength(1);
  });

  it.each(["/metrics", "/pods/", "/execs", "/stats/summary", "/logs/exec/x"])("and reads %s", async (rest) => {
    const { ask, web } = createWorld();
    await ask("nodes/proxy", { rest, granted: [] });
    expect(web).toMatchObject([{ target: rest }]);
  });

  it("nor through a path that is rewritten after it was judged", async () => {
    const { ask, upgrades } = createWorld();
    const rest = "/x\\..\\exec/default/p/main";
    await ask("nodes/proxy", { rest, headers: UPGRADE, granted: [] });
    expect(upgrades).toMatchObject([{ target: rest }]);
  });

  it.each(["pods/exec", "pods/attach", "pods/portforward"])("nor by %s itself", async (target) => {
    const { ask, upgrades } = createWorld();
    await expect(ask(target, { headers: UPGRADE, granted: [] })).rejects.toThrow("needs create");
    expect(upgrades).toEqual([]);
  });
});

describe("a name that leads elsewhere once it was checked (CVE-2020-8562)", () => {
  const rebound = [["10.0.0.7", "10.0.0.8"], ["127.0.0.1"]];
  it.each(["pods/log", "pods/exec", "pods/attach", "pods/portforward", "nodes/proxy", "nodes/proxy upgraded"])(
    "is looked up once, and what was checked is called: %s",
    async (target) => {
      const { ask, web, upgrades, lookups } = createWorld({ lookups: rebound });
      const isPlain = target === "pods/log" || target === "nodes/proxy";
      await ask(target, { rest: target.startsWith("nodes") ? "/x" : "", headers: isPlain ? {} : UPGRADE });
      expect([...web, ...upgrades]).toMatchObject([{ host: "n.example.com", addresses: rebound[0] }]);
      expect(lookups()).toBe(1);
    },
  );
});

describe("a node that names a server of the API server as its own (CVE-2022-3294)", () => {
  const targets = ["pods/log", "pods/exec", "pods/attach", "pods/portforward", "nodes/proxy"];
  const addresses = ["127.0.0.1", "::1", "::ffff:127.0.0.1", "169.254.169.254", "0.0.0.0", "fe80::1%eth0", "224.0.0.1"];
  it.each(targets)("is not called: %s", async (target) => {
    for (const address of addresses) {
      // One of several is enough: which one is called is chance.
      const { ask, web, upgrades } = createWorld({ lookups: [["10.0.0.7", address]] });
      const headers = target === "pods/log" ? {} : UPGRADE;
      await expect(ask(target, { rest: "/x", headers })).rejects.toThrow("address not allowed");
      expect([web, upgrades]).toEqual([[], []]);
    }
  });
});

describe("a page of a server behind the proxy", () => {
  const page = '<a href="/x">x</a>';
  const PREFIX = "/api/v1/nodes/proxy";

  it.each<[string, Record<string, string[]>, string]>([
    ["has links through the proxy", { "content-type": ["text/html; charset=utf-8"] }, `<a href="${PREFIX}/x">x</a>`],
    ["that is none is passed on as it is", { "content-type": ["text/plain"] }, page],
    [
      "in an encoding that is not known is passed on, too",
      { "content-type": ["text/html"], "content-encoding": ["gzip"] },
      page,
    ],
  ])("%s", async (_, headers, text) => {
    const bytes = Buffer.from(page);
    const { ask } = createWorld({ page: { headers: { ...headers, "content-length": [`${bytes.length}`] }, bytes } });
    const answer = await ask("nodes/proxy", { rest: "/index.html" });
    expect(String(await buffer(sourceOf(answer?.body)))).toBe(text);
    expect("content-length" in (answer?.headers ?? {})).toBe(text === page);
  });
});

/** The body of an answer that streams. */
function sourceOf(body: unknown): Readable {
  const { source }: { source?: unknown } = Object(body);
  if (source instanceof Readable) return source;
  throw new Error("the answer does not stream");
}

describe("a server that does not agree to another protocol", () => {
  const targets = ["pods/exec", "pods/attach", "pods/portforward", "nodes/proxy"];

  it.each(targets)("gets nothing more of the client: %s (CVE-2018-1002105)", async (target) => {
    const { ask, upgrades } = createWorld();
    const answer = await ask(target, { rest: "/x", headers: UPGRADE });
    expect(answer).toMatchObject({ status: 403, body: { source: expect.any(Readable) } });
    expect(answer?.body).not.toHaveProperty("takeOver");
    expect(upgrades).toHaveLength(1);
  });

  it.each(targets)("cannot send the client elsewhere: %s (CVE-2020-8559)", async (target) => {
    for (const status of [200, 301, 302, 307, 308]) {
      const headers = { location: "https://elsewhere.example.com/" };
      const body = Readable.from(["see there"]);
      const { ask, upgrades } = createWorld({ upgraded: { kind: "answered", status, headers, body } });
      const answer = await ask(target, { rest: "/x", headers: UPGRADE });
      expect(answer?.status).toBe(500);
      expect(answer?.headers).not.toHaveProperty("location");
      expect(answer?.body).toContain(`invalid upgrade response: status code ${status}`);
      expect([upgrades.length, body.destroyed]).toEqual([1, true]);
    }
  });
});
