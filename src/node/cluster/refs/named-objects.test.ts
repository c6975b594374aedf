import { describe, expect, it } from "vitest";
import type { Container, PodSpec, Volume } from "../../../api/gen/types.ts";
import { listNamedObjects, listObjectsOfVolumes } from "./named-objects.ts";

const container = (fields: Partial<Container>): Container => ({ name: "main", ...fields });
const secretKey = (name: string): Partial<Container> => ({
  env: [{ name: "A", valueFrom: { secretKeyRef: { name, key: "k" } } }],
});
const volume = (fields: Omit<Volume, "name">): Partial<PodSpec> => ({ volumes: [{ name: "v", ...fields }] });
const podOf = (spec: Partial<PodSpec>) => ({ spec: { containers: [container({})], ...spec } });

describe("references of a pod", () => {
  it.each<[string, Partial<PodSpec>, string[], string[]]>([
    ["nothing", {}, [], []],
    ["pull secrets", { imagePullSecrets: [{ name: "s" }, {}, { name: "" }] }, ["s"], []],
    ["a secret's key", { containers: [container(secretKey("s"))] }, ["s"], []],
    ["of an init container", { initContainers: [container(secretKey("s"))] }, ["s"], []],
    ["of an ephemeral container", { ephemeralContainers: [container(secretKey("s"))] }, ["s"], []],
    [
      "a config map's key",
      { containers: [container({ env: [{ name: "A", valueFrom: { configMapKeyRef: { name: "c", key: "k" } } }] })] },
      [],
      ["c"],
    ],
    [
      "whole environments",
      { containers: [container({ envFrom: [{ secretRef: { name: "s" } }, { configMapRef: { name: "c" } }] })] },
      ["s"],
      ["c"],
    ],
    [
      "other values",
      { containers: [container({ env: [{ name: "A", valueFrom: { fieldRef: { fieldPath: "metadata.name" } } }] })] },
      [],
      [],
    ],
  ])("%s", (_what, spec, secrets, configMaps) => {
    expect(listNamedObjects(podOf(spec))).toEqual({ secrets, configMaps });
    expect(listObjectsOfVolumes(podOf(spec))).toEqual({ secrets: [], configMaps: [] });
  });

  const secretRef = { name: "s" };
  it.each<[string, Omit<Volume, "name">, string[], string[]]>([
    ["an empty directory", { emptyDir: {} }, [], []],
    ["a secret", { secret: { secretName: "s" } }, ["s"], []],
    ["a config map", { configMap: { name: "c" } }, [], ["c"]],
    [
      "projections",
      {
        projected: {
          sources: [
            { secret: { name: "s" } },
            { configMap: { name: "c" } },
            { serviceAccountToken: { path: "token" } },
          ],
        },
      },
      ["s"],
      ["c"],
    ],
    ["azureFile", { azureFile: { secretName: "s", shareName: "x" } }, ["s"], []],
    ["csi", { csi: { driver: "x", nodePublishSecretRef: secretRef } }, ["s"], []],
    ["cephfs", { cephfs: { monitors: [], secretRef } }, ["s"], []],
    ["cinder", { cinder: { volumeID: "x", secretRef } }, ["s"], []],
    ["flexVolume", { flexVolume: { driver: "x", secretRef } }, ["s"], []],
    ["iscsi", { iscsi: { targetPortal: "x", iqn: "x", lun: 0, secretRef } }, ["s"], []],
    ["rbd", { rbd: { monitors: [], image: "x", secretRef } }, ["s"], []],
    ["scaleIO", { scaleIO: { gateway: "x", system: "x", secretRef } }, ["s"], []],
    ["storageos", { storageos: { secretRef } }, ["s"], []],
  ])("a volume: %s", (_what, source, secrets, configMaps) => {
    expect(listNamedObjects(podOf(volume(source)))).toEqual({ secrets, configMaps });
    expect(listObjectsOfVolumes(podOf(volume(source)))).toEqual({ secrets, configMaps });
  });

  it("names an object once, however often the pod does", () => {
    const spec = { imagePullSecrets: [{ name: "s" }], ...volume({ secret: { secretName: "s" } }) };
    expect(listNamedObjects(podOf(spec)).secrets).toEqual(["s"]);
  });

  it("gives nothing of a pod without a spec", () => {
    expect(listNamedObjects({})).toEqual({ secrets: [], configMaps: [] });
  });
});
