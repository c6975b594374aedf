import type { FieldError } from "../../../../api/field-error.ts";
import type { KubeObject } from "../../../../api/object.ts";
import { forbidden } from "../../../../api/validation/problems.ts";
import { CONFIG_MIRROR_ANNOTATION } from "../../../../api/well-known.ts";

/**
 * The problems of a changed mirror annotation, by whichever way the pod is changed. A node may create any pod that has
 * it, and what such a pod refers to gives the node no access: without the annotation it would.
 */
export function validateMirrorAnnotation(next: KubeObject, current: KubeObject): FieldError[] {
  const [after, before] = [next, current].map(({ metadata }) => metadata.annotations?.[CONFIG_MIRROR_ANNOTATION]);
  if (after === before) return [];
  const detail =
    before === undefined ? "may not add mirror pod annotation" : "may not remove or update mirror pod annotation";
  return [forbidden(`metadata.annotations[${CONFIG_MIRROR_ANNOTATION}]`, detail)];
}
