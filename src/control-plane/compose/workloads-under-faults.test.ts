import { expect, test } from "vitest";
import { ApiError } from "../../api/api-error.ts";
import { type KubeObject, typed } from "../../api/object.ts";
import { createControllerBench } from "../control-loop/__fixtures__/run-controllers.ts";
import { createDeployments } from "../workloads/deployments/deployment-controller.ts";
import { createReplicaSets } from "../workloads/replicas/replica-controller.ts";

const REPLICAS = 6;
const SURGE = 2;
const UNAVAILABLE = 1;
const DEPLOYMENTS = "deployments.apps";
const NAMED = { resource: DEPLOYMENTS, namespace: "a", name: "web" };

const templateOf = (version: string) => ({
  metadata: { labels: { app: "web" } },
  spec: { containers: [{ name: "c", image: version }] },
});
const DEPLOYMENT: KubeObject = {
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: { name: "web", namespace: "a", generation: 1 },
  spec: {
    replicas: REPLICAS,
    selector: { matchLabels: { app: "web" } },
    template: templateOf("v1"),
    strategy: { type: "RollingUpdate", rollingUpdate: { maxSurge: SURGE, maxUnavailable: UNAVAILABLE } },
  },
};

/** Numbers that follow from the seed alone (mulberry32). */
function createChance(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Both controllers on a cluster in which writes fail by chance, before they happen or after, and controllers start anew. */
function setUp(seed: number) {
  const bench = createControllerBench();
  const { reader, writer, clock, deps } = bench;
  const chance = createChance(seed);
  let faults = true;
  let isOwn = false;
  bench.refuse = () => {
    if (isOwn || !faults || chance() > 0.25) return undefined;
    return new ApiError(chance() < 0.5 ? "Conflict" : "ServiceUnavailable", "by chance");
  };
  const start = () => [createReplicaSets(deps), createDeployments(deps)].map(bench.start);
  let stops = start();
  const undisturbed = async (work: () => Promise<unknown>) => {
    isOwn = true;
    await work();
    isOwn = false;
  };
  const pods = () => reader.list("pods", "a").map((pod) => typed("Pod", pod));
  const isReady = (pod: ReturnType<typeof pods>[number]) => pod.status?.phase === "Running";
  return {
    clock,
    pods,
    isReady,
    create: async () => await undisturbed(async () => await writer.create(DEPLOYMENTS, DEPLOYMENT)),
    async change(version: string) {
      const { metadata, ...rest } = reader.get(NAMED) ?? DEPLOYMENT;
      const generation = (metadata.generation ?? 0) + 1;
      const spec = { ...Object(rest["spec"]), template: templateOf(version) };
      await undisturbed(
        async () => await writer.update(DEPLOYMENTS, { ...rest, metadata: { ...metadata, generation }, spec }),
      );
    },
    /** What may happen next: a pod becomes ready, time passes, or the controllers end and others begin. */
    async step() {
      const waiting = pods().find((pod) => !isReady(pod));
      if (waiting !== undefined && chance() < 0.6) {
        const lastTransitionTime = new Date(clock.now()).toISOString();
        const status = { phase: "Running", conditions: [{ type: "Ready", status: "True", lastTransitionTime }] };
        await undisturbed(async () => await writer.update("pods", { ...waiting, status }, "status"));
      }
      if (chance() < 0.1) {
        await Promise.all(stops.map((stop) => stop()));
        stops = start();
      }
      await clock.advance(Math.floor(chance() * 2_000));
    },
    async settle() {
      faults = false;
      for (let turn = 0; turn < 20; turn++) {
        for (const waiting of pods().filter((pod) => !isReady(pod))) {
          const condition = { type: "Ready", status: "True", lastTransitionTime: "2026-01-01T00:00:00Z" };
          const status = { phase: "Running", conditions: [condition] };
          await undisturbed(async () => await writer.update("pods", { ...waiting, status }, "status"));
        }
        await clock.advance(60_000);
      }
    },
    status: () => typed("Deployment", reader.get(NAMED) ?? DEPLOYMENT).status,
  };
}

test.each(Array.from({ length: 40 }, (_, seed) => seed))(
  "seed %i: whatever fails, a rollout keeps its limits, makes nothing twice, and ends",
  async (seed) => {
    const { create, change, step, settle, pods, isReady, status } = setUp(seed);
    await create();
    await settle();
    expect(pods()).toHaveLength(REPLICAS);
    await change("v2");
    for (let turn = 0; turn < 40; turn++) {
      await step();
      expect(pods().length).toBeLessThanOrEqual(REPLICAS + SURGE);
      expect(pods().filter(isReady).length).toBeGreaterThanOrEqual(REPLICAS - UNAVAILABLE);
    }
    await settle();
    expect(pods().map(({ spec }) => spec?.containers[0]?.image)).toEqual(Array.from({ length: REPLICAS }, () => "v2"));
    expect(status()).toMatchObject({ replicas: REPLICAS, updatedReplicas: REPLICAS, availableReplicas: REPLICAS });
  },
);
