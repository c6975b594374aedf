import { beforeEach, describe, expect, test } from "vitest";
import { conflictError } from "../../api/api-error.ts";
import { type KubeObject, typed } from "../../api/object.ts";
import {
  bindingOf,
  claim,
  createStorageBench,
  pod,
  type StorageBench,
  storageClass,
  volume,
} from "./__fixtures__/storage-bench.ts";
import { createVolumeBinder } from "./volume-binder.ts";

const COMPLETED = "pv.kubernetes.io/bind-completed";
const BY_CONTROLLER = "pv.kubernetes.io/bound-by-controller";
const CLAIM = "persistentvolumeclaims data";

let bench: StorageBench;
beforeEach(() => {
  bench = createStorageBench();
  bench.start(createVolumeBinder(bench.deps));
});

const phaseOf = (name: string) => volumeAt(name)?.status?.phase;
const volumeAt = (name: string) => {
  const found = bench.at(`persistentvolumes ${name}`);
  return found && typed("PersistentVolume", found);
};
const claimAt = (name = "data") => {
  const found = bench.at(`persistentvolumeclaims ${name}`);
  return found && typed("PersistentVolumeClaim", found);
};
const boundTo = (name: string) => ({ volume: name, phase: "Bound", annotations: [COMPLETED, BY_CONTROLLER] });
const putVolume = (...parts: Parameters<typeof volume>) => bench.put("persistentvolumes", volume(...parts));
const putClaim = (...parts: Parameters<typeof claim>) => bench.put("persistentvolumeclaims", claim(...parts));
const putClass = (...parts: Parameters<typeof storageClass>) =>
  bench.put("storageclasses.storage.k8s.io", storageClass(...parts));

describe("a claim that any volume will do for", () => {
  test("is bound to it, and it to the claim, without waiting for time to pass", async () => {
    await putVolume("v1", { size: "2Gi" });
    expect(phaseOf("v1")).toBe("Available");
    await putClaim("data");
    expect(bindingOf(claimAt())).toEqual(boundTo("v1"));
    expect(claimAt()?.status).toEqual({ phase: "Bound", accessModes: ["ReadWriteOnce"], capacity: { storage: "2Gi" } });
    const bound = volumeAt("v1");
    expect(bound?.status).toMatchObject({ phase: "Bound", lastPhaseTransitionTime: expect.any(String) });
    expect(bound?.spec?.claimRef).toMatchObject({
      apiVersion: "v1",
      kind: "PersistentVolumeClaim",
      namespace: "default",
      name: "data",
      uid: claimAt()?.metadata.uid,
    });
    expect(bound?.metadata.annotations).toEqual({ [BY_CONTROLLER]: "yes" });
    expect(bench.clock.monotonic()).toBe(0);
    expect(bench.clock.pendingTimers).toBe(0);
    expect(bench.events()).toEqual([]);
  });

  test("waits for one, and says so", async () => {
    await putClaim("data");
    expect(bindingOf(claimAt())).toMatchObject({ phase: "Pending" });
    expect(bench.events()).toEqual([
      "Normal FailedBinding: no persistent volumes available for this claim and no storage class is set",
    ]);
    await putVolume("v1");
    expect(bindingOf(claimAt())).toEqual(boundTo("v1"));
  });

  test("takes the one with the fewest access modes, then the least space, then the first name", async () => {
    const sizes = { wide: "1Gi", large: "9Gi", b: "5Gi", a: "5Gi", small: "512Mi" };
    for (const [name, size] of Object.entries(sizes)) {
      const accessModes = name === "wide" ? ["ReadWriteOnce", "ReadOnlyMany"] : ["ReadWriteOnce"];
      await putVolume(name, { size, accessModes });
    }
    const taken: unknown[] = [];
    for (const name of ["one", "two", "three", "four", "five"]) {
      await putClaim(name);
      taken.push(claimAt(name)?.spec?.volumeName);
    }
    expect(taken).toEqual(["a", "b", "large", "wide", undefined]);
  });

  test.each<[string, Parameters<typeof volume>[1], Parameters<typeof claim>[1]]>([
    ["too small", { size: "1Gi" }, { size: "2Gi" }],
    ["of another class", { storageClassName: "a" }, { storageClassName: "" }],
    ["a device", { volumeMode: "Block" }, {}],
    ["not for many", {}, { accessModes: ["ReadWriteMany"] }],
    ["without the labels", { metadata: { labels: { tier: "slow" } } }, { selector: { matchLabels: { tier: "fast" } } }],
    ["of other attributes", { volumeAttributesClassName: "gold" }, {}],
    ["somebody else's", { claimRef: { namespace: "default", name: "other" } }, {}],
    ["on its way out", { metadata: { finalizers: ["x"], deletionTimestamp: "2026-01-01T00:00:00Z" } }, {}],
  ])("does not take one that is %s", async (_case, unfit, wanted) => {
    await putVolume("v1", unfit);
    await putClaim("data", wanted);
    expect(bindingOf(claimAt())).toMatchObject({ volume: undefined, phase: "Pending" });
  });

  test("gets one that is reserved for it, rather than a smaller one", async () => {
    await putVolume("small");
    await putVolume("mine", { size: "9Gi", claimRef: { namespace: "default", name: "data" } });
    expect(phaseOf("mine")).toBe("Available");
    await putClaim("data");
    expect(bindingOf(claimAt())).toEqual(boundTo("mine"));
    // The author bound it, so that no annotation says that the controller did.
    expect(volumeAt("mine")?.metadata.annotations).toBeUndefined();
    expect(volumeAt("mine")?.spec?.claimRef?.uid).toBe(claimAt()?.metadata.uid);
  });

  test("gets the default class when there is one at last", async () => {
    await putClaim("data");
    await putClass("std", { metadata: { annotations: { "storageclass.kubernetes.io/is-default-class": "true" } } });
    expect(claimAt()?.spec?.storageClassName).toBe("std");
  });

  test("wants none of a default when it says so", async () => {
    await putClaim("data", { storageClassName: "" });
    await putClass("std", { metadata: { annotations: { "storageclass.kubernetes.io/is-default-class": "true" } } });
    expect(claimAt()?.spec?.storageClassName).toBe("");
  });
});

describe("a claim of a class", () => {
  test.each<[string, Parameters<typeof storageClass> | undefined, string]>([
    ["that is not there", undefined, 'Warning ProvisioningFailed: storageclass.storage.k8s.io "fast" not found'],
    [
      "of volumes made by hand",
      ["fast"],
      "Warning ProvisioningFailed: no volume plugin matched name: kubernetes.io/no-provisioner",
    ],
    [
      "with a provisioner",
      ["fast", { provisioner: "csi.example.com" }],
      "Normal ExternalProvisioning: Waiting for a volume to be created either by the external provisioner 'csi.example.com' or manually by the system administrator. If volume creation is delayed, please verify that the provisioner is running and correctly registered.",
    ],
    [
      "that waits for a pod",
      ["fast", { delayed: true }],
      "Normal WaitForFirstConsumer: waiting for first consumer to be created before binding",
    ],
  ])("%s", async (_case, parts, event) => {
    if (parts !== undefined) await putClass(...parts);
    await putClaim("data", { storageClassName: "fast" });
    expect(bench.events()).toEqual([event]);
    expect(claimAt()?.status?.phase).toBe("Pending");
  });

  test("tells its provisioner, and is bound to what that makes", async () => {
    await putClass("fast", { provisioner: "csi.example.com" });
    await putClaim("data", { storageClassName: "fast" });
    expect(claimAt()?.metadata.annotations).toEqual({
      "volume.beta.kubernetes.io/storage-provisioner": "csi.example.com",
      "volume.kubernetes.io/storage-provisioner": "csi.example.com",
    });
    const { uid = "" } = claimAt()?.metadata ?? {};
    const claimRef = { namespace: "default", name: "data", uid };
    await putVolume("pvc-1", { storageClassName: "fast", claimRef });
    expect(bindingOf(claimAt())).toMatchObject({ volume: "pvc-1", phase: "Bound" });
    expect(phaseOf("pvc-1")).toBe("Bound");
  });

  test("that waits is left to the scheduler, says for which pods, and is bound when that has chosen", async () => {
    await putClass("local", { delayed: true });
    await putVolume("v1", { storageClassName: "local" });
    await putClaim("data", { storageClassName: "local" });
    await bench.put("pods", pod("app", { claims: ["data"] }));
    expect(claimAt()?.spec?.volumeName).toBeUndefined();
    expect(bench.events()).toContain("Normal WaitForPodScheduled: waiting for pod app to be scheduled");
    await bench.put("pods", pod("more", { claims: ["data"] }));
    expect(bench.events()).toContain("Normal WaitForPodScheduled: waiting for pods app,more to be scheduled");
    const { uid = "" } = claimAt()?.metadata ?? {};
    await bench.change("persistentvolumes v1", (object) => ({
      ...object,
      spec: { ...Object(object["spec"]), claimRef: { namespace: "default", name: "data", uid } },
    }));
    expect(bindingOf(claimAt())).toEqual(boundTo("v1"));
  });

  test("that waits asks its provisioner once a node is selected", async () => {
    await putClass("fast", { provisioner: "csi.example.com", delayed: true });
    await putClaim("data", {
      storageClassName: "fast",
      metadata: { annotations: { "volume.kubernetes.io/selected-node": "n1" } },
    });
    expect(bench.events()).toEqual([expect.stringMatching(/^Normal ExternalProvisioning: /)]);
  });
});

describe("a claim for one volume", () => {
  test("is bound to it and not marked as ours to choose", async () => {
    await putVolume("other");
    await putVolume("v1", { size: "5Gi" });
    await putClaim("data", { volumeName: "v1" });
    expect(bindingOf(claimAt())).toEqual({ volume: "v1", phase: "Bound", annotations: [COMPLETED] });
    expect(volumeAt("v1")?.metadata.annotations).toEqual({ [BY_CONTROLLER]: "yes" });
  });

  test("waits for it", async () => {
    await putClaim("data", { volumeName: "v1" });
    expect(claimAt()?.status?.phase).toBe("Pending");
    await putVolume("v1");
    expect(claimAt()?.status?.phase).toBe("Bound");
  });

  test.each<[string, Parameters<typeof volume>[1], string]>([
    ["too small", { size: "1Mi" }, 'Cannot bind to requested volume "v1": requested PV is too small'],
    ["of a class", { storageClassName: "x" }, 'Cannot bind to requested volume "v1": storageClassName does not match'],
    ["a device", { volumeMode: "Block" }, 'Cannot bind to requested volume "v1": incompatible volumeMode'],
    ["for readers", { accessModes: ["ReadOnlyMany"] }, 'Cannot bind to requested volume "v1": incompatible accessMode'],
  ])("is told when it is %s", async (_case, parts, message) => {
    await putVolume("v1", parts);
    await putClaim("data", { volumeName: "v1" });
    expect(bench.events()).toEqual([`Warning VolumeMismatch: ${message}`]);
    expect(claimAt()?.status?.phase).toBe("Pending");
  });

  test("waits for whoever has it to let go", async () => {
    await putVolume("v1", { claimRef: { namespace: "default", name: "other" } });
    await putClaim("data", { volumeName: "v1" });
    expect(bench.events()).toEqual(['Warning FailedBinding: volume "v1" already bound to a different claim.']);
    await bench.change("persistentvolumes v1", (object) => {
      const { claimRef: _gone, ...spec } = typed("PersistentVolume", object).spec ?? {};
      return { ...object, spec };
    });
    expect(bindingOf(claimAt())).toMatchObject({ volume: "v1", phase: "Bound" });
  });
});

describe("a bound claim", () => {
  beforeEach(async () => {
    await putVolume("v1");
    await putClaim("data");
    expect(claimAt()?.status?.phase).toBe("Bound");
  });

  test("is lost with its volume, and found with it", async () => {
    await bench.drop("persistentvolumes v1");
    expect(claimAt()?.status).toEqual({ phase: "Lost" });
    expect(bench.events()).toEqual([
      "Warning ClaimLost: Bound claim has lost its PersistentVolume. Data on the volume is lost!",
    ]);
    await putVolume("v1");
    expect(claimAt()?.status).toMatchObject({ phase: "Bound", capacity: { storage: "1Gi" } });
  });

  test("is lost when its volume is another's", async () => {
    await bench.change("persistentvolumes v1", (object) => ({
      ...object,
      spec: { ...Object(object["spec"]), claimRef: { namespace: "default", name: "data", uid: "other" } },
    }));
    expect(claimAt()?.status?.phase).toBe("Lost");
    expect(bench.events()).toEqual([
      "Warning ClaimMisbound: Two claims are bound to the same volume, this one is bound incorrectly",
    ]);
  });

  test("keeps what a resizer says that it has", async () => {
    const resized = { phase: "Bound", accessModes: ["ReadWriteOnce"], capacity: { storage: "512Mi" } };
    await bench.change(CLAIM, (object) => ({ ...object, status: resized }), "status");
    expect(claimAt()?.status).toEqual(resized);
  });

  test("gets its volume back when somebody cuts the reference", async () => {
    await bench.change("persistentvolumes v1", (object) => {
      const { claimRef: _gone, ...spec } = typed("PersistentVolume", object).spec ?? {};
      return { ...object, spec };
    });
    expect(volumeAt("v1")?.spec?.claimRef?.uid).toBe(claimAt()?.metadata.uid);
    expect(phaseOf("v1")).toBe("Bound");
  });
});

describe("a volume whose claim goes", () => {
  const release = async (parts: Parameters<typeof volume>[1]) => {
    await putVolume("v1", parts);
    await putClaim("data");
    expect(phaseOf("v1")).toBe("Bound");
    await bench.drop(CLAIM);
  };

  test("is kept, and given to nobody", async () => {
    await release({});
    expect(phaseOf("v1")).toBe("Released");
    await putClaim("data");
    expect(claimAt()?.status?.phase).toBe("Pending");
    expect(phaseOf("v1")).toBe("Released");
  });

  test("is available again once its reference is taken away", async () => {
    await release({});
    await bench.change("persistentvolumes v1", (object) => {
      const { claimRef: _gone, ...spec } = typed("PersistentVolume", object).spec ?? {};
      return { ...object, spec };
    });
    expect(phaseOf("v1")).toBe("Available");
  });

  test.each<[string, Parameters<typeof volume>[1], string, string[]]>([
    [
      "deleted",
      { persistentVolumeReclaimPolicy: "Delete" },
      "Failed",
      [
        'Warning VolumeFailedDelete: error getting deleter volume plugin for volume "v1": no deletable volume plugin matched',
      ],
    ],
    [
      "recycled",
      { persistentVolumeReclaimPolicy: "Recycle" },
      "Failed",
      ["Warning VolumeFailedRecycle: No recycler plugin found for the volume!"],
    ],
    [
      "deleted by its CSI driver",
      { persistentVolumeReclaimPolicy: "Delete", csi: { driver: "d", volumeHandle: "h" } },
      "Released",
      [],
    ],
    [
      "deleted by its provisioner",
      {
        persistentVolumeReclaimPolicy: "Delete",
        metadata: { annotations: { "pv.kubernetes.io/provisioned-by": "example.com/nfs" } },
      },
      "Released",
      [],
    ],
    [
      "deleted by a plugin that is no more",
      {
        persistentVolumeReclaimPolicy: "Delete",
        metadata: { annotations: { "pv.kubernetes.io/provisioned-by": "kubernetes.io/old" } },
      },
      "Failed",
      ["Warning VolumeFailedDelete: no volume plugin matched name: kubernetes.io/old"],
    ],
  ])("is to be %s", async (_case, parts, phase, events) => {
    await release(parts);
    expect(phaseOf("v1")).toBe(phase);
    expect(bench.events()).toEqual(events);
    if (phase === "Failed") expect(volumeAt("v1")?.status?.message).toBe(events[0]?.split(": ").slice(1).join(": "));
  });

  test("is not recycled under its pods", async () => {
    await bench.put("pods", pod("app", { claims: ["data"], nodeName: "n1" }));
    await release({ persistentVolumeReclaimPolicy: "Recycle" });
    expect(phaseOf("v1")).toBe("Released");
    expect(bench.events()).toEqual(["Normal VolumeFailedRecycle: Volume is used by pods: default/app"]);
    await bench.drop("pods app");
    expect(phaseOf("v1")).toBe("Failed");
  });
});

test("a volume that we reserved for a claim which took another is free again; one of its author's stays reserved", async () => {
  await putVolume("v1");
  await putClaim("data");
  const { uid = "" } = claimAt()?.metadata ?? {};
  const claimRef = { namespace: "default", name: "data", uid };
  await putVolume("ours", { claimRef, metadata: { annotations: { [BY_CONTROLLER]: "yes", kept: "yes" } } });
  await putVolume("theirs", { claimRef });
  expect(volumeAt("ours")).toMatchObject({
    status: { phase: "Available" },
    metadata: { annotations: { kept: "yes" } },
  });
  expect(volumeAt("ours")?.spec?.claimRef).toBeUndefined();
  expect(volumeAt("theirs")?.spec?.claimRef).toEqual({ namespace: "default", name: "data" });
});

test("a volume for a claim of another mode says so to both", async () => {
  const metadata = { uid: "u1" };
  await putClaim("data", { volumeMode: "Filesystem", metadata });
  await putVolume("v1", { volumeMode: "Block", claimRef: { namespace: "default", name: "data", uid: "u1" } });
  expect(bench.events()).toEqual(
    expect.arrayContaining([
      'Warning VolumeMismatch: Cannot bind PersistentVolume to requested PersistentVolumeClaim "data" due to incompatible volumeMode.',
      'Warning VolumeMismatch: Cannot bind PersistentVolume "v1" to requested PersistentVolumeClaim due to incompatible volumeMode.',
    ]),
  );
});

test.each([
  "update persistentvolumes",
  "update persistentvolumes status",
  "update persistentvolumeclaims",
  "update persistentvolumeclaims status",
])("binding goes on from where it failed: %s", async (failing) => {
  await putVolume("v1");
  let failures = 2;
  bench.refuse = ({ verb, resource, subresource }) => {
    const write = `${verb} ${resource}${subresource === "" ? "" : ` ${subresource}`}`;
    if (write !== failing || failures === 0) return undefined;
    failures -= 1;
    return conflictError({ group: "", resource }, "x", "somebody was faster");
  };
  await putClaim("data");
  await bench.clock.advance(1_000);
  expect(bindingOf(claimAt())).toEqual(boundTo("v1"));
  expect(phaseOf("v1")).toBe("Bound");
});

test("ten claims and ten volumes in any order come together one to one", async () => {
  const names = Array.from({ length: 10 }, (_, index) => `x${index}`);
  const all: Array<[string, KubeObject]> = names.flatMap((name, index) => [
    ["persistentvolumes", volume(name, { size: `${index + 1}Gi` })],
    ["persistentvolumeclaims", claim(name)],
  ]);
  await Promise.all(all.map(([resource, object]) => bench.create(resource, object)));
  await bench.clock.settle();
  const taken = names.map((name) => claimAt(name)?.spec?.volumeName);
  expect(new Set(taken)).toEqual(new Set(names));
  for (const name of names) expect(volumeAt(claimAt(name)?.spec?.volumeName ?? "")?.spec?.claimRef?.name).toBe(name);
});
