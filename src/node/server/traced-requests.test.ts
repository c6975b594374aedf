import { expect, it } from "vitest";
import { recordTracing } from "../../base/__fixtures__/record-tracing.ts";
import type { HttpHandler, ServedRequest } from "../../host/http-server.ts";
import { traceRequests } from "./traced-requests.ts";

function requestFor(path: string, headers: Readonly<Record<string, string>> = {}): ServedRequest {
  return {
    method: "GET",
    path,
    query: new URLSearchParams(),
    rawQuery: "",
    header: (name) => (headers[name] === undefined ? [] : [headers[name]]),
    headersBeginning: () => ({}),
    isUpgrade: false,
    peer: undefined,
    remoteAddress: "10.0.0.9",
    signal: new AbortController().signal,
    vouch: () => undefined,
    readBody: async () => await Promise.resolve(Buffer.alloc(0)),
    bodyStream: () => undefined,
  };
}

it("is the handler itself without tracing", () => {
  const handler: HttpHandler = () => ({ status: 200, body: "" });
  expect(traceRequests(handler, undefined)).toBe(handler);
});

it.each([
  ["/containerLogs/shop/web/app", "/containerLogs/{podNamespace}/{podID}/{containerName}"],
  ["/portForward/shop/web", "/portForward/{podNamespace}/{podID}"],
  ["/logs/syslog", "/logs/{logpath:*}"],
  ["/stats/summary", "/stats/summary"],
])("names the span of %s by its route", async (path, route) => {
  const { tracing, spans } = recordTracing();
  await traceRequests(() => ({ status: 200, body: "" }), tracing)(requestFor(path));
  expect(spans).toMatchObject([{ start: { name: route }, attributes: { "http.route": route, "url.path": path } }]);
});

it("begins a trace of its own and links the client's", async () => {
  const { tracing, spans } = recordTracing();
  const request = requestFor("/pods", { traceparent: "00-a-b-01", "user-agent": "curl" });
  await traceRequests(() => ({ status: 200, body: "" }), tracing)(request);
  expect(spans).toMatchObject([
    {
      start: { kind: "server", isRoot: true, linkedWith: { traceparent: "00-a-b-01" } },
      attributes: {
        "http.request.method": "GET",
        "url.scheme": "https",
        "network.peer.address": "10.0.0.9",
        "user_agent.original": "curl",
        "http.response.status_code": 200,
      },
      end: "well",
    },
  ]);
});

it("tells of what the node failed at, and not of what the client did wrong", async () => {
  const { tracing, spans } = recordTracing();
  await traceRequests(() => ({ status: 500, body: "" }), tracing)(requestFor("/pods"));
  await traceRequests(() => ({ status: 403, body: "" }), tracing)(requestFor("/pods"));
  const broken = traceRequests(() => Promise.reject(new Error("broken")), tracing);
  await expect(broken(requestFor("/pods"))).rejects.toThrow("broken");
  expect(spans.map(({ end }) => end)).toEqual([{ failure: "answered with 500" }, "well", { failure: "broken" }]);
});
