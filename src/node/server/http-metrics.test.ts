import { describe, expect, it } from "vitest";
import { createMetrics } from "../../base/metrics.ts";
import { createFakeClock } from "../../host/fake/fake-clock.ts";
import { createFakeRequest } from "../../host/fake/fake-request.ts";
import type { ServedAnswer, ServedRequest } from "../../host/http-server.ts";
import { httpMetricsOf } from "./http-metrics.ts";

const NEVER = new AbortController().signal;

function secureRequest(path: string, upgrade?: string, method = "GET"): ServedRequest {
  const headers = upgrade === undefined ? {} : { connection: "Upgrade", upgrade };
  return createFakeRequest(path, { method, headers, signal: NEVER });
}

function setUp() {
  const clock = createFakeClock();
  const metrics = createMetrics();
  const http = httpMetricsOf(metrics, clock);
  const lines = async (name: string) =>
    (await metrics.render()).split("\n").filter((line) => line.startsWith(`kubelet_${name}`));
  return { clock, metrics, http, lines };
}

const labels = (path: string, type = "readwrite", long = "false") =>
  `{method="GET",path="${path}",server_type="${type}",long_running="${long}"}`;

it.each([
  ["/pods", "pods"],
  ["/pods/", "pods"],
  ["/stats/summary", "stats"],
  ["/metrics", "metrics"],
  ["/metrics/cadvisor", "metrics/cadvisor"],
  ["/metrics/nosuch", "other"],
  ["/portForward/default/web", "portForward"],
  ["/nosuch", "other"],
  ["/", "other"],
])("a request for %s is counted as %s", async (path, label) => {
  const { http, lines } = setUp();
  await http.measure(async () => ({ status: 404, body: "" }))({ method: "GET", path, query: new URLSearchParams() });
  expect(await lines("http_requests_total")).toEqual([`kubelet_http_requests_total${labels(label, "readonly")} 1`]);
});

it("CVE-2020-8551: ten thousand paths and methods that nobody knows are one series of either server", async () => {
  const { http, lines } = setUp();
  const page = http.measure(async () => ({ status: 404, body: "" }));
  const secure = http.measureSecure(async () => ({ status: 404, body: "" }));
  for (let index = 0; index < 10_000; index++) {
    await page({ method: `M${index}`, path: `/${index}`, query: new URLSearchParams() });
    await secure(secureRequest(`/${index}/${index}`, undefined, `M${index}`));
  }
  expect(await lines("http_requests_total")).toHaveLength(2);
  expect(await lines("http_inflight_requests")).toHaveLength(2);
});

it("nobody makes labels by asking in a way of their own", async () => {
  const { http, lines } = setUp();
  await http.measure(async () => ({ status: 405, body: "" }))({
    ...{ method: "BREW", path: "/a/b/c", query: new URLSearchParams() },
  });
  expect(await lines("http_requests_total")).toEqual([
    'kubelet_http_requests_total{method="other",path="other",server_type="readonly",long_running="false"} 1',
  ]);
});

it("both servers count on the same series", () => {
  const { metrics, clock, http } = setUp();
  expect(httpMetricsOf(metrics, clock)).toBe(http);
});

describe("a request is under way", () => {
  const inFlight = (path: string, count: number, long = "false") =>
    `kubelet_http_inflight_requests${labels(path, "readwrite", long)} ${count}`;

  it("until its answer is there", async () => {
    const { clock, http, lines } = setUp();
    let answer: (answer: ServedAnswer) => void = () => undefined;
    const answered = new Promise<ServedAnswer>((resolve) => {
      answer = resolve;
    });
    const done = http.measureSecure(async () => await answered)(secureRequest("/pods"));
    expect(await lines("http_inflight")).toEqual([inFlight("pods", 1)]);
    await clock.advance(2_000);
    answer({ status: 200, body: "" });
    await done;
    expect(await lines("http_inflight")).toEqual([inFlight("pods", 0)]);
    expect(await lines("http_requests_duration_seconds_sum")).toEqual([
      `kubelet_http_requests_duration_seconds_sum${labels("pods")} 2`,
    ]);
  });

  it("until it has failed", async () => {
    const { http, lines } = setUp();
    const handler = http.measureSecure(() => {
      throw new Error("broken");
    });
    await expect(handler(secureRequest("/pods"))).rejects.toThrow("broken");
    expect(await lines("http_inflight")).toEqual([inFlight("pods", 0)]);
  });

  it("until the last of its pieces is written", async () => {
    const { http, lines } = setUp();
    const streamed = { status: 200, body: { produce: async () => undefined } };
    const answer = await http.measureSecure(() => streamed)(secureRequest("/containerLogs/a/b/c"));
    expect(await lines("http_inflight")).toEqual([inFlight("containerLogs", 1)]);
    const { body } = answer;
    if (typeof body === "string" || !("produce" in body)) throw new Error("not streamed");
    await body.produce({ write: async () => undefined, signal: NEVER });
    expect(await lines("http_inflight")).toEqual([inFlight("containerLogs", 0)]);
  });

  it("no longer than its head, where nobody wants more", async () => {
    const { http, lines } = setUp();
    const streamed = { status: 200, body: { produce: async () => undefined } };
    await http.measureSecure(() => streamed)(secureRequest("/pods", undefined, "HEAD"));
    expect((await lines("http_inflight")).map((line) => line.endsWith(" 0"))).toEqual([true]);
  });
});

it.each([
  ["/exec/a/b/c", "WebSocket", ['kubelet_websocket_streaming_requests_total{subresource="exec"} 1']],
  ["/portForward/a/b", "websocket", ['kubelet_websocket_streaming_requests_total{subresource="portforward"} 1']],
  ["/exec/a/b/c", "SPDY/3.1", []],
])("a stream of %s over %s", async (path, protocol, expected) => {
  const { http, lines } = setUp();
  const answer = await http.measureSecure(() => ({ status: 101, body: { takeOver: async () => undefined } }))(
    secureRequest(path, protocol),
  );
  expect(answer.body).toHaveProperty("takeOver");
  expect(await lines("websocket_streaming_requests_total")).toEqual(expected);
});
