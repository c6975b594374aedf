import { beforeEach, describe, expect, it } from "vitest";
import type { ResourceAccess } from "../ports/request.ts";
import { createFakeCluster, type FakeCluster } from "./__fixtures__/fake-cluster.ts";
import { createAuthorizer } from "./rbac.ts";

const node = { username: "system:node:a", groups: ["system:nodes", "system:authenticated"] };

const POD_SPEC = {
  nodeName: "a",
  serviceAccountName: "builder",
  imagePullSecrets: [{ name: "pull" }],
  initContainers: [{ name: "i", envFrom: [{ configMapRef: { name: "init-env" } }] }],
  containers: [
    {
      name: "c",
      env: [
        { name: "A", valueFrom: { secretKeyRef: { name: "key", key: "k" } } },
        { name: "B", valueFrom: { configMapKeyRef: { name: "map-key", key: "k" } } },
      ],
      envFrom: [{ secretRef: { name: "env" } }],
    },
  ],
  resourceClaims: [
    { name: "d", resourceClaimName: "devices" },
    { name: "made", resourceClaimTemplateName: "t" },
    { name: "not-made", resourceClaimTemplateName: "t" },
  ],
  ephemeralContainers: [{ name: "e", envFrom: [{ secretRef: { name: "debug" } }] }],
  volumes: [
    { name: "s", secret: { secretName: "volume" } },
    { name: "m", configMap: { name: "map" } },
    {
      name: "p",
      projected: { sources: [{ secret: { name: "projected" } }, { configMap: { name: "projected-map" } }] },
    },
    { name: "d", persistentVolumeClaim: { claimName: "claim" } },
    { name: "e", ephemeral: { volumeClaimTemplate: { spec: {} } } },
    { name: "x", csi: { driver: "d", nodePublishSecretRef: { name: "csi" } } },
    { name: "z", azureFile: { secretName: "azure", shareName: "s" } },
    { name: "r", rbd: { image: "i", monitors: [], secretRef: { name: "rbd" } } },
  ],
};

let cluster: FakeCluster;
beforeEach(() => {
  cluster = createFakeCluster();
  putPod("pod", POD_SPEC);
  cluster.put("persistentvolumes", volume("bound", { namespace: "default", name: "claim" }));
  cluster.put("persistentvolumes", volume("others", { namespace: "default", name: "somebody-elses" }));
  cluster.put("volumeattachments.storage.k8s.io", attachment("mine", "a"));
  cluster.put("volumeattachments.storage.k8s.io", attachment("others", "b"));
  cluster.put("podcertificaterequests.certificates.k8s.io", podRequest("mine", "a"));
  cluster.put("podcertificaterequests.certificates.k8s.io", podRequest("others", "b"));
  cluster.put("resourceslices.resource.k8s.io", slice("mine", { nodeName: "a" }));
  cluster.put("resourceslices.resource.k8s.io", slice("others", { nodeName: "b" }));
  cluster.put("resourceslices.resource.k8s.io", slice("shared", { allNodes: true }));
});

function putPod(name: string, spec: Record<string, unknown>, annotations: Record<string, string> = {}) {
  const status = { resourceClaimStatuses: [{ name: "made", resourceClaimName: "pod-made-x" }] };
  const metadata = { name, namespace: "default", annotations };
  cluster.put("pods", { apiVersion: "v1", kind: "Pod", metadata, spec, status });
}

function volume(name: string, claimRef: { namespace: string; name: string }) {
  const secret = (suffix: string) => ({ name: `${name}-${suffix}`, namespace: "storage" });
  const csi = {
    driver: "d",
    volumeHandle: "h",
    nodeStageSecretRef: secret("stage"),
    controllerPublishSecretRef: secret("attach"),
  };
  return { apiVersion: "v1", kind: "PersistentVolume", metadata: { name }, spec: { claimRef, csi } };
}

function attachment(name: string, nodeName: string) {
  const spec = { attacher: "d", nodeName, source: {} };
  return { apiVersion: "storage.k8s.io/v1", kind: "VolumeAttachment", metadata: { name }, spec };
}

function podRequest(name: string, nodeName: string) {
  const metadata = { name, namespace: "default" };
  return { apiVersion: "certificates.k8s.io/v1beta1", kind: "PodCertificateRequest", metadata, spec: { nodeName } };
}

function slice(name: string, nodes: object) {
  return {
    apiVersion: "resource.k8s.io/v1",
    kind: "ResourceSlice",
    metadata: { name },
    spec: { driver: "d", ...nodes },
  };
}

/** An access written as `get core secrets default/name` or `list core pods`, with `?field=value` for a selector. */
function access(text: string): ResourceAccess {
  const [what = "", fieldSelector] = text.split("?");
  const [verb = "", group = "", target = "", place = ""] = what.split(" ");
  const [resource = "", subresource = ""] = target.split("/");
  const [namespace = "", name = ""] = place.includes("/") ? place.split("/") : ["", place];
  const attributes = { user: node, verb, group: group === "core" ? "" : group, version: "v1", resource, subresource };
  return { ...attributes, namespace, name, ...(fieldSelector !== undefined && { fieldSelector }) };
}

const UNRELATED = "no relationship found between node 'a' and this object";

describe("a node", () => {
  it.each([
    ...["pull", "key", "env", "debug", "volume", "projected", "csi", "azure", "rbd"].map(
      (name) => `get core secrets default/${name}`,
    ),
    "list core secrets default/env",
    "watch core secrets default/env",
    "get core secrets storage/bound-stage",
    ...["init-env", "map-key", "map", "projected-map"].map((name) => `watch core configmaps default/${name}`),
    "get core persistentvolumeclaims default/claim",
    "get core persistentvolumeclaims default/pod-e",
    "patch core persistentvolumeclaims/status default/claim",
    "get core persistentvolumes bound",
    "get storage.k8s.io volumeattachments mine",
    "create core serviceaccounts/token default/builder",
    "get core serviceaccounts default/builder",
    "create coordination.k8s.io leases kube-node-lease/",
    "update coordination.k8s.io leases kube-node-lease/a",
    "create storage.k8s.io csinodes",
    "delete storage.k8s.io csinodes a",
    "create core nodes",
    "patch core nodes a",
    "patch core nodes/status a",
    "get core nodes a",
    "watch core nodes a?metadata.name=a",
    "list core pods?spec.nodeName=a",
    "watch core pods?status.phase=Running,spec.nodeName==a",
    "get core pods default/pod",
    "create core pods default/",
    "delete core pods default/pod",
    "patch core pods/status default/pod",
    "create core pods/eviction default/pod",
    "list core services",
    "create core events default/",
    "create certificates.k8s.io certificatesigningrequests",
    "watch node.k8s.io runtimeclasses",
    "create authentication.k8s.io tokenreviews",
    "list resource.k8s.io resourceslices?spec.nodeName=a",
    "create resource.k8s.io resourceslices",
    ...["get", "update", "patch", "delete"].map((verb) => `${verb} resource.k8s.io resourceslices mine`),
    "get resource.k8s.io resourceclaims default/devices",
    "get resource.k8s.io resourceclaims default/pod-made-x",
    "create certificates.k8s.io podcertificaterequests default/",
    "get certificates.k8s.io podcertificaterequests default/mine",
    "list certificates.k8s.io podcertificaterequests?spec.nodeName=a",
    "watch certificates.k8s.io podcertificaterequests?spec.nodeName=a",
  ])("may %s", (text) => {
    expect(createAuthorizer(cluster).authorize(access(text))).toEqual({ allowed: true, reason: "" });
  });

  it.each([
    ["get core secrets default/unrelated", UNRELATED],
    ["get core secrets other/env", UNRELATED],
    ["get core secrets storage/bound-attach", UNRELATED],
    ["get core secrets storage/others-stage", UNRELATED],
    ["list core secrets default/", "No Object name found"],
    ["list core secrets", "can only read namespaced object of this type"],
    ["update core secrets default/env", "can only read resources of this type"],
    ["get core configmaps default/env", UNRELATED],
    ["list core persistentvolumeclaims default/claim", "can only get individual resources of this type"],
    ["patch core persistentvolumeclaims/status default/somebody-elses", UNRELATED],
    ["get core persistentvolumes others", UNRELATED],
    ["get storage.k8s.io volumeattachments others", UNRELATED],
    ["create core serviceaccounts/token default/default", UNRELATED],
    ["list core serviceaccounts default/", "can only create tokens for individual service accounts"],
    ["create coordination.k8s.io leases default/", 'can only access leases in the "kube-node-lease" system namespace'],
    [
      "update coordination.k8s.io leases kube-node-lease/b",
      "can only access node lease with the same name as the requesting node",
    ],
    ["list coordination.k8s.io leases kube-node-lease/", "can only get, create, update, patch, or delete a node lease"],
    ["get storage.k8s.io csinodes b", "can only access CSINode with the same name as the requesting node"],
    ["list core nodes", "node 'a' cannot read all nodes, only its own Node object"],
    ["get core nodes b", "node 'a' cannot read 'b', only its own Node object"],
    ["delete core nodes a", ""],
    ["list core pods", "can only list/watch pods with spec.nodeName field selector"],
    ["list core pods?spec.nodeName=b", "can only list/watch pods with spec.nodeName field selector"],
    // Each is read as one requirement or as none, and would list the pods of all nodes.
    ...["metadata.name!=x\\,spec.nodeName=a", "metadata.name!=x\\,spec.nodeName=a\\,", "spec.nodeName=a\\"].map(
      (selector) => [`list core pods?${selector}`, "can only list/watch pods with spec.nodeName field selector"],
    ),
    ["list core pods?spec.nodeName!=a", "can only list/watch pods with spec.nodeName field selector"],
    ["get core pods default/other", UNRELATED],
    ["update core pods default/pod", ""],
    ["create core pods/exec default/pod", ""],
    ["list core namespaces", ""],
    ["patch resource.k8s.io resourceslices others", UNRELATED],
    ["get resource.k8s.io resourceslices shared", UNRELATED],
    ["create resource.k8s.io resourceslices/status mine", "cannot authorize ResourceSlice subresources"],
    ["get resource.k8s.io resourceclaims default/unrelated", UNRELATED],
    ["get resource.k8s.io resourceclaims other/devices", UNRELATED],
    ["list resource.k8s.io resourceclaims default/devices", "can only get individual resources of this type"],
    ["update resource.k8s.io resourceclaims/status default/devices", "can only get individual resources of this type"],
    ["get certificates.k8s.io podcertificaterequests default/others", UNRELATED],
    ["get certificates.k8s.io podcertificaterequests other/mine", UNRELATED],
    ...[
      "list certificates.k8s.io podcertificaterequests",
      "watch certificates.k8s.io podcertificaterequests?spec.nodeName=b",
    ].map((text) => [text, "can only list/watch podcertificaterequests with field selector spec.nodeName=a"]),
    [
      "update certificates.k8s.io podcertificaterequests/status default/mine",
      "nodes may not access subresources of podcertificaterequests",
    ],
    [
      "delete certificates.k8s.io podcertificaterequests default/mine",
      "nodes may only create, get, list, and watch podcertificaterequests",
    ],
    [
      "list resource.k8s.io resourceslices",
      "can only list/watch/deletecollection resourceslices with nodeName field selector",
    ],
  ])("may not %s", (text, reason) => {
    expect(createAuthorizer(cluster).authorize(access(text))).toEqual({ allowed: false, reason });
  });

  it("a resource that is named as a method of every object is unknown like any other", () => {
    expect(createAuthorizer(cluster).authorize(access("get core valueOf x")).allowed).toBe(false);
  });
});

describe("what a pod opens to its node", () => {
  const secret = "get core secrets default/env";

  it("is closed when the last pod that needs it goes", () => {
    const { authorize } = createAuthorizer(cluster);
    putPod("second", POD_SPEC);
    cluster.remove("pods", "pod", "default");
    expect(authorize(access(secret)).allowed).toBe(true);
    cluster.remove("pods", "second", "default");
    expect(authorize(access(secret)).allowed).toBe(false);
    expect(authorize(access("get core persistentvolumes bound")).allowed).toBe(false);
  });

  it("is open from the moment on when it is bound there", () => {
    cluster.remove("pods", "pod", "default");
    const { authorize } = createAuthorizer(cluster);
    putPod("pod", { ...POD_SPEC, nodeName: undefined });
    expect(authorize(access(secret)).allowed).toBe(false);
    putPod("pod", POD_SPEC);
    expect(authorize(access(secret)).allowed).toBe(true);
  });

  it("stays closed to other nodes", () => {
    const { authorize } = createAuthorizer(cluster);
    const user = { username: "system:node:b", groups: ["system:nodes"] };
    expect(authorize({ ...access(secret), user }).allowed).toBe(false);
  });

  it("is nothing when it is a mirror of what the node runs anyway, but the pod itself", () => {
    cluster.remove("pods", "pod", "default");
    putPod("pod", POD_SPEC, { "kubernetes.io/config.mirror": "x" });
    const { authorize } = createAuthorizer(cluster);
    expect(authorize(access(secret)).allowed).toBe(false);
    expect(authorize(access("create core serviceaccounts/token default/builder")).allowed).toBe(false);
    expect(authorize(access("get core pods default/pod")).allowed).toBe(true);
  });

  it("follows its claim to another volume", () => {
    const { authorize } = createAuthorizer(cluster);
    cluster.put("persistentvolumes", volume("bound", { namespace: "default", name: "somebody-elses" }));
    cluster.put("persistentvolumes", volume("others", { namespace: "default", name: "claim" }));
    expect(authorize(access("get core persistentvolumes bound")).allowed).toBe(false);
    expect(authorize(access("get core secrets storage/bound-stage")).allowed).toBe(false);
    expect(authorize(access("get core secrets storage/others-stage")).allowed).toBe(true);
  });
});

it.each([
  ["without the group", { username: "system:node:a", groups: ["system:authenticated"] }, ""],
  ["without a name", { username: "system:node:", groups: ["system:nodes"] }, 'unknown node for user "system:node:"'],
  ["that is no node", { username: "jane", groups: ["system:nodes"] }, ""],
])("a user %s has nothing of a node", (_what, user, reason) => {
  const { authorize } = createAuthorizer(cluster);
  expect(authorize({ ...access("get core secrets default/env"), user })).toEqual({ allowed: false, reason });
});
