import { beforeEach, describe, expect, test } from "vitest";
import { type KubeObject, typed } from "../../api/object.ts";
import { SECOND } from "../../base/clock.ts";
import { SELECTED_NODE } from "../claims/volume-claim-ref.ts";
import type { LocalDirectories } from "../ports/local-directories.ts";
import {
  bindingOf,
  claim,
  createStorageBench,
  node,
  type StorageBench,
  storageClass,
  volume,
} from "./__fixtures__/storage-bench.ts";
import { LOCAL_PROVISIONER, LOCAL_STORAGE_CLASS } from "./local-class.ts";
import { createLocalProvisioner } from "./local-provisioner.ts";
import { LOCAL_FINALIZER } from "./plan-local-volume.ts";
import { createVolumeBinder } from "./volume-binder.ts";

const CLAIM = "persistentvolumeclaims data";
const VOLUME = "persistentvolumes pvc-u1";
const ON_NODE = { uid: "u1", annotations: { [SELECTED_NODE]: "n1" } };

/** Directories in memory, with the names of what is in them. */
interface FakeDirectories extends LocalDirectories {
  readonly contents: Map<string, string[]>;
  /** The answer to the next calls. */
  failing: string | undefined;
}

function createFakeDirectories(): FakeDirectories {
  const contents = new Map<string, string[]>();
  const fake: FakeDirectories = {
    contents,
    failing: undefined,
    nodeName: "n1",
    pathOf: (name: string) => `/volumes/${name}`,
    async ensure(name: string) {
      if (fake.failing === undefined) contents.set(name, contents.get(name) ?? []);
      return fake.failing;
    },
    async remove(name: string) {
      if (fake.failing === undefined) contents.delete(name);
      return fake.failing;
    },
    async removeEmpty(name: string) {
      if (contents.get(name)?.length === 0) contents.delete(name);
    },
    list: async () => [...contents.keys()],
  };
  return fake;
}

let bench: StorageBench;
let directories: FakeDirectories;
beforeEach(async () => {
  bench = createStorageBench();
  directories = createFakeDirectories();
  await bench.put("storageclasses.storage.k8s.io", LOCAL_STORAGE_CLASS);
  await bench.put("nodes", node("n1"));
});

const start = () => {
  bench.start(createVolumeBinder(bench.deps));
  return bench.start(createLocalProvisioner(bench.deps, directories));
};
const putClaim = (options: Parameters<typeof claim>[1] = {}) =>
  bench.put("persistentvolumeclaims", claim("data", { metadata: ON_NODE, ...options }));
const warnings = () => bench.events().filter((event) => event.startsWith("Warning"));
const phaseOf = (object: KubeObject | undefined) => object && typed("PersistentVolume", object).status?.phase;

test("a claim of the default class waits for its pod, and then gets a directory of the node", async () => {
  start();
  await putClaim({ metadata: { uid: "u1" } });
  expect(directories.contents.size).toBe(0);
  expect(bench.events()).toEqual([
    "Normal WaitForFirstConsumer: waiting for first consumer to be created before binding",
  ]);
  await bench.change(CLAIM, ({ metadata, ...object }) => ({
    ...object,
    metadata: { ...metadata, annotations: { ...metadata.annotations, [SELECTED_NODE]: "n1" } },
  }));
  expect(bindingOf(bench.at(CLAIM))).toMatchObject({ volume: "pvc-u1", phase: "Bound" });
  expect(bench.at(VOLUME)).toMatchObject({
    metadata: { annotations: { "pv.kubernetes.io/provisioned-by": LOCAL_PROVISIONER }, finalizers: [LOCAL_FINALIZER] },
    spec: {
      accessModes: ["ReadWriteOnce"],
      capacity: { storage: "1Gi" },
      claimRef: { namespace: "default", name: "data", uid: "u1" },
      local: { path: "/volumes/pvc-u1" },
      nodeAffinity: {
        required: {
          nodeSelectorTerms: [
            { matchExpressions: [{ key: "kubernetes.io/hostname", operator: "In", values: ["n1"] }] },
          ],
        },
      },
      persistentVolumeReclaimPolicy: "Delete",
      storageClassName: "local-directory",
    },
  });
  expect([...directories.contents.keys()]).toEqual(["pvc-u1"]);
  expect(bench.events()).toContain("Normal ProvisioningSucceeded: Successfully provisioned volume pvc-u1");
});

test("the directory and the volume go with the claim, the directory first", async () => {
  start();
  await putClaim();
  directories.contents.get("pvc-u1")?.push("file");
  directories.failing = "EBUSY: something is mounted";
  await bench.drop(CLAIM);
  expect(phaseOf(bench.at(VOLUME))).toBe("Released");
  expect(warnings()).toEqual(["Warning VolumeFailedDelete: EBUSY: something is mounted"]);
  directories.failing = undefined;
  await bench.clock.advance(15 * SECOND);
  expect(bench.at(VOLUME)).toBeUndefined();
  expect(directories.contents.size).toBe(0);
});

test("a volume that its class retains keeps its directory when it is released, and when its object is deleted", async () => {
  const retaining = storageClass("keep", { provisioner: LOCAL_PROVISIONER, delayed: true, reclaimPolicy: "Retain" });
  await bench.put("storageclasses.storage.k8s.io", retaining);
  const stop = start();
  await putClaim({ storageClassName: "keep" });
  directories.contents.get("pvc-u1")?.push("file");
  await bench.drop(CLAIM);
  expect(phaseOf(bench.at(VOLUME))).toBe("Released");
  await bench.drop(VOLUME);
  expect(bench.at(VOLUME)).toBeUndefined();
  await stop();
  start();
  await bench.clock.settle();
  expect(directories.contents.get("pvc-u1")).toEqual(["file"]);
});

test("a volume that is deleted before its claim takes its directory along only when the claim goes too", async () => {
  start();
  await putClaim();
  directories.contents.get("pvc-u1")?.push("file");
  await bench.drop(VOLUME);
  expect(directories.contents.get("pvc-u1")).toEqual(["file"]);
  await bench.drop(CLAIM);
  expect(bench.at(VOLUME)).toBeUndefined();
  expect(directories.contents.size).toBe(0);
});

describe("after a kill", () => {
  test("between directory and volume, the next start goes on", async () => {
    directories.contents.set("pvc-u1", []);
    await putClaim();
    start();
    await bench.clock.settle();
    expect(bindingOf(bench.at(CLAIM))).toMatchObject({ volume: "pvc-u1" });
  });

  test("and after the claim has gone as well, the empty directory goes and one with content stays", async () => {
    directories.contents.set("pvc-u1", []);
    directories.contents.set("pvc-u2", ["file of a retained volume"]);
    start();
    await bench.clock.settle();
    expect([...directories.contents.keys()]).toEqual(["pvc-u2"]);
  });

  test("in the midst of a removal, the next start removes the rest", async () => {
    const stop = start();
    await putClaim();
    directories.contents.get("pvc-u1")?.push("file");
    await stop();
    await bench.drop(CLAIM);
    expect(directories.contents.size).toBe(1);
    start();
    await bench.clock.settle();
    expect(directories.contents.size).toBe(0);
    expect(bench.at(VOLUME)).toBeUndefined();
  });
});

describe("is refused, with the reason on the claim", () => {
  const refusals: ReadonlyArray<[what: string, options: Parameters<typeof claim>[1], reason: string]> = [
    [
      "a block volume",
      { volumeMode: "Block" },
      "spec.volumeMode Block is not supported: a directory is no block device",
    ],
    [
      "a claim with a source",
      { dataSource: { kind: "PersistentVolumeClaim", name: "other" } },
      'spec.dataSource (PersistentVolumeClaim "other") is not supported',
    ],
    ["a selector", { selector: { matchLabels: { a: "b" } } }, "spec.selector is not supported"],
  ];
  test.each(refusals)("%s", async (_what, options, reason) => {
    start();
    await putClaim(options);
    expect(warnings()).toEqual([
      `Warning ProvisioningFailed: failed to provision volume with StorageClass "local-directory": ${reason}`,
    ]);
    expect(directories.contents.size).toBe(0);
  });

  test("a class that binds at once", async () => {
    const hasty = storageClass("hasty", { provisioner: LOCAL_PROVISIONER });
    await bench.put("storageclasses.storage.k8s.io", hasty);
    start();
    await putClaim({ storageClassName: "hasty" });
    expect(warnings()).toEqual([expect.stringContaining("must have volumeBindingMode WaitForFirstConsumer")]);
  });

  test("another node, which the scheduler chooses anew", async () => {
    start();
    await putClaim({ metadata: { uid: "u1", annotations: { [SELECTED_NODE]: "n2" } } });
    expect(warnings()).toEqual([expect.stringContaining('kept on node "n1" only, and the pod goes to "n2"')]);
    expect(bench.at(CLAIM)?.metadata.annotations).not.toHaveProperty(SELECTED_NODE);
  });

  test("growth", async () => {
    start();
    await putClaim();
    await bench.change(CLAIM, (object) => {
      return {
        ...object,
        spec: { ...typed("PersistentVolumeClaim", object).spec, resources: { requests: { storage: "2Gi" } } },
      };
    });
    expect(warnings()).toEqual([expect.stringContaining("a local directory cannot be expanded")]);
  });
});

test("a directory that cannot be made is tried again", async () => {
  start();
  directories.failing = "ENOSPC: no space left on device";
  await putClaim();
  expect(warnings()).toEqual([expect.stringContaining("ENOSPC")]);
  directories.failing = undefined;
  await bench.clock.advance(15 * SECOND);
  expect(bindingOf(bench.at(CLAIM))).toMatchObject({ phase: "Bound" });
});

test("a volume that names another path than its own is not believed, and nothing is removed", async () => {
  directories.contents.set("pvc-u1", ["file"]);
  start();
  const forged = volume("pvc-u1", {
    metadata: { annotations: { "pv.kubernetes.io/provisioned-by": LOCAL_PROVISIONER } },
    persistentVolumeReclaimPolicy: "Delete",
    local: { path: "/etc" },
    claimRef: { namespace: "default", name: "gone", uid: "gone" },
  });
  await bench.put("persistentvolumes", forged);
  expect(warnings()).toEqual([expect.stringContaining("VolumeFailedDelete: spec.local.path is not /volumes/pvc-u1")]);
  expect(directories.contents.get("pvc-u1")).toEqual(["file"]);
});

test("a scheduler that chooses the wrong node again is answered after a while only", async () => {
  start();
  const choose = async () => {
    await bench.change(CLAIM, ({ metadata, ...object }) => ({
      ...object,
      metadata: { ...metadata, annotations: { ...metadata.annotations, [SELECTED_NODE]: "n2" } },
    }));
  };
  await putClaim({ metadata: { uid: "u1" } });
  const isChosen = () => bench.at(CLAIM)?.metadata.annotations?.[SELECTED_NODE] !== undefined;
  await choose();
  expect(isChosen()).toBe(false);
  await choose();
  expect(isChosen()).toBe(true);
  await bench.clock.advance(15 * SECOND);
  expect(isChosen()).toBe(false);
});
