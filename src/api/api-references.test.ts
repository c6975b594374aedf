import { describe, expect, it } from "vitest";
import { findApiReference } from "./api-references.ts";
import type { Container, PodSpec, Volume } from "./gen/types.ts";

const volumes = (volume: Omit<Volume, "name">): Partial<PodSpec> => ({
  volumes: [
    { name: "a", emptyDir: {} },
    { name: "v", ...volume },
  ],
});
const projected = (source: object): Partial<PodSpec> =>
  volumes({ projected: { sources: [{ downwardAPI: {} }, source] } });
const container = (fields: Partial<Container>): Container => ({ name: "main", ...fields });
const OF_TOMORROW = '[{"name":"a","emptyDir":{}},{"name":"v","ofTomorrow":{}}]';
const find = (spec: Partial<PodSpec>) => findApiReference({ spec: { containers: [container({})], ...spec } });

describe("references to API objects", () => {
  it.each<[string, string, Partial<PodSpec>]>([
    ["spec.serviceAccountName", "serviceaccounts", { serviceAccountName: "x" }],
    ["spec.serviceAccount", "serviceaccounts", { serviceAccount: "x" }],
    ["spec.imagePullSecrets", "secrets", { imagePullSecrets: [{ name: "x" }] }],
    ["spec.resourceClaims", "resourceclaims", { resourceClaims: [{ name: "x" }] }],
    [
      "spec.containers[0].envFrom[0].secretRef",
      "secrets",
      { containers: [container({ envFrom: [{ secretRef: { name: "x" } }] })] },
    ],
    [
      "spec.containers[0].envFrom[0].configMapRef",
      "configmaps",
      { containers: [container({ envFrom: [{ configMapRef: {} }] })] },
    ],
    [
      "spec.initContainers[1].env[0].valueFrom.secretKeyRef",
      "secrets",
      {
        initContainers: [container({}), container({ env: [{ name: "A", valueFrom: { secretKeyRef: { key: "k" } } }] })],
      },
    ],
    [
      "spec.containers[0].env[1].valueFrom.configMapKeyRef",
      "configmaps",
      {
        containers: [container({ env: [{ name: "A" }, { name: "B", valueFrom: { configMapKeyRef: { key: "k" } } }] })],
      },
    ],
    ["spec.volumes[1].secret", "secrets", volumes({ secret: {} })],
    ["spec.volumes[1].configMap", "configmaps", volumes({ configMap: {} })],
    ["spec.volumes[1].csi", "csidrivers (via CSI volumes)", volumes({ csi: { driver: "x" } })],
    [
      "spec.volumes[1].persistentVolumeClaim",
      "persistentvolumeclaims",
      volumes({ persistentVolumeClaim: { claimName: "x" } }),
    ],
    ["spec.volumes[1].ephemeral", "persistentvolumeclaims (via ephemeral volumes)", volumes({ ephemeral: {} })],
    ["spec.volumes[1].cephfs.secretRef", "secrets", volumes({ cephfs: { monitors: [], secretRef: { name: "x" } } })],
    ["spec.volumes[1].projected.sources[1].secret", "secrets", projected({ secret: {} })],
    [
      "spec.volumes[1].projected.sources[1].serviceAccountToken",
      "serviceaccounts (via projected volumes)",
      projected({ serviceAccountToken: { path: "x" } }),
    ],
    ["spec.volumes[1].ofTomorrow", 'what "ofTomorrow" is made of', { volumes: JSON.parse(OF_TOMORROW) }],
    [
      "spec.volumes[1].projected.sources[1].clusterTrustBundle",
      "clustertrustbundles",
      projected({ clusterTrustBundle: {} }),
    ],
  ])("CVE-2025-4563: refuses %s", (path, resource, spec) => {
    expect(find(spec)).toMatchObject({ path, resource });
  });

  it.each<[string, Partial<PodSpec>]>([
    ["nothing", {}],
    ["empty names", { serviceAccountName: "", imagePullSecrets: [], resourceClaims: [] }],
    ["a host path", volumes({ hostPath: { path: "/" } })],
    ["the downward API", projected({ downwardAPI: {} })],
    ["an image", volumes({ image: { reference: "x" } })],
    ["a network file system without a secret", volumes({ cephfs: { monitors: [] } })],
    [
      "a field of the pod",
      { containers: [container({ env: [{ name: "A", valueFrom: { fieldRef: { fieldPath: "metadata.name" } } }] })] },
    ],
  ])("allows %s", (_what, spec) => {
    expect(find(spec)).toBeUndefined();
  });

  it.each<[string | undefined, Partial<PodSpec>]>([
    [undefined, { imagePullSecrets: [{ name: "x" }] }],
    [undefined, volumes({ secret: {} })],
    [undefined, projected({ configMap: {} })],
    ["spec.volumes[1].azureFile", volumes({ azureFile: { secretName: "x", shareName: "y" } })],
    ["spec.volumes[1].projected.sources[1].serviceAccountToken", projected({ serviceAccountToken: { path: "t" } })],
    ["spec.serviceAccountName", { serviceAccountName: "x" }],
  ])("leave %s where manifests have config maps and secrets", (path, spec) => {
    const found = findApiReference({ spec: { containers: [container({})], ...spec } }, { hasData: true });
    expect(found?.path).toBe(path);
  });
});
