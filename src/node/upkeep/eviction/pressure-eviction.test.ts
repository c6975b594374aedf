import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { untilAborted } from "../../../base/abort.ts";
import { formatTime } from "../../../base/clock.ts";
import { silentLog } from "../../../base/log.ts";
import { createMetrics, type Metrics } from "../../../base/metrics.ts";
import { createTimeline, type Timeline } from "../../../base/timeline.ts";
import type { EvictionSignal, EvictionThreshold } from "../../../config/eviction-thresholds.ts";
import { createFakeClock, type FakeClock } from "../../../host/fake/fake-clock.ts";
import type { NodePressure } from "../../cluster/node-status/node-conditions.ts";
import type { WorkerUpdate } from "../../pods/workers/pod-state.ts";
import { candidateOf, type Sort } from "./__fixtures__/candidates.ts";
import type { DiskLayout } from "./disk-layout.ts";
import { createPodEvictor } from "./evict-pod.ts";
import { createPressureEviction } from "./pressure-eviction.ts";
import type { Candidate } from "./rank-pods.ts";

const MIB = 1024 ** 2;
const CAPACITY = 8_192 * MIB;
const LAYOUT: DiskLayout = { nodeFs: "/", imageFs: "/", containerFs: "/", isDedicated: false, isSplit: false };
const threshold = (signal: EvictionSignal, more: Partial<EvictionThreshold> = {}): EvictionThreshold => {
  return { signal, value: { kind: "quantity", quantity: "100Mi" }, gracePeriodMs: 0, minReclaim: undefined, ...more };
};

let clock: FakeClock;
let metrics: Metrics;
let timeline: Timeline;
/** The mebibytes that are left, by signal. A signal that is missing cannot be read. */
let left: Map<EvictionSignal, number>;
let layout: () => Promise<DiskLayout>;
let candidates: () => Promise<readonly Candidate[]>;
let reclaimed: string[][];
/** Returns whether something was removed. */
let onReclaim: () => boolean;
let pressure: NodePressure;
let events: string[];
let kills: Array<{ name: string; seconds: number | undefined; disruption: string | undefined }>;
let ends: (uid: string) => Promise<void>;
let looks: number;
let raiseAlarm: () => void;
let adjusted: number;
let stop: () => Promise<void>;

beforeEach(() => {
  clock = createFakeClock();
  metrics = createMetrics();
  timeline = createTimeline(clock);
  left = new Map([["memory.available", 5_000]]);
  layout = async () => await Promise.resolve(LAYOUT);
  candidates = async () => await Promise.resolve([]);
  reclaimed = [];
  onReclaim = () => false;
  events = [];
  kills = [];
  ends = async () => await Promise.resolve();
  looks = 0;
  adjusted = 0;
  stop = async () => await Promise.resolve();
});
afterEach(async () => await stop());

const update = ({ subject, kill }: WorkerUpdate) => {
  const name = subject.kind === "pod" ? (subject.pod.metadata?.name ?? "") : "";
  kills.push({ name, seconds: kill?.gracePeriodSeconds, disruption: kill?.statusOverride?.disruption });
};

const begin = async (thresholds: readonly EvictionThreshold[], maxPodGracePeriodSeconds = 0) => {
  const stopping = new AbortController();
  const eviction = createPressureEviction(
    {
      clock,
      log: silentLog,
      metrics,
      timeline,
      signals: {
        async read() {
          looks++;
          const at = clock.monotonic();
          const known = [...left].map(([signal, mebibytes]) => {
            return [signal, { available: mebibytes * MIB, capacity: CAPACITY, at }] as const;
          });
          return await Promise.resolve(new Map(known));
        },
      },
      layout: { read: async () => await layout() },
      candidates: { read: async () => await candidates() },
      nodeReclaim: {
        async reclaim(what) {
          reclaimed.push([...what]);
          return await Promise.resolve(onReclaim());
        },
      },
      evict: createPodEvictor({ workers: { update }, timeline, metrics, log: silentLog }),
      notice: {
        set: (now) => {
          pressure = now;
        },
      },
      workers: { untilFinished: async ([uid = ""], signal) => await untilAborted(ends(uid), signal) },
      recordNodeEvent: ({ reason, message }) => void events.push(`${reason}: ${message}`),
      alarm: {
        adjust: () => void adjusted++,
        subscribe: (onAlarm) => {
          raiseAlarm = onAlarm;
        },
      },
    },
    { thresholds, transitionPeriodMs: 300_000, maxPodGracePeriodSeconds },
  );
  const run = eviction.run(stopping.signal).catch((error: unknown) => {
    if (!stopping.signal.aborted) throw error;
  });
  stop = async () => {
    stopping.abort();
    await run;
  };
  await clock.settle();
};
const pods = (sorts: Readonly<Record<string, Sort>>) => {
  const alive = new Map(Object.entries(sorts).map(([name, sort]) => [name, candidateOf(name, sort)]));
  candidates = async () => await Promise.resolve([...alive.values()]);
  return alive;
};

describe("a node that runs out of memory", () => {
  it("ends one pod after another until enough is left, and waits for the end of each", async () => {
    const alive = pods({ greedy: { memory: 900 * MIB }, next: { memory: 500 * MIB }, last: { memory: 100 * MIB } });
    left.set("memory.available", 50);
    let end: () => void = () => undefined;
    ends = async (uid) => {
      alive.delete(uid);
      await new Promise<void>((resolve) => {
        end = resolve;
      });
    };
    await begin([threshold("memory.available")]);
    expect(kills.map(({ name, seconds }) => [name, seconds])).toEqual([["greedy", 1]]);
    expect(pressure).toEqual({ memory: true, disk: false, pid: false });
    await clock.advance(29_999);
    expect(kills).toHaveLength(1);
    end();
    await clock.advance(1_000);
    expect(kills.map(({ name }) => name)).toEqual(["greedy", "next"]);
    left.set("memory.available", 1_000);
    end();
    await clock.advance(60_000);
    expect(kills).toHaveLength(2);
    expect(events).toEqual([
      "EvictionThresholdMet: Attempting to reclaim memory",
      "EvictionThresholdMet: Attempting to reclaim memory",
    ]);
    expect(reclaimed).toEqual([]);
  });

  it("says why and against whom: event, annotations, condition and metrics", async () => {
    pods({ greedy: { memory: 900 * MIB }, next: { memory: 500 * MIB } });
    left.set("memory.available", 50);
    ends = async () => await new Promise(() => undefined);
    await begin([threshold("memory.available")]);
    const message =
      "The node was low on resource: memory. Threshold quantity: 100Mi, available: 50Mi. " +
      "Container main was using 900Mi, request is 0, has larger consumption of memory. ";
    expect(timeline.read("greedy")).toMatchObject([
      { reason: "EvictionRank", message: expect.stringContaining("Place 1 of 2") },
      {
        reason: "Evicted",
        type: "Warning",
        message,
        annotations: { offending_containers: "main", offending_containers_usage: "900Mi", starved_resource: "memory" },
      },
    ]);
    expect(timeline.read("greedy")[1]?.causes?.map(({ reason }) => reason)).toEqual([
      "EvictionRank",
      "MemoryPressure",
      "Reading",
    ]);
    expect(kills).toEqual([{ name: "greedy", seconds: 1, disruption: message }]);
    const page = await metrics.render();
    expect(page).toContain('kubelet_evictions{eviction_signal="memory.available"} 1');
    expect(page).toContain('kubelet_eviction_stats_age_seconds_count{eviction_signal="memory.available"} 1');
  });

  it("goes on without one that does not end within 30 s", async () => {
    const alive = pods({ stuck: { memory: 900 * MIB }, next: { memory: MIB } });
    left.set("memory.available", 50);
    ends = async (uid) => {
      alive.delete(uid);
      await new Promise(() => undefined);
    };
    await begin([threshold("memory.available")]);
    await clock.advance(31_000);
    expect(kills.map(({ name }) => name)).toEqual(["stuck", "next"]);
  });

  it("ends nobody before a soft threshold's time is over, and then gives what is allowed", async () => {
    pods({ polite: { memory: 900 * MIB, graceSeconds: 40 } });
    ends = async () => await new Promise(() => undefined);
    left.set("memory.available", 50);
    await begin([threshold("memory.available", { gracePeriodMs: 25_000 })], 15);
    await clock.advance(24_999);
    expect([kills, pressure.memory]).toEqual([[], true]);
    await clock.advance(1);
    expect(kills.map(({ name, seconds }) => [name, seconds])).toEqual([["polite", 15]]);
    const now = clock.now();
    const [, evicted] = timeline.read("polite");
    const [, pressed, reading] = evicted?.causes ?? [];
    expect(pressed).toEqual({
      reason: "MemoryPressure",
      message: `memory.available is below its soft threshold (for longer than 25 s) of 100Mi since ${formatTime(now - 25_000)}`,
      at: now - 25_000,
    });
    expect(reading).toEqual({
      reason: "Reading",
      message:
        "memory.available was read as 50Mi of 8Gi (the machine's memory, less the working set of its root cgroup)",
      at: now,
    });
  });

  it("ends no critical pod, and nobody without evidence; it tries again", async () => {
    left.set("memory.available", 50);
    pods({ static: { isStatic: true, memory: 900 * MIB }, critical: { priority: 2_000_000_000, memory: MIB } });
    await begin([threshold("memory.available")]);
    candidates = async () => await Promise.reject(new Error("no statistics"));
    await clock.advance(10_000);
    pods({ a: { isUnmeasured: true }, b: { isUnmeasured: true } });
    await clock.advance(10_000);
    pods({});
    await clock.advance(10_000);
    expect([kills, events.length, pressure.memory]).toEqual([[], 4, true]);
    pods({ pod: { memory: MIB } });
    await clock.advance(10_000);
    expect(kills.map(({ name }) => name)).toEqual(["pod"]);
  });

  it("is looked at more often the closer it gets", async () => {
    await begin([threshold("memory.available")]);
    await clock.advance(60_000);
    const calm = looks;
    left.set("memory.available", 101);
    await clock.advance(10_000);
    const before = looks;
    await clock.advance(60_000);
    expect([calm, looks - before]).toEqual([11, 600]);
  });

  it("is looked at when the kernel tells of it, and not more often than each 10 ms", async () => {
    pods({ greedy: { memory: 900 * MIB } });
    ends = async () => await new Promise(() => undefined);
    await begin([threshold("memory.available")]);
    await clock.advance(5_000);
    raiseAlarm();
    await clock.advance(0);
    expect([looks, adjusted, kills]).toEqual([2, 2, []]);
    raiseAlarm();
    await clock.advance(9);
    expect(looks).toBe(2);
    left.set("memory.available", 50);
    await clock.advance(1);
    expect([looks, kills.map(({ name }) => name)]).toEqual([3, ["greedy"]]);
  });

  it("counts as given back a second after an eviction, whatever the kernel tells", async () => {
    pods({ greedy: { memory: 900 * MIB }, next: { memory: 500 * MIB } });
    left.set("memory.available", 50);
    await begin([threshold("memory.available")]);
    raiseAlarm();
    await clock.advance(999);
    expect(kills).toHaveLength(1);
    await clock.advance(1);
    expect(kills).toHaveLength(2);
  });

  it("is told of before it is known on which disks everything is", async () => {
    layout = async () => await Promise.reject(new Error("the runtime does not answer"));
    pods({ greedy: { memory: 900 * MIB } });
    left.set("memory.available", 50);
    await begin([threshold("nodefs.available"), threshold("memory.available")]);
    expect(kills.map(({ name }) => name)[0]).toBe("greedy");
  });
});

describe("a node whose disk fills", () => {
  const minReclaim = { kind: "quantity", quantity: "500Mi" } as const;

  it("removes what nobody needs first, and ends nobody where that is enough", async () => {
    pods({ writer: { volume: 900 * MIB } });
    left.set("nodefs.available", 50);
    onReclaim = () => left.set("nodefs.available", 600).size > 0;
    await begin([threshold("nodefs.available", { minReclaim })]);
    await clock.advance(30_000);
    expect([reclaimed, kills]).toEqual([[["dead containers", "unused images"]], []]);
    expect(pressure).toEqual({ memory: false, disk: true, pid: false });
  });

  it("ends who has most on it where that was not enough to get back what was asked for", async () => {
    const alive = pods({ writer: { layer: 0, logs: 0, volume: 900 * MIB }, reader: { layer: 0, logs: 0, volume: 0 } });
    left.set("nodefs.available", 50);
    onReclaim = () => left.set("nodefs.available", 599).size === 0;
    ends = async (uid) => {
      alive.delete(uid);
      left.set("nodefs.available", 1_500);
      await Promise.resolve();
    };
    await begin([threshold("nodefs.available", { minReclaim })]);
    await clock.advance(30_000);
    expect([kills.map(({ name }) => name), reclaimed.length]).toEqual([["writer"], 1]);
    const [, evicted] = timeline.read("writer");
    expect(evicted?.message).toContain("Threshold quantity: 100Mi, available: 599Mi. ");
  });

  it("ends nobody while what was removed is being freed", async () => {
    pods({ writer: { volume: 900 * MIB } });
    left.set("nodefs.available", 50);
    onReclaim = () => true;
    await begin([threshold("nodefs.available", { minReclaim })]);
    await clock.advance(9_000);
    left.set("nodefs.available", 600);
    await clock.advance(30_000);
    expect([kills, reclaimed.length, events.length]).toEqual([[], 1, 1]);
  });

  it("waits once for what is being freed, however much goes meanwhile, and looks at memory all that time", async () => {
    const alive = pods({ writer: { volume: 900 * MIB, memory: MIB }, greedy: { memory: 900 * MIB } });
    left.set("nodefs.available", 50);
    onReclaim = () => true;
    ends = async (uid) => await Promise.resolve(void alive.delete(uid));
    await begin([threshold("nodefs.available"), threshold("memory.available")]);
    await clock.advance(5_000);
    left.set("memory.available", 50);
    await clock.advance(250);
    expect(kills.map(({ name }) => name)).toEqual(["greedy"]);
    left.set("memory.available", 5_000);
    await clock.advance(9_999);
    expect(kills).toHaveLength(1);
    await clock.advance(1_500);
    expect(kills.map(({ name }) => name)).toEqual(["greedy", "writer"]);
  });

  it("ends nobody where it is not known what the removal gave", async () => {
    pods({ writer: { volume: 900 * MIB } });
    left.set("nodefs.available", 50);
    onReclaim = () => left.delete("nodefs.available");
    await begin([threshold("nodefs.available")]);
    await clock.advance(30_000);
    expect([kills, pressure.disk]).toEqual([[], true]);
  });

  it("is seen to after memory", async () => {
    pods({ greedy: { memory: 900 * MIB } });
    for (const signal of ["nodefs.available", "memory.available"] as const) left.set(signal, 50);
    ends = async () => await new Promise(() => undefined);
    await begin([threshold("nodefs.available"), threshold("memory.available")]);
    expect(events).toEqual(["EvictionThresholdMet: Attempting to reclaim memory"]);
    expect(pressure).toEqual({ memory: true, disk: true, pid: false });
  });
});
