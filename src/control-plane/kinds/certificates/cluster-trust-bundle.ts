import type { FieldError } from "../../../api/field-error.ts";
import type { ClusterTrustBundleSpec } from "../../../api/gen/types.ts";
import { isNew, isRecord, type KubeObject } from "../../../api/object.ts";
import { checkDnsSubdomain } from "../../../api/validation/names.ts";
import { invalidEach } from "../../../api/validation/problems.ts";
import type { ResourceKind } from "../../ports/resource-kind.ts";
import { defineKind } from "../define-kind.ts";
import { immutable } from "../rules/immutable.ts";
import { validateSignerName } from "./signer-name.ts";
import { validateTrustAnchors } from "./trust-anchors.ts";

const ANCHORS = "spec.trustBundle";

/** The certificates that a cluster's pods may trust. Upstream's as of its v1beta1, the version that 1.35 knows. */
export const clusterTrustBundleKind: ResourceKind = defineKind({
  group: "certificates.k8s.io",
  version: "v1beta1",
  kind: "ClusterTrustBundle",
  plural: "clustertrustbundles",
  namespaced: false,
  strategy: {
    fields: { "spec.signerName": (bundle) => specOf(bundle).signerName },
    needsResourceVersion: true,
    // What a name may be depends on the signer: `validate` checks it.
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
        // What has been stored once stays valid, whatever the parsers of certificates come to think of it.
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
  // Something follows, and so it may end in a dash.
  const base = generateName.length > 1 && generateName.endsWith("-") ? `${generateName.slice(0, -2)}a` : generateName;
  return [
    ...(base === "" ? [] : invalidEach("metadata.generateName", generateName, checkName(base, signerName))),
    ...invalidEach("metadata.name", name, checkName(name, signerName)),
  ];
}

/** Who may attest for a signer owns the names that begin with it (`ValidateClusterTrustBundleName`). */
function checkName(name: string, signerName: string): string[] {
  if (signerName !== "") {
    const prefix = `${signerName.replaceAll("/", ":")}:`;
    if (name.startsWith(prefix)) return checkDnsSubdomain(name.slice(prefix.length));
    return [`ClusterTrustBundle for signerName ${signerName} must be named with prefix ${prefix}`];
  }
  if (name.includes(":")) return ['ClusterTrustBundle without signer name must not have ":" in its name'];
  return checkDnsSubdomain(name);
}
