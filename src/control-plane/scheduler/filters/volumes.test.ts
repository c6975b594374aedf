import { describe, expect, test } from "vitest";
import type { CSIStorageCapacity, PersistentVolume, PersistentVolumeClaim } from "../../../api/gen/types.ts";
import { cluster, nodeInfo, type PodOptions, pending, storage as storageOf } from "../__fixtures__/objects.ts";
import type { StorageView } from "../cluster.ts";
import { checkClaims, filterVolumes } from "./volumes.ts";

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
    expect(checkClaims(pending(pod), cluster([], { storage: storage(claims, {}) }))).toBe(expected);
  });

  test("to a volume that is not there rule out every node, but not those of ephemeral volumes", () => {
    const check = (pod: PodOptions, claims: Record<string, PersistentVolumeClaim>) =>
      checkClaims(pending(pod), cluster([], { storage: storage(claims) }));
    expect(check(POD, { data: BOUND })).toBe('persistentvolume "v1" not found');
    const metadata = { ownerReferences: [{ apiVersion: "v1", kind: "Pod", name: "p", uid: "uid-p" }] };
    expect(check(EPHEMERAL, { "p-tmp": { ...BOUND, metadata } })).toBeUndefined();
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

describe("a driver that tells how much it can hold", () => {
  const DRIVER = "csi.example.com";
  const ZONE_A = { matchLabels: { zone: "a" } };
  type Capacity = Partial<CSIStorageCapacity>;
  const here = (capacity: Capacity): Capacity => ({ nodeTopology: ZONE_A, ...capacity });
  const judge = (capacities: readonly Capacity[], { storageCapacity = true, wanted = "1Gi" } = {}) => {
    const requests = wanted === "" ? {} : { resources: { requests: { storage: wanted } } };
    const claim: PersistentVolumeClaim = { spec: { storageClassName: "made", ...requests } };
    const view = storageOf({
      claim: () => claim,
      storageClass: (name) => ({
        metadata: { name },
        provisioner: DRIVER,
        volumeBindingMode: "WaitForFirstConsumer",
      }),
      csiDriver: (name) => (name === DRIVER ? { spec: { storageCapacity } } : undefined),
      capacities: () => capacities.map((one) => ({ storageClassName: "made", ...one })),
    });
    const node = nodeInfo({ labels: { zone: "a" } });
    return filterVolumes(pending(POD), cluster([node], { storage: view }))?.(node)?.reasons;
  };
  const NO_SPACE = ["node(s) did not have enough free storage"];

  test.each<[string, Capacity[], Parameters<typeof judge>[1], string[] | undefined]>([
    ["enough", [here({ capacity: "1Gi" })], {}, undefined],
    ["too little", [here({ capacity: "1023Mi" })], {}, NO_SPACE],
    ["enough elsewhere", [{ capacity: "1Gi", nodeTopology: { matchLabels: { zone: "b" } } }], {}, NO_SPACE],
    ["enough on every node", [{ capacity: "1Gi", nodeTopology: {} }], {}, undefined],
    ["enough of another class", [here({ capacity: "1Gi", storageClassName: "other" })], {}, NO_SPACE],
    ["enough, but not in one volume", [here({ capacity: "9Gi", maximumVolumeSize: "1Mi" })], {}, NO_SPACE],
    ["one volume that is large enough", [here({ capacity: "1Mi", maximumVolumeSize: "1Gi" })], {}, undefined],
    ["enough that no node reaches", [{ capacity: "9Gi" }], {}, NO_SPACE],
    ["nothing of how much", [here({})], {}, NO_SPACE],
    ["nothing", [], {}, NO_SPACE],
    ["nothing, and is not asked", [], { storageCapacity: false }, undefined],
    ["nothing, and nothing is asked for", [], { wanted: "" }, undefined],
    ["enough in one of two places", [here({ capacity: "1Mi" }), here({ capacity: "2Gi" })], {}, undefined],
  ])("has %s", (_case, capacities, options, expected) => {
    expect(judge(capacities, options)).toEqual(expected);
  });
});
