import { beforeEach, describe, expect, it } from "vitest";
import type { Pod } from "../../../api/gen/types.ts";
import { untilAborted } from "../../../base/abort.ts";
import { silentLog } from "../../../base/log.ts";
import type { EvictionSignal } from "../../../config/eviction-thresholds.ts";
import { createFakeClock, type FakeClock } from "../../../host/fake/fake-clock.ts";
import { initialState, type PodState } from "../../pods/workers/pod-state.ts";
import { emptyPodRuntimeStatus, type PodRuntimeStatus } from "../../runtime/reading/pod-runtime-status.ts";
import { candidateOf } from "./__fixtures__/candidates.ts";
import { createNodeReclaim, type NodeReclaim, planReclaim, type Reclaimable } from "./reclaim-node.ts";

const BOTH: readonly Reclaimable[] = ["dead containers", "unused images"];
const { signal } = new AbortController();

it.each<[EvictionSignal, boolean, boolean, readonly Reclaimable[]]>([
  ["memory.available", false, false, []],
  ["allocatableMemory.available", false, false, []],
  ["pid.available", false, false, []],
  ["nodefs.available", false, false, BOTH],
  ["imagefs.inodesFree", false, false, BOTH],
  ["nodefs.inodesFree", true, false, []],
  ["imagefs.available", true, false, BOTH],
  ["containerfs.available", true, false, BOTH],
  ["nodefs.available", true, true, ["dead containers"]],
  ["containerfs.inodesFree", true, true, ["dead containers"]],
  ["imagefs.available", true, true, ["unused images"]],
])("for %s (a disk for images: %s, apart from containers: %s) %j may go", (name, isDedicated, isSplit, expected) => {
  expect(planReclaim(name, { isDedicated, isSplit })).toEqual(expected);
});

describe("what nobody needs", () => {
  let clock: FakeClock;
  let states: Map<string, PodState>;
  let held: Map<string, PodRuntimeStatus>;
  let done: string[];
  let free: (inner: AbortSignal) => Promise<bigint>;
  let reclaim: NodeReclaim;

  const add = (pod: Pod, phase: PodState["phase"]) => {
    const uid = pod.metadata?.uid ?? "";
    const begun = initialState({ type: "create", subject: { kind: "pod", pod } }, uid);
    const ending = { deleted: false, evicted: false, gracePeriodSeconds: 1, statusOverride: undefined };
    states.set(uid, phase === "syncing" ? begun : { ...begun, ...ending, phase });
    const sandboxes = [
      {
        id: uid,
        attempt: 0,
        state: "notready" as const,
        createdAt: 0,
        hostNetwork: false,
        ips: [],
        runtimeHandler: "",
      },
    ];
    held.set(uid, { ...emptyPodRuntimeStatus({ uid, name: uid, namespace: "ns" }, 0), sandboxes });
  };

  beforeEach(() => {
    clock = createFakeClock();
    states = new Map();
    held = new Map();
    done = [];
    free = async () => {
      done.push("images");
      return await Promise.resolve(1n);
    };
    reclaim = createNodeReclaim({
      clock,
      log: silentLog,
      workers: { states: () => states },
      latest: (uid) => held.get(uid),
      async removeFromRuntime({ uid }) {
        await Promise.resolve();
        if (uid === "stubborn") throw new Error("busy");
        done.push(uid);
      },
      freeImages: async (inner) => await free(inner),
    });
  });

  it("goes: containers of pods that have ended, then images; what fails keeps nothing else", async () => {
    for (const name of ["stubborn", "over"]) add(candidateOf(name).pod, "finished");
    add(candidateOf("running").pod, "syncing");
    add(candidateOf("ending").pod, "terminating");
    // Nothing but its containers shows that the static pod has run.
    add(candidateOf("static", { isStatic: true }).pod, "finished");
    await expect(reclaim.reclaim(BOTH, signal)).resolves.toBe(true);
    expect(done).toEqual(["over", "images"]);
  });

  it("is told apart from nothing: what fails is not removed, and no image is one of no bytes", async () => {
    add(candidateOf("stubborn").pod, "finished");
    free = async () => await Promise.resolve(0n);
    await expect(reclaim.reclaim(BOTH, signal)).resolves.toBe(false);
    free = async () => await Promise.resolve(1n);
    await expect(reclaim.reclaim(BOTH, signal)).resolves.toBe(true);
  });

  it("is given up after a minute, and the signal tells who works on it", async () => {
    let inner = signal;
    free = async (given) => {
      inner = given;
      return await untilAborted(new Promise<bigint>(() => undefined), given);
    };
    const ended = reclaim.reclaim(["unused images"], signal);
    await clock.advance(60_000);
    await ended;
    expect(inner.aborted).toBe(true);
  });

  it("is left alone from when the signal fires", async () => {
    const stopping = new AbortController();
    free = async (given) => await untilAborted(new Promise<bigint>(() => undefined), given);
    const ended = reclaim.reclaim(["unused images"], stopping.signal);
    stopping.abort();
    await expect(ended).rejects.toThrow(expect.objectContaining({ name: "AbortError" }));
  });
});
