import type { OwnerReference } from "../../../api/gen/types.ts";
import type { KubeObject } from "../../../api/object.ts";

/** The reference to the one owner that controls the object; undefined for an object that nobody controls. */
export function controllerRefOf({ metadata }: KubeObject): OwnerReference | undefined {
  return (metadata.ownerReferences ?? []).find(({ controller }) => controller === true);
}

/** The reference by which the owner controls what it makes. The owner waits for it when deleted in the foreground. */
export function controllerRefTo({ apiVersion, kind, metadata }: KubeObject): OwnerReference {
  const { name = "", uid = "" } = metadata;
  return { apiVersion, kind, name, uid, controller: true, blockOwnerDeletion: true };
}

/** True when this very owner, and none of the same name before it, controls the object. */
export function isControlledBy(object: KubeObject, { metadata }: KubeObject): boolean {
  return metadata.uid !== undefined && controllerRefOf(object)?.uid === metadata.uid;
}
