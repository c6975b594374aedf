import { describe, expect, it } from "vitest";
import { formatFieldError } from "../../../api/field-error.ts";
import type {
  CSIDriverSpec,
  CSINodeDriver,
  StorageClass,
  VolumeAttachmentSpec,
  VolumeAttachmentStatus,
} from "../../../api/gen/types.ts";
import type { KubeObject } from "../../../api/object.ts";
import { csiDriverKind } from "./csi-driver.ts";
import { csiNodeKind } from "./csi-node.ts";
import { csiStorageCapacityKind } from "./csi-storage-capacity.ts";
import { storageClassKind } from "./storage-class.ts";
import { STORAGE_KINDS } from "./storage-kinds.ts";
import { volumeAttachmentKind } from "./volume-attachment.ts";
import { volumeAttributesClassKind } from "./volume-attributes-class.ts";

const show = (errors: Parameters<typeof formatFieldError>[0][] | undefined) => (errors ?? []).map(formatFieldError);

function objectOf(kind: string, fields: object): KubeObject {
  const row = STORAGE_KINDS.find((known) => known.kind === kind) ?? expect.fail(`no row of kind ${kind}`);
  const made = { apiVersion: "storage.k8s.io/v1", kind, metadata: { name: "o" }, ...fields };
  return row.strategy.default?.(made) ?? made;
}

describe("a storage class", () => {
  type Fields = Partial<Omit<StorageClass, "metadata">>;
  const classOf = (fields: Fields) => objectOf("StorageClass", { provisioner: "example.com/p", ...fields });
  const { strategy } = storageClassKind;

  it("deletes volumes, and makes them at once", () => {
    expect(classOf({})).toMatchObject({ reclaimPolicy: "Delete", volumeBindingMode: "Immediate" });
    const chosen = { reclaimPolicy: "Retain", volumeBindingMode: "WaitForFirstConsumer" };
    expect(classOf(chosen)).toMatchObject(chosen);
  });

  const zones = (...values: string[]) => ({ matchLabelExpressions: [{ key: "zone", values }] });
  it.each<[string, Fields, unknown[]]>([
    ["has a provisioner, in whatever case", { provisioner: "Example.com/P" }, []],
    ["has one at all", { provisioner: "" }, ["provisioner: Required value"]],
    ["has one with a name", { provisioner: "a b" }, [expect.stringContaining('provisioner: Invalid value: "a b"')]],
    ["names its parameters", { parameters: { "": "x" } }, ['parameters: Invalid value: "": field can not be empty.']],
    [
      "has no more parameters than 512",
      { parameters: Object.fromEntries(Array.from({ length: 513 }, (_, index) => [`p${index}`, ""])) },
      ["parameters: Too long: may not be more than 512 bytes"],
    ],
    [
      "has parameters of 256 KiB at most",
      { parameters: { a: "x".repeat(256 * 1024) } },
      ["parameters: Too long: may not be more than 262144 bytes"],
    ],
    [
      "cannot recycle volumes",
      { reclaimPolicy: "Recycle" },
      ['reclaimPolicy: Unsupported value: "Recycle": supported values: "Delete", "Retain"'],
    ],
    [
      "makes volumes now or later",
      { volumeBindingMode: "Never" },
      ['volumeBindingMode: Unsupported value: "Never": supported values: "Immediate", "WaitForFirstConsumer"'],
    ],
    ["may be of some zones", { allowedTopologies: [zones("a", "b"), zones("c")] }, []],
    [
      "says which zones",
      { allowedTopologies: [zones()] },
      ["allowedTopologies[0].matchLabelExpressions[0].values: Required value"],
    ],
    [
      "says it once",
      { allowedTopologies: [zones("a", "a")] },
      ['allowedTopologies[0].matchLabelExpressions[0].values[1]: Duplicate value: "a"'],
    ],
    [
      "says it once, in whatever order",
      { allowedTopologies: [zones("a", "b"), zones("b", "a")] },
      ['allowedTopologies[1].matchLabelExpressions: Duplicate value: ""'],
    ],
  ])("%s", (_name, fields, errors) => {
    expect(show(strategy.validate?.(classOf(fields)))).toEqual(errors);
  });

  it.each<[string, Fields, string[]]>([
    ["may come to allow growth", { allowVolumeExpansion: true, mountOptions: ["ro"] }, []],
    [
      "keeps its parameters",
      { parameters: { a: "b" } },
      ["parameters: Forbidden: updates to parameters are forbidden."],
    ],
    ["keeps its provisioner", { provisioner: "q" }, ["provisioner: Forbidden: updates to provisioner are forbidden."]],
    [
      "keeps what becomes of volumes",
      { reclaimPolicy: "Retain" },
      ["reclaimPolicy: Forbidden: updates to reclaimPolicy are forbidden."],
    ],
    [
      "keeps when they are made",
      { volumeBindingMode: "WaitForFirstConsumer" },
      ['volumeBindingMode: Invalid value: "WaitForFirstConsumer": field is immutable'],
    ],
  ])("%s", (_name, fields, errors) => {
    expect(show(strategy.validateUpdate?.(classOf(fields), classOf({})))).toEqual(errors);
  });
});

describe("a volume attributes class", () => {
  const { strategy } = volumeAttributesClassKind;
  const classOf = (fields: object) => {
    return objectOf("VolumeAttributesClass", { driverName: "d", parameters: { iops: "1" }, ...fields });
  };

  it.each([
    ["has a driver and parameters", {}, []],
    [
      "has some of each",
      { driverName: "", parameters: {} },
      ["driverName: Required value", "parameters: Required value: must contain at least one key/value pair"],
    ],
  ])("%s", (_name, fields, errors) => {
    expect(show(strategy.validate?.(classOf(fields)))).toEqual(errors);
  });

  it("stays what it is", () => {
    expect(show(strategy.validateUpdate?.(classOf({}), classOf({})))).toEqual([]);
    expect(
      show(strategy.validateUpdate?.(classOf({ driverName: "e", parameters: { iops: "2" } }), classOf({}))),
    ).toEqual([
      "driverName: Forbidden: updates to driverName are forbidden.",
      "parameters: Forbidden: updates to parameters are forbidden.",
    ]);
  });
});

describe("a CSI driver", () => {
  const { strategy } = csiDriverKind;
  const driverOf = (spec: CSIDriverSpec) => objectOf("CSIDriver", { spec });

  it("attaches persistent volumes by default", () => {
    expect(driverOf({})["spec"]).toEqual({
      attachRequired: true,
      podInfoOnMount: false,
      storageCapacity: false,
      fsGroupPolicy: "ReadWriteOnceWithFSType",
      volumeLifecycleModes: ["Persistent"],
      requiresRepublish: false,
      seLinuxMount: false,
    });
    const chosen = { attachRequired: false, seLinuxMount: true, volumeLifecycleModes: ["Ephemeral"] };
    expect(driverOf(chosen)["spec"]).toMatchObject(chosen);
    expect(driverOf({ preventPodSchedulingIfMissing: true })["spec"]).not.toHaveProperty(
      "preventPodSchedulingIfMissing",
    );
  });

  it.each<[string, CSIDriverSpec, string[]]>([
    ["is fine as it comes", {}, []],
    [
      "knows its modes and policies",
      { fsGroupPolicy: "All", volumeLifecycleModes: ["Persistent", "Eternal"] },
      [
        'spec.fsGroupPolicy: Unsupported value: "All": supported values: "File", "None", "ReadWriteOnceWithFSType"',
        'spec.volumeLifecycleModes: Unsupported value: "Eternal": supported values: "Persistent", "Ephemeral"',
      ],
    ],
    [
      "wants tokens for ten minutes at least, and each once",
      {
        tokenRequests: [
          { audience: "a", expirationSeconds: 599 },
          { audience: "a" },
          { audience: "", expirationSeconds: 600 },
        ],
      },
      [
        "spec.tokenRequests[0].expirationSeconds: Invalid value: 599: may not specify a duration less than 10 minutes",
        'spec.tokenRequests[1].audience: Duplicate value: "a"',
      ],
    ],
    [
      "wants tokens that end",
      { tokenRequests: [{ audience: "a", expirationSeconds: 2 ** 32 + 1 }] },
      [
        "spec.tokenRequests[0].expirationSeconds: Invalid value: 4294967297: may not specify a duration larger than 2^32 seconds",
      ],
    ],
    [
      "is not asked all the time",
      { nodeAllocatableUpdatePeriodSeconds: 9 },
      ["spec.nodeAllocatableUpdatePeriodSeconds: Invalid value: 9: must be greater than or equal to 10 seconds"],
    ],
  ])("%s", (_name, spec, errors) => {
    expect(show(strategy.validate?.(driverOf(spec)))).toEqual(errors);
  });

  it.each<[string, CSIDriverSpec, string[]]>([
    ["may change its mind about most", { podInfoOnMount: true, fsGroupPolicy: "File" }, []],
    [
      "keeps whether it attaches",
      { attachRequired: false },
      ["spec.attachedRequired: Invalid value: false: field is immutable"],
    ],
    [
      "keeps what it is for",
      { volumeLifecycleModes: ["Ephemeral"] },
      ['spec.volumeLifecycleModes: Invalid value: ["Ephemeral"]: field is immutable'],
    ],
  ])("%s", (_name, spec, errors) => {
    expect(show(strategy.validateUpdate?.(driverOf(spec), driverOf({})))).toEqual(errors);
  });
});

describe("a node's CSI drivers", () => {
  const { strategy } = csiNodeKind;
  const nodeOf = (...drivers: CSINodeDriver[]) => objectOf("CSINode", { spec: { drivers } });
  const DRIVER: CSINodeDriver = {
    name: "csi.example.com",
    nodeID: "n",
    topologyKeys: ["zone"],
    allocatable: { count: 1 },
  };

  it.each<[string, CSINodeDriver[], unknown[]]>([
    ["may be none", [], []],
    ["may be several", [DRIVER, { name: "Other", nodeID: "n" }], []],
    ["are there once", [DRIVER, DRIVER], ['spec.drivers[1].name: Duplicate value: "csi.example.com"']],
    [
      "have names that are not too long, and know the node",
      [{ name: "x".repeat(64), nodeID: "" }],
      ["spec.drivers[0].name: Too long: may not be more than 63 bytes", "spec.drivers[0].nodeID: Required value"],
    ],
    [
      "know it by a name of 256 bytes at most",
      [{ name: "x", nodeID: "n".repeat(257) }],
      [expect.stringMatching(/^spec\.drivers\[0\]\.nodeID: Invalid value: .*: must be 256 characters or less$/)],
    ],
    [
      "have topology keys that are labels, and room",
      [{ ...DRIVER, topologyKeys: ["zone", "zone"], allocatable: { count: -1 } }],
      [
        "spec.drivers[0].allocatable.count: Invalid value: -1: must be greater than or equal to 0",
        'spec.drivers[0]: Duplicate value: "zone"',
      ],
    ],
  ])("%s", (_name, drivers, errors) => {
    expect(show(strategy.validate?.(nodeOf(...drivers)))).toEqual(errors);
  });

  it.each<[string, CSINodeDriver[], unknown[]]>([
    ["may go", [], []],
    ["may be joined by others", [DRIVER, { name: "other", nodeID: "n" }], []],
    ["may come to have more room", [{ ...DRIVER, allocatable: { count: 5 } }], []],
    [
      "know the node by one name",
      [{ ...DRIVER, nodeID: "m" }],
      [expect.stringMatching(/^spec\.drivers: Invalid value: .*"nodeID":"m".*: field is immutable$/)],
    ],
  ])("%s", (_name, drivers, errors) => {
    expect(show(strategy.validateUpdate?.(nodeOf(...drivers), nodeOf(DRIVER)))).toEqual(errors);
  });
});

describe("a storage capacity", () => {
  const { strategy } = csiStorageCapacityKind;
  const capacityOf = (fields: object) => objectOf("CSIStorageCapacity", { storageClassName: "fast", ...fields });

  it.each([
    ["may be known", { capacity: "1Gi", nodeTopology: { matchLabels: { zone: "a" } } }, []],
    ["may be unknown", {}, []],
    ["is not negative", { capacity: "-1" }, ['capacity: Invalid value: "-1": must be greater than or equal to 0']],
    [
      "is that of a class",
      { storageClassName: "" },
      [expect.stringContaining('storageClassName: Invalid value: "": a lowercase')],
    ],
  ])("%s", (_name, fields, errors) => {
    expect(show(strategy.validate?.(capacityOf(fields)))).toEqual(errors);
  });

  it("changes, and stays that of its class and nodes", () => {
    const current = capacityOf({ capacity: "1Gi" });
    expect(show(strategy.validateUpdate?.(capacityOf({ capacity: "2Gi" }), current))).toEqual([]);
    const other = capacityOf({ storageClassName: "slow", nodeTopology: {} });
    expect(show(strategy.validateUpdate?.(other, current))).toEqual([
      "nodeTopology: Invalid value: {}: field is immutable",
      'storageClassName: Invalid value: "slow": field is immutable',
    ]);
  });
});

describe("a volume attachment", () => {
  const { strategy, subresources } = volumeAttachmentKind;
  const SPEC: VolumeAttachmentSpec = {
    attacher: "csi.example.com",
    nodeName: "n",
    source: { persistentVolumeName: "v" },
  };
  const attachmentOf = (spec: VolumeAttachmentSpec, status?: VolumeAttachmentStatus) => {
    return objectOf("VolumeAttachment", { spec, ...(status && { status }) });
  };
  const ONE = "must specify exactly one of inlineVolumeSpec and persistentVolumeName";

  it("is not attached when it is new, whatever its author says", () => {
    const created = strategy.prepareCreate?.(attachmentOf(SPEC, { attached: true }));
    expect(created).toMatchObject({ spec: SPEC, status: { attached: false } });
  });

  it.each<[string, Partial<VolumeAttachmentSpec>, unknown[]]>([
    ["is of a volume", {}, []],
    ["may be of a volume without an object", { source: { inlineVolumeSpec: {} } }, []],
    ["is of some volume", { source: {} }, [`spec.source: Required value: ${ONE}`]],
    [
      "is of one volume",
      { source: { persistentVolumeName: "v", inlineVolumeSpec: {} } },
      [`spec.source: Forbidden: ${ONE}`],
    ],
    [
      "is of a volume with a name",
      { source: { persistentVolumeName: "" } },
      ["spec.source.persistentVolumeName: Required value: must specify non empty persistentVolumeName"],
    ],
    [
      "is of a node, by a driver",
      { attacher: "", nodeName: "N" },
      ["spec.attacher: Required value", expect.stringContaining('spec.nodeName: Invalid value: "N": a lowercase')],
    ],
  ])("%s", (_name, spec, errors) => {
    expect(show(strategy.validate?.(attachmentOf({ ...SPEC, ...spec })))).toEqual(errors);
  });

  it("stays what it is", () => {
    expect(show(strategy.validateUpdate?.(attachmentOf({ ...SPEC, nodeName: "m" }), attachmentOf(SPEC)))).toEqual([
      expect.stringMatching(/^spec: Invalid value: .*: field is immutable$/),
    ]);
  });

  it.each<[string, VolumeAttachmentStatus, string[]]>([
    ["may be attached", { attached: true, attachmentMetadata: { a: "b" } }, []],
    ["may have failed", { attached: false, attachError: { message: "no", errorCode: 8 } }, []],
    [
      "says so in few words",
      { attached: false, detachError: { message: "x".repeat(1025), errorCode: -1 } },
      [
        "status.detachError.message: Too long: may not be more than 1024 bytes",
        "status.detachError.errorCode: Invalid value: -1: must be between 0 and 2147483647, inclusive",
      ],
    ],
    [
      "says not too much",
      { attached: true, attachmentMetadata: { a: "x".repeat(256 * 1024) } },
      ["status.attachmentMetadata: Too long: may not be more than 262144 bytes"],
    ],
  ])("%s", (_name, status, errors) => {
    const part = subresources.find(({ name }) => name === "status");
    expect(show(part?.validateUpdate?.(attachmentOf(SPEC, status), attachmentOf(SPEC)))).toEqual(errors);
  });
});
