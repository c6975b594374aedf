import { describe, expect, it } from "vitest";
import { formatFieldError } from "../../../../api/field-error.ts";
import type {
  PersistentVolumeClaimSpec,
  PersistentVolumeClaimStatus,
  PersistentVolumeSpec,
} from "../../../../api/gen/types.ts";
import { untyped } from "../../../../api/object.ts";
import { persistentVolumeKind } from "./persistent-volume.ts";
import { persistentVolumeClaimKind } from "./persistent-volume-claim.ts";

const show = (errors: Parameters<typeof formatFieldError>[0][] | undefined) => (errors ?? []).map(formatFieldError);

describe("a persistent volume", () => {
  const GOOD: PersistentVolumeSpec = {
    accessModes: ["ReadWriteOnce"],
    capacity: { storage: "1Gi" },
    hostPath: { path: "/data" },
  };
  const volume = (spec: PersistentVolumeSpec) => {
    const made = untyped({ apiVersion: "v1", kind: "PersistentVolume", metadata: { name: "v" }, spec });
    return persistentVolumeKind.strategy.default?.(made) ?? made;
  };

  it("is retained, holds files and is pending by default", () => {
    expect(volume(GOOD)).toMatchObject({
      spec: {
        persistentVolumeReclaimPolicy: "Retain",
        volumeMode: "Filesystem",
        hostPath: { path: "/data", type: "" },
      },
      status: { phase: "Pending" },
    });
  });

  const { hostPath: _path, ...sourceless } = GOOD;
  it("of a target is reached by the default interface", () => {
    const iscsi = { targetPortal: "10.0.0.1", iqn: "iqn.2026-11.com.example:disk", lun: 0 };
    expect(volume({ ...sourceless, iscsi })).toMatchObject({
      spec: { iscsi: { ...iscsi, iscsiInterface: "default" } },
    });
  });

  it.each<[string, PersistentVolumeSpec, string[]]>([
    ["is fine on the host", GOOD, []],
    ["lies somewhere", sourceless, ["spec: Required value: must specify a volume type"]],
    [
      "lies in one place",
      { ...GOOD, nfs: { server: "s", path: "/" } },
      ["spec.nfs: Forbidden: may not specify more than 1 volume type"],
    ],
    [
      "of a node says which",
      { ...sourceless, local: { path: "/data" } },
      ["spec.nodeAffinity: Required value: Local volume requires node affinity"],
    ],
    [
      "has a size",
      { ...GOOD, capacity: { storage: "0" } },
      ['spec.capacity[storage]: Invalid value: "0": must be greater than zero'],
    ],
    [
      "has a size of storage alone",
      { ...GOOD, capacity: { cpu: "1" } },
      ['spec.capacity: Unsupported value: {"cpu":"1"}: supported values: "storage"'],
    ],
    ["can be used somehow", { ...GOOD, accessModes: [] }, ["spec.accessModes: Required value"]],
    [
      "of one pod is of one pod",
      { ...GOOD, accessModes: ["ReadWriteOncePod", "ReadOnlyMany"] },
      ["spec.accessModes: Forbidden: may not use ReadWriteOncePod with other access modes"],
    ],
    [
      "is not the host's root to be wiped",
      { ...GOOD, hostPath: { path: "/" }, persistentVolumeReclaimPolicy: "Recycle" },
      ["spec.persistentVolumeReclaimPolicy: Forbidden: may not be 'recycle' for a hostPath mount of '/'"],
    ],
    [
      "lies beneath its path",
      { ...GOOD, hostPath: { path: "/data/../etc", type: "Folder" } },
      [
        "spec.hostPath.path: Invalid value: \"/data/../etc\": must not contain '..'",
        'spec.hostPath.type: Unsupported value: "Folder": supported values: "", "BlockDevice", "CharDevice", "Directory", "DirectoryOrCreate", "File", "FileOrCreate", "Socket"',
      ],
    ],
    [
      "of a server names it and an absolute path",
      { ...sourceless, nfs: { server: "", path: "data" } },
      ["spec.nfs.server: Required value", 'spec.nfs.path: Invalid value: "data": must be an absolute path'],
    ],
    [
      "of a driver names it, and secrets as a whole",
      { ...sourceless, csi: { driver: "no_driver", volumeHandle: "", nodePublishSecretRef: { name: "s" } } },
      [
        expect.stringContaining('spec.csi.driver: Invalid value: "no_driver": a lowercase RFC 1123 subdomain'),
        "spec.csi.volumeHandle: Required value",
        "spec.csi.nodePublishSecretRef.namespace: Required value",
      ],
    ],
    [
      "of a target names it, the secret, and no interface too long for its names",
      {
        ...sourceless,
        iscsi: {
          targetPortal: "x".repeat(63),
          iqn: "disk",
          lun: -1,
          initiatorName: "eui.0123456789abcdef",
          secretRef: {},
        },
      },
      [
        expect.stringContaining("spec.iscsi.targetportal: Invalid value"),
        'spec.iscsi.iqn: Invalid value: "disk": must be valid format',
        "spec.iscsi.lun: Invalid value: -1: must be between 0 and 255, inclusive",
        "spec.iscsi.secretRef.name: Required value",
      ],
    ],
    [
      "of Fibre Channel names its disk",
      { ...sourceless, fc: { targetWWNs: ["50060e801049cfd1"] } },
      ["spec.fc.lun: Required value: lun is required if targetWWNs is specified"],
    ],
    [
      "has attributes only of a driver",
      { ...GOOD, volumeAttributesClassName: "gold" },
      ["spec.csi: Required value: has to be specified when using volumeAttributesClassName"],
    ],
    [
      "says where it can be reached, if it does",
      { ...GOOD, nodeAffinity: {} },
      ["spec.nodeAffinity.required: Required value: must specify required node constraints"],
    ],
    [
      "can be reached from somewhere",
      { ...GOOD, nodeAffinity: { required: { nodeSelectorTerms: [] } } },
      ["spec.nodeAffinity.required.nodeSelectorTerms: Required value: must have at least one node selector term"],
    ],
    [
      "can be reached by conditions that make sense",
      {
        ...GOOD,
        nodeAffinity: {
          required: {
            nodeSelectorTerms: [
              {
                matchExpressions: [
                  { key: "a", operator: "In" },
                  { key: "a", operator: "Exists", values: ["x"] },
                  { key: "a", operator: "Gt", values: ["1", "2"] },
                  { key: "a", operator: "Is" },
                ],
                matchFields: [{ key: "metadata.uid", operator: "In", values: ["x"] }],
              },
            ],
          },
        },
      },
      [
        "[0].matchExpressions[0].values: Required value: must be specified when `operator` is 'In' or 'NotIn'",
        "[0].matchExpressions[1].values: Forbidden: may not be specified when `operator` is 'Exists' or 'DoesNotExist'",
        "[0].matchExpressions[2].values: Required value: must be specified single value when `operator` is 'Lt' or 'Gt'",
        '[0].matchExpressions[3].operator: Invalid value: "Is": not a valid selector operator',
        '[0].matchFields[0].key: Invalid value: "metadata.uid": not a valid field selector key',
      ].map((problem) => `spec.nodeAffinity.required.nodeSelectorTerms${problem}`),
    ],
  ])("%s", (_name, spec, errors) => {
    expect(show(persistentVolumeKind.strategy.validate?.(volume(spec)))).toEqual(errors);
  });

  it.each<[string, PersistentVolumeSpec, string[]]>([
    [
      "may be claimed and kept differently",
      { ...GOOD, claimRef: { name: "c" }, persistentVolumeReclaimPolicy: "Delete", capacity: { storage: "2Gi" } },
      [],
    ],
    [
      "stays where it is",
      { ...GOOD, hostPath: { path: "/other" } },
      [
        'spec.persistentvolumesource: Forbidden: spec.persistentvolumesource is immutable after creation\n- spec.hostPath.path: "/data"\n+ spec.hostPath.path: "/other"',
      ],
    ],
    ["stays a directory", { ...GOOD, volumeMode: "Block" }, ['volumeMode: Invalid value: "Block": field is immutable']],
  ])("%s", (_name, spec, errors) => {
    expect(show(persistentVolumeKind.strategy.validateUpdate?.(volume(spec), volume(GOOD)))).toEqual(errors);
  });
});

describe("a persistent volume of a driver, changed", () => {
  const csi = { driver: "d.example.com", volumeHandle: "h" };
  const change = (before: object, after: object) => {
    const made = (parts: object) =>
      untyped({ apiVersion: "v1", kind: "PersistentVolume", metadata: { name: "v" }, spec: { ...parts } });
    return show(persistentVolumeKind.strategy.validateUpdate?.(made(after), made(before)));
  };
  const reach = (zone: string) => ({
    required: { nodeSelectorTerms: [{ matchExpressions: [{ key: "zone", operator: "In", values: [zone] }] }] },
  });

  it("may be told once with which secret it grows", () => {
    const controllerExpandSecretRef = { name: "s", namespace: "n" };
    const other = { name: "t", namespace: "n" };
    expect(change({ csi }, { csi: { ...csi, controllerExpandSecretRef } })).toEqual([]);
    expect(
      change({ csi: { ...csi, controllerExpandSecretRef } }, { csi: { ...csi, controllerExpandSecretRef: other } }),
    ).toEqual([expect.stringContaining("spec.persistentvolumesource is immutable after creation")]);
  });

  it("may be told once where it can be reached", () => {
    expect(change({ csi }, { csi, nodeAffinity: reach("a") })).toEqual([]);
    expect(change({ csi, nodeAffinity: reach("a") }, { csi, nodeAffinity: reach("b") })).toEqual([
      expect.stringMatching(/^nodeAffinity: Invalid value: .*: field is immutable$/),
    ]);
  });
});

describe("a persistent volume claim", () => {
  const GOOD: PersistentVolumeClaimSpec = {
    accessModes: ["ReadWriteOnce"],
    resources: { requests: { storage: "1Gi" } },
  };
  const sized = (storage: string): PersistentVolumeClaimSpec => ({ ...GOOD, resources: { requests: { storage } } });
  const claim = (spec: PersistentVolumeClaimSpec, status: PersistentVolumeClaimStatus = {}) => {
    const made = untyped({ apiVersion: "v1", kind: "PersistentVolumeClaim", metadata: { name: "c" }, spec, status });
    return persistentVolumeClaimKind.strategy.default?.(made) ?? made;
  };

  it("asks for files, is pending, and has its source in both fields", () => {
    const dataSource = { apiGroup: "snapshot.storage.k8s.io", kind: "VolumeSnapshot", name: "s" };
    expect(claim({ ...GOOD, dataSource })).toMatchObject({
      spec: { volumeMode: "Filesystem", dataSourceRef: dataSource },
      status: { phase: "Pending" },
    });
    expect(claim({ ...GOOD, dataSourceRef: dataSource })["spec"]).toMatchObject({ dataSource });
    expect(claim({ ...GOOD, dataSourceRef: { ...dataSource, namespace: "other" } })["spec"]).not.toHaveProperty(
      "dataSource",
    );
  });

  it.each<[string, PersistentVolumeClaimSpec, string[]]>([
    ["is fine", GOOD, []],
    [
      "is used somehow",
      { ...GOOD, accessModes: [] },
      ["spec.accessModes: Required value: at least 1 access mode is required"],
    ],
    [
      "is used in known ways",
      { ...GOOD, accessModes: ["Often"] },
      [
        'spec.accessModes: Unsupported value: "Often": supported values: "ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod"',
      ],
    ],
    ["asks for space", { accessModes: ["ReadWriteOnce"] }, ["spec.resources[storage]: Required value"]],
    ["asks for some space", sized("0"), ['spec.resources[storage]: Invalid value: "0": must be greater than zero']],
  ])("%s", (_name, spec, errors) => {
    expect(show(persistentVolumeClaimKind.strategy.validate?.(claim(spec)))).toEqual(errors);
  });

  const FIXED =
    "spec: Forbidden: spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims\n";
  const BOUND = { phase: "Bound", capacity: { storage: "1Gi" } };
  it.each<[string, PersistentVolumeClaimSpec, PersistentVolumeClaimSpec, PersistentVolumeClaimStatus, string[]]>([
    ["may be bound", GOOD, { ...GOOD, volumeName: "v" }, {}, []],
    [
      "stays bound",
      { ...GOOD, volumeName: "v" },
      { ...GOOD, volumeName: "w" },
      {},
      [`${FIXED}- spec.volumeName: "v"\n+ spec.volumeName: "w"`],
    ],
    ["may get the default class", GOOD, { ...GOOD, storageClassName: "fast" }, {}, []],
    [
      "keeps its class",
      { ...GOOD, storageClassName: "slow" },
      { ...GOOD, storageClassName: "fast" },
      {},
      [`${FIXED}- spec.storageClassName: "slow"\n+ spec.storageClassName: "fast"`],
    ],
    ["may grow once it is bound", sized("1Gi"), sized("2Gi"), BOUND, []],
    [
      "may not grow before",
      sized("1Gi"),
      sized("2Gi"),
      {},
      [`${FIXED}- spec.resources.requests.storage: "1Gi"\n+ spec.resources.requests.storage: "2Gi"`],
    ],
    ["may ask for less of what it has not got", sized("3Gi"), sized("2Gi"), BOUND, []],
    [
      "may not shrink",
      sized("2Gi"),
      sized("1Gi"),
      { ...BOUND, capacity: { storage: "2Gi" } },
      ["spec.resources.requests.storage: Forbidden: field can not be less than status.capacity"],
    ],
  ])("%s", (_name, before, after, status, errors) => {
    expect(
      show(persistentVolumeClaimKind.strategy.validateUpdate?.(claim(after, status), claim(before, status))),
    ).toEqual(errors);
  });

  it("has amounts and progress that make sense in its status", () => {
    const status = {
      capacity: { storage: "-1" },
      allocatedResources: { storage: "2Gi" },
      allocatedResourceStatuses: { storage: "Soon" },
    };
    const [subresource] = persistentVolumeClaimKind.subresources;
    expect(show(subresource?.validateUpdate?.(claim(GOOD, status), claim(GOOD)))).toEqual([
      'status.capacity[storage]: Invalid value: "-1": must be greater than or equal to 0',
      'status.allocatedResourceStatuses[storage]: Unsupported value: "Soon": supported values: "ControllerResizeInProgress", "ControllerResizeInfeasible", "NodeResizeInProgress", "NodeResizeInfeasible", "NodeResizePending"',
    ]);
  });
});
