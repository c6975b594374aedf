import { describe, expect, test } from "vitest";
import { type KubeObject, untyped } from "../../api/object.ts";
import { admit, readerOf, refusalOf, requestFor } from "./__fixtures__/admission-bench.ts";
import { createClaimResize } from "./claim-resize.ts";
import { createStorageObjectInUseProtection } from "./storage-object-in-use.ts";

const object = (metadata: object = {}): KubeObject => ({
  apiVersion: "v1",
  kind: "Any",
  metadata: { name: "x", ...metadata },
});

describe("protection of storage in use", () => {
  const plugin = createStorageObjectInUseProtection();
  test.each<[string, object, string[]]>([
    ["persistentvolumeclaims", {}, ["kubernetes.io/pvc-protection"]],
    ["persistentvolumes", { finalizers: ["mine"] }, ["mine", "kubernetes.io/pv-protection"]],
    ["persistentvolumes", { finalizers: ["kubernetes.io/pv-protection"] }, ["kubernetes.io/pv-protection"]],
  ])("%s %j", (resource, metadata, expected) => {
    expect(admit(plugin, requestFor(resource, { object: object(metadata) }))?.metadata.finalizers).toEqual(expected);
  });

  test("is given once: who takes it away is not overruled", () => {
    const update = { operation: "UPDATE", object: object(), current: object() } as const;
    expect(admit(plugin, requestFor("persistentvolumeclaims", update))?.metadata.finalizers).toBeUndefined();
    expect(admit(plugin, requestFor("pods", { object: object() }))?.metadata.finalizers).toBeUndefined();
  });
});

describe("a claim that grows", () => {
  const storageClass = (name: string, allowVolumeExpansion: boolean) =>
    untyped({
      apiVersion: "storage.k8s.io/v1",
      kind: "StorageClass",
      metadata: { name },
      provisioner: "p",
      allowVolumeExpansion,
    });
  const plugin = createClaimResize(
    readerOf({ "storageclasses.storage.k8s.io": [storageClass("grows", true), storageClass("stays", false)] }),
  );
  const claim = (size: string, storageClassName?: string, phase = "Bound") =>
    untyped({
      apiVersion: "v1",
      kind: "PersistentVolumeClaim",
      metadata: { name: "data" },
      spec: { resources: { requests: { storage: size } }, ...(storageClassName && { storageClassName }) },
      status: { phase },
    });
  const update = (object: KubeObject, current: KubeObject) =>
    requestFor("persistentvolumeclaims", { operation: "UPDATE", object, current });

  test.each<[string, KubeObject, KubeObject]>([
    ["by a class that allows it", claim("2Gi", "grows"), claim("1Gi", "grows")],
    ["not at all", claim("1Gi", "stays"), claim("1024Mi", "stays")],
    ["downwards", claim("1Gi"), claim("2Gi")],
  ])("may: %s", (_case, after, before) => {
    expect(admit(plugin, update(after, before))).toBe(after);
  });

  const RULE =
    "only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support resize";
  test.each<[string, KubeObject, KubeObject, string]>([
    ["by a class that does not allow it", claim("2Gi", "stays"), claim("1Gi", "stays"), RULE],
    ["by a class that is gone", claim("2Gi", "gone"), claim("1Gi", "gone"), RULE],
    ["without a class", claim("2Gi"), claim("1Gi"), RULE],
    [
      "before it is bound",
      claim("2Gi", "grows", "Pending"),
      claim("1Gi", "grows", "Pending"),
      "Only bound persistent volume claims can be expanded",
    ],
  ])("may not: %s", (_case, after, before, detail) => {
    const { code, message } = refusalOf(plugin, update(after, before));
    expect([code, message]).toEqual([403, `persistentvolumeclaims "data" is forbidden: ${detail}`]);
  });
});
