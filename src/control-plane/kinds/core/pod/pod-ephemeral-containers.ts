import type { FieldError } from "../../../../api/field-error.ts";
import { type KubeObject, typed, untyped } from "../../../../api/object.ts";
import { isMirrorPod } from "../../../../api/pods.ts";
import { forbidden } from "../../../../api/validation/problems.ts";
import { findChanges, formatChanges } from "../../rules/semantic-changes.ts";

/** The current pod with the ephemeral containers of the next one. */
export function takeEphemeralContainers(next: KubeObject, current: KubeObject): KubeObject {
  const pod = typed("Pod", current);
  const { ephemeralContainers = [] } = typed("Pod", next).spec ?? {};
  const { ephemeralContainers: _replaced, ...spec } = pod.spec ?? { containers: [] };
  return untyped({
    ...pod,
    metadata: partMetadata(next, current),
    spec: { ...spec, ...(ephemeralContainers.length > 0 && { ephemeralContainers }) },
  });
}

/** The metadata after an update of a part of a pod, in which only the managed fields change. */
export function partMetadata(
  { metadata: { managedFields } }: KubeObject,
  { metadata }: KubeObject,
): KubeObject["metadata"] {
  return { ...metadata, ...(managedFields && { managedFields }) };
}

/** The problems of an update. Ephemeral containers can only be added, because they record who inspected the pod. */
export function validateEphemeralContainersUpdate(next: KubeObject, current: KubeObject): FieldError[] {
  const old = typed("Pod", current);
  if (isMirrorPod(old)) return [forbidden("", "static pods do not support ephemeral containers")];
  const path = "spec.ephemeralContainers";
  const containers = new Map((typed("Pod", next).spec?.ephemeralContainers ?? []).map((entry) => [entry.name, entry]));
  return (old.spec?.ephemeralContainers ?? []).flatMap((before) => {
    const after = containers.get(before.name);
    const subject = `existing ephemeral containers "${before.name}"`;
    if (after === undefined) return [forbidden(path, `${subject} may not be removed\n`)];
    const changes = findChanges(before, after, `${path}[${before.name}]`);
    return changes.length === 0 ? [] : [forbidden(path, `${subject} may not be changed\n${formatChanges(changes)}`)];
  });
}
