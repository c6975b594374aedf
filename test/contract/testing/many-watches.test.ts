import { CoreV1Api, Watch } from "@kubernetes/client-node";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { startCluster, type TestCluster } from "../../../src/testing/start-cluster.ts";
import { kubeConfigOf } from "./kube-config.ts";

const namespace = "default";
let cluster: TestCluster;
let core: CoreV1Api;

beforeAll(async () => {
  cluster = await startCluster();
  core = kubeConfigOf(cluster).makeApiClient(CoreV1Api);
});
afterAll(async () => cluster.stop());

/** Both ends of every connection are in this process. */
const countSockets = () => process.getActiveResourcesInfo().filter((kind) => /TCP|TLS/.test(kind)).length;
const countTimers = () => process.getActiveResourcesInfo().filter((kind) => kind === "Timeout").length;

async function startWatch(onEvent: (type: string, name: unknown) => void): Promise<AbortController> {
  const watch = new Watch(kubeConfigOf(cluster));
  const path = `/api/v1/namespaces/${namespace}/configmaps`;
  const query = { resourceVersion: "0", labelSelector: "watched" };
  return watch.watch(
    path,
    query,
    (type, object) => onEvent(type, object?.metadata?.name),
    () => undefined,
  );
}

const create = (name: string) =>
  core.createNamespacedConfigMap({ namespace, body: { metadata: { name, labels: { watched: "yes" } } } });

describe("many watches", () => {
  it("all see everything in the same order", async () => {
    const seen: string[][] = [];
    const watches = await Promise.all(
      Array.from({ length: 300 }, () => {
        const own: string[] = [];
        seen.push(own);
        return startWatch((type, name) => own.push(`${type} ${name}`));
      }),
    );
    for (let index = 0; index < 20; index++) await create(`many-${index}`);
    expect(countSockets()).toBeGreaterThan(2 * watches.length);
    const expected = Array.from({ length: 20 }, (_, index) => `ADDED many-${index}`);
    await vi.waitFor(() => expect(seen.every(({ length }) => length === 20)).toBe(true), { timeout: 20_000 });
    for (const own of seen) expect(own).toEqual(expected);
    for (const watch of watches) watch.abort();
    await core.deleteCollectionNamespacedConfigMap({ namespace, labelSelector: "watched" });
  });

  it("leave neither connections nor timers behind", async () => {
    await cycle("warm", 10);
    await vi.waitFor(() => expect(countSockets()).toBeLessThan(10), { timeout: 20_000 });
    const before = { sockets: countSockets(), timers: countTimers() };
    await cycle("leak", 200);
    await vi.waitFor(
      () => {
        expect(countSockets()).toBeLessThanOrEqual(before.sockets + 2);
        expect(countTimers()).toBeLessThanOrEqual(before.timers + 2);
      },
      { timeout: 20_000 },
    );
  });
});

/** Starts a watch, waits until it shows a new object, and ends it; so many times. */
async function cycle(prefix: string, times: number): Promise<void> {
  for (let index = 0; index < times; index++) {
    const name = `${prefix}-${index}`;
    const seen = vi.fn();
    const watch = await startWatch((_, shown) => seen(shown));
    await create(name);
    await vi.waitFor(() => expect(seen).toHaveBeenCalledWith(name), { interval: 1, timeout: 20_000 });
    watch.abort();
    await core.deleteNamespacedConfigMap({ namespace, name });
  }
}

it("starts and stops a hundred clusters without growing", async () => {
  const startAndStop = async () => {
    const { stop, kubeconfig } = await startCluster();
    await kubeConfigOf({ kubeconfig }).makeApiClient(CoreV1Api).listNamespace();
    await stop();
  };
  for (let round = 0; round < 5; round++) await startAndStop();
  const before = process.getActiveResourcesInfo().length;
  for (let round = 0; round < 100; round++) await startAndStop();
  await vi.waitFor(() => expect(process.getActiveResourcesInfo().length).toBeLessThanOrEqual(before + 2), {
    timeout: 20_000,
  });
});
