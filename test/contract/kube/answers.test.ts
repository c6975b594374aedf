import { describe, expect, it } from "vitest";
import { NODES, PODS } from "../../../src/api/kube-resource.ts";
import { createMetrics } from "../../../src/base/metrics.ts";
import { createFakeClock } from "../../../src/host/fake/fake-clock.ts";
import type { WatchEvent } from "../../../src/kube/port.ts";
import { startWatch } from "./client-under-test.ts";
import { getNode, until, useSmallWorld } from "./small-client.ts";
import { answerJson, NODE, type SmallResponse, send, startBody } from "./small-server.ts";

const world = useSmallWorld();
const status = (code: number, reason: string, message: string, details = {}) => {
  return { kind: "Status", apiVersion: "v1", metadata: {}, status: "Failure", code, reason, message, details };
};

/** Answers one after the other; the last goes on. */
function inTurn(...answers: Array<(response: SmallResponse) => void>) {
  let count = 0;
  return (_request: unknown, response: SmallResponse) => {
    answers[Math.min(count++, answers.length - 1)]?.(response);
  };
}

describe("a server that asks for patience", () => {
  it.each([
    [429, "plain text, as the max-in-flight filter's", "Too many requests, please try again later."],
    [503, "a Status", JSON.stringify(status(503, "ServiceUnavailable", "apiserver is shutting down"))],
    [500, "nothing at all", ""],
  ])("by %i with Retry-After and %s is asked again when it said", async (code, _what, body) => {
    const clock = createFakeClock();
    const server = await world.serve(
      inTurn(
        (response) => send(response, code, body, { "retry-after": "7" }),
        (response) => answerJson(response, 200, NODE),
      ),
    );
    const client = await world.connect(server.url, { clock, timeoutMs: 60_000 });
    const call = client.create(NODES, NODE);
    await until(() => server.requests.length === 1 && world.logged.some((line) => line.includes("made again")));
    await clock.advance(6_999);
    expect(server.requests).toHaveLength(1);
    // Up to a tenth longer, so that not all come back at once.
    await clock.advance(701);
    expect(await call).toEqual(NODE);
    expect(server.requests.map(({ body: sent }) => sent)).toEqual([JSON.stringify(NODE), JSON.stringify(NODE)]);
  });

  it("for ever is given up on after ten more times", async () => {
    const refusal = status(429, "TooManyRequests", "the server is busy", { retryAfterSeconds: 0 });
    const server = await world.serve((_, response) => answerJson(response, 429, refusal, { "retry-after": "0" }));
    const client = await world.connect(server.url);
    await expect(getNode(client)).rejects.toMatchObject({ reason: "TooManyRequests", message: "the server is busy" });
    expect(server.requests).toHaveLength(11);
  });

  it("longer than the call has is given up on when its time is over", async () => {
    const server = await world.serve((_, response) => send(response, 503, "", { "retry-after": "60" }));
    const client = await world.connect(server.url, { timeoutMs: 1_000 });
    await expect(getNode(client)).rejects.toMatchObject({
      code: "timed-out",
      message: expect.stringMatching(/no answer within 1000 ms; an earlier attempt: answered with 503$/),
    });
  });

  it("without saying how long is not asked again", async () => {
    const failure = status(500, "InternalError", "etcdserver: leader changed");
    const server = await world.serve((_, response) => answerJson(response, 500, failure));
    const client = await world.connect(server.url);
    await expect(getNode(client)).rejects.toMatchObject({ reason: "InternalError" });
    expect(server.requests).toHaveLength(1);
  });
});

describe("an answer that no API server gives", () => {
  it.each([
    ["a page of a proxy", 502, "<html>\n<h1>502 Bad Gateway</h1></html>", '"<html> <h1>502 Bad Gateway</h1></html>"'],
    ["a proxy's 404, which says nothing of the object", 404, "404 page not found\n", '"404 page not found"'],
    ["an empty body", 500, "", "an empty body"],
    ["a redirect", 302, "", "an empty body"],
    ["a success that is no JSON", 200, "hello", '"hello"'],
    ["a success that is cut off, which may be half a secret", 200, '{"kind":"Node"', ": 14 bytes of JSON"],
    ["another kind", 200, '{"kind":"Pod"}', "got Pod"],
    ["a list where an object should be", 200, "[]", "2 bytes of JSON"],
  ])("%s is a KubeUnreachableError with the beginning of it", async (_, code, body, excerpt) => {
    const server = await world.serve((_request, response) => send(response, code, body));
    const client = await world.connect(server.url);
    await expect(getNode(client)).rejects.toMatchObject({
      name: "KubeUnreachableError",
      code: "unreachable",
      message: expect.stringContaining(excerpt),
    });
  });

  it("is quoted up to a bound, without what would confuse a terminal", async () => {
    const server = await world.serve((_, response) => send(response, 500, `\u001b[31m${"é\n".repeat(100_000)}`));
    const client = await world.connect(server.url);
    const failure = await getNode(client).catch((error: unknown) => error);
    expect(String(failure).length).toBeLessThan(400);
    expect(String(failure)).not.toContain("\u001b");
  });

  it("without end is not read to it", async () => {
    const server = await world.serve((_, response) => {
      startBody(response, Buffer.alloc(9 * 1024 * 1024, "x"));
    });
    const client = await world.connect(server.url);
    await expect(getNode(client)).rejects.toMatchObject({
      code: "unreachable",
      message: expect.stringContaining("longer than 8388608 bytes"),
    });
  });

  it("that never begins or never ends costs no more than the call's time", async () => {
    for (const start of [() => undefined, (response: SmallResponse) => startBody(response, '{"kind":')]) {
      const server = await world.serve((_, response) => start(response));
      const client = await world.connect(server.url, { timeoutMs: 50 });
      await expect(getNode(client)).rejects.toMatchObject({ code: "timed-out" });
      const watching = startWatch(client, PODS, { resourceVersion: "1" });
      if (start.length === 0) await expect(watching.ended).rejects.toMatchObject({ code: "timed-out" });
      else watching.abort();
    }
  });
});

describe("a watch's stream", () => {
  const objects = ["a", "ä€🙂", "c"].map((name) => ({ ...NODE, metadata: { name, resourceVersion: "5" } }));
  const lines = objects.map((object) => JSON.stringify({ type: "ADDED", object }));

  it.each([1, 2, 3, 7, 10_000])("is read in pieces of %i bytes", async (size) => {
    const bytes = Buffer.from(`${lines.join("\n")}\n\n`);
    const server = await world.serve((_, response) => {
      for (let at = 0; at < bytes.length; at += size) startBody(response, bytes.subarray(at, at + size));
      response.end();
    });
    const client = await world.connect(server.url);
    const seen: WatchEvent<unknown>[] = [];
    const options = { resourceVersion: "1", timeoutSeconds: 9, fieldSelector: "metadata.name=a" };
    await client.watch(NODES, options, (event) => seen.push(event));
    expect(seen).toEqual(objects.map((object) => ({ type: "ADDED", object, resourceVersion: "5" })));
    const query = "watch=true&allowWatchBookmarks=true&resourceVersion=1&timeoutSeconds=9";
    expect(server.requests[0]?.url).toBe(`/api/v1/nodes?${query}&fieldSelector=metadata.name%3Da`);
  });

  it.each([
    ["in the middle of an event", lines[0]?.slice(0, 20) ?? "", "the server ended it in the middle of an event"],
    ["with what is no JSON", "<html>\n", "6 bytes that are no event"],
    ["with a type that there is not", '{"type":"NEWS","object":{"metadata":{"resourceVersion":"1"}}}\n', "no event"],
    ["with an object of no version", '{"type":"ADDED","object":{"metadata":{}}}\n', "no event"],
    ["with another kind", '{"type":"ADDED","object":{"kind":"Pod","metadata":{"resourceVersion":"1"}}}\n', "got Pod"],
  ])("ends %s: KubeUnreachableError", async (_, text, message) => {
    const server = await world.serve((_request, response) => send(response, 200, text));
    const client = await world.connect(server.url);
    await expect(startWatch(client, NODES, { resourceVersion: "1" }).ended).rejects.toMatchObject({
      name: "KubeUnreachableError",
      message: expect.stringContaining(message),
    });
  });

  it("ends with an ERROR, which is an ApiError, in the stream or before it", async () => {
    const gone = status(410, "Expired", "too old resource version: 1 (9)");
    const server = await world.serve(
      inTurn(
        (response) => send(response, 200, `${JSON.stringify({ type: "ERROR", object: gone })}\n`),
        (response) => answerJson(response, 410, gone),
      ),
    );
    const client = await world.connect(server.url);
    for (let times = 0; times < 2; times++) {
      const watching = startWatch(client, NODES, { resourceVersion: "1" });
      await expect(watching.ended).rejects.toMatchObject({ reason: "Expired", message: gone.message });
    }
  });

  it("that the server does not end in its time is ended by us", async () => {
    const clock = createFakeClock();
    const server = await world.serve((_, response) => startBody(response, `${lines[0]}\n`));
    const client = await world.connect(server.url, { clock });
    const watching = startWatch(client, NODES, { resourceVersion: "1", timeoutSeconds: 10 });
    await watching.next();
    await clock.advance(39_000);
    const open = await Promise.race([watching.ended, Promise.resolve("open")]);
    expect(open).toBe("open");
    await clock.advance(1_000);
    await expect(watching.ended).rejects.toMatchObject({ code: "timed-out" });
  });
});

describe("pages", () => {
  const page = (names: string[], next?: string) => ({
    kind: "NodeList",
    apiVersion: "v1",
    metadata: { resourceVersion: "7", continue: next },
    items: names.map((name) => ({ metadata: { name } })),
  });

  it("are asked for one after the other, and in one piece when they expire in the middle", async () => {
    const server = await world.serve(
      inTurn(
        (response) => answerJson(response, 200, page(["a"], "more")),
        (response) => answerJson(response, 410, status(410, "Expired", "The provided continue parameter is too old")),
        (response) => answerJson(response, 200, page(["a", "b", "c"])),
      ),
    );
    const client = await world.connect(server.url);
    const { items, resourceVersion } = await client.list(NODES, { labelSelector: "x" });
    expect(items.map(({ metadata }) => metadata?.name)).toEqual(["a", "b", "c"]);
    expect(items[0]).toMatchObject({ apiVersion: "v1", kind: "Node" });
    expect(resourceVersion).toBe("7");
    expect(server.requests.map(({ url }) => url)).toEqual([
      "/api/v1/nodes?labelSelector=x&limit=500",
      "/api/v1/nodes?labelSelector=x&limit=500&continue=more",
      "/api/v1/nodes?labelSelector=x",
    ]);
  });

  it("are not asked for again where the server gives the same token twice", async () => {
    const server = await world.serve((_, response) => answerJson(response, 200, page(["a"], "more")));
    const client = await world.connect(server.url);
    await expect(client.list(NODES)).rejects.toMatchObject({
      code: "unreachable",
      message: expect.stringContaining("the list never ends"),
    });
    expect(server.requests).toHaveLength(2);
  });

  it("are not asked for of a server's cache", async () => {
    const server = await world.serve((_, response) => answerJson(response, 200, { ...page([]), items: null }));
    const client = await world.connect(server.url);
    expect(await client.list(NODES, { resourceVersion: "0" })).toEqual({ items: [], resourceVersion: "7" });
    expect(server.requests[0]?.url).toBe("/api/v1/nodes?resourceVersion=0");
  });

  it("have one time together", async () => {
    const clock = createFakeClock();
    let given = 0;
    const server = await world.serve((_, response) => {
      void clock.advance(400).then(() => answerJson(response, 200, page(["a"], `more ${++given}`)));
    });
    const client = await world.connect(server.url, { clock, timeoutMs: 1_000 });
    await expect(client.list(NODES)).rejects.toMatchObject({ code: "timed-out" });
    expect(server.requests.length).toBeLessThanOrEqual(3);
  });
});

describe("limits and counts", () => {
  it("lets calls wait for their turn, in order, and watches not", async () => {
    const clock = createFakeClock();
    const server = await world.serve((_, response) => answerJson(response, 200, NODE));
    const client = await world.connect(server.url, { clock, qps: 1, burst: 1, timeoutMs: 60_000 });
    await getNode(client);
    const second = getNode(client);
    const watching = startWatch(client, NODES, { resourceVersion: "1" });
    await expect(watching.ended).rejects.toBeDefined();
    expect(server.requests.filter(({ url }) => !url.includes("watch"))).toHaveLength(1);
    await clock.advance(1_000);
    await second;
    await expect(getNode(client, { signal: AbortSignal.abort() })).rejects.toMatchObject({ name: "AbortError" });
  });

  it("counts requests under client-go's names, for all clients of a process together", async () => {
    const metrics = createMetrics();
    const server = await world.serve((_, response) => answerJson(response, 404, status(404, "NotFound", "none")));
    const clients = [await world.connect(server.url, { metrics }), await world.connect(server.url, { metrics })];
    for (const client of clients) await expect(getNode(client)).rejects.toMatchObject({ reason: "NotFound" });
    const text = await metrics.render();
    const host = `127.0.0.1:${server.port}`;
    expect(text).toContain(`rest_client_requests_total{code="404",method="GET",host="${host}"} 2`);
    expect(text).toContain(`rest_client_request_duration_seconds_count{verb="GET",host="${host}"} 2`);
  });

  it("sends patches by their type, and options where they belong", async () => {
    const server = await world.serve((_, response) => answerJson(response, 200, NODE));
    const client = await world.connect(`${server.url}/k8s/clusters/one`);
    const name = { namespace: "", name: "a" };
    await client.patch(NODES, name, { type: "strategic", body: { a: 1 } }, { subresource: "status" });
    await client.patch(NODES, name, { type: "json", body: [] }, { fieldManager: "m" });
    await client.delete(NODES, name, { gracePeriodSeconds: 0, uid: "u" });
    expect(
      server.requests.map(({ method, url, body, headers }) => [method, url, headers["content-type"], body]),
    ).toEqual([
      ["PATCH", "/k8s/clusters/one/api/v1/nodes/a/status", "application/strategic-merge-patch+json", '{"a":1}'],
      ["PATCH", "/k8s/clusters/one/api/v1/nodes/a?fieldManager=m", "application/json-patch+json", "[]"],
      [
        "DELETE",
        "/k8s/clusters/one/api/v1/nodes/a",
        "application/json",
        '{"kind":"DeleteOptions","apiVersion":"v1","gracePeriodSeconds":0,"preconditions":{"uid":"u"}}',
      ],
    ]);
  });
});
