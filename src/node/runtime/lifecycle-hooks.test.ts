import { describe, expect, it } from "vitest";
import type { LifecycleHandler, Pod } from "../../api/gen/types.ts";
import { createFakeNode, NEVER, STUBBORN } from "./__fixtures__/fake-node.ts";
import { runLifecycleHook } from "./lifecycle-hooks.ts";

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
  void runLifecycleHook({ runtime: node.cri.runtime, host: node.host }, handler, target, { timeoutMs, signal }).then(
    (problem) => (outcome = problem ?? "worked"),
    (error: Error) => (outcome = error.name),
  );
  return { ...node, outcome: () => outcome, requests: () => node.host.http.requests.map(({ url }) => url) };
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

it.each([
  [3, 3_000],
  [60, 5_000],
])("sleeps %i s, but no longer than it may: %i ms", async (seconds, expected) => {
  const { clock, outcome } = await run({ sleep: { seconds } });
  await clock.advance(expected - 1);
  expect(outcome()).toBe("running");
  await clock.advance(1);
  expect(outcome()).toBe("worked");
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
