import { describe, expect, test } from "vitest";
import type { KubeObject } from "../../api/object.ts";
import type { Authorize } from "../ports/request.ts";
import { admit, refusalOf, requestFor } from "./__fixtures__/admission-bench.ts";
import { createClusterTrustBundleAttest } from "./cluster-trust-bundle-attest.ts";

const BUNDLES = "clustertrustbundles.certificates.k8s.io";

function bundle(spec: object, metadata: KubeObject["metadata"] = {}): KubeObject {
  const header = { apiVersion: "certificates.k8s.io/v1beta1", kind: "ClusterTrustBundle" };
  return { ...header, metadata: { name: "example.com:s:live", ...metadata }, spec };
}

/** Allows a user to attest for exactly one name. */
const attesting =
  (signer: string): Authorize =>
  (attributes) => {
    const isAllowed =
      "resource" in attributes &&
      attributes.verb === "attest" &&
      attributes.group === "certificates.k8s.io" &&
      attributes.resource === "signers" &&
      attributes.name === signer;
    return { allowed: isAllowed, reason: "" };
  };
const nobody = createClusterTrustBundleAttest(() => ({ allowed: false, reason: "" }));
const OF_SIGNER = { signerName: "example.com/s", trustBundle: "PEM" };

describe("a cluster trust bundle", () => {
  test("of a signer is made by who may attest for it, or for its whole domain", () => {
    const request = requestFor(BUNDLES, { namespace: "", object: bundle(OF_SIGNER) });
    for (const name of ["example.com/s", "example.com/*"]) {
      expect(() => admit(createClusterTrustBundleAttest(attesting(name)), request)).not.toThrow();
    }
    for (const name of ["example.com/other", "*", "example.com"]) {
      const { message, code } = refusalOf(createClusterTrustBundleAttest(attesting(name)), request);
      expect([code, message]).toEqual([
        403,
        'clustertrustbundles.certificates.k8s.io "example.com:s:live" is forbidden: user not permitted to attest for signerName "example.com/s"',
      ]);
    }
  });

  test("of nobody is made by whoever may create it", () => {
    expect(() => admit(nobody, requestFor(BUNDLES, { object: bundle({ trustBundle: "PEM" }) }))).not.toThrow();
  });

  test.each([
    ["its certificates", bundle({ ...OF_SIGNER, trustBundle: "other" })],
    ["its labels", bundle(OF_SIGNER, { labels: { canary: "live" } })],
  ])("is attested anew when %s change", (_what, object) => {
    const current = bundle(OF_SIGNER);
    expect(refusalOf(nobody, requestFor(BUNDLES, { operation: "UPDATE", object, current })).code).toBe(403);
  });

  test("loses owners and finalizers without being attested", () => {
    const owner = { apiVersion: "v1", kind: "Node", name: "n", uid: "u" };
    const current = bundle(OF_SIGNER, { ownerReferences: [owner], finalizers: ["example.com/f"] });
    const object = bundle(OF_SIGNER, { finalizers: [] });
    expect(() => admit(nobody, requestFor(BUNDLES, { operation: "UPDATE", object, current }))).not.toThrow();
  });

  test("goes without being attested", () => {
    const current = bundle(OF_SIGNER);
    expect(() => admit(nobody, requestFor(BUNDLES, { operation: "DELETE", current }))).not.toThrow();
  });
});

test("objects of other kinds are not attested", () => {
  const object = bundle(OF_SIGNER);
  expect(() => admit(nobody, requestFor("configmaps", { object }))).not.toThrow();
});
