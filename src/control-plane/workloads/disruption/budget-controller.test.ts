import { expect, test } from "vitest";
import type { PodDisruptionBudgetSpec, PodDisruptionBudgetStatus } from "../../../api/gen/types.ts";
import { type KubeObject, typed } from "../../../api/object.ts";
import { createControllerBench } from "../../control-loop/__fixtures__/run-controllers.ts";
import { workloadPod } from "../pod-control/__fixtures__/workload-objects.ts";
import { createDisruptionBudgets } from "./budget-controller.ts";
import type { ReadScale } from "./expected-pods.ts";
import { createStaleDisruptions } from "./stale-disruptions.ts";

const BUDGETS = "poddisruptionbudgets.policy";
const selector = { matchLabels: { app: "web" } };
const controlledBy = (uid: string) => ({
  ownerReferences: [{ apiVersion: "apps/v1", kind: "ReplicaSet", name: uid, uid, controller: true }],
});

async function setUp(spec: PodDisruptionBudgetSpec, replicas: Readonly<Record<string, number>> = {}) {
  const bench = createControllerBench();
  const { reader, writer, clock, deps } = bench;
  const readScale: ReadScale = ({ uid, kind }) => {
    if (kind === "Job") return { kind: "unscalable", message: "jobs.batch does not implement the scale subresource" };
    const count = replicas[uid];
    return count === undefined ? { kind: "gone" } : { kind: "scale", uid, replicas: count };
  };
  bench.start(createDisruptionBudgets({ ...deps, readScale }));
  await bench.create(BUDGETS, {
    apiVersion: "policy/v1",
    kind: "PodDisruptionBudget",
    metadata: { name: "b", namespace: "a", generation: 1 },
    spec: { selector, ...spec },
  });
  const read = () => typed("PodDisruptionBudget", reader.list(BUDGETS)[0] ?? workloadPod("none"));
  return Object.assign(bench, {
    async add(...pods: KubeObject[]) {
      for (const pod of pods) await bench.create("pods", pod);
      await clock.settle();
    },
    counts() {
      const { currentHealthy, desiredHealthy, disruptionsAllowed, expectedPods } = read().status ?? {};
      return [currentHealthy, desiredHealthy, disruptionsAllowed, expectedPods];
    },
    read,
    async tell(status: PodDisruptionBudgetStatus) {
      await writer.update(BUDGETS, { ...read(), status: { ...read().status, ...status } }, "status");
      await clock.settle();
    },
    messages: () => reader.list("events").map((event) => typed("Event", event).message ?? ""),
  });
}

const ready = (name: string, owner?: string) => workloadPod(name, { metadata: owner ? controlledBy(owner) : {} });
const unready = (name: string, owner: string) => {
  return workloadPod(name, { readySince: undefined, metadata: controlledBy(owner) });
};

test("a number of available pods is of the pods that are there", async () => {
  const { add, counts, read, clock } = await setUp({ minAvailable: 1 });
  await clock.settle();
  expect(counts()).toEqual([0, 1, 0, 0]);
  expect(read().status?.conditions).toMatchObject([{ status: "False", reason: "InsufficientPods" }]);
  await add(ready("p1"), ready("p2"), unready("p3", "r"));
  expect(counts()).toEqual([2, 1, 1, 3]);
  expect(read().status).toMatchObject({
    observedGeneration: 1,
    conditions: [{ type: "DisruptionAllowed", status: "True", reason: "SufficientPods", message: "" }],
  });
});

test("a part of them is of what their controllers are to have, each counted once", async () => {
  const { add, counts } = await setUp({ minAvailable: "50%" }, { r: 5, s: 2 });
  await add(ready("p1", "r"), ready("p2", "r"), ready("p3", "r"), ready("q", "s"), unready("q2", "s"));
  expect(counts()).toEqual([4, 4, 0, 7]);
});

test("what may be missing is of what the controllers are to have too", async () => {
  const { add, counts, messages } = await setUp({ maxUnavailable: "30%" }, { r: 5 });
  await add(ready("p1", "r"), ready("p2", "r"), ready("p3", "r"), ready("p4", "r"), ready("alone"));
  expect(counts()).toEqual([5, 3, 2, 5]);
  expect(messages()).toContainEqual(expect.stringContaining("(selector: app=web) were found to be unmanaged"));
});

test("a budget that cannot be counted allows nothing, and says why", async () => {
  const { add, read, counts, messages } = await setUp({ maxUnavailable: 1 }, { r: 2 });
  await add(ready("p1", "r"), ready("p2", "r"));
  expect(counts()).toEqual([2, 1, 1, 2]);
  const job = { ownerReferences: [{ apiVersion: "batch/v1", kind: "Job", name: "j", uid: "j", controller: true }] };
  await add(workloadPod("p3", { metadata: job }));
  const message = "jobs.batch does not implement the scale subresource";
  expect(read().status).toMatchObject({
    disruptionsAllowed: 0,
    conditions: [{ status: "False", reason: "SyncFailed", message }],
  });
  expect(messages()).toContain(`Failed to calculate the number of expected pods: ${message}`);
});

test("a pod whose eviction was allowed does not count, until it was not deleted in time", async () => {
  const { add, counts, read, tell, clock, messages, writer } = await setUp({ minAvailable: 1 });
  await add(ready("p1"), ready("p2"), ready("p3"));
  const now = new Date(clock.now()).toISOString();
  await tell({ disruptionsAllowed: 0, disruptedPods: { p1: now, p2: now, unknown: now } });
  expect(counts()).toEqual([1, 1, 0, 3]);
  expect(Object.keys(read().status?.disruptedPods ?? {})).toEqual(["p1", "p2"]);
  await writer.remove({ resource: "pods", namespace: "a", name: "p2" });
  await clock.settle();
  expect(Object.keys(read().status?.disruptedPods ?? {})).toEqual(["p1"]);
  await clock.advance(121_000);
  expect(read().status).not.toHaveProperty("disruptedPods");
  expect(counts()).toEqual([2, 1, 1, 3]);
  expect(messages()).toContain("Pod was expected by PDB a/b to be deleted but it wasn't");
  expect(clock.pendingTimers).toBe(0);
});

test("a pod that was not deleted after all is no target of a disruption any more", async () => {
  const bench = createControllerBench();
  const { clock, reader } = bench;
  const stop = bench.start(createStaleDisruptions(bench.deps));
  const target = { type: "DisruptionTarget", status: "True", reason: "EvictionByEvictionAPI" };
  const said = new Date(clock.now()).toISOString();
  const named = (name: string, reason: string): KubeObject => {
    const pod = workloadPod(name);
    const conditions = [{ ...target, reason, lastTransitionTime: said }];
    return { ...pod, status: { ...pod.status, conditions } };
  };
  await bench.create("pods", named("kept", "EvictionByEvictionAPI"));
  await bench.create("pods", named("ended-by-node", "TerminationByKubelet"));
  await clock.advance(119_000);
  const statuses = () => reader.list("pods").map((pod) => typed("Pod", pod).status?.conditions?.[0]?.status);
  expect(statuses()).toEqual(["True", "True"]);
  await clock.advance(2_000);
  expect(statuses()).toEqual(["True", "False"]);
  await stop();
  expect(clock.pendingTimers).toBe(0);
});
