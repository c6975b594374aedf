import { describe, expect, test } from "vitest";
import { type KubeObject, untyped } from "../../api/object.ts";
import type { Authorize } from "../ports/request.ts";
import { admit, pod, readerOf, refusalOf, requestFor } from "./__fixtures__/admission-bench.ts";
import { createNodeRestriction } from "./node-restriction.ts";

const MIRROR = { "kubernetes.io/config.mirror": "hash" };
const user = { username: "system:node:n", groups: ["system:nodes", "system:authenticated"] };
const owner = { apiVersion: "v1", kind: "Node", name: "n", uid: "node-uid", controller: true };
const mine = pod({ nodeName: "n" }, { name: "mine", uid: "pod-uid" });
const theirs = pod({ nodeName: "m" }, { name: "theirs", uid: "their-uid" });
const authorize: Authorize = (attributes) => {
  const isAsked = "resource" in attributes && attributes.verb === "request-serviceaccounts-token-audience";
  return { allowed: isAsked && attributes.resource === "registry" && attributes.name === "builder", reason: "" };
};
const withToken = pod(
  {
    nodeName: "n",
    volumes: [
      { name: "t", projected: { sources: [{ serviceAccountToken: { path: "t" } }] } },
      { name: "v", projected: { sources: [{ serviceAccountToken: { path: "t", audience: "vault" } }] } },
      { name: "e", awsElasticBlockStore: { volumeID: "vol-1" } },
      { name: "d", persistentVolumeClaim: { claimName: "claim" } },
    ],
  },
  { name: "tokens", uid: "tokens-uid" },
);
const reader = readerOf({
  pods: [mine, theirs, withToken],
  nodes: [{ apiVersion: "v1", kind: "Node", metadata: { name: "n", uid: "node-uid" } }],
  persistentvolumeclaims: [
    {
      apiVersion: "v1",
      kind: "PersistentVolumeClaim",
      metadata: { name: "claim", namespace: "a" },
      spec: { volumeName: "pv" },
    },
  ],
  persistentvolumes: [
    { apiVersion: "v1", kind: "PersistentVolume", metadata: { name: "pv" }, spec: { csi: { driver: "disk" } } },
  ],
  "csidrivers.storage.k8s.io": [
    {
      apiVersion: "storage.k8s.io/v1",
      kind: "CSIDriver",
      metadata: { name: "disk" },
      spec: { tokenRequests: [{ audience: "disk-audience" }] },
    },
    {
      apiVersion: "storage.k8s.io/v1",
      kind: "CSIDriver",
      metadata: { name: "ebs.csi.aws.com" },
      spec: { tokenRequests: [{ audience: "cloud-audience" }] },
    },
  ],
});
const plugin = createNodeRestriction({
  reader,
  authorize,
  apiAudiences: ["https://kubernetes.default.svc"],
  parseCertificateRequest: (request) => {
    if (request === "broken") throw new Error("no PEM");
    return { commonName: request, organizations: [] };
  },
});
const request = (target: string, parts: Parameters<typeof requestFor>[1] = {}) =>
  requestFor(target, { user, ...parts });
const messageOf = (target: string, parts: Parameters<typeof requestFor>[1]) => {
  return refusalOf(plugin, request(target, parts)).message.replace(/^.* is forbidden: /, "");
};

test("others than nodes are not restricted", () => {
  expect(() => admit(plugin, requestFor("pods", { object: mine }))).not.toThrow();
});

test("a node without a name may write nothing", () => {
  const nameless = { username: "system:node:", groups: ["system:nodes"] };
  expect(refusalOf(plugin, requestFor("events", { user: nameless, object: mine })).message).toContain(
    'could not determine node from user "system:node:"',
  );
});

describe("pods of a node", () => {
  const mirror = (spec: Parameters<typeof pod>[0] = {}, metadata: Parameters<typeof pod>[1] = {}) =>
    pod({ nodeName: "n", ...spec }, { annotations: MIRROR, ownerReferences: [owner], ...metadata });

  test("are its mirror pods", () => {
    expect(() => admit(plugin, request("pods", { object: mirror() }))).not.toThrow();
  });

  test.each<[KubeObject, string]>([
    [
      pod({ nodeName: "n" }),
      'pod does not have "kubernetes.io/config.mirror" annotation, node "n" can only create mirror pods',
    ],
    [mirror({ nodeName: "m" }), 'node "n" can only create pods with spec.nodeName set to itself'],
    [mirror({}, { ownerReferences: [] }), 'node "n" can only create pods with an owner reference set to itself'],
    [
      mirror({}, { ownerReferences: [owner, owner] }),
      'node "n" can only create pods with a single owner reference set to itself',
    ],
    [
      mirror({}, { ownerReferences: [{ ...owner, name: "m" }] }),
      'node "n" can only create pods with an owner reference set to itself',
    ],
    [
      mirror({}, { ownerReferences: [{ ...owner, controller: false }] }),
      'node "n" can only create pods with a controller owner reference set to itself',
    ],
    [
      mirror({}, { ownerReferences: [{ ...owner, blockOwnerDeletion: true }] }),
      'node "n" must not set blockOwnerDeletion on an owner reference',
    ],
    [mirror({}, { ownerReferences: [{ ...owner, uid: "old" }] }), "node n UID mismatch: expected old got node-uid"],
    [mirror({ serviceAccountName: "x" }), 'node "n" can not create pods that reference serviceaccounts'],
    [
      mirror({ volumes: [{ name: "v", secret: { secretName: "s" } }] }),
      'node "n" can not create pods that reference secrets',
    ],
    [
      mirror({ volumes: [{ name: "v", configMap: { name: "c" } }] }),
      'node "n" can not create pods that reference configmaps',
    ],
    [
      mirror({ volumes: [{ name: "v", projected: { sources: [{ clusterTrustBundle: { path: "p" } }] } }] }),
      'node "n" can not create pods that reference clustertrustbundles',
    ],
    [
      mirror({ volumes: [{ name: "v", persistentVolumeClaim: { claimName: "c" } }] }),
      'node "n" can not create pods that reference persistentvolumeclaims',
    ],
    [
      mirror({ volumes: [{ name: "v", ephemeral: { volumeClaimTemplate: { spec: {} } } }] }),
      'node "n" can not create pods that reference persistentvolumeclaims (via ephemeral volumes)',
    ],
    [
      mirror({ volumes: [{ name: "v", csi: { driver: "d" } }] }),
      'node "n" can not create pods that reference csidrivers (via CSI volumes)',
    ],
    [
      mirror({ volumes: [{ name: "v", glusterfs: { endpoints: "e", path: "p" } }] }),
      'node "n" can not create pods that reference endpoints (via glusterFS volumes)',
    ],
    [
      mirror({ volumes: [{ name: "v", projected: { sources: [{ serviceAccountToken: { path: "p" } }] } }] }),
      'node "n" can not create pods that reference serviceaccounts (via projected volumes)',
    ],
    [mirror({ resourceClaims: [{ name: "r" }] }), 'node "n" can not create pods that reference resourceclaims'],
  ])("are nothing else (%#)", (object, message) => {
    expect(messageOf("pods", { object })).toBe(message);
  });

  test("are its own to delete and to evict", () => {
    expect(() => admit(plugin, request("pods", { operation: "DELETE", name: "mine" }))).not.toThrow();
    expect(messageOf("pods", { operation: "DELETE", name: "theirs" })).toBe(
      'node "n" can only delete pods with spec.nodeName set to itself',
    );
    expect(refusalOf(plugin, request("pods", { operation: "DELETE", name: "none" })).code).toBe(404);
    const eviction = (name: string) => ({ apiVersion: "policy/v1", kind: "Eviction", metadata: { name } });
    expect(() => admit(plugin, request("pods/eviction", { object: eviction("mine") }))).not.toThrow();
    expect(messageOf("pods/eviction", { object: eviction("theirs") })).toBe(
      "node n can only evict pods with spec.nodeName set to itself",
    );
  });

  test("are not its own to change", () => {
    expect(messageOf("pods", { operation: "UPDATE", object: mine, current: mine })).toBe(
      'unexpected operation "UPDATE", node "n" can only create and delete mirror pods',
    );
    expect(messageOf("pods/binding", { object: mine })).toBe(
      "unexpected pod subresource \"binding\", only 'status' and 'eviction' are allowed",
    );
  });

  test("have their status from it, and nothing besides", () => {
    const next = { ...mine, status: { phase: "Running" } };
    const update = { operation: "UPDATE", current: mine } as const;
    expect(() => admit(plugin, request("pods/status", { ...update, object: next }))).not.toThrow();
    const labelled = { ...next, metadata: { ...mine.metadata, labels: { a: "b" } } };
    expect(messageOf("pods/status", { ...update, object: labelled })).toBe(
      'node "n" cannot update labels through pod status',
    );
    const claims = { ...mine, status: { resourceClaimStatuses: [{ name: "c", resourceClaimName: "x" }] } };
    expect(messageOf("pods/status", { ...update, object: claims })).toBe(
      'node "n" cannot update resource claim statues',
    );
    expect(messageOf("pods/status", { operation: "UPDATE", object: theirs, current: theirs })).toBe(
      'node "n" can only update pod status for pods with spec.nodeName set to itself',
    );
  });
});

describe("the node itself", () => {
  const node = (labels: Record<string, string> = {}, spec: object = {}, more: object = {}): KubeObject => {
    return { apiVersion: "v1", kind: "Node", metadata: { name: "n", labels, ...more }, spec };
  };
  const update = (object: KubeObject, current = node()) => ({ operation: "UPDATE", object, current }) as const;

  test.each([
    { "kubernetes.io/hostname": "n", "topology.kubernetes.io/zone": "z", "node.kubernetes.io/anything": "x" },
    { "sub.kubelet.kubernetes.io/x": "y", "example.com/free": "yes", plain: "yes" },
  ])("may carry the labels of a kubelet: %j", (labels) => {
    expect(() => admit(plugin, request("nodes", { namespace: "", object: node(labels) }))).not.toThrow();
    expect(() => admit(plugin, request("nodes/status", { namespace: "", ...update(node(labels)) }))).not.toThrow();
  });

  test("may not draw workloads to it by labels", () => {
    const labels = {
      "node-restriction.kubernetes.io/x": "y",
      "node-role.kubernetes.io/master": "",
      "x.k8s.io/y": "",
      ok: "",
    };
    const list = "node-restriction.kubernetes.io/x, node-role.kubernetes.io/master, x.k8s.io/y";
    expect(messageOf("nodes", { namespace: "", object: node(labels) })).toBe(
      `node "n" is not allowed to set the following labels: ${list}`,
    );
    expect(messageOf("nodes", { namespace: "", ...update(node(labels)) })).toBe(
      `is not allowed to modify labels: ${list}`,
    );
    expect(messageOf("nodes", { namespace: "", ...update(node(), node(labels)) })).toBe(
      `is not allowed to modify labels: ${list}`,
    );
    expect(() =>
      admit(plugin, request("nodes", { namespace: "", ...update(node(labels), node(labels)) })),
    ).not.toThrow();
  });

  test("may not touch its taints, its owners or another node", () => {
    const tainted = node({}, { taints: [{ key: "k", effect: "NoSchedule" }] });
    expect(messageOf("nodes", { namespace: "", ...update(node(), tainted) })).toBe(
      'node "n" is not allowed to modify taints',
    );
    expect(() => admit(plugin, request("nodes", { namespace: "", object: tainted }))).not.toThrow();
    const owned = node({}, {}, { ownerReferences: [owner] });
    expect(messageOf("nodes", { namespace: "", ...update(owned) })).toBe(
      'node "n" is not allowed to modify ownerReferences',
    );
    expect(messageOf("nodes", { namespace: "", operation: "DELETE", name: "m" })).toBe(
      'node "n" is not allowed to modify node "m"',
    );
    expect(messageOf("nodes", { namespace: "", object: node({}, { configSource: {} }) })).toBe(
      'node "n" is not allowed to create pods with a non-nil configSource',
    );
  });
});

describe("a token for a node", () => {
  const ask = (ref: object | undefined, audiences: readonly string[] = []) => {
    const spec = { audiences, ...(ref && { boundObjectRef: ref }) };
    const object = { apiVersion: "authentication.k8s.io/v1", kind: "TokenRequest", metadata: {}, spec };
    return { name: "builder", object };
  };
  const bound = { apiVersion: "v1", kind: "Pod", name: "tokens", uid: "tokens-uid" };

  test.each([
    [[]],
    [["vault"]],
    [["disk-audience"]],
    [["cloud-audience"]],
    [["https://kubernetes.default.svc"]],
    [["registry"]],
  ])("is bound to its pod, for what the pod uses or somebody allowed: %j", (audiences) => {
    expect(() => admit(plugin, request("serviceaccounts/token", ask(bound, audiences)))).not.toThrow();
  });

  test.each([
    [undefined, [], "node requested token not bound to a pod"],
    [{ ...bound, kind: "Secret" }, [], "node requested token not bound to a pod"],
    [{ ...bound, uid: "" }, [], "node requested token with a pod binding without a uid"],
    [
      { ...bound, uid: "old" },
      [],
      "the UID in the bound object reference (old) does not match the UID in record. The object might have been deleted and then recreated",
    ],
    [
      { ...bound, name: "theirs", uid: "their-uid" },
      [],
      "node requested token bound to a pod scheduled on a different node",
    ],
    [bound, ["vault", "disk-audience"], "node may only request 0 or 1 audiences"],
    [
      bound,
      ["bank"],
      'audience "bank" not found in pod spec volume, system:node:n is not authorized to request tokens for this audience',
    ],
    [
      { ...bound, name: "mine", uid: "pod-uid" },
      [],
      'audience "" not found in pod spec volume, system:node:n is not authorized to request tokens for this audience',
    ],
  ])("is refused otherwise (%#)", (ref, audiences, message) => {
    expect(messageOf("serviceaccounts/token", ask(ref, audiences))).toBe(message);
  });

  test("needs a pod that is there", () => {
    const error = refusalOf(plugin, request("serviceaccounts/token", ask({ ...bound, name: "none" })));
    expect(error.message).toBe('pods "none" not found');
  });
});

describe("a node's other objects", () => {
  const named = (name: string, spec: object = {}): KubeObject => {
    return { apiVersion: "v1", kind: "Any", metadata: { name }, spec };
  };
  const claim = (status: object, labels: Record<string, string> = {}): KubeObject => {
    return { apiVersion: "v1", kind: "PersistentVolumeClaim", metadata: { name: "c", labels }, spec: {}, status };
  };
  const leases = "leases.coordination.k8s.io";
  const slices = "resourceslices.resource.k8s.io";
  const update = { operation: "UPDATE", current: claim({ phase: "Bound" }) } as const;

  test.each<[string, Parameters<typeof requestFor>[1]]>([
    [leases, { namespace: "kube-node-lease", object: named("n") }],
    ["csinodes.storage.k8s.io", { namespace: "", object: named("n") }],
    [slices, { namespace: "", object: named("s", { nodeName: "n" }) }],
    ["persistentvolumeclaims/status", { ...update, object: claim({ phase: "Bound", capacity: { storage: "2Gi" } }) }],
    ["events", { object: named("e") }],
  ])("%s: its own", (target, parts) => {
    expect(() => admit(plugin, request(target, parts))).not.toThrow();
  });

  test.each<[string, Parameters<typeof requestFor>[1], string]>([
    [
      leases,
      { namespace: "a", object: named("n") },
      'can only access leases in the "kube-node-lease" system namespace',
    ],
    [
      leases,
      { namespace: "kube-node-lease", operation: "DELETE", name: "m" },
      "can only access node lease with the same name as the requesting node",
    ],
    [
      "csinodes.storage.k8s.io",
      { namespace: "", object: named("m") },
      "can only access CSINode with the same name as the requesting node",
    ],
    [
      slices,
      { namespace: "", object: named("s", { nodeName: "m" }) },
      "can only create ResourceSlice with the same NodeName as the requesting node",
    ],
    [
      slices,
      { namespace: "", operation: "DELETE", current: named("s", { nodeName: "m" }) },
      "can only delete ResourceSlice with the same NodeName as the requesting node",
    ],
    ["persistentvolumeclaims", { object: claim({}) }, "may only update PVC status"],
    [
      "persistentvolumeclaims/status",
      { ...update, object: claim({ phase: "Lost" }) },
      'node "n" is not allowed to update fields other than status.capacity and status.conditions',
    ],
    [
      "persistentvolumeclaims/status",
      { ...update, object: claim({ phase: "Bound" }, { a: "b" }) },
      'node "n" is not allowed to update fields other than status.capacity and status.conditions',
    ],
  ])("%s: no other's (%#)", (target, parts, message) => {
    expect(messageOf(target, parts)).toBe(message);
  });
});

describe("a certificate request of a node", () => {
  const csr = (signerName: string, commonName: string) =>
    untyped({
      apiVersion: "certificates.k8s.io/v1",
      kind: "CertificateSigningRequest",
      metadata: { name: "csr" },
      spec: { signerName, request: commonName },
    });
  const target = "certificatesigningrequests.certificates.k8s.io";
  const signers = ["kubernetes.io/kubelet-serving", "kubernetes.io/kube-apiserver-client-kubelet"];

  test.each(signers)("for %s is in its own name", (signer) => {
    expect(() => admit(plugin, request(target, { object: csr(signer, "system:node:n") }))).not.toThrow();
    expect(messageOf(target, { object: csr(signer, "system:node:m") })).toBe(
      "can only create a node CSR with CN=system:node:n",
    );
    expect(messageOf(target, { object: csr(signer, "broken") })).toBe("unable to parse csr: no PEM");
  });

  test("for another signer is that signer's concern", () => {
    expect(() => admit(plugin, request(target, { object: csr("example.com/s", "anybody") }))).not.toThrow();
  });
});
