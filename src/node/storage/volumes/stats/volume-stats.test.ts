import { beforeEach, describe, expect, it } from "vitest";
import type { Pod } from "../../../../api/gen/types.ts";
import { AbortedError, aborted } from "../../../../base/abort.ts";
import { createHangGuard } from "../../../../base/hang-guard.ts";
import { silentLog } from "../../../../base/log.ts";
import { createMetrics, type Metrics } from "../../../../base/metrics.ts";
import { createFakeClock, type FakeClock } from "../../../../host/fake/fake-clock.ts";
import type { FileSystemUsage } from "../../../../host/port.ts";
import type { VolumeSource } from "../volume-plugin.ts";
import { claimed, csi, files, podOf, samplesOf, volumeOf } from "./__fixtures__/volumes.ts";
import { createNodeVolumes, type NodeVolumesWriter } from "./node-volumes.ts";
import type { VolumeUsage } from "./read-usage.ts";
import { createCollectionDurations } from "./volume-gauges.ts";
import { createVolumeStats, type VolumeStats } from "./volume-stats.ts";

const MINUTE = 60_000;
const FULL: FileSystemUsage = {
  bytes: { total: 10n, available: 4n, used: 6n },
  inodes: { total: 3n, available: 2n, used: 1n },
};
const PLUGIN = "kubernetes.io/fake";
const DRIVEN = { source: claimed("data", csi("csi.example.com")) };

let clock: FakeClock;
let metrics: Metrics;
let volumes: NodeVolumesWriter;
let stats: VolumeStats;
/** Paths and drivers that were asked, in order. */
let asked: string[];
let events: string[];
let statfs: (path: string) => Promise<FileSystemUsage>;
let driver: (source: VolumeSource, signal: AbortSignal) => Promise<VolumeUsage | undefined>;
let stopping: AbortController;
let running: Promise<void>;

const start = (periodMs = MINUTE) => {
  stopping = new AbortController();
  stats = createVolumeStats(
    {
      clock,
      random: { next: () => 0.5 },
      log: silentLog,
      volumes,
      csi: {
        async stats({ pod, source }, signal) {
          asked.push(`csi of ${pod.metadata?.uid}`);
          return await driver(source, signal);
        },
      },
      machine: {
        async fileSystemUsage(path) {
          asked.push(path);
          return await statfs(path);
        },
      },
      guard: createHangGuard({ clock, maxHung: 2 }),
      durations: createCollectionDurations(metrics),
      onEvent: (pod: Pod, { type, reason, message }) =>
        void events.push(`${pod.metadata?.uid} ${type} ${reason} ${message}`),
    },
    { periodMs },
  );
  running = stats.run(stopping.signal);
};
const stop = async () => {
  stopping.abort();
  await running;
};
const add = (uid: string, changes: Parameters<typeof volumeOf>[1] = {}, path = `/pods/${uid}`) => {
  const volume = volumeOf(podOf(uid), changes);
  volumes.want(uid, volume);
  volumes.settle(uid, volume.volumeName, files(path));
};
const found = () =>
  [...stats.read()].map(({ pod, volumes: reports }) => [
    pod.uid,
    ...reports.map(({ claim, bytes }) => `${claim?.name} ${bytes?.used}`),
  ]);

beforeEach(() => {
  clock = createFakeClock();
  metrics = createMetrics();
  volumes = createNodeVolumes();
  asked = [];
  events = [];
  statfs = async () => await Promise.resolve(FULL);
  driver = async () => await Promise.resolve({ ...FULL, condition: undefined });
});

describe("volumes", () => {
  it("are measured soon after they are there, and again every period and up to one more", async () => {
    start();
    add("a");
    await clock.advance(5_000);
    expect([...stats.read()]).toEqual([
      {
        pod: { uid: "a", name: "a", namespace: "shop" },
        volumes: [
          {
            ...{ volumeName: "data", claim: { namespace: "shop", name: "data" }, condition: undefined, ...FULL },
            measuredAt: clock.now(),
          },
        ],
      },
    ]);
    await clock.advance(1.5 * MINUTE - 1);
    expect(asked).toEqual(["/pods/a"]);
    await clock.advance(1);
    expect(asked).toEqual(["/pods/a", "/pods/a"]);
    await stop();
  });

  it("that were there before are measured too", async () => {
    add("a");
    start();
    await clock.advance(5_000);
    expect(found()).toEqual([["a", "data 6"]]);
    await stop();
  });

  it.each<[string, Parameters<typeof volumeOf>[1]]>([
    ["of the pod itself", { source: { kind: "pod", volume: { name: "data", emptyDir: {} } } }],
    ["of an NFS server that the pod names", { source: { kind: "pod", volume: { name: "data", nfs: Object() } } }],
  ])("%s are not, and cost nothing", async (_, changes) => {
    start();
    add("a", changes);
    await clock.settle();
    expect(clock.pendingTimers).toBe(0);
    expect(found()).toEqual([]);
    await stop();
  });

  it("that are devices are measured by their drivers alone", async () => {
    start();
    const device = { kind: "device", hostPath: "/dev/x", readOnly: false } as const;
    for (const [uid, source] of [["a", claimed("data")] as const, ["b", DRIVEN.source] as const]) {
      volumes.want(uid, volumeOf(podOf(uid), { source }));
      volumes.settle(uid, "data", device);
    }
    await clock.advance(5_000);
    expect(asked).toEqual(["csi of b"]);
    await stop();
  });

  it("that are not ready are not looked at: their directory may be of another file system", async () => {
    start();
    volumes.want("a", volumeOf(podOf("a")));
    await clock.settle();
    expect(clock.pendingTimers).toBe(0);
    await stop();
  });

  it("that nobody can tell of are left out", async () => {
    driver = async () => await Promise.resolve(undefined);
    start();
    add("a", DRIVEN);
    add("a", { volumeName: "other", source: claimed("other") }, "/pods/a/other");
    await clock.advance(5_000);
    expect(found()).toEqual([["a", "other 6"]]);
    expect(await samplesOf(metrics, "kubelet_volume_metric_collection_duration_seconds")).toEqual([
      'kubelet_volume_metric_collection_duration_seconds_count{metric_source="statfs"} 1',
    ]);
    await stop();
  });

  it("take their reports along when their pod goes, also while they are read", async () => {
    start();
    add("a");
    let answer = () => {};
    await clock.advance(5_000);
    expect(found()).toEqual([["a", "data 6"]]);
    statfs = async () =>
      await new Promise((resolve) => {
        answer = () => resolve({ ...FULL, bytes: { ...FULL.bytes, used: 99n } });
      });
    await clock.advance(1.5 * MINUTE);
    expect(asked).toHaveLength(2);
    volumes.forget("a", PLUGIN);
    expect(found()).toEqual([]);
    answer();
    await clock.settle();
    expect(found()).toEqual([]);
    expect(clock.pendingTimers).toBe(0);
    await stop();
  });

  it.each([0, -1])("are not measured with a period of %s", async (periodMs) => {
    start(periodMs);
    add("a");
    await clock.advance(10 * MINUTE);
    expect([asked, found(), clock.pendingTimers]).toEqual([[], [], 0]);
    await stop();
  });
});

describe("what does not answer", () => {
  const never = async () => await new Promise<never>(() => {});

  it("is left out, delays its own pod and no other, and takes one place for a server", async () => {
    const ofServer = (name: string) => ({ source: claimed(name, { nfs: { server: "away", path: `/${name}` } }) });
    statfs = async (path) => (path.startsWith("/nfs") ? await never() : FULL);
    start();
    add("a", ofServer("a"), "/nfs/a");
    add("b", ofServer("b"), "/nfs/b");
    add("c", { source: claimed("c") });
    await clock.advance(20_000);
    expect(found()).toEqual([["a"], ["b"], ["c", "c 6"]]);
    expect(asked).toEqual(["/nfs/a", "/pods/c"]);
    await clock.advance(10 * MINUTE);
    expect(asked.filter((path) => path.startsWith("/nfs"))).toEqual(["/nfs/a"]);
    await stop();
  });

  it("is told no longer once it has been told", async () => {
    start();
    add("a");
    await clock.advance(5_000);
    expect(found()).toEqual([["a", "data 6"]]);
    statfs = never;
    await clock.advance(2 * MINUTE);
    expect(found()).toEqual([["a"]]);
    await stop();
  });

  it("does not keep the agent from stopping", async () => {
    statfs = never;
    driver = async (_, signal) => {
      await aborted(signal);
      throw new AbortedError();
    };
    start();
    add("a");
    add("b", DRIVEN);
    await clock.advance(5_000);
    expect(asked).toEqual(["/pods/a", "csi of b"]);
    await stop();
    expect([...stats.read()]).toEqual([]);
  });
});

describe("a volume that is not well", () => {
  const say = (message?: string) => {
    driver = async () =>
      await Promise.resolve({ ...FULL, condition: { abnormal: message !== undefined, message: message ?? "" } });
  };
  const round = async () => await clock.advance(1.5 * MINUTE);

  it("is told once for each change, however often it is asked for", async () => {
    start();
    add("a", DRIVEN);
    const bad = "a Warning VolumeConditionAbnormal Volume data: ";
    say("disk is gone");
    await clock.advance(5_000);
    for (let times = 0; times < 5; times++) await round();
    expect(events).toEqual([`${bad}disk is gone`]);
    const works = driver;
    driver = async () => await Promise.reject(new Error("driver restarts"));
    await round();
    driver = works;
    await round();
    expect(events).toHaveLength(1);
    say("disk is slow");
    await round();
    say();
    await round();
    expect(events).toEqual([`${bad}disk is gone`, `${bad}disk is slow`]);
    say("disk is slow");
    await round();
    expect(events).toEqual([`${bad}disk is gone`, `${bad}disk is slow`, `${bad}disk is slow`]);
    await stop();
  });
});
