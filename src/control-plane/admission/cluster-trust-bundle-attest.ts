import { isRecord, type KubeObject } from "../../api/object.ts";
import type { AdmissionPlugin, Authorize } from "../ports/request.ts";
import { refusal, writtenObject } from "./refusal.ts";
import { isSameValue } from "./same-value.ts";
import { isAllowedForSigner } from "./signer-access.ts";

/** Who says what a signer's certificates are verified by must be allowed to `attest` for it (`certificates/ctbattest`). */
export function createClusterTrustBundleAttest(authorize: Authorize): AdmissionPlugin {
  return {
    name: "ClusterTrustBundleAttest",
    validate(request) {
      const object = writtenObject(request, "clustertrustbundles.certificates.k8s.io");
      if (object === undefined) return;
      // The new object's signer is the stored one's as well: validation has seen to it that it does not change.
      const signer = signerOf(object);
      if (signer === "" || isOwnershipAlone(object, request.current)) return;
      if (isAllowedForSigner(authorize, { user: request.user, verb: "attest", signer })) return;
      throw refusal(request, `user not permitted to attest for signerName ${JSON.stringify(signer)}`);
    },
  };
}

function signerOf({ spec }: KubeObject): string {
  const signerName = isRecord(spec) ? spec["signerName"] : undefined;
  return typeof signerName === "string" ? signerName : "";
}

/** The garbage collector takes owners and finalizers from objects, and attests nothing by it. */
function isOwnershipAlone(object: KubeObject, current: KubeObject | undefined): boolean {
  return current !== undefined && isSameValue(withoutOwnership(object), withoutOwnership(current));
}

function withoutOwnership(object: KubeObject): KubeObject {
  const {
    finalizers: _,
    ownerReferences: __,
    managedFields: ___,
    resourceVersion: ____,
    ...metadata
  } = object.metadata;
  return { ...object, metadata };
}
