import { describe, expect, test } from "vitest";
import type { PersistentVolumeClaim, Volume } from "../../../api/gen/types.ts";
import { cluster, nodeInfo, type PodOptions, pending, placed, storage } from "../__fixtures__/objects.ts";
import { filterVolumeRestrictions } from "./volume-restrictions.ts";

type Disk = Omit<Volume, "name">;
const using = (...disks: Disk[]): PodOptions => ({
  volumes: disks.map((disk, index) => ({ name: `v${index}`, ...disk })),
});
const gce = (pdName: string, readOnly = false): Disk => ({ gcePersistentDisk: { pdName, readOnly } });
const aws = (volumeID: string, readOnly = false): Disk => ({ awsElasticBlockStore: { volumeID, readOnly } });
const iscsi = (iqn: string, readOnly = false, targetPortal = "127.0.0.1:3260"): Disk => ({
  iscsi: { iqn, readOnly, targetPortal, lun: 0 },
});
const rbd = (monitors: string[], pool: string, image: string, readOnly = false): Disk => ({
  rbd: { monitors, pool, image, readOnly },
});

describe("a disk that another pod of the node uses", () => {
  const judge = (own: Disk, other: Disk) => {
    const node = nodeInfo({}, [placed("other", using({ emptyDir: {} }, other))]);
    return filterVolumeRestrictions(pending(using(own)), cluster([node]))?.(node);
  };
  const NO_DISK = { reasons: ["node(s) had no available disk"], isFinal: false };

  test.each<[string, Disk, Disk]>([
    ["a GCE disk", gce("a"), gce("a")],
    ["a GCE disk that one of them writes", gce("a", true), gce("a")],
    ["an EBS volume", aws("a"), aws("a")],
    ["an EBS volume that both read", aws("a", true), aws("a", true)],
    ["an iSCSI target", iscsi("iqn.a"), iscsi("iqn.a")],
    ["an iSCSI target by another portal", iscsi("iqn.a"), iscsi("iqn.a", true, "10.0.0.1:3260")],
    ["a Ceph image with a monitor in common", rbd(["a", "b"], "p", "i"), rbd(["b", "c"], "p", "i")],
    ["a Ceph image that one of them writes", rbd(["a"], "p", "i", true), rbd(["a"], "p", "i")],
    ["a Ceph image of the default pool", rbd(["a"], "rbd", "i"), { rbd: { monitors: ["a"], image: "i" } }],
  ])("is not for both: %s", (_case, own, other) => {
    expect(judge(own, other)).toEqual(NO_DISK);
  });

  test.each<[string, Disk, Disk]>([
    ["another GCE disk", gce("a"), gce("b")],
    ["a GCE disk that both read", gce("a", true), gce("a", true)],
    ["another EBS volume", aws("a"), aws("b")],
    ["an EBS volume of a GCE disk's name", aws("a"), gce("a")],
    ["another iSCSI target", iscsi("iqn.a"), iscsi("iqn.b")],
    ["an iSCSI target that both read", iscsi("iqn.a", true), iscsi("iqn.a", true)],
    ["a Ceph image of another cluster", rbd(["a", "b"], "p", "i"), rbd(["c"], "p", "i")],
    ["a Ceph image of another pool", rbd(["a"], "p", "i"), rbd(["a"], "q", "i")],
    ["another Ceph image", rbd(["a"], "p", "i"), rbd(["a"], "p", "j")],
    ["a Ceph image that both read", rbd(["a"], "p", "i", true), rbd(["a"], "p", "i", true)],
  ])("is for both: %s", (_case, own, other) => {
    expect(judge(own, other)).toBeUndefined();
  });

  test("matters on that node only", () => {
    const nodes = [nodeInfo({}, [placed("other", using(gce("a")))]), nodeInfo({ name: "n2" })];
    const filter = filterVolumeRestrictions(pending(using(gce("a"))), cluster(nodes));
    expect(nodes.map((node) => filter?.(node))).toEqual([NO_DISK, undefined]);
  });

  test("is one of several of the pod", () => {
    const node = nodeInfo({}, [placed("other", using(gce("b")))]);
    const filter = filterVolumeRestrictions(pending(using(gce("a"), gce("b"))), cluster([node]));
    expect(filter?.(node)).toEqual(NO_DISK);
  });

  test("is no question for a pod without disks", () => {
    expect(filterVolumeRestrictions(pending(using({ emptyDir: {} })), cluster([]))).toBeUndefined();
  });
});

test("a claim for one pod is not for two, on whatever node", () => {
  const POD: PodOptions = { volumes: [{ name: "data", persistentVolumeClaim: { claimName: "data" } }] };
  const claim: PersistentVolumeClaim = { spec: { volumeName: "v1", accessModes: ["ReadWriteOncePod"] } };
  const judge = (pods: ReturnType<typeof placed>[]) => {
    const nodes = [nodeInfo({}, pods), nodeInfo({ name: "n2" })];
    const filter = filterVolumeRestrictions(pending(POD), cluster(nodes, { storage: storage({ claim: () => claim }) }));
    return nodes.map((node) => filter?.(node));
  };
  const used = {
    reasons: ["node has pod using PersistentVolumeClaim with the same name and ReadWriteOncePod access mode"],
    isFinal: false,
  };
  expect(judge([])).toEqual([undefined, undefined]);
  expect(judge([placed("other", POD)])).toEqual([used, used]);
  expect(judge([placed("other", { ...POD, namespace: "elsewhere" })])).toEqual([undefined, undefined]);
});

test.each<[string, PersistentVolumeClaim | undefined]>([
  ["is gone", undefined],
  ["says nothing", {}],
  ["names no modes", { spec: {} }],
  ["is for one node", { spec: { accessModes: ["ReadWriteOnce"] } }],
])("a claim that %s is for any number of pods", (_case, claim) => {
  const pod = pending({ volumes: [{ name: "data", persistentVolumeClaim: { claimName: "data" } }] });
  const view = storage({ claim: () => claim });
  expect(filterVolumeRestrictions(pod, cluster([], { storage: view }))).toBeUndefined();
});
