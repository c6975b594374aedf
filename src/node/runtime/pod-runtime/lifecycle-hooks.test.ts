import { describe, expect, it } from "vitest";
import type { LifecycleHandler, Pod } from "../../../api/gen/types.ts";
import { CodedError } from "../../../base/errors.ts";
import { createMetrics } from "../../../base/metrics.ts";
import { createFakeNode, NEVER, STUBBORN } from "../reading/__fixtures__/fake-node.ts";
import { runLifecycleHook } from "./lifecycle-hooks.ts";
import { createRuntimeMetrics } from "./metrics.ts";

const pod: Pod = { metadata: { uid: "uid-1", name: "web", namespace: "default" } };
const container = { name: "main", ports: [{ name: "http", containerPort: 8080 }] };

async function run(
  handler: LifecycleHandler,
  options: { podIp?: string; timeoutMs?: number; signal?: AbortSignal } = {},
) {
  const node = createFakeNode();
  const { ids } = await node.makePod(pod, { main: { command: STUBBORN } });
  const served = ["http://10.0.0.7:8080/", "http://10.0.0.7:9/x?y=1", "https://example:443/", "http://[fd00::7]:8080/"];
  for (const url of served) node.host.http.serve(url, { status: 503, body: "x".repeat(20_000) });
  const { podIp = "10.0.0.7", timeoutMs = 5_000, signal = NEVER } = options;
  const target = { containerId: ids["main"] ?? "", container, podIp: podIp === "" ? undefined : podIp };
  let outcome: unknown = "running";
  const counts = createMetrics();
  const onHttpFallback = () => undefined;
  const deps = { runtime: node.cri.runtime, host: node.host, metrics: createRuntimeMetrics(counts), onHttpFallback };
  void runLifecycleHook(deps, handler, target, { timeoutMs, signal }).then(
    (problem) => (outcome = problem ?? "worked"),
    (error: Error) => (outcome = error.name),
  );
  const cutSleeps = async () =>
    (await counts.render()).match(/^kubelet_sleep_action_terminated_early_total (\d+)$/m)?.[1];
  const requests = () => node.host.http.requests.map(({ url }) => url);
  return { ...node, outcome: () => outcome, requests, cutSleeps };
}

describe("exec", () => {
  it.each([
    [["true"], "worked"],
    [["sh", "-c", "echo sorry; exit 3"], "command 'sh -c echo sorry; exit 3' exited with 3: sorry\n"],
  ])("%o: %s", async (command, expected) => {
    const { clock, outcome } = await run({ exec: { command } });
    await clock.settle();
    expect(outcome()).toBe(expected);
  });

  it("ends with its time", async () => {
    const { clock, outcome } = await run({ exec: { command: ["sleep", "60"] } });
    await clock.advance(4_999);
    expect(outcome()).toBe("running");
    await clock.advance(1);
    expect(outcome()).toContain("timeout 5s exceeded");
  });
});

describe("httpGet", () => {
  it.each<[NonNullable<LifecycleHandler["httpGet"]>, string]>([
    [{ port: 8080 }, "http://10.0.0.7:8080/"],
    [{ port: "8080" }, "http://10.0.0.7:8080/"],
    [{ port: "http" }, "http://10.0.0.7:8080/"],
    [{ port: 9, path: "x?y=1" }, "http://10.0.0.7:9/x?y=1"],
    [{ port: 443, scheme: "HTTPS", host: "example" }, "https://example:443/"],
  ])("%o asks %s, and takes any answer", async (httpGet, url) => {
    const { clock, outcome, requests } = await run({ httpGet });
    await clock.settle();
    expect(requests()).toEqual([url]);
    expect(outcome()).toBe("worked");
  });

  it("writes an IPv6 address as a URL wants it", async () => {
    const { clock, requests } = await run({ httpGet: { port: 8080 } }, { podIp: "fd00::7" });
    await clock.settle();
    expect(requests()).toEqual(["http://[fd00::7]:8080/"]);
  });

  it.each<[NonNullable<LifecycleHandler["httpGet"]>, string, string]>([
    [{ port: "nowhere" }, "10.0.0.7", "couldn't find port: nowhere in container main"],
    [{ port: 8080 }, "", "failed to find networking container: the pod has no address"],
    [{ port: 1 }, "10.0.0.7", "connect ECONNREFUSED http://10.0.0.7:1/"],
  ])("%o of a pod at '%s': %s", async (httpGet, podIp, expected) => {
    const { clock, outcome } = await run({ httpGet }, { podIp });
    await clock.settle();
    expect(outcome()).toBe(expected);
  });
});

describe("httpGet by https of a server that speaks http", () => {
  const plain = () => {
    throw new CodedError("ENOTTLS", "server gave HTTP response to HTTPS client");
  };
  const headers = [
    { name: "Authorization", value: "secret" },
    { name: "x-own", value: "1" },
  ];
  const ask = async (servesHttp: boolean) => {
    const node = createFakeNode();
    const { ids } = await node.makePod(pod, { main: { command: STUBBORN } });
    node.host.http.serve("https://10.0.0.7:8080/", plain);
    if (servesHttp) node.host.http.serve("http://10.0.0.7:8080/", { status: 200 });
    const metrics = createMetrics();
    const told: string[] = [];
    const deps = {
      ...{ runtime: node.cri.runtime, host: node.host, metrics: createRuntimeMetrics(metrics) },
      onHttpFallback: (message: string) => void told.push(message),
    };
    const target = { containerId: ids["main"] ?? "", container, podIp: "10.0.0.7" };
    const handler = { httpGet: { port: 8080, scheme: "HTTPS", httpHeaders: headers } };
    const problem = await runLifecycleHook(deps, handler, target, { timeoutMs: 5_000, signal: NEVER });
    const counted = (await metrics.render()).match(/^kubelet_lifecycle_handler_http_fallbacks_total (\d+)$/m)?.[1];
    return { problem, told, counted, requests: node.host.http.requests };
  };

  it("is asked by http too, without what it must not know, and told of", async () => {
    const { problem, told, counted, requests } = await ask(true);
    expect([problem, counted]).toEqual([undefined, "1"]);
    expect(told).toEqual([
      "request to HTTPS lifecycle hook 10.0.0.7:8080 got HTTP response, retry with HTTP succeeded",
    ]);
    expect(requests.map(({ headers: sent }) => sent)).toEqual([
      headers.map(({ name, value }) => [name, value]),
      [["x-own", "1"]],
    ]);
  });

  it("fails where that fails too", async () => {
    const { problem, told, counted } = await ask(false);
    expect([problem, told, counted]).toEqual(["connect ECONNREFUSED http://10.0.0.7:8080/", [], "0"]);
  });
});

it.each([
  [3, 3_000, "0"],
  [60, 5_000, "1"],
])("sleeps %i s, but no longer than it may: %i ms", async (seconds, expected, cut) => {
  const { clock, outcome, cutSleeps } = await run({ sleep: { seconds } });
  await clock.advance(expected - 1);
  expect(outcome()).toBe("running");
  await clock.advance(1);
  expect(outcome()).toBe("worked");
  expect(await cutSleeps()).toBe(cut);
});

it.each<[LifecycleHandler, string]>([
  [{ tcpSocket: { port: 1 } }, "tcpSocket is not supported as a lifecycle handler"],
  [{}, "the handler names no action"],
])("%o: %s", async (handler, expected) => {
  const { clock, outcome } = await run(handler);
  await clock.settle();
  expect(outcome()).toBe(expected);
});

it.each<LifecycleHandler>([{ exec: { command: ["sleep", "60"] } }, { sleep: { seconds: 60 } }])(
  "is no failure when nobody waits for it any more: %o",
  async (handler) => {
    const controller = new AbortController();
    const { clock, outcome } = await run(handler, { signal: controller.signal });
    await clock.advance(1_000);
    controller.abort();
    await clock.settle();
    expect(outcome()).toBe("AbortError");
  },
);
