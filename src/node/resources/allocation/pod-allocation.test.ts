import { afterEach, expect, it } from "vitest";
import type { Pod } from "../../../api/gen/types.ts";
import { podUid } from "../../../api/pods.ts";
import { createPodAllocation } from "./pod-allocation.ts";

const makePod = (uid: string): Pod => ({ metadata: { uid, name: uid, namespace: "default" } });
const REFUSAL = { reason: "UnexpectedAdmissionError", message: "no" };

const stopping: AbortController[] = [];
afterEach(() => {
  for (const controller of stopping.splice(0)) controller.abort();
});

function createRig() {
  const done: string[] = [];
  const gates = new Map<string, () => void>();
  const world = {
    running: new Set<string>(),
    active: new Set<string>(),
    refused: new Set<string>(),
    leaving: [makePod("plain")],
  };
  const allocation = createPodAllocation({
    concerns: (pod) => podUid(pod) !== "plain",
    isRunning: (uid) => world.running.has(uid),
    activePods: () => [...world.active],
    leavingPods: () => world.leaving,
    awaitDeparture: (uid) => void done.push(`${uid} waits`),
    async allocate(pod) {
      const uid = podUid(pod);
      await new Promise<void>((resolve) => gates.set(uid, resolve));
      done.push(`allocated ${uid}`);
      return world.refused.has(uid) ? REFUSAL : undefined;
    },
    releaseOthers: (keep) => void done.push(`kept ${[...keep].sort().join(",")}`),
    release: (uid) => void done.push(`released ${uid}`),
    onDecidable: (uid) => void done.push(`decidable ${uid}`),
  });
  const controller = new AbortController();
  stopping.push(controller);
  void allocation.run(controller.signal).catch(() => undefined);
  const turn = async () => await new Promise<void>((resolve) => setImmediate(resolve));
  const finish = async (uid: string) => {
    await turn();
    gates.get(uid)?.();
    await turn();
  };
  return { allocation, done, world, finish };
}

it("does not hold up pods that ask for nothing, or that run already", () => {
  const { allocation, world } = createRig();
  world.running.add("runs");
  expect(allocation.admit(makePod("plain"))).toBeUndefined();
  expect(allocation.admit(makePod("runs"))).toBeUndefined();
});

it("gives to one pod after the other, and has each asked about again", async () => {
  const { allocation, done, world, finish } = createRig();
  world.active.add("old");
  world.refused.add("b");
  expect([allocation.admit(makePod("a")), allocation.admit(makePod("b"))]).toEqual(["undecided", "undecided"]);
  await finish("a");
  expect(allocation.admit(makePod("a"))).toBeUndefined();
  allocation.settle("a", "admitted");
  world.active.add("a");
  await finish("b");
  expect(allocation.admit(makePod("b"))).toEqual(REFUSAL);
  allocation.settle("b", "refused");
  expect(done).toEqual([
    "kept a,b,old",
    "allocated a",
    "decidable a",
    "kept a,b,old",
    "allocated b",
    "decidable b",
    "released b",
  ]);
});

it("takes back from a pod that goes before it is let in", async () => {
  const { allocation, done, finish } = createRig();
  allocation.admit(makePod("a"));
  await finish("");
  allocation.forget("a");
  await finish("a");
  expect(done).toEqual(["kept a", "released a", "allocated a", "released a"]);
});

it("gives anew to a pod that came back meanwhile", async () => {
  const { allocation, done, finish } = createRig();
  allocation.admit(makePod("a"));
  await finish("");
  allocation.forget("a");
  expect(allocation.admit(makePod("a"))).toBe("undecided");
  await finish("a");
  await finish("a");
  expect(done.filter((what) => what === "decidable a")).toHaveLength(1);
});

it("keeps what a pod has that runs while its verdict waits, and takes it back when the pod has ended", () => {
  const { allocation, done, world } = createRig();
  world.running.add("runs");
  allocation.admit(makePod("runs"));
  allocation.releaseStale();
  world.active.add("runs");
  allocation.settle("runs", "admitted");
  allocation.releaseStale();
  world.active.clear();
  allocation.releaseStale();
  expect(done).toEqual(["kept runs", "kept runs", "kept "]);
});

it("lets a pod wait for what a pod holds that was deleted by force", async () => {
  const { allocation, done, world, finish } = createRig();
  world.refused.add("b");
  world.leaving = [makePod("a")];
  allocation.admit(makePod("b"));
  await finish("b");
  expect(done).toEqual(["kept b", "allocated b", "released b", "b waits"]);

  world.leaving = [];
  world.refused.clear();
  expect(allocation.admit(makePod("b"))).toBe("undecided");
  await finish("b");
  expect(allocation.admit(makePod("b"))).toBeUndefined();
});

it("asks again where that pod ended while the other was refused", async () => {
  const { allocation, done, world, finish } = createRig();
  world.refused.add("b");
  world.leaving = [makePod("a")];
  allocation.admit(makePod("b"));
  await new Promise((resolve) => setImmediate(resolve));
  world.leaving = [];
  await finish("b");
  expect(done).toEqual(["kept b", "allocated b", "released b", "decidable b"]);
  allocation.admit(makePod("b"));
  await finish("b");
  expect(allocation.admit(makePod("b"))).toEqual(REFUSAL);
});
