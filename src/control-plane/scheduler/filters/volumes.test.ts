import { describe, expect, test } from "vitest";
import type { PersistentVolume, PersistentVolumeClaim } from "../../../api/gen/types.ts";
import { cluster, nodeInfo, type PodOptions, pending, placed, storage as storageOf } from "../__fixtures__/objects.ts";
import type { StorageView } from "../cluster.ts";
import { checkClaims, filterExclusiveClaims, filterVolumes } from "./volumes.ts";

const POD: PodOptions = { volumes: [{ name: "data", persistentVolumeClaim: { claimName: "data" } }] };
const EPHEMERAL: PodOptions = { volumes: [{ name: "tmp", ephemeral: {} }] };
const BOUND: PersistentVolumeClaim = { spec: { volumeName: "v1" }, status: { phase: "Bound" } };

function storage(claims: Record<string, PersistentVolumeClaim>, volume?: PersistentVolume): StorageView {
  return storageOf({
    claim: (_namespace, name) => claims[name],
    volume: () => volume,
    storageClass: (name) => {
      const volumeBindingMode = name === "delayed" ? "WaitForFirstConsumer" : "Immediate";
      return name === "" ? undefined : { provisioner: "kubernetes.io/no-provisioner", volumeBindingMode };
    },
  });
}

describe("claims", () => {
  test.each<[string, PodOptions, Record<string, PersistentVolumeClaim>, string | undefined]>([
    ["none", {}, {}, undefined],
    ["missing", POD, {}, 'persistentvolumeclaim "data" not found'],
    ["bound", POD, { data: BOUND }, undefined],
    [
      "bound, by its annotation",
      POD,
      { data: { metadata: { annotations: { "pv.kubernetes.io/bind-completed": "yes" } }, spec: { volumeName: "v1" } } },
      undefined,
    ],
    ["unbound", POD, { data: { spec: {} } }, "pod has unbound immediate PersistentVolumeClaims"],
    [
      "of a class that binds at once",
      POD,
      { data: { spec: { storageClassName: "fast" } } },
      "pod has unbound immediate PersistentVolumeClaims",
    ],
    ["that wait for the pod", POD, { data: { spec: { storageClassName: "delayed" } } }, undefined],
    [
      "lost",
      POD,
      { data: { spec: { volumeName: "v1" }, status: { phase: "Lost" } } },
      'persistentvolumeclaim "data" bound to non-existent persistentvolume "v1"',
    ],
    [
      "on their way out",
      POD,
      { data: { ...BOUND, metadata: { deletionTimestamp: "2026-01-01T00:00:00Z" } } },
      'persistentvolumeclaim "data" is being deleted',
    ],
    [
      "that a controller is to make",
      EPHEMERAL,
      {},
      'waiting for ephemeral volume controller to create the persistentvolumeclaim "p-tmp"',
    ],
    [
      "of somebody else",
      EPHEMERAL,
      { "p-tmp": BOUND },
      "PVC default/p-tmp was not created for pod default/p (pod is not owner)",
    ],
  ])("%s", (_case, pod, claims, expected) => {
    expect(checkClaims(pending(pod), cluster([], { storage: storage(claims) }))).toBe(expected);
  });
});

describe("a volume", () => {
  const only = (zone: string): PersistentVolume => ({
    spec: {
      nodeAffinity: {
        required: { nodeSelectorTerms: [{ matchExpressions: [{ key: "zone", operator: "In", values: [zone] }] }] },
      },
    },
  });
  const judge = (claim: PersistentVolumeClaim, volume?: PersistentVolume) => {
    const node = nodeInfo({ labels: { zone: "a" } });
    return filterVolumes(pending(POD), cluster([node], { storage: storage({ data: claim }, volume) }))?.(node)?.reasons;
  };
  test.each<[string, PersistentVolumeClaim, PersistentVolume | undefined, string[] | undefined]>([
    ["anywhere", BOUND, {}, undefined],
    ["here", BOUND, only("a"), undefined],
    ["elsewhere", BOUND, only("b"), ["node(s) didn't match PersistentVolume's node affinity"]],
    ["nowhere", BOUND, undefined, ["node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)"]],
    [
      "that waits for the pod",
      { spec: { storageClassName: "delayed" } },
      undefined,
      ["node(s) didn't find available persistent volumes to bind"],
    ],
  ])("%s", (_case, claim, volume, expected) => {
    expect(judge(claim, volume)).toEqual(expected);
  });
});

test("a claim for one pod is not for two", () => {
  const claim = { ...BOUND, spec: { ...BOUND.spec, accessModes: ["ReadWriteOncePod"] } };
  const judge = (pods: ReturnType<typeof placed>[]) => {
    const node = nodeInfo({}, pods);
    return filterExclusiveClaims(pending(POD), cluster([node], { storage: storage({ data: claim }) }))?.(node);
  };
  expect(judge([])).toBeUndefined();
  expect(judge([placed("other", POD)])).toEqual({
    reasons: ["node has pod using PersistentVolumeClaim with the same name and ReadWriteOncePod access mode"],
    isFinal: false,
  });
});
