import type { FieldError } from "../../../api/field-error.ts";
import type { PodCertificateRequestSpec } from "../../../api/gen/types.ts";
import { typed } from "../../../api/object.ts";
import { checkDnsSubdomain } from "../../../api/validation/names.ts";
import { certificateSecondsFor, validateUserAnnotations } from "../../../api/validation/pod-certificate.ts";
import { invalid, invalidEach, required, tooLong } from "../../../api/validation/problems.ts";
import { validateSignerName } from "../../../api/validation/signer-name.ts";
import type { ResourceKind, Subresource } from "../../ports/resource-kind.ts";
import { defineKind } from "../define-kind.ts";
import { immutable } from "../rules/immutable.ts";
import { strategyOf } from "../typed-strategy.ts";
import { validateRequestedKey } from "./pod-certificate-key.ts";
import { takeRequestStatus, validateRequestStatus } from "./pod-certificate-status.ts";

const GROUP = "certificates.k8s.io";
const KIND = "PodCertificateRequest";
const DEFAULT_SECONDS = 86_400;
const MAX_UID_BYTES = 128;

/** The subresource for signers. Nothing of the metadata changes by it. */
const STATUS: Subresource = {
  name: "status",
  group: GROUP,
  version: "v1beta1",
  kind: KIND,
  verbs: ["get", "patch", "update"],
  take: (next, current) => {
    const { managedFields, resourceVersion } = next.metadata;
    return {
      ...current,
      metadata: {
        ...current.metadata,
        ...(resourceVersion && { resourceVersion }),
        ...(managedFields && { managedFields }),
      },
      status: takeRequestStatus(typed(KIND, next), typed(KIND, current)),
    };
  },
  validateUpdate: (next, current) => validateRequestStatus(typed(KIND, next), typed(KIND, current)),
};

/** Requests for the certificates of pods, which kubelets make for `podCertificate` sources of volumes. */
export const podCertificateRequestKind: ResourceKind = defineKind({
  group: GROUP,
  version: "v1beta1",
  kind: KIND,
  plural: "podcertificaterequests",
  subresources: [STATUS],
  strategy: strategyOf(KIND, {
    initialStatus: {},
    needsResourceVersion: true,
    fields: {
      "spec.signerName": ({ spec }) => spec.signerName,
      "spec.podName": ({ spec }) => spec.podName,
      "spec.nodeName": ({ spec }) => spec.nodeName,
    },
    default({ spec }) {
      spec.maxExpirationSeconds ??= DEFAULT_SECONDS;
    },
    validateCreate: (object) => validateSpec(typed(KIND, object).spec),
    validateUpdate: (next, current) => immutable("spec", next.spec, current.spec),
  }),
});

function validateSpec(spec: PodCertificateRequestSpec): FieldError[] {
  const nameIn = (field: "nodeName" | "podName" | "serviceAccountName") => {
    return invalidEach(`spec.${field}`, spec[field], checkDnsSubdomain(spec[field]));
  };
  const uidIn = (field: "nodeUID" | "podUID" | "serviceAccountUID") => validateUid(`spec.${field}`, spec[field]);
  return [
    ...validateSignerName("spec.signerName", spec.signerName),
    ...validateUserAnnotations("spec.unverifiedUserAnnotations", spec.unverifiedUserAnnotations),
    ...nameIn("podName"),
    ...uidIn("podUID"),
    ...nameIn("serviceAccountName"),
    ...uidIn("serviceAccountUID"),
    ...nameIn("nodeName"),
    ...uidIn("nodeUID"),
    ...validateExpiration(spec),
    ...validateRequestedKey(spec),
  ];
}

function validateUid(path: string, uid: string): FieldError[] {
  if (uid === "") return [invalid(path, uid, "must not be empty")];
  return Buffer.byteLength(uid) > MAX_UID_BYTES ? [tooLong(path, MAX_UID_BYTES)] : [];
}

function validateExpiration({ maxExpirationSeconds: seconds, signerName }: PodCertificateRequestSpec): FieldError[] {
  const path = "spec.maxExpirationSeconds";
  if (seconds === undefined) return [required(path, "must be set")];
  const { min, max } = certificateSecondsFor(signerName);
  return seconds >= min && seconds <= max ? [] : [invalid(path, seconds, `must be in the range [${min}, ${max}]`)];
}
