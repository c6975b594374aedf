import type { AdmissionPlugin } from "../ports/request.ts";
import { writtenObject } from "./refusal.ts";

const FINALIZERS: ReadonlyArray<readonly [resource: string, finalizer: string]> = [
  ["persistentvolumes", "kubernetes.io/pv-protection"],
  ["persistentvolumeclaims", "kubernetes.io/pvc-protection"],
];

/**
 * Gives new claims and volumes the finalizer that keeps them while they are used, and that a controller removes
 * (`plugin/pkg/admission/storage/storageobjectinuseprotection`).
 */
export function createStorageObjectInUseProtection(): AdmissionPlugin {
  return {
    name: "StorageObjectInUseProtection",
    mutate(request) {
      for (const [resource, finalizer] of FINALIZERS) {
        const object = writtenObject(request, resource, ["CREATE"]);
        const { finalizers = [] } = object?.metadata ?? {};
        if (object === undefined || finalizers.includes(finalizer)) continue;
        return { ...object, metadata: { ...object.metadata, finalizers: [...finalizers, finalizer] } };
      }
      return undefined;
    },
  };
}
