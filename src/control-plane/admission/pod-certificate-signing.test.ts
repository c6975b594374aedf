import { describe, expect, test } from "vitest";
import type { PodCertificateRequestStatus } from "../../api/gen/types.ts";
import { type KubeObject, typed } from "../../api/object.ts";
import type { Authorize } from "../ports/request.ts";
import { admit, refusalOf, requestFor } from "./__fixtures__/admission-bench.ts";
import { createPodCertificateSigning } from "./pod-certificate-signing.ts";

const NOW = "2026-01-01T00:00:00Z";
const clock = { now: () => Date.parse(NOW) };

function request(status: PodCertificateRequestStatus, signerName = "example.com/s"): KubeObject {
  const metadata = { name: "req-1", namespace: "a" };
  const header = { apiVersion: "certificates.k8s.io/v1beta1", kind: "PodCertificateRequest", metadata };
  return { ...header, spec: { signerName }, status };
}

function update(after: PodCertificateRequestStatus, before: PodCertificateRequestStatus = {}) {
  return requestFor("podcertificaterequests.certificates.k8s.io/status", {
    operation: "UPDATE",
    object: request(after),
    current: request(before),
  });
}

const signing =
  (name: string): Authorize =>
  (attributes) => ({
    allowed: "resource" in attributes && `${attributes.verb} ${attributes.resource} ${attributes.name}` === name,
    reason: "",
  });
const signer = createPodCertificateSigning(signing("sign signers example.com/s"), clock);
const nobody = createPodCertificateSigning(() => ({ allowed: false, reason: "" }), clock);
const denied = { type: "Denied", status: "True", reason: "No", message: "", lastTransitionTime: NOW };

describe("the status of a request for a pod's certificate", () => {
  test("is written by who may sign, for the signer or its whole domain", () => {
    for (const name of ["sign signers example.com/s", "sign signers example.com/*"]) {
      const plugin = createPodCertificateSigning(signing(name), clock);
      expect(() => admit(plugin, update({ conditions: [denied] }))).not.toThrow();
    }
  });

  test.each<[string, PodCertificateRequestStatus]>([
    ["denies it", { conditions: [denied] }],
    ["issues it", { certificateChain: "PEM", notBefore: NOW }],
  ])("is not written by others: who %s has to be the signer", (_what, status) => {
    const { code, message } = refusalOf(nobody, update(status));
    expect(code).toBe(422);
    expect(message).toMatch(
      /spec\.signerName: Forbidden: User ".*" is not permitted to "sign" for signer "example\.com\/s"/,
    );
  });

  test("may be written again as it is", () => {
    expect(() => admit(nobody, update({ conditions: [denied] }, { conditions: [denied] }))).not.toThrow();
  });

  test("holds a certificate of now", () => {
    const at = (notBefore: string) => update({ certificateChain: "PEM", notBefore });
    expect(() => admit(signer, at("2025-12-31T23:55:01Z"))).not.toThrow();
    for (const notBefore of ["2025-12-31T23:55:00Z", "2026-01-01T00:05:00Z"]) {
      const { message } = refusalOf(signer, at(notBefore));
      expect(message).toContain("status.notBefore: Invalid value:");
      expect(message).toContain("must be set to within 5 minutes of kube-apiserver's current time");
    }
  });

  test("gets the times that its author left out", () => {
    const { lastTransitionTime: _, ...untimed } = denied;
    const sent = update({ conditions: [{ ...untimed, lastTransitionTime: "" }] });
    expect(typed("PodCertificateRequest", signer.mutate?.(sent) ?? request({})).status?.conditions).toEqual([denied]);
    expect(signer.mutate?.(update({ conditions: [denied] }))).toBeUndefined();
  });
});
