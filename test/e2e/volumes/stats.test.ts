import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { claimPort } from "../../machine/claims.ts";
import { settlesOn } from "../cluster/settles.ts";
import { createClaimed, ON_THIS_NODE, ofClaim, removeClaimed } from "./claims.ts";
import { registeredDrivers, startDriver, type TestDriver } from "./csi-world.ts";
import { createVolumeNode, mountingPod, type VolumeNode } from "./volume-node.ts";

const DRIVER = "stats.e2e.example.com";
const SILENT = "silent.e2e.example.com";
const MIB = 1024 * 1024;
const SIZE = 32 * MIB;
/** The volumes of a pod are measured at most two seconds apart. */
const ROUNDS_MS = 20_000;
const AMOUNTS = ["available_bytes", "capacity_bytes", "inodes", "inodes_free", "inodes_used", "used_bytes"];

describe("metrics of volumes", () => {
  let world: VolumeNode;
  let driver: TestDriver;
  let silent: TestDriver;
  let port: number;
  beforeAll(async () => {
    port = await claimPort();
    const configuration = {
      volumeStatsAggPeriod: "1s",
      featureGates: { CSIVolumeHealth: true },
      readOnlyPort: port,
      address: "127.0.0.1",
    };
    world = await createVolumeNode({ configuration });
    driver = await startDriver(world, DRIVER, {
      control: {
        capabilities: ["STAGE_UNSTAGE_VOLUME", "GET_VOLUME_STATS", "VOLUME_CONDITION"],
        otherVolumes: { kind: "memory", sizeBytes: SIZE },
      },
    });
    silent = await startDriver(world, SILENT, { control: { capabilities: ["STAGE_UNSTAGE_VOLUME"] } });
    await settlesOn(2, async () => (await registeredDrivers(world)).length, 20_000);
  });
  afterAll(async () => {
    for (const started of [driver, silent]) await started?.stop({ cleanUp: true });
    await world?.destroy();
  });

  /** The values of all series that are about the claim, by their names without what all begin with. */
  const ofClaimed = async (claim: string): Promise<Record<string, number>> => {
    const pattern = new RegExp(
      `^kubelet_volume_stats_(\\w+)\\{namespace="default",persistentvolumeclaim="${claim}"\\} (\\S+)$`,
      "gm",
    );
    const found = [...(await readMetrics()).matchAll(pattern)].map(([, name = "", value]) => [name, Number(value)]);
    expect(new Set(found.map(([name]) => name)).size).toBe(found.length);
    return Object.fromEntries(found.sort());
  };
  const readMetrics = async () => await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
  /** The number of a series with all these labels; undefined where there is none. */
  const sample = async (name: string, labels: Readonly<Record<string, string>>): Promise<number | undefined> => {
    const line = (await readMetrics()).split("\n").find((candidate) => {
      const isOfSeries = candidate.startsWith(`${name}{`);
      return isOfSeries && Object.entries(labels).every(([label, value]) => candidate.includes(`${label}="${value}"`));
    });
    return line === undefined ? undefined : Number(line.split(" ").at(-1));
  };

  it.concurrent("tell how full a claim's volume is, once however many pods use it, until the last is gone", async () => {
    await driver.claimed("shared", { accessMode: "ReadWriteMany" });
    for (const name of ["one", "two"]) await world.run(mountingPod(name, { volumes: { v: ofClaim("shared") } }));
    const full = async () => await ofClaimed("shared");
    const expected = [...AMOUNTS, "health_status_abnormal"].sort();
    await settlesOn(expected, async () => Object.keys(await full()), ROUNDS_MS);
    expect(await full()).toMatchObject({ capacity_bytes: SIZE, used_bytes: 0, health_status_abnormal: 0 });
    await world.shell("one", `head -c ${4 * MIB} /dev/zero > /v/data`);
    const used = async () => {
      const { used_bytes, available_bytes } = await full();
      return [used_bytes, available_bytes];
    };
    await settlesOn([4 * MIB, SIZE - 4 * MIB], used, ROUNDS_MS);
    expect((await full())["inodes_used"]).toBeGreaterThanOrEqual(1);

    const plugin = `kubernetes.io/csi:${DRIVER}`;
    const durations = { volume_plugin: plugin, status: "success", migrated: "false" };
    const count = async (operation: string) =>
      await sample("storage_operation_duration_seconds_count", { ...durations, operation_name: operation });
    const mounted = (await count("volume_mount")) ?? 0;
    expect(mounted).toBeGreaterThanOrEqual(2);
    const collections = "kubelet_volume_metric_collection_duration_seconds_count";
    expect(await sample(collections, { metric_source: DRIVER })).toBeGreaterThanOrEqual(2);
    for (const state of ["desired_state_of_world", "actual_state_of_world"]) {
      expect(await sample("volume_manager_total_volumes", { plugin_name: plugin, state })).toBeGreaterThanOrEqual(2);
    }
    expect(await world.end("one")).toEqual([]);
    await settlesOn(AMOUNTS.length + 1, async () => Object.keys(await full()).length, ROUNDS_MS);
    expect(await world.end("two")).toEqual([]);
    expect(await full()).toEqual({});
    expect(await count("volume_unmount")).toBeGreaterThanOrEqual(2);
    await removeClaimed(world, "shared");
  });

  it.concurrent("tell which volume is not well, and an event says it once", async () => {
    driver.control({ conditions: { sick: { abnormal: true, message: "the disk has gone" } } });
    await driver.claimed("sick");
    await world.run(mountingPod("sick", { volumes: { v: ofClaim("sick") } }));
    const abnormal = async () => (await ofClaimed("sick"))["health_status_abnormal"];
    await settlesOn(1, abnormal, ROUNDS_MS);
    const event = { type: "Warning", reason: "VolumeConditionAbnormal", message: "Volume v: the disk has gone" };
    await world.event("sick", event);
    const asked = async () => {
      const calls = await driver.calls();
      return calls.filter(({ rpc, request }) => rpc === "NodeGetVolumeStats" && request["volumeId"] === "sick").length;
    };
    const before = await asked();
    await settlesOn(true, async () => (await asked()) >= before + 3, ROUNDS_MS);
    const told = (await world.events("sick")).filter(({ reason }) => reason === event.reason);
    expect(told.map(({ count }) => count)).toEqual([1]);
    driver.control({ conditions: {} });
    await settlesOn(0, abnormal, ROUNDS_MS);
    expect(await world.end("sick")).toEqual([]);
    await removeClaimed(world, "sick");
  });

  it.concurrent("tell of volumes without a driver by their file system", async () => {
    const path = join(world.scratch, "local");
    await mkdir(path);
    await writeFile(join(path, "file"), "data");
    await createClaimed(world, { name: "local", source: { local: { path } }, volume: ON_THIS_NODE });
    await world.run(mountingPod("local", { volumes: { v: ofClaim("local") } }));
    await settlesOn(AMOUNTS, async () => Object.keys(await ofClaimed("local")), ROUNDS_MS);
    const [size = ""] = (await world.inNamespace("stat", "-f", "-c", "%b %S", path)).trim().split("\n");
    const [blocks = 0, blockBytes = 0] = size.split(" ").map(Number);
    expect(await ofClaimed("local")).toMatchObject({ capacity_bytes: blocks * blockBytes });
    expect(await world.end("local")).toEqual([]);
    expect(await ofClaimed("local")).toEqual({});
    await removeClaimed(world, "local");
  });

  it.concurrent("say nothing of a volume whose driver has no statistics, and do not ask it", async () => {
    await silent.claimed("silent");
    await driver.claimed("beside");
    const volumes = { v: ofClaim("silent"), w: ofClaim("beside") };
    await world.run(mountingPod("silent", { volumes }));
    await settlesOn(SIZE, async () => (await ofClaimed("beside"))["capacity_bytes"], ROUNDS_MS);
    expect(await ofClaimed("silent")).toEqual({});
    expect((await silent.calls()).filter(({ rpc }) => rpc === "NodeGetVolumeStats")).toEqual([]);
    expect(await world.end("silent")).toEqual([]);
    for (const name of ["silent", "beside"]) await removeClaimed(world, name);
  });
});
