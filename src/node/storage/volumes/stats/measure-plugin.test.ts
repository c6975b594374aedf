import { beforeEach, describe, expect, it } from "vitest";
import type { PersistentVolumeSpec } from "../../../../api/gen/types.ts";
import { AbortedError } from "../../../../base/abort.ts";
import { createMetrics, type Metrics } from "../../../../base/metrics.ts";
import { createFakeClock, type FakeClock } from "../../../../host/fake/fake-clock.ts";
import { volumeDirectories } from "../volume-directories.ts";
import type { VolumePlace, VolumePlugin, VolumeSource } from "../volume-plugin.ts";
import { claimed, csi, files, podOf, samplesOf } from "./__fixtures__/volumes.ts";
import { createStorageOperations, measurePlugin, type StorageOperations } from "./measure-plugin.ts";
import { createNodeVolumes, type NodeVolumesWriter } from "./node-volumes.ts";

const PLUGIN = "kubernetes.io/fake";
const SERIES = "storage_operation_duration_seconds";

let clock: FakeClock;
let metrics: Metrics;
let operations: StorageOperations;
let volumes: NodeVolumesWriter;
let setUps: number;
/** What the plugin does next. */
let fate: { setUp?: Error; finished?: Promise<void>; tearDown?: Error | undefined };
let plugin: VolumePlugin;

beforeEach(() => {
  clock = createFakeClock();
  metrics = createMetrics();
  operations = createStorageOperations(metrics);
  volumes = createNodeVolumes();
  setUps = 0;
  fate = {};
  plugin = measure({
    name: PLUGIN,
    supports: () => true,
    async setUp() {
      setUps++;
      if (fate.setUp !== undefined) throw fate.setUp;
      return { volume: files("/data"), finished: fate.finished ?? Promise.resolve() };
    },
    async tearDown() {
      if (fate.tearDown !== undefined) throw fate.tearDown;
    },
  });
});

const measure = (bare: VolumePlugin) => measurePlugin(bare, { clock, operations, volumes });

const setUp = async (source: VolumeSource = claimed("data"), uid = "a") => {
  const directories = volumeDirectories("/var/lib/kubelet", uid);
  const { signal } = new AbortController();
  const begun = await plugin.setUp({ pod: podOf(uid), volumeName: "data", source, directories, signal });
  await begun.finished;
};
const placeOf = (directoryName: string, kind: VolumePlace["kind"] = "files"): VolumePlace => {
  return { podUid: "a", directoryName, path: `/volumes/${directoryName}`, kind };
};
const counted = async () => {
  const lines = await samplesOf(metrics, `${SERIES}_count`);
  return lines.map((line) => {
    const label = (name: string) => new RegExp(`${name}="([^"]*)"`).exec(line)?.[1] ?? "";
    expect(label("migrated")).toBe("false");
    return `${label("volume_plugin")} ${label("operation_name")} ${label("status")} ${line.split(" ").at(-1)}`;
  });
};
const readiness = () => [...volumes.all()].map(({ volumeName, ready }) => [volumeName, ready !== undefined]);

describe("a set-up", () => {
  it.each<[string, PersistentVolumeSpec, string]>([
    ["is a mount", { local: { path: "/data" } }, `${PLUGIN} volume_mount success 1`],
    ["is a mapping where it is a device", { volumeMode: "Block" }, `${PLUGIN} map_volume success 1`],
    ["names the storage driver", csi("csi.example.com"), `${PLUGIN}:csi.example.com volume_mount success 1`],
  ])("%s", async (_, spec, line) => {
    await setUp(claimed("data", spec));
    expect(await counted()).toEqual([line]);
    expect(readiness()).toEqual([["data", true]]);
  });

  it("of what is ready is repeated, and is no operation", async () => {
    for (let round = 0; round < 3; round++) await setUp();
    expect(setUps).toBe(3);
    expect(await counted()).toEqual([`${PLUGIN} volume_mount success 1`]);
    fate.setUp = new Error("the claim was not found");
    await expect(setUp()).rejects.toThrow("not found");
    expect(await counted()).toHaveLength(1);
    expect(readiness()).toEqual([["data", true]]);
  });

  it("that fails is one each time, and leaves a volume that is wanted", async () => {
    fate.setUp = new Error("no such device");
    for (let round = 0; round < 2; round++) await expect(setUp()).rejects.toThrow("no such device");
    expect(await counted()).toEqual([`${PLUGIN} volume_mount fail-unknown 2`]);
    expect(readiness()).toEqual([["data", false]]);
  });

  it("takes until the volume may be used", async () => {
    let finish = () => {};
    fate.finished = new Promise<void>((resolve) => {
      finish = resolve;
    });
    const waiting = setUp();
    await clock.advance(3_000);
    expect(await counted()).toEqual([]);
    expect(readiness()).toEqual([["data", false]]);
    finish();
    await waiting;
    expect(await metrics.render()).toMatch(/_sum\{.*\} 3$/m);
  });

  it("that fails behind its answer is a failure", async () => {
    fate.finished = Promise.reject(new Error("disk full"));
    await expect(setUp()).rejects.toThrow("disk full");
    expect(await counted()).toEqual([`${PLUGIN} volume_mount fail-unknown 1`]);
  });

  it("that was given up is none", async () => {
    fate.setUp = new AbortedError();
    await expect(setUp()).rejects.toThrow(AbortedError);
    expect(await counted()).toEqual([]);
  });
});

describe("a tear-down", () => {
  it.each<[string, VolumePlace["kind"], Error | undefined, string]>([
    ["is an unmount", "files", undefined, "volume_unmount success"],
    ["of a device ends its mapping", "device", undefined, "unmap_volume success"],
    ["may fail", "files", new Error("busy"), "volume_unmount fail-unknown"],
  ])("%s", async (_, kind, error, words) => {
    fate.tearDown = error;
    await plugin.tearDown?.(placeOf("pv-1", kind)).catch(() => undefined);
    expect(await counted()).toEqual([`${PLUGIN} ${words} 1`]);
  });

  it("names the storage driver of a volume that was known, until it is done", async () => {
    await setUp(claimed("data", csi("csi.example.com")));
    plugin.forget?.("a");
    expect(readiness()).toEqual([]);
    fate.tearDown = new Error("busy");
    await plugin.tearDown?.(placeOf("pv-data")).catch(() => undefined);
    fate = {};
    for (let round = 0; round < 2; round++) await plugin.tearDown?.(placeOf("pv-data"));
    const known = `${PLUGIN}:csi.example.com`;
    expect((await counted()).filter((line) => line.includes("unmount"))).toEqual([
      `${PLUGIN} volume_unmount success 1`,
      `${known} volume_unmount fail-unknown 1`,
      `${known} volume_unmount success 1`,
    ]);
  });

  it("of volumes whose directories never come up again costs a bounded memory", async () => {
    for (let pod = 0; pod <= 1_024; pod++) {
      await setUp(claimed("data", csi("csi.example.com")), `pod-${pod}`);
      plugin.forget?.(`pod-${pod}`);
    }
    const tearDown = async (podUid: string) => await plugin.tearDown?.({ ...placeOf("pv-data"), podUid });
    for (const uid of ["pod-0", "pod-1"]) await tearDown(uid);
    const unmounts = (await counted()).filter((line) => line.includes("unmount"));
    expect(unmounts).toEqual([
      `${PLUGIN} volume_unmount success 1`,
      `${PLUGIN}:csi.example.com volume_unmount success 1`,
    ]);
  });

  it("is absent where the plugin has none", () => {
    const { name, supports, setUp: bareSetUp } = plugin;
    expect(measure({ name, supports, setUp: bareSetUp }).tearDown).toBeUndefined();
  });
});

it("forgetting a pod reaches the plugin, and touches no volume of another plugin", async () => {
  const forgotten: string[] = [];
  const other = measure({ ...plugin, name: "kubernetes.io/other", forget: (uid) => void forgotten.push(uid) });
  await setUp();
  other.forget?.("a");
  expect(forgotten).toEqual(["a"]);
  expect(readiness()).toEqual([["data", true]]);
});
