import type { FieldError } from "../../../api/field-error.ts";
import type { CertificateSigningRequest, CertificateSigningRequestSpec } from "../../../api/gen/types.ts";
import { type KubeObject, typed } from "../../../api/object.ts";
import { each, forbidden, invalid, required, unsupported } from "../../../api/validation/problems.ts";
import { validateSignerName } from "../../../api/validation/signer-name.ts";
import type { ResourceKind, Subresource } from "../../ports/resource-kind.ts";
import { defineKind } from "../define-kind.ts";
import { checkPathSegment } from "../rules/path-segment.ts";
import { strategyOf } from "../typed-strategy.ts";
import { validateDecisions, validateRequestConditions } from "./certificate-conditions.ts";
import { whyNoCertificates, whyNoRequest } from "./certificate-pem.ts";
import { clusterTrustBundleKind } from "./cluster-trust-bundle.ts";
import { findDuplicates } from "./duplicates.ts";
import { podCertificateRequestKind } from "./pod-certificate-request.ts";

const GROUP = "certificates.k8s.io";
const KIND = "CertificateSigningRequest";
const LEGACY_SIGNER = "kubernetes.io/legacy-unknown";
const MIN_EXPIRATION_SECONDS = 600;
const USAGES = [
  "any",
  "cert sign",
  "client auth",
  "code signing",
  "content commitment",
  "crl sign",
  "data encipherment",
  "decipher only",
  "digital signature",
  "email protection",
  "encipher only",
  "ipsec end system",
  "ipsec tunnel",
  "ipsec user",
  "key agreement",
  "key encipherment",
  "microsoft sgc",
  "netscape sgc",
  "ocsp signing",
  "s/mime",
  "server auth",
  "signing",
  "timestamping",
];

/** The subresource for approving and denying. Only conditions change. */
const APPROVAL: Subresource = {
  name: "approval",
  group: GROUP,
  version: "v1",
  kind: KIND,
  verbs: ["get", "patch", "update"],
  take: (next, current) => {
    const { conditions = [] } = typed(KIND, next).status ?? {};
    const { certificate } = typed(KIND, current).status ?? {};
    return {
      ...current,
      metadata: next.metadata,
      status: { ...(certificate !== undefined && { certificate }), ...(conditions.length > 0 && { conditions }) },
    };
  },
  validateUpdate: (next, current) => validatePart(next, current, "approval"),
};

/**
 * The subresource for signing. It changes the certificate and all conditions but the decision; the registry's default
 * takes the status over.
 */
const STATUS: Subresource = {
  name: "status",
  group: GROUP,
  version: "v1",
  kind: KIND,
  verbs: ["get", "patch", "update"],
  validateUpdate: (next, current) => validatePart(next, current, "status"),
};

export const CERTIFICATES_KINDS: readonly ResourceKind[] = [
  defineKind({
    group: GROUP,
    kind: KIND,
    plural: "certificatesigningrequests",
    shortNames: ["csr"],
    namespaced: false,
    subresources: [APPROVAL, STATUS],
    strategy: strategyOf(KIND, {
      initialStatus: {},
      // Kubelets that join with a bootstrap token name their requests by a digest in base64url.
      checkName: checkPathSegment,
      fields: { "spec.signerName": ({ spec }) => spec.signerName },
      // The author and the content do not change: a new request is made instead.
      prepareUpdate(draft, current) {
        draft.spec = current.spec;
      },
      validate: ({ spec }) => validateSpec(spec),
    }),
  }),
  clusterTrustBundleKind,
  podCertificateRequestKind,
];

function validateSpec(spec: CertificateSigningRequestSpec): FieldError[] {
  const { request, usages = [], signerName, expirationSeconds } = spec;
  const errors: FieldError[] = [];
  const problem = whyNoRequest(request);
  if (problem !== undefined) errors.push(invalid("spec.request", request, problem));
  if (usages.length === 0) errors.push(required("spec.usages"));
  errors.push(
    ...each("spec.usages", usages, (usage, path) => (USAGES.includes(usage) ? [] : [unsupported(path, usage, USAGES)])),
    ...findDuplicates(usages, (index) => `spec.usages[${index}]`),
    ...validateSigner("spec.signerName", signerName),
  );
  if (expirationSeconds !== undefined && expirationSeconds < MIN_EXPIRATION_SECONDS) {
    const detail = "may not specify a duration less than 600 seconds (10 minutes)";
    errors.push(invalid("spec.expirationSeconds", expirationSeconds, detail));
  }
  return errors;
}

/** The problems of the signer's name. The legacy signer, which signed anything, is refused. */
function validateSigner(path: string, name: string): FieldError[] {
  if (name !== LEGACY_SIGNER) return validateSignerName(path, name);
  return [invalid(path, name, "the legacy signerName is not allowed via this API version")];
}

function validatePart(next: KubeObject, current: KubeObject, part: "approval" | "status"): FieldError[] {
  const [after, before] = [typed(KIND, next), typed(KIND, current)];
  return [
    ...validateRequestConditions(after),
    ...validateDecisions(after, before, { mayDecide: part === "approval" }),
    ...validateCertificate(after, before),
  ];
}

function validateCertificate(
  { status: next }: CertificateSigningRequest,
  { status: current }: CertificateSigningRequest,
): FieldError[] {
  const path = "status.certificate";
  const certificate = next?.certificate ?? "";
  const issued = current?.certificate ?? "";
  if (certificate === issued) return [];
  if (issued !== "") return [forbidden(path, "updates may not modify existing certificate content")];
  const problem = whyNoCertificates(certificate);
  return problem === undefined ? [] : [invalid(path, "<certificate data>", problem)];
}
