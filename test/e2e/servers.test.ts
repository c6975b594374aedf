import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Pod } from "../../src/api/gen/types.ts";
import { claimPort } from "../machine/claims.ts";
import { createNodeUnderTest, type NodeUnderTest } from "./node-under-test.ts";
import { isRunning, RUN_FOR_EVER, shellPod } from "./pods.ts";

describe("the node agent's servers", () => {
  let node: NodeUnderTest;
  beforeAll(async () => {
    node = await createNodeUnderTest();
    await node.write("web.json", shellPod("web", RUN_FOR_EVER));
  });
  afterAll(async () => await node?.destroy());

  const get = async (port: number, path: string) => {
    const response = await fetch(`http://127.0.0.1:${port}${path}`);
    return { status: response.status, type: response.headers.get("content-type"), body: await response.text() };
  };
  const podsAt = async (port: number, path: string): Promise<Pod[]> => {
    const { kind, items }: { kind: string; items: Pod[] } = JSON.parse((await get(port, path)).body);
    expect(kind).toBe("PodList");
    return items;
  };

  it("answers on the health port and shows pods and metrics on the read-only port", async () => {
    const healthz = await claimPort();
    const readOnly = await claimPort();
    await node.start([`--healthz-port=${healthz}`, `--read-only-port=${readOnly}`, "--address=127.0.0.1"]);
    await node.pod("web", isRunning);
    expect(await get(healthz, "/healthz")).toMatchObject({ status: 200, body: "ok" });
    expect((await get(healthz, "/pods")).status).toBe(404);
    expect(await get(readOnly, "/healthz/syncloop")).toMatchObject({ status: 200, body: "ok" });
    const [pod] = await podsAt(readOnly, "/pods");
    expect(pod).toMatchObject({ metadata: { name: "web-e2e", namespace: "default" }, status: { phase: "Running" } });
    const [running] = await podsAt(readOnly, "/runningpods/");
    expect(running).toMatchObject({ metadata: { name: "web-e2e" }, spec: { containers: [{ name: "main" }] } });
    expect((await get(readOnly, "/exec")).status).toBe(404);
    expect((await fetch(`http://127.0.0.1:${readOnly}/pods`, { method: "POST" })).status).toBe(405);
    const metrics = await get(readOnly, "/metrics");
    expect(metrics.type).toMatch(/^text\/plain/);
    for (const name of [
      "kubelet_pleg_relist_duration_seconds",
      "kubelet_runtime_operations_total",
      "kubelet_runtime_operations_duration_seconds",
      "kubelet_started_containers_total",
      "kubelet_started_pods_total",
      "kubelet_run_podsandbox_duration_seconds",
    ]) {
      expect(metrics.body, name).toMatch(new RegExp(`^${name}`, "m"));
    }
    await node.stop();
    await expect(get(healthz, "/healthz")).rejects.toThrow();
  });

  it("has no read-only port unless it is asked for one", async () => {
    await node.start();
    await node.pod("web", isRunning);
    await expect(get(10_255, "/pods")).rejects.toThrow();
    expect(node.log()).not.toMatch(/Listening.*read-only server.*10255/);
    await node.stop();
  });
});
