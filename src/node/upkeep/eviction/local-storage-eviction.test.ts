import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Pod } from "../../../api/gen/types.ts";
import { CONFIG_SOURCE_ANNOTATION } from "../../../api/well-known.ts";
import { untilAborted } from "../../../base/abort.ts";
import { silentLog } from "../../../base/log.ts";
import { createMetrics, type Metrics } from "../../../base/metrics.ts";
import { createTimeline, type Timeline } from "../../../base/timeline.ts";
import { createFakeClock, type FakeClock } from "../../../host/fake/fake-clock.ts";
import { initialState, nextState, type PodState, type WorkerUpdate } from "../../pods/workers/pod-state.ts";
import { createPodEvictor } from "./evict-pod.ts";
import { createLocalStorageEviction } from "./local-storage-eviction.ts";
import type { PodStorageUsage } from "./pod-storage-usage.ts";

const MIB = 1024 ** 2;
const PERIOD_MS = 1_000;
const OF_VOLUME = 'Usage of EmptyDir volume "v" exceeds the limit "4Mi". ';
const PAIR = ["a", "b"].map((name) => ({ name, resources: { limits: { "ephemeral-storage": "4Mi" } } }));

let clock: FakeClock;
let metrics: Metrics;
let timeline: Timeline;
let states: Map<string, PodState>;
let updates: WorkerUpdate[];
/** The amount that each pod's volume takes, by pod. A function takes the place of the measurement. */
let used: Map<string, number | (() => Promise<number>)>;
let measured: string[];
let imageFs: () => Promise<boolean>;
let stopping: AbortController;
let running: Promise<void>;

const podOf = (uid: string, spec: Partial<NonNullable<Pod["spec"]>> = {}, annotations = {}): Pod => ({
  metadata: { uid, name: uid, namespace: "shop", annotations },
  spec: { containers: [{ name: "main" }], volumes: [{ name: "v", emptyDir: { sizeLimit: "4Mi" } }], ...spec },
});
const update = (change: WorkerUpdate) => {
  updates.push(change);
  const uid = change.subject.pod && "metadata" in change.subject.pod ? (change.subject.pod.metadata?.uid ?? "") : "";
  const state = states.get(uid) ?? initialState(change, uid);
  states.set(uid, nextState(state, change).state);
};
const add = (pod: Pod, bytes: number | (() => Promise<number>)) => {
  const uid = pod.metadata?.uid ?? "";
  states.set(uid, initialState({ type: "create", subject: { kind: "pod", pod } }, uid));
  used.set(uid, bytes);
};
const events = (uid: string) => timeline.read(uid).map(({ reason, message, count }) => [reason, message, count]);
const usageOf = (bytes: number): PodStorageUsage => ({
  volumes: new Map([["v", bytes]]),
  containers: [{ name: "a", writableLayer: bytes, logs: 0 }],
  podLogs: 0,
  hostFiles: 0,
});

beforeEach(() => {
  clock = createFakeClock();
  metrics = createMetrics();
  timeline = createTimeline(clock);
  states = new Map();
  updates = [];
  used = new Map();
  measured = [];
  imageFs = async () => false;
  stopping = new AbortController();
  const eviction = createLocalStorageEviction(
    {
      clock,
      random: { next: () => 0.5 },
      log: silentLog,
      timeline,
      workers: { state: (uid) => states.get(uid), states: () => states },
      createMeter: () => ({
        async measure(pod, _limits, signal) {
          const uid = pod.metadata?.uid ?? "";
          measured.push(uid);
          const bytes = used.get(uid) ?? 0;
          return usageOf(typeof bytes === "number" ? bytes : await untilAborted(bytes(), signal));
        },
      }),
      imageFs: { read: async () => await imageFs() },
      evict: createPodEvictor({ workers: { update }, timeline, metrics, log: silentLog }),
    },
    { monitoringPeriodMs: PERIOD_MS },
  );
  running = eviction.run(stopping.signal);
});
afterEach(async () => {
  stopping.abort();
  await running;
});

describe("a pod over its limit", () => {
  it("fails as evicted, with a second to stop in and an event", async () => {
    add(podOf("large"), 5 * MIB);
    await clock.advance(2 * PERIOD_MS);
    expect(states.get("large")).toMatchObject({
      phase: "terminating",
      evicted: true,
      deleted: false,
      gracePeriodSeconds: 1,
      statusOverride: { phase: "Failed", reason: "Evicted", message: OF_VOLUME },
    });
    expect(events("large")).toEqual([["Evicted", OF_VOLUME, 1]]);
    expect(await metrics.render()).toContain('kubelet_evictions{eviction_signal="emptydirfs.limit"} 1');
  });

  it("is evicted when it grows, and then not looked at any more", async () => {
    add(podOf("growing"), MIB);
    await clock.advance(5 * PERIOD_MS);
    expect(updates).toEqual([]);
    used.set("growing", 5 * MIB);
    await clock.advance(2 * PERIOD_MS);
    expect(updates).toHaveLength(1);
    const looks = measured.length;
    await clock.advance(100 * PERIOD_MS);
    expect([updates.length, measured.length]).toEqual([1, looks]);
  });

  it.each([
    ["static", podOf("vital", {}, { [CONFIG_SOURCE_ANNOTATION]: "file" })],
    ["critical", podOf("vital", { priority: 2_000_000_000 })],
  ])("stays where it is %s, and is told once as long as that lasts", async (_what, pod) => {
    add(pod, 5 * MIB);
    await clock.advance(10 * PERIOD_MS);
    const told = ["LimitNotEnforced", `${OF_VOLUME}The pod is static or critical and is not evicted for it.`];
    expect([updates, events("vital")]).toEqual([[], [[...told, 1]]]);
    used.set("vital", MIB);
    await clock.advance(3 * PERIOD_MS);
    used.set("vital", 5 * MIB);
    await clock.advance(3 * PERIOD_MS);
    expect([updates, events("vital")]).toEqual([[], [[...told, 2]]]);
    expect(await metrics.render()).not.toMatch(/kubelet_evictions\{/);
  });

  it("that does not stop is said to", async () => {
    add(podOf("stuck"), 5 * MIB);
    await clock.advance(11_000 + 2 * PERIOD_MS);
    const message = "Container runtime did not kill the pod within specified grace period.";
    expect(events("stuck").at(-1)).toEqual(["ExceededGracePeriod", message, 1]);
  });

  it("is let go where it ends by itself while it is measured", async () => {
    let finish = (_bytes: number) => {};
    const pod = podOf("ending");
    add(pod, async () => await new Promise<number>((resolve) => (finish = resolve)));
    await clock.advance(2 * PERIOD_MS);
    update({ type: "kill", subject: { kind: "pod", pod }, kill: { deleted: true } });
    finish(5 * MIB);
    await clock.advance(PERIOD_MS);
    expect(updates).toHaveLength(1);
  });

  it("is evicted though its object was replaced while it was measured", async () => {
    let finish = (_bytes: number) => {};
    add(podOf("updated"), async () => await new Promise<number>((resolve) => (finish = resolve)));
    await clock.advance(2 * PERIOD_MS);
    update({ type: "update", subject: { kind: "pod", pod: podOf("updated") } });
    finish(5 * MIB);
    await clock.advance(PERIOD_MS);
    expect(states.get("updated")?.phase).toBe("terminating");
  });
});

it("a pod without limits costs nothing", async () => {
  add(podOf("free", { volumes: [{ name: "v", emptyDir: {} }] }), 5 * MIB);
  await clock.advance(10 * PERIOD_MS);
  expect([measured, updates]).toEqual([[], []]);
});

it("a pod that cannot be measured delays no other", async () => {
  add(podOf("hung"), async () => await new Promise<number>(() => undefined));
  add(podOf("other"), MIB);
  await clock.advance(5 * PERIOD_MS);
  used.set("other", 5 * MIB);
  await clock.advance(2 * PERIOD_MS);
  expect(states.get("other")?.phase).toBe("terminating");
  expect(measured.filter((uid) => uid === "hung")).toEqual(["hung"]);
});

it("a pod that takes long to measure is looked at less often", async () => {
  const takeMs = 5_000;
  add(podOf("wide"), async () => {
    await new Promise<void>((resolve) => void clock.setTimer(takeMs, resolve));
    return MIB;
  });
  await clock.advance(2 * PERIOD_MS + takeMs);
  expect(measured).toHaveLength(1);
  await clock.advance(8 * takeMs);
  expect(measured).toHaveLength(1);
  await clock.advance(takeMs);
  expect(measured).toHaveLength(2);
});

describe("where containers' layers are", () => {
  const limited = { containers: PAIR, volumes: [] };

  it("is asked again until it is known", async () => {
    let asked = 0;
    imageFs = async () => {
      asked++;
      if (asked < 3) throw new Error("the runtime is away");
      return false;
    };
    add(podOf("pair", limited), 5 * MIB);
    await clock.advance(2 * PERIOD_MS);
    expect(updates).toEqual([]);
    await clock.advance(2 * PERIOD_MS);
    expect(updates[0]?.kill?.statusOverride?.message).toBe(
      'Container a exceeded its local ephemeral storage limit "4Mi". ',
    );
  });

  it("is not asked for pods whose containers have no limits", async () => {
    imageFs = async () => expect.fail("nobody needs to know");
    add(podOf("large"), 5 * MIB);
    await clock.advance(2 * PERIOD_MS);
    expect(updates).toHaveLength(1);
  });
});
