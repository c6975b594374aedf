import type { FieldError } from "../../../../api/field-error.ts";
import type { VolumeNodeAffinity } from "../../../../api/gen/types.ts";
import { validateNodeSelector } from "../../../../api/validation/node-selector.ts";
import { required } from "../../../../api/validation/problems.ts";

/** The problems of a volume's node affinity, which may be absent; `allowsAnyValue` for a volume that may be an old one. */
export function validateVolumeNodeAffinity(
  path: string,
  affinity: VolumeNodeAffinity | undefined,
  allowsAnyValue = true,
): FieldError[] {
  if (affinity === undefined) return [];
  const { required: selector } = affinity;
  if (selector === undefined) return [required(`${path}.required`, "must specify required node constraints")];
  // Values that cannot be the value of a label were once accepted, and volumes are not created anew.
  return validateNodeSelector(`${path}.required`, selector, { allowsAnyValue });
}
