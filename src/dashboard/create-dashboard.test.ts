import { PassThrough, Readable } from "node:stream";
import { describe, expect, it } from "vitest";
import { ApiError } from "../api/api-error.ts";
import { createFakeClock } from "../host/fake/fake-clock.ts";
import { createFakeRequest } from "../host/fake/fake-request.ts";
import type { ServedAnswer } from "../host/http-server.ts";
import type { DoorAnswer } from "../kube/http/create-kube-door.ts";
import type { KubeClient } from "../kube/port.ts";
import { createDashboard } from "./create-dashboard.ts";
import { slim } from "./live-feed.ts";
import { describeUse, readThresholds } from "./read-node-use.ts";

const HOST = { host: "127.0.0.1:8080" };
const AUTHORIZED = { ...HOST, authorization: "Bearer secret" };
const never = async () => await new Promise<never>(() => undefined);
const refusing: KubeClient = {
  get: async () => await Promise.reject(new ApiError("Forbidden", "no nodes for you")),
  ...{ list: never, watch: never, create: never, replace: never, patch: never, delete: never, createBeneath: never },
};

function start({ client = refusing, answer }: { client?: KubeClient; answer?: DoorAnswer } = {}) {
  const clock = createFakeClock();
  const opened: string[] = [];
  let names = 0;
  const open = async ({ path }: { path: string }) => {
    opened.push(path);
    return await Promise.resolve(answer ?? { kind: "answered" as const, status: 200, body: Readable.from(["line"]) });
  };
  const handle = createDashboard(
    { client, door: { open }, clock, random: { next: () => 0.5 }, randomName: () => `permit${names++}` },
    {
      files: new Map([
        ["index.html", Buffer.from("<p>page</p>")],
        ["main.js.LEGAL.txt", Buffer.from("licence")],
      ]),
      ...{ token: "secret", server: "https://api", port: () => 8080 },
    },
  );
  const ask = async (target: string, request: Parameters<typeof createFakeRequest>[1] = {}): Promise<ServedAnswer> =>
    await handle(createFakeRequest(target, { headers: AUTHORIZED, ...request }));
  return { ask, clock, opened };
}

describe("the server of the page", () => {
  it.each([
    ["a name that leads here by somebody's DNS", { host: "evil.example:8080" }, 421],
    ["another port", { host: "127.0.0.1:80" }, 421],
    ["two names", { host: ["127.0.0.1:8080", "evil.example"] }, 421],
    ["no name", {}, 421],
    ["another page", { ...AUTHORIZED, origin: "http://evil.example" }, 403],
    ["a page in a sandbox", { ...AUTHORIZED, origin: "null" }, 403],
    ["a page of another port", { ...AUTHORIZED, origin: "http://127.0.0.1:9090" }, 403],
    ["a frame or an image of another page", { ...AUTHORIZED, "sec-fetch-site": "cross-site" }, 403],
    ["nobody", HOST, 401],
    ["another token", { ...HOST, authorization: "Bearer secrets" }, 401],
    ["another scheme", { ...HOST, authorization: "Basic secret" }, 401],
  ])("refuses %s", async (_who, headers, status) => {
    const { ask, opened } = start();
    expect((await ask("/logs?namespace=default&name=web", { headers })).status).toBe(status);
    expect(opened).toEqual([]);
  });

  it("lets our own page in", async () => {
    const headers = { ...AUTHORIZED, origin: "http://127.0.0.1:8080", "sec-fetch-site": "same-origin" };
    expect((await start().ask("/logs?namespace=default&name=web", { headers })).status).toBe(200);
  });

  it("gives every answer a policy without exceptions, and no right to other pages", async () => {
    for (const target of ["/", "/nothing", "/live", "/usage?node=n"]) {
      const { headers = {} } = await start().ask(target);
      expect(headers["content-security-policy"]).toMatch(/default-src 'none'; script-src 'self'; style-src 'self'/);
      expect(headers["content-security-policy"]).not.toMatch(/unsafe|nonce|\*|data:/);
      expect(headers["access-control-allow-origin"]).toBeUndefined();
      expect(headers["x-content-type-options"]).toBe("nosniff");
    }
  });

  it("serves the page's files to everybody here, and no other file", async () => {
    const { ask } = start();
    expect((await ask("/", { headers: HOST })).status).toBe(200);
    for (const target of ["/main.js.LEGAL.txt", "/../package.json", "/index.html/..", "//index.html"]) {
      expect((await ask(target)).status).toBe(404);
    }
  });

  it.each([
    ["/api/v1/secrets", 404],
    ["/usage?node=../secrets", 400],
    ["/logs?namespace=default&name=..%2F..%2Fsecrets", 400],
    ["/logs?namespace=..&name=web", 400],
    ["/explain?namespace=default&name=", 400],
  ])("asks the API server nothing by way of %s", async (target, status) => {
    const { ask, opened } = start();
    expect((await ask(target)).status).toBe(status);
    expect(opened).toEqual([]);
  });

  it("changes nothing: other methods are refused", async () => {
    expect((await start().ask("/live", { method: "DELETE" })).status).toBe(405);
    expect((await start().ask("/exec")).status).toBe(405);
  });

  it("passes on what the API server refuses, but says 401 of its own token only", async () => {
    expect(await start().ask("/usage?node=n")).toMatchObject({ status: 403, body: "no nodes for you\n" });
    const get = async () => await Promise.reject(new ApiError("Unauthorized", "token expired"));
    expect((await start({ client: { ...refusing, get } }).ask("/usage?node=n")).status).toBe(403);
    const answer: DoorAnswer = { kind: "answered", status: 401, body: Readable.from(["expired"]) };
    expect((await start({ answer }).ask("/logs?namespace=default&name=web")).status).toBe(502);
  });

  it("follows a log without its container's name becoming a part of the question", async () => {
    const { ask, opened } = start();
    await ask("/logs?namespace=default&name=web&container=a%26previous%3Dtrue");
    expect(opened).toEqual([
      "/api/v1/namespaces/default/pods/web/log?container=a%26previous%3Dtrue&tailLines=1000&follow=true",
    ]);
  });

  it("opens no more streams than it has room for", async () => {
    const { ask } = start();
    const controllers = Array.from({ length: 16 }, () => new AbortController());
    for (const { signal } of controllers) {
      const { body } = await ask("/live");
      const writer = { write: () => undefined, end: () => undefined, bufferedBytes: 0, signal };
      if (typeof body === "object" && "stream" in body) body.stream(writer);
    }
    expect((await ask("/live")).status).toBe(503);
    controllers[0]?.abort();
    expect((await ask("/live")).status).toBe(200);
  });
});

describe("a terminal", () => {
  const asked = { namespace: "default", name: "web", container: "main", command: ["sh", "-c", "a&b"] };
  const upgrade = { ...HOST, connection: "Upgrade", "sec-websocket-key": "key" };
  const socket = (): DoorAnswer => ({ kind: "upgraded", headers: {}, socket: new PassThrough() });

  it("is opened once, by a permit that somebody with the token asked for", async () => {
    const { ask, opened } = start({ answer: socket() });
    expect(await ask("/exec", { method: "POST", body: JSON.stringify(asked) })).toMatchObject({ status: 200 });
    expect((await ask("/exec/permit0", { headers: upgrade })).status).toBe(101);
    expect((await ask("/exec/permit0", { headers: upgrade })).status).toBe(403);
    expect(opened).toEqual([
      "/api/v1/namespaces/default/pods/web/exec?container=main&stdin=true&stdout=true&tty=true&command=sh&command=-c&command=a%26b",
    ]);
  });

  it("is not opened after ten seconds, nor by another page, nor without a permit", async () => {
    const { ask, clock, opened } = start({ answer: socket() });
    await ask("/exec", { method: "POST", body: JSON.stringify(asked) });
    expect((await ask("/exec/permit0", { headers: { ...upgrade, origin: "http://evil.example" } })).status).toBe(403);
    await clock.advance(10_001);
    expect((await ask("/exec/permit0", { headers: upgrade })).status).toBe(403);
    expect((await ask("/exec/permit9", { headers: upgrade })).status).toBe(403);
    expect(opened).toEqual([]);
  });

  it.each([
    ["no JSON", "{"],
    ["no command", JSON.stringify({ ...asked, command: [] })],
    ["a command of something else", JSON.stringify({ ...asked, command: [1] })],
    ["a name with a path in it", JSON.stringify({ ...asked, name: "../../secrets" })],
    ["no container", JSON.stringify({ ...asked, container: "" })],
  ])("is not asked for by %s", async (_what, body) => {
    expect((await start().ask("/exec", { method: "POST", body })).status).toBe(400);
  });

  it("takes no body without end", async () => {
    expect((await start().ask("/exec", { method: "POST", body: " ".repeat(70_000) })).status).toBe(413);
  });
});

it("reads what a node uses from any summary, and takes no text for a number", () => {
  expect(describeUse("n", { node: { memory: { availableBytes: "1" } }, pods: "none" })).toMatchObject({
    memory: { availableBytes: undefined },
    pods: [],
  });
  const pods = [{ podRef: { uid: "u" }, cpu: { usageNanoCores: 5 }, containers: [{ name: "main" }] }];
  expect(describeUse("n", { pods }).pods).toMatchObject([
    { uid: "u", cpuNanoCores: 5, containers: [{ name: "main" }] },
  ]);
});

it("reads the thresholds of a kubelet's configuration, and none of one that has none", () => {
  const evictionHard = { "memory.available": "100Mi", "nodefs.available": "25%", broken: "5" };
  expect(readThresholds({ kubeletconfig: { evictionHard } })).toEqual([
    { signal: "memory.available", amount: 104_857_600, share: undefined, isHard: true },
    { signal: "nodefs.available", amount: undefined, share: 0.25, isHard: true },
  ]);
  expect(readThresholds("no configuration")).toEqual([]);
});

it("leaves out of objects what the page never shows", () => {
  const annotations = { "kubectl.kubernetes.io/last-applied-configuration": "{}", kept: "yes" };
  expect(slim({ metadata: { name: "web", managedFields: [{}], annotations } })).toEqual({
    metadata: { name: "web", annotations: { kept: "yes" } },
  });
});
