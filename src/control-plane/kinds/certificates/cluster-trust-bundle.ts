import type { FieldError } from "../../../api/field-error.ts";
import type { ClusterTrustBundleSpec } from "../../../api/gen/types.ts";
import { isNew, isRecord, type KubeObject } from "../../../api/object.ts";
import { checkDnsSubdomain } from "../../../api/validation/names.ts";
import { invalidEach } from "../../../api/validation/problems.ts";
import { validateSignerName } from "../../../api/validation/signer-name.ts";
import type { ResourceKind } from "../../ports/resource-kind.ts";
import { defineKind } from "../define-kind.ts";
import { immutable } from "../rules/immutable.ts";
import { validateTrustAnchors } from "./trust-anchors.ts";

const ANCHORS = "spec.trustBundle";

/** Bundles of certificates that a cluster's pods may trust. They follow upstream's v1beta1, the version of 1.35. */
export const clusterTrustBundleKind: ResourceKind = defineKind({
  group: "certificates.k8s.io",
  version: "v1beta1",
  kind: "ClusterTrustBundle",
  plural: "clustertrustbundles",
  namespaced: false,
  strategy: {
    fields: { "spec.signerName": (bundle) => specOf(bundle).signerName },
    needsResourceVersion: true,
    // The rules for the name depend on the signer: `validate` checks them.
    checkName: () => [],
    validate(bundle) {
      const { signerName, trustBundle } = specOf(bundle);
      return [
        ...validateName(bundle.metadata, signerName),
        ...(signerName === "" ? [] : validateSignerName("spec.signerName", signerName)),
        ...(isNew(bundle) ? validateTrustAnchors(ANCHORS, trustBundle) : []),
      ];
    },
    validateUpdate(next, current) {
      const [{ signerName, trustBundle }, before] = [specOf(next), specOf(current)];
      return [
        // A stored bundle stays valid, even if the parser of certificates becomes stricter.
        ...(trustBundle === before.trustBundle ? [] : validateTrustAnchors(ANCHORS, trustBundle)),
        ...immutable("spec.signerName", signerName, before.signerName),
      ];
    },
  },
});

function specOf({ spec }: KubeObject): Required<ClusterTrustBundleSpec> {
  const { signerName, trustBundle } = isRecord(spec) ? spec : {};
  const text = (value: unknown) => (typeof value === "string" ? value : "");
  return { signerName: text(signerName), trustBundle: text(trustBundle) };
}

function validateName({ name = "", generateName = "" }: KubeObject["metadata"], signerName: string): FieldError[] {
  // A suffix follows the generated name's base, so the base may end in a dash.
  const base = generateName.length > 1 && generateName.endsWith("-") ? `${generateName.slice(0, -2)}a` : generateName;
  return [
    ...(base === "" ? [] : invalidEach("metadata.generateName", generateName, checkName(base, signerName))),
    ...invalidEach("metadata.name", name, checkName(name, signerName)),
  ];
}

/**
 * The problems of a name. Names that begin with a signer's name belong to users who may attest for the signer
 * (`ValidateClusterTrustBundleName`).
 */
function checkName(name: string, signerName: string): string[] {
  if (signerName !== "") {
    const prefix = `${signerName.replaceAll("/", ":")}:`;
    if (name.startsWith(prefix)) return checkDnsSubdomain(name.slice(prefix.length));
    return [`ClusterTrustBundle for signerName ${signerName} must be named with prefix ${prefix}`];
  }
  if (name.includes(":")) return ['ClusterTrustBundle without signer name must not have ":" in its name'];
  return checkDnsSubdomain(name);
}
