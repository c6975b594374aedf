import { type KubeObject, typed } from "../../api/object.ts";
import { messageOf } from "../../base/errors.ts";
import type { AdmissionPlugin, AdmissionRequest, Authorize } from "../ports/request.ts";
import type { CertificateSubjects, ParseCertificateRequest, RequestedSubject } from "./certificate-subjects.ts";
import { refusal, writtenObject } from "./refusal.ts";
import { isAllowedForSigner } from "./signer-access.ts";

const REQUESTS = "certificatesigningrequests.certificates.k8s.io";
const CLIENT_SIGNER = "kubernetes.io/kube-apiserver-client";
const ALL_POWERFUL_GROUP = "system:masters";

/** Requires the permission to `approve` for the signer from users who approve or deny (`certificates/approval`). */
export function createCertificateApproval(authorize: Authorize): AdmissionPlugin {
  return {
    name: "CertificateApproval",
    validate(request) {
      const isApproval = writtenObject(request, `${REQUESTS}/approval`, ["UPDATE"]) !== undefined;
      if (!isApproval || request.current === undefined) return;
      // The signer of the stored request counts, because the request that was sent could name another one.
      requireSigner(authorize, request, ["approve", signerOf(request.current)]);
    },
  };
}

/**
 * Requires the permission to `sign` for the signer from users who write a certificate or a condition into the status
 * (`certificates/signing`).
 */
export function createCertificateSigning(authorize: Authorize): AdmissionPlugin {
  return {
    name: "CertificateSigning",
    validate(request) {
      const object = writtenObject(request, `${REQUESTS}/status`, ["UPDATE"]);
      if (object === undefined || request.current === undefined) return;
      if (signedPartOf(object) === signedPartOf(request.current)) return;
      requireSigner(authorize, request, ["sign", signerOf(request.current)]);
    },
  };
}

const signerOf = (object: KubeObject) => typed("CertificateSigningRequest", object).spec.signerName;

function signedPartOf(object: KubeObject): string {
  const { certificate, conditions = [] } = typed("CertificateSigningRequest", object).status ?? {};
  const sortedFields = conditions.map((condition) => Object.entries(condition).sort(([a], [b]) => (a < b ? -1 : 1)));
  return JSON.stringify([certificate ?? "", sortedFields]);
}

function requireSigner(
  authorize: Authorize,
  request: AdmissionRequest,
  [verb, signer]: readonly ["approve" | "sign", string],
): void {
  if (isAllowedForSigner(authorize, { user: request.user, verb, signer })) return;
  throw refusal(request, `user not permitted to ${verb} requests with signerName "${signer}"`);
}

/**
 * Refuses requests for the group of all-powerful users to the signer of ordinary clients
 * (`certificates/subjectrestriction`).
 */
export function createCertificateSubjectRestriction({ settle, parse }: CertificateSubjects): AdmissionPlugin {
  return {
    name: "CertificateSubjectRestriction",
    settle,
    validate(request) {
      const object = writtenObject(request, REQUESTS, ["CREATE"]);
      if (object === undefined || signerOf(object) !== CLIENT_SIGNER) return;
      const { organizations } = parseRequest(parse, request, object);
      if (!organizations.includes(ALL_POWERFUL_GROUP)) return;
      throw refusal(request, `use of ${CLIENT_SIGNER} signer with ${ALL_POWERFUL_GROUP} group is not allowed`);
    },
  };
}

function parseRequest(parse: ParseCertificateRequest, request: AdmissionRequest, object: KubeObject): RequestedSubject {
  try {
    return parse(typed("CertificateSigningRequest", object).spec.request);
  } catch (error) {
    throw refusal(request, `failed to parse CSR: ${messageOf(error)}`);
  }
}
