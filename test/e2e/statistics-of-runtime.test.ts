import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { Summary } from "../../src/node/upkeep/stats/summary/summary.ts";
import { claimPort } from "../machine/claims.ts";
import { createNodeUnderTest, type NodeUnderTest } from "./node-under-test.ts";
import { isRunning, shellPod } from "./pods.ts";

const BUSY = "trap 'exit 0' TERM; while :; do :; done";
const PATIENCE_MS = 60_000;

let node: NodeUnderTest;
let port: number;

beforeAll(async () => {
  node = await createNodeUnderTest();
  port = await claimPort();
  await node.write("busy.json", shellPod("busy", BUSY, {}, { resources: { limits: { cpu: "100m", memory: "64Mi" } } }));
  const gate = "--feature-gates=PodAndContainerStatsFromCRI=true";
  await node.start([gate, `--read-only-port=${port}`, "--address=127.0.0.1"]);
  await node.pod("busy", isRunning);
});
afterAll(async () => await node?.destroy());

const get = async (path: string) => {
  const response = await fetch(`http://127.0.0.1:${port}${path}`);
  const body = await response.text();
  expect(response.status, body).toBe(200);
  return body;
};

it("tells what a real runtime tells of pods and their containers", async () => {
  const end = Date.now() + PATIENCE_MS;
  for (;;) {
    const { pods }: Summary = JSON.parse(await get("/stats/summary"));
    const [pod] = pods;
    const [main] = pod?.containers ?? [];
    const isWhole = (main?.cpu?.usageNanoCores ?? 0) > 0 && (pod?.cpu?.usageCoreNanoSeconds ?? 0) > 0;
    if (isWhole) {
      expect(pod).toMatchObject({ podRef: { name: "busy-e2e" }, memory: { workingSetBytes: expect.any(Number) } });
      expect(main).toMatchObject({ name: "main", memory: { workingSetBytes: expect.any(Number) } });
      return;
    }
    if (Date.now() > end) expect.fail(JSON.stringify(pods));
    await delay(500);
  }
});

it("has the series of containers, whoever makes them", async () => {
  expect(await get("/metrics")).toContain('kubelet_metrics_provider{provider="cri"} 1');
  expect(await get("/metrics/cadvisor")).toMatch(/^container_cpu_usage_seconds_total\{.*pod="busy-e2e".*\} [\d.]+/m);
  expect(await get("/metrics/resource")).toMatch(/^pod_cpu_usage_seconds_total\{.*pod="busy-e2e".*\} [\d.]+/m);
});
