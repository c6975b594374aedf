import { describe, expect, test } from "vitest";
import type { PodCertificateRequestSpec } from "../../api/gen/types.ts";
import { untyped } from "../../api/object.ts";
import { admit, pod, readerOf, refusalOf, requestFor } from "./__fixtures__/admission-bench.ts";
import { createNodeRestriction } from "./node-restriction.ts";

const REQUESTS = "podcertificaterequests.certificates.k8s.io";
const user = { username: "system:node:n", groups: ["system:nodes", "system:authenticated"] };
const mirror = { annotations: { "kubernetes.io/config.mirror": "hash" } };
const reader = readerOf({
  pods: [
    pod({ nodeName: "n", serviceAccountName: "builder" }, { name: "mine", uid: "pod-uid" }),
    pod({ nodeName: "m", serviceAccountName: "builder" }, { name: "theirs", uid: "pod-uid" }),
    pod({ nodeName: "n", serviceAccountName: "builder" }, { name: "mirror", uid: "pod-uid", ...mirror }),
  ],
  nodes: [{ apiVersion: "v1", kind: "Node", metadata: { name: "n", uid: "node-uid" } }],
  serviceaccounts: [
    { apiVersion: "v1", kind: "ServiceAccount", metadata: { name: "builder", namespace: "a", uid: "account-uid" } },
  ],
});
const plugin = createNodeRestriction({
  reader,
  authorize: () => ({ allowed: false, reason: "" }),
  apiAudiences: [],
  parseCertificateRequest: () => ({ commonName: "", organizations: [] }),
});

const GOOD = {
  signerName: "example.com/s",
  podName: "mine",
  podUID: "pod-uid",
  serviceAccountName: "builder",
  serviceAccountUID: "account-uid",
  nodeName: "n",
  nodeUID: "node-uid",
  stubPKCS10Request: "",
};

function request(spec: Partial<PodCertificateRequestSpec>, parts: Parameters<typeof requestFor>[1] = {}) {
  const metadata = { generateName: "req-", namespace: "a" };
  const header = { apiVersion: "certificates.k8s.io/v1beta1", kind: "PodCertificateRequest", metadata };
  return requestFor(REQUESTS, { user, object: untyped({ ...header, spec: { ...GOOD, ...spec } }), ...parts });
}

describe("a node's request for the certificate of a pod", () => {
  test("is for a pod that runs there, as what it runs", () => {
    expect(() => admit(plugin, request({}))).not.toThrow();
  });

  test("of others than nodes is not restricted", () => {
    const other = { username: "jane", groups: [] };
    expect(() => admit(plugin, request({ podName: "x", nodeName: "x" }, { user: other }))).not.toThrow();
  });

  test.each<[string, Partial<PodCertificateRequestSpec>, number, string]>([
    [
      "names the node itself",
      { nodeName: "m" },
      403,
      'PodCertificateRequest.Spec.NodeName="m", which is not the requesting node "n"',
    ],
    [
      "names the node of now",
      { nodeUID: "old" },
      500,
      'PodCertificateRequest for pod "a/mine" names node UID "old", inconsistent with the running node ("node-uid")',
    ],
    [
      "is for a pod that exists",
      { podName: "gone" },
      500,
      'while retrieving pod "a/gone" named in the PodCertificateRequest: pod "gone" not found',
    ],
    [
      "is for the pod of now",
      { podUID: "old" },
      500,
      'PodCertificateRequest for pod "a/mine" contains pod UID ("old") which differs from running pod "pod-uid"',
    ],
    [
      "is for a pod of this node",
      { podName: "theirs" },
      403,
      'pod "a/theirs" is not running on node "n" named in the PodCertificateRequest',
    ],
    ["is for no mirror pod", { podName: "mirror" }, 403, 'pod "a/mirror" is a mirror pod'],
    [
      "names the account that the pod runs as",
      { serviceAccountName: "admin" },
      403,
      'PodCertificateRequest for pod "a/mine" contains serviceAccountName ("admin") that differs from running pod ("builder")',
    ],
    [
      "names the account of now",
      { serviceAccountUID: "old" },
      500,
      'PodCertificateRequest for pod "a/mine" names service account UID "old", which differs from the running service account ("account-uid")',
    ],
  ])("%s", (_what, spec, code, message) => {
    const refusal = refusalOf(plugin, request(spec));
    expect(refusal.code).toBe(code);
    expect(refusal.message).toContain(message);
  });

  test("is made, and nothing else", () => {
    const { object } = request({});
    expect(refusalOf(plugin, request({}, { operation: "UPDATE", current: object })).message).toContain(
      "unexpected operation",
    );
    expect(refusalOf(plugin, request({}, { operation: "DELETE", object: undefined, current: object })).code).toBe(403);
    expect(refusalOf(plugin, { ...request({}), subresource: "status" }).message).toContain(
      "unexpected subresource status",
    );
  });
});
