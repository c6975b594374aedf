import { isRecord, type KubeObject } from "../../api/object.ts";
import type { AdmissionPlugin, Authorize } from "../ports/request.ts";
import { refusal, writtenObject } from "./refusal.ts";
import { isSameValue } from "./same-value.ts";
import { isAllowedForSigner } from "./signer-access.ts";

/**
 * Requires the permission to `attest` for the signer from users who write its trust bundle (`certificates/ctbattest`).
 */
export function createClusterTrustBundleAttest(authorize: Authorize): AdmissionPlugin {
  return {
    name: "ClusterTrustBundleAttest",
    validate(request) {
      const object = writtenObject(request, "clustertrustbundles.certificates.k8s.io");
      if (object === undefined) return;
      // The new object has the stored object's signer, because validation refuses a change of it.
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

/**
 * True for an update of owners and finalizers alone. The garbage collector makes such updates, and attests nothing by
 * them.
 */
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
