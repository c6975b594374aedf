import { describe, expect, test } from "vitest";
import type { PersistentVolume, PersistentVolumeClaim, VolumeAttachment } from "../../../api/gen/types.ts";
import { cluster, nodeInfo, type PodOptions, pending, placed, storage } from "../__fixtures__/objects.ts";
import { filterVolumeLimits } from "./volume-limits.ts";

const DRIVER = "csi.example.com";
const TOO_MANY = { reasons: ["node(s) exceed max volume count"], isFinal: false };

const claiming = (...names: string[]): PodOptions => ({
  volumes: names.map((claimName) => ({ name: claimName, persistentVolumeClaim: { claimName } })),
});
/**
 * A claim that is bound to the volume of its name: `nfs…` to a volume without a driver, while `new…` waits for a volume
 * of its class.
 */
const claim = (_namespace: string, name: string): PersistentVolumeClaim => ({
  metadata: { name, namespace: "default" },
  spec: name.startsWith("new") ? { storageClassName: "made" } : { volumeName: name },
});
const volume = (name: string): PersistentVolume | undefined => {
  if (name === "") return undefined;
  return { spec: name.startsWith("nfs") ? {} : { csi: { driver: DRIVER, volumeHandle: name } } };
};
const attachment = (name: string, nodeName = "n1"): VolumeAttachment => ({
  spec: { attacher: DRIVER, nodeName, source: { persistentVolumeName: name } },
});

interface Case {
  wants: string[];
  pods?: string[][];
  attached?: VolumeAttachment[];
  count?: number | "unlimited";
}

function judge({ wants, pods = [], attached = [], count = 2 }: Case) {
  const node = nodeInfo(
    {},
    pods.map((names, index) => placed(`p${index}`, claiming(...names))),
  );
  const drivers = [{ name: DRIVER, nodeID: "n", ...(count !== "unlimited" && { allocatable: { count } }) }];
  const reader = storage({
    claim,
    volume,
    storageClass: (name) => (name === "made" ? { provisioner: DRIVER } : undefined),
    csiNode: (name) => (name === "n1" ? { spec: { drivers } } : undefined),
    attachments: () => attached,
  });
  return filterVolumeLimits(pending(claiming(...wants)), cluster([node], { storage: reader }))?.(node);
}

test("a volume of a cloud counts as one of its driver's, whether a claim leads to it or a pod names it", () => {
  const disk = (volumeID: string) => ({ name: volumeID, awsElasticBlockStore: { volumeID } });
  const drivers = [{ name: "ebs.csi.aws.com", nodeID: "n", allocatable: { count: 2 } }];
  const reader = storage({
    claim,
    volume: (name) => ({ spec: { awsElasticBlockStore: { volumeID: `vol-${name}` } } }),
    csiNode: () => ({ spec: { drivers } }),
    attachments: () => [],
  });
  const judgeBeside = (...names: string[]) => {
    const node = nodeInfo({}, [placed("p", claiming(...names))]);
    return filterVolumeLimits(
      pending({ volumes: [disk("vol-a"), disk("aws://eu/vol-b")] }),
      cluster([node], { storage: reader }),
    )?.(node);
  };
  expect(judgeBeside("a", "b")).toBeUndefined();
  expect(judgeBeside("a", "c")?.reasons).toEqual(["node(s) exceed max volume count"]);
});

describe("a driver's volumes on a node", () => {
  test.each<[string, Case]>([
    ["as many as it takes", { wants: ["a"], pods: [["b"]] }],
    ["one of several pods counts once", { wants: ["a"], pods: [["a", "b"], ["b"]] }],
    ["one that a pod has already is no further one", { wants: ["a"], pods: [["a", "b"], ["c"]] }],
    ["one that is attached already is no further one", { wants: ["a"], attached: [attachment("a"), attachment("b")] }],
    ["those of other nodes do not count", { wants: ["a"], attached: [attachment("b", "n2"), attachment("c", "n2")] }],
    ["those of no driver do not count", { wants: ["nfs1", "a"], pods: [["nfs2", "nfs3", "b"]] }],
    ["without a limit", { wants: ["a"], pods: [["b", "c"]], count: "unlimited" }],
    ["of a pod without claims", { wants: [], pods: [["a", "b", "c"]] }],
  ])("fit: %s", (_case, question) => {
    expect(judge(question)).toBeUndefined();
  });

  test.each<[string, Case]>([
    ["one too many", { wants: ["a"], pods: [["b"], ["c"]] }],
    ["of the pod itself", { wants: ["a", "b", "c"] }],
    ["with those that are still attached", { wants: ["a"], pods: [["b"]], attached: [attachment("c")] }],
    ["with one that is yet to be made", { wants: ["new1"], pods: [["b", "new2"]] }],
    ["none at all", { wants: ["a"], count: 0 }],
  ])("do not: %s", (_case, question) => {
    expect(judge(question)).toEqual(TOO_MANY);
  });
});
