import { describe, expect, test } from "vitest";
import type { PersistentVolume, PersistentVolumeClaim } from "../../../api/gen/types.ts";
import { cluster, nodeInfo, type PodOptions, pending, storage } from "../__fixtures__/objects.ts";
import { filterVolumeZones } from "./volume-zones.ts";

const ZONE = "topology.kubernetes.io/zone";
const REGION = "topology.kubernetes.io/region";
const OLD_ZONE = "failure-domain.beta.kubernetes.io/zone";
const OLD_REGION = "failure-domain.beta.kubernetes.io/region";
const CLAIMING: PodOptions = { volumes: [{ name: "data", persistentVolumeClaim: { claimName: "data" } }] };
const EPHEMERAL: PodOptions = { volumes: [{ name: "data", ephemeral: {} }] };

type Labels = Record<string, string>;

function judge(volume: Labels, node: Labels, pod: PodOptions = CLAIMING) {
  const view = storage({
    claim: () => ({ spec: { volumeName: "v1" } }),
    volume: (name) => (name === "v1" ? { metadata: { labels: volume } } : undefined),
  });
  const info = nodeInfo({ labels: node });
  return filterVolumeZones(pending(pod), cluster([info], { storage: view }))?.(info);
}

describe("the place of a bound volume", () => {
  test.each<[string, Labels, Labels]>([
    ["none", { other: "a" }, { [ZONE]: "a" }],
    ["the node's zone", { [ZONE]: "a" }, { [ZONE]: "a" }],
    ["the node's region, and the node has a zone beside", { [REGION]: "r" }, { [REGION]: "r", [ZONE]: "a" }],
    ["one of several zones", { [ZONE]: "a__b" }, { [ZONE]: "b" }],
    ["zone and region", { [ZONE]: "a", [REGION]: "r" }, { [ZONE]: "a", [REGION]: "r" }],
    ["anything, on a node without a place", { [ZONE]: "a" }, { rack: "1" }],
    ["by the former labels", { [OLD_ZONE]: "a", [OLD_REGION]: "r" }, { [OLD_ZONE]: "a", [OLD_REGION]: "r" }],
    ["by the former label, of a node that has the present one", { [OLD_ZONE]: "a" }, { [ZONE]: "a" }],
    ["by the former region, of a node that has the present one", { [OLD_REGION]: "r" }, { [REGION]: "r" }],
    ["one of several zones, with blanks", { [ZONE]: "a__ b" }, { [ZONE]: "b" }],
    ["by a label that makes no sense", { [ZONE]: "a__" }, { [ZONE]: "b" }],
  ])("suits the node: %s", (_case, volume, node) => {
    expect(judge(volume, node)).toBeUndefined();
  });

  test.each<[string, Labels, Labels]>([
    ["another zone", { [ZONE]: "a" }, { [ZONE]: "b" }],
    ["none of several zones", { [ZONE]: "a__c" }, { [ZONE]: "b" }],
    ["the right region, and another zone", { [ZONE]: "a", [REGION]: "r" }, { [ZONE]: "b", [REGION]: "r" }],
    ["a zone, of a node that has only a region", { [ZONE]: "a" }, { [REGION]: "r" }],
    ["by the present label, of a node that has the former one", { [ZONE]: "a" }, { [OLD_ZONE]: "a" }],
    ["another, where the node's former label is another too", { [OLD_ZONE]: "a" }, { [OLD_ZONE]: "b", [ZONE]: "a" }],
  ])("does not: %s", (_case, volume, node) => {
    expect(judge(volume, node)).toEqual({ reasons: ["node(s) had no available volume zone"], isFinal: true });
  });

  test.each<[string, PersistentVolumeClaim | undefined, PersistentVolume | undefined]>([
    ["a claim that is gone", undefined, undefined],
    ["a claim without a specification", {}, undefined],
    ["a claim that waits", { spec: {} }, undefined],
    ["a volume that is gone", { spec: { volumeName: "v1" } }, undefined],
    ["a volume without metadata", { spec: { volumeName: "v1" } }, {}],
    ["a volume without labels", { spec: { volumeName: "v1" } }, { metadata: {} }],
  ])("is not asked for where there is none: %s", (_case, claim, volume) => {
    const view = storage({ claim: () => claim, volume: (name) => (name === "v1" ? volume : undefined) });
    expect(filterVolumeZones(pending(CLAIMING), cluster([], { storage: view }))).toBeUndefined();
  });

  test("of an ephemeral claim does not matter", () => {
    expect(judge({ [ZONE]: "a" }, { [ZONE]: "b" }, EPHEMERAL)).toBeUndefined();
  });
});
