import { beforeEach, expect, it } from "vitest";
import { createMetrics, type Metrics } from "../../../../base/metrics.ts";
import { claimed, csi, files, podOf, samplesOf, volumeOf } from "./__fixtures__/volumes.ts";
import { createNodeVolumes, type NodeVolumesWriter } from "./node-volumes.ts";
import { createVolumeGauges } from "./volume-gauges.ts";
import type { VolumeReport } from "./volume-stats.ts";

let metrics: Metrics;
let volumes: NodeVolumesWriter;
let reports: VolumeReport[];
let setGauges: () => void;

beforeEach(() => {
  metrics = createMetrics();
  volumes = createNodeVolumes();
  reports = [];
  const read = () => [{ pod: { uid: "a", name: "a", namespace: "shop" }, volumes: reports }];
  setGauges = createVolumeGauges({ metrics, volumes, stats: { read } });
});

const reportOf = (changes: Partial<VolumeReport> = {}): VolumeReport => ({
  volumeName: "data",
  claim: { namespace: "shop", name: "data" },
  measuredAt: 0,
  bytes: { total: 100n, available: 60n, used: 30n },
  inodes: { total: 10n, available: 8n, used: 2n },
  condition: undefined,
  ...changes,
});
const samples = async () => {
  setGauges();
  const found = await samplesOf(metrics, "kubelet_volume_stats_");
  return found.map((line) => line.replace("kubelet_volume_stats_", ""));
};
const labels = '{namespace="shop",persistentvolumeclaim="data"}';

it("a claim's volume is told in upstream's series", async () => {
  reports = [reportOf({ condition: { abnormal: true, message: "gone" } })];
  expect(await samples()).toEqual([
    `available_bytes${labels} 60`,
    `capacity_bytes${labels} 100`,
    `health_status_abnormal${labels} 1`,
    `inodes_free${labels} 8`,
    `inodes_used${labels} 2`,
    `inodes${labels} 10`,
    `used_bytes${labels} 30`,
  ]);
  reports = [];
  expect(await samples()).toEqual([]);
});

it.each<[string, Partial<VolumeReport>, string[]]>([
  [
    "what is not known of an amount is 0, and its health is not told",
    { bytes: { total: 5n, available: 0n, used: 0n }, inodes: undefined },
    ["available_bytes 0", "capacity_bytes 5", "inodes_free 0", "inodes_used 0", "inodes 0", "used_bytes 0"].map(
      (line) => line.replace(" ", `${labels} `),
    ),
  ],
  [
    "health alone is told alone",
    { bytes: undefined, inodes: undefined, condition: { abnormal: false, message: "" } },
    [`health_status_abnormal${labels} 0`],
  ],
  ["what is of no claim is not told", { claim: undefined }, []],
])("%s", async (_, changes, lines) => {
  reports = [reportOf(changes)];
  expect(await samples()).toEqual(lines);
});

it("a claim that several pods share is told once", async () => {
  reports = [reportOf(), reportOf({ volumeName: "other", bytes: { total: 7n, available: 7n, used: 0n } })];
  expect((await samples()).filter((line) => line.startsWith("capacity"))).toEqual([`capacity_bytes${labels} 100`]);
});

it("volumes are counted by plugin and driver, those that are wanted and those that are there", async () => {
  const driven = { source: claimed("data", csi("csi.example.com")), pluginName: "kubernetes.io/csi" };
  for (const uid of ["a", "b"]) {
    volumes.want(uid, volumeOf(podOf(uid), driven));
    volumes.want(uid, volumeOf(podOf(uid), { volumeName: "tmp", pluginName: "kubernetes.io/empty-dir" }));
  }
  volumes.settle("a", "data", files("/data"));
  const counts = async () => {
    setGauges();
    const found = await samplesOf(metrics, "volume_manager_total_volumes");
    return found.map((line) => line.replace(/^.*plugin_name="([^"]*)",state="([^"]*)"\}/, "$1 $2"));
  };
  expect(await counts()).toEqual([
    "kubernetes.io/csi:csi.example.com actual_state_of_world 1",
    "kubernetes.io/csi:csi.example.com desired_state_of_world 2",
    "kubernetes.io/empty-dir desired_state_of_world 2",
  ]);
  volumes.forget("a", "kubernetes.io/csi");
  expect(await counts()).toEqual([
    "kubernetes.io/csi:csi.example.com desired_state_of_world 1",
    "kubernetes.io/empty-dir desired_state_of_world 2",
  ]);
});
