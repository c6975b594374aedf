import { afterEach, describe, expect, it } from "vitest";
import type { Pod } from "../../../api/gen/types.ts";
import { CONFIG_MIRROR_ANNOTATION, CONFIG_SOURCE_ANNOTATION } from "../../../api/well-known.ts";
import { silentLog } from "../../../base/log.ts";
import { createFakeClock } from "../../../host/fake/fake-clock.ts";
import type { RuntimePod } from "../../runtime/reading/pod-runtime-status.ts";
import type { PodUpdate } from "../desired/pod-update.ts";
import { initialState, type PodState, type WorkerUpdate } from "../workers/pod-state.ts";
import { createLoopInbox } from "./loop-inbox.ts";
import { createSyncLoop } from "./sync-loop.ts";

const stops: Array<() => Promise<void>> = [];
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
});

function makePod(uid: string, more: { name?: string; createdAt?: string; mirror?: boolean } = {}): Pod {
  const { name = `pod-${uid}`, createdAt, mirror = false } = more;
  return {
    metadata: {
      uid,
      name,
      namespace: "default",
      ...(createdAt === undefined ? {} : { creationTimestamp: createdAt }),
      ...(mirror ? { annotations: { [CONFIG_MIRROR_ANNOTATION]: "hash" } } : {}),
    },
  };
}

function makeRuntimePod(uid: string, name = `pod-${uid}`): RuntimePod {
  return { uid, name, namespace: "default", sandboxes: [], containers: [] };
}

function describeUpdate({ type, subject, kill }: WorkerUpdate): string {
  const uid = subject.kind === "pod" ? subject.pod.metadata?.uid : subject.pod.uid;
  return [type, subject.kind === "orphan" ? "orphan" : [], uid, kill?.deleted ? "deleted" : []].flat().join(" ");
}

interface World {
  updates: PodUpdate[];
  ready: boolean;
  error: string | undefined;
  refused: Set<string>;
  undecided: Set<string>;
  podsChanged: number;
  relisted: number;
  onApply?: () => void;
  onPodsChanged?: () => void;
}

/** A running loop over workers that only note what they are told; a pod that was created stays known until `end`. */
function createRig() {
  const clock = createFakeClock();
  const inbox = createLoopInbox();
  const told: string[] = [];
  const states = new Map<string, PodState>();
  const desired = new Map<string, Pod>();
  const runtimePods = new Map<string, RuntimePod>();
  const world: World = {
    updates: [],
    ready: true,
    error: undefined,
    refused: new Set(),
    undecided: new Set(),
    podsChanged: 0,
    relisted: 0,
  };
  let isKnown = (_uid: string) => false;
  const listeners = new Set<() => void>();
  const loop = createSyncLoop({
    clock,
    log: silentLog,
    inbox,
    desired: {
      apply: () => {
        world.onApply?.();
        return world.updates.splice(0);
      },
      byUid: (uid) => desired.get(uid),
      allReady: () => world.ready,
    },
    workers: {
      update(update) {
        told.push(describeUpdate(update));
        const uid = update.subject.kind === "pod" ? update.subject.pod.metadata?.uid : update.subject.pod.uid;
        if (uid !== undefined && !states.has(uid)) states.set(uid, initialState(update, uid));
      },
      state: (uid) => states.get(uid),
      states: () => states,
    },
    runtimePods: () => runtimePods,
    admit: ({ metadata: { uid = "" } = {} }) => {
      if (world.undecided.has(uid)) return "undecided";
      return world.refused.has(uid) ? { reason: "No", message: "no" } : undefined;
    },
    reject: (pod, { reason }) => void told.push(`reject ${pod.metadata?.uid} ${reason}`),
    forget: (uid) => void told.push(`forget ${uid}`),
    collectDirectories: (known) => {
      told.push("collect");
      isKnown = known;
    },
    runtime: {
      runtimeError: () => world.error,
      subscribe(listener) {
        listeners.add(listener);
        return () => listeners.delete(listener);
      },
    },
    onShown: (pod) => void told.push(`shown ${pod.metadata?.uid}`),
    onPodsChanged: () => {
      world.podsChanged++;
      world.onPodsChanged?.();
    },
    onRelisted: () => void world.relisted++,
  });
  const stopping = new AbortController();
  const ended = loop.run(stopping.signal).catch(() => undefined);
  const stop = async () => {
    stopping.abort();
    await ended;
  };
  stops.push(stop);
  const apply = async (op: PodUpdate["op"], ...pods: Pod[]) => await applyFrom("file", op, ...pods);
  const applyFrom = async (source: PodUpdate["source"], op: PodUpdate["op"], ...pods: Pod[]) => {
    for (const pod of pods) if (op !== "REMOVE") desired.set(pod.metadata?.uid ?? "", pod);
    for (const pod of pods) if (op === "REMOVE") desired.delete(pod.metadata?.uid ?? "");
    world.updates.push({ op, source, pods });
    inbox.offerSnapshot({ source: "file", pods: [] });
    await clock.settle();
    return told.splice(0);
  };
  const hear = async () => {
    await clock.settle();
    return told.splice(0);
  };
  return {
    clock,
    inbox,
    loop,
    states,
    runtimePods,
    world,
    apply,
    applyFrom,
    hear,
    stop,
    /** What the runtime says may have changed. */
    runtimeChanged() {
      for (const listener of listeners) listener();
    },
    listeners,
    isKnown: (uid: string) => isKnown(uid),
  };
}

describe("what a source says", () => {
  it.each<[PodUpdate["op"], string]>([
    ["ADD", "create a"],
    ["UPDATE", "forget a, create a"],
    ["DELETE", "forget a, create a"],
    ["RECONCILE", ""],
    ["REMOVE", "forget a"],
  ])("%s of an unknown pod", async (op, expected) => {
    expect((await createRig().apply(op, makePod("a"))).join(", ")).toBe(expected);
  });

  it.each<[what: string, more: Partial<Pod>, expected: string[]]>([
    ["our own status that comes back", { status: { phase: "Running" } }, []],
    ["a phase that is final", { status: { phase: "Failed" } }, ["sync a"]],
    [
      "conditions that are readiness gates",
      { spec: { containers: [], readinessGates: [{ conditionType: "x" }] } },
      ["sync a"],
    ],
  ])("RECONCILE with %s", async (_what, more, expected) => {
    const { apply } = createRig();
    await apply("ADD", makePod("a"));
    expect(await apply("RECONCILE", { ...makePod("a"), ...more })).toEqual(expected);
  });

  it.each<[PodUpdate["op"], string]>([
    ["ADD", "create a"],
    ["UPDATE", "update a"],
    ["DELETE", "update a"],
    ["REMOVE", "kill a deleted"],
  ])("%s of a known pod", async (op, expected) => {
    const { apply } = createRig();
    await apply("ADD", makePod("a"));
    expect(await apply(op, makePod("a"))).toEqual([expected]);
  });

  it("is handled oldest pod first, and in the order of arrival where there is no age", async () => {
    const { apply } = createRig();
    const pods = [
      makePod("b", { createdAt: "2026-01-02T00:00:00Z" }),
      makePod("a", { createdAt: "2026-01-01T00:00:00Z" }),
      makePod("d"),
      makePod("c"),
    ];
    expect(await apply("ADD", ...pods)).toEqual(["create d", "create c", "create a", "create b"]);
  });

  it("runs no mirror pod", async () => {
    expect(await createRig().apply("ADD", makePod("a", { mirror: true }))).toEqual([]);
  });

  it("does not start a pod that is refused, and asks again only when it is news", async () => {
    const { apply, world } = createRig();
    world.refused.add("a");
    expect(await apply("ADD", makePod("a"))).toEqual(["reject a No"]);
    world.refused.delete("a");
    expect(await apply("UPDATE", makePod("a"))).toEqual(["forget a", "create a"]);
    world.refused.add("a");
    expect(await apply("UPDATE", makePod("a"))).toEqual(["update a"]);
  });

  it("forgets a refused pod that its source drops", async () => {
    const { apply, world } = createRig();
    world.refused.add("a");
    await apply("ADD", makePod("a"));
    expect(await apply("REMOVE", makePod("a"))).toEqual(["forget a"]);
  });

  it("first tears down what the runtime holds of a pod of the same name that nobody knows", async () => {
    const { apply, runtimePods } = createRig();
    runtimePods.set("old", makeRuntimePod("old", "web"));
    runtimePods.set("other", makeRuntimePod("other", "db"));
    const told = await apply("ADD", makePod("new", { name: "web" }));
    expect(told).toEqual(["kill orphan old deleted", "create new"]);
  });
});

describe("what the API server says", () => {
  const markAs = (source: string, pod: Pod): Pod => ({
    ...pod,
    metadata: { ...pod.metadata, annotations: { ...pod.metadata?.annotations, [CONFIG_SOURCE_ANNOTATION]: source } },
  });
  const fromApi = (uid: string, more: Partial<Pod> = {}) => markAs("api", { ...makePod(uid), ...more });
  const deleted = (pod: Pod): Pod => ({
    ...pod,
    metadata: { ...pod.metadata, deletionTimestamp: "2026-01-01T00:00:00Z" },
  });

  it("is shown before it is worked on, mirror pods too, which are not run", async () => {
    const { applyFrom, world } = createRig();
    expect(await applyFrom("api", "ADD", fromApi("a"), makePod("m", { mirror: true }))).toEqual([
      "shown a",
      "create a",
      "shown m",
    ]);
    expect(world.podsChanged).toBe(1);
  });

  it("does not try a refused pod again: its failure was final", async () => {
    const { applyFrom, world } = createRig();
    world.refused.add("a");
    await applyFrom("api", "ADD", fromApi("a"));
    world.refused.delete("a");
    expect(await applyFrom("api", "UPDATE", fromApi("a"))).toEqual(["shown a"]);
    expect(await applyFrom("api", "DELETE", deleted(fromApi("a")))).toEqual(["shown a", "forget a", "create a"]);
  });

  it.each([
    ["is deleted", deleted(fromApi("a"))],
    ["has ended", fromApi("a", { status: { phase: "Succeeded" } })],
  ])("asks nobody's leave for a pod that %s", async (_what, pod) => {
    const { applyFrom, world } = createRig();
    world.refused.add("a");
    expect(await applyFrom("api", "ADD", pod)).toEqual(["shown a", "create a"]);
  });

  it("does not begin a deleted pod anew when its worker is done and the API still names it", async () => {
    const { applyFrom, inbox, states, hear } = createRig();
    await applyFrom("api", "ADD", deleted(fromApi("a")));
    states.clear();
    inbox.offerGone("a");
    expect(await hear()).toEqual(["forget a"]);
  });
});

describe("what a pod refers to", () => {
  it("makes its worker work again, once for several changes, and only while it runs", async () => {
    const { inbox, states, apply, hear } = createRig();
    await apply("ADD", makePod("a"), makePod("b"));
    states.delete("b");
    for (const uid of ["a", "a", "b", "stranger"]) inbox.offerReferenced(uid);
    expect(await hear()).toEqual(["update a"]);
    inbox.offerReferenced("a");
    expect(await hear()).toEqual(["update a"]);
  });
});

describe("what PLEG says", () => {
  it.each([
    ["ContainerStarted", []],
    ["ContainerDied", ["sync a"]],
    ["ContainerChanged", []],
    ["ContainerRemoved", []],
  ] as const)("%s", async (type, expected) => {
    const { inbox, apply, hear } = createRig();
    await apply("ADD", makePod("a"));
    inbox.offerLifecycleEvent({ uid: "a", type, id: "container" });
    inbox.offerLifecycleEvent({ uid: "stranger", type, id: "container" });
    expect(await hear()).toEqual(expected);
  });

  it("of a start matters where other containers wait for it", async () => {
    const { inbox, apply, hear } = createRig();
    const pod = makePod("a");
    await apply("ADD", {
      ...pod,
      spec: { containers: [], initContainers: [{ name: "sidecar", restartPolicy: "Always" }] },
    });
    inbox.offerLifecycleEvent({ uid: "a", type: "ContainerStarted", id: "container" });
    expect(await hear()).toEqual(["sync a"]);
  });
});

describe("housekeeping", () => {
  it("tears down what only the runtime knows", async () => {
    const { inbox, apply, hear, runtimePods, isKnown } = createRig();
    await apply("ADD", makePod("a"));
    for (const uid of ["a", "orphan"]) runtimePods.set(uid, makeRuntimePod(uid));
    inbox.offerRelisted();
    expect(await hear()).toEqual(["kill orphan orphan deleted", "collect"]);
    inbox.offerRelisted();
    expect(await hear()).toEqual(["collect"]);
    runtimePods.set("late", makeRuntimePod("late"));
    expect(["a", "orphan", "late", "nobody"].map(isKnown)).toEqual([true, true, true, false]);
  });

  it("touches nothing before every source has spoken", async () => {
    const { inbox, hear, runtimePods, world } = createRig();
    world.ready = false;
    runtimePods.set("orphan", makeRuntimePod("orphan"));
    inbox.offerRelisted();
    expect(await hear()).toEqual([]);
    world.ready = true;
    inbox.offerRelisted();
    expect(await hear()).toEqual(["kill orphan orphan deleted", "collect"]);
  });

  it("begins with the word of the last source, before anybody hears which pods there are", async () => {
    const { inbox, states, hear, runtimePods, world } = createRig();
    world.ready = false;
    runtimePods.set("orphan", makeRuntimePod("orphan"));
    const known: string[][] = [];
    world.onPodsChanged = () => void known.push([...states.keys()]);
    world.onApply = () => {
      world.ready = true;
    };
    inbox.offerSnapshot({ source: "file", pods: [] });
    expect(await hear()).toEqual(["kill orphan orphan deleted", "collect"]);
    expect(known).toEqual([["orphan"]]);
  });
});

describe("the end of a pod", () => {
  it("forgets it, and starts it anew where its source names it again", async () => {
    const { inbox, states, apply, hear } = createRig();
    await apply("ADD", makePod("a"), makePod("b"));
    await apply("REMOVE", makePod("a"));
    states.clear();
    inbox.offerGone("a");
    inbox.offerGone("b");
    expect(await hear()).toEqual(["forget a", "forget b", "create b"]);
  });
});

describe("while the runtime is not fit", () => {
  it("nothing is done, and it is asked again after waits that double up to five seconds", async () => {
    const { clock, apply, hear, world } = createRig();
    world.error = "container runtime is down";
    expect(await apply("ADD", makePod("a"))).toEqual([]);
    const waits: Array<number | undefined> = [];
    for (let round = 0; round < 8; round++) {
      waits.push(clock.untilNextTimer());
      await clock.advance(clock.untilNextTimer() ?? 0);
    }
    expect(waits).toEqual([100, 200, 400, 800, 1_600, 3_200, 5_000, 5_000]);
    world.error = undefined;
    await clock.advance(5_000);
    expect(await hear()).toEqual(["create a"]);
  });

  it("is heard at once when it is fit again, and waits no shorter while it is not", async () => {
    const { clock, apply, hear, world, listeners, runtimeChanged } = createRig();
    world.error = "container runtime is down";
    await apply("ADD", makePod("a"));
    for (let round = 0; round < 5; round++) await clock.advance(clock.untilNextTimer() ?? 0);
    runtimeChanged();
    await clock.settle();
    expect(clock.untilNextTimer()).toBe(3_200);
    world.error = undefined;
    runtimeChanged();
    expect(await hear()).toEqual(["create a"]);
    expect(listeners.size).toBe(0);
  });

  it("the loop does not count as turning", async () => {
    const { clock, loop, apply, world } = createRig();
    await clock.advance(1_000);
    await apply("ADD", makePod("a"));
    expect(loop.lastTurn()).toBe(1_000);
    world.error = "container runtime is down";
    await clock.advance(1_000);
    await apply("ADD", makePod("b"));
    expect(loop.lastTurn()).toBe(1_000);
  });

  it("the loop stops when it is told to", async () => {
    const { clock, apply, stop, world } = createRig();
    world.error = "container runtime is down";
    await apply("ADD", makePod("a"));
    await stop();
    expect(clock.pendingTimers).toBe(0);
  });
});

describe("a pod whose admission has to wait", () => {
  it("is asked about again when that is over, and is let in or refused then", async () => {
    const { apply, hear, inbox, world } = createRig();
    world.undecided = new Set(["a", "b"]);
    expect(await apply("ADD", makePod("a"), makePod("b"))).not.toContain("create a");
    world.undecided.clear();
    world.refused.add("b");
    inbox.offerDecidable("a");
    inbox.offerDecidable("b");
    expect(await hear()).toEqual(["create a", "reject b No"]);
  });

  it("and is gone by then, is nobody's business any more", async () => {
    const { apply, hear, inbox, world } = createRig();
    world.undecided.add("a");
    await apply("ADD", makePod("a"));
    await apply("REMOVE", makePod("a"));
    inbox.offerDecidable("a");
    expect(await hear()).toEqual([]);
  });
});
