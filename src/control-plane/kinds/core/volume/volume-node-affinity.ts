import type { FieldError } from "../../../../api/field-error.ts";
import type { VolumeNodeAffinity } from "../../../../api/gen/types.ts";
import { validateNodeSelector } from "../../../../api/validation/node-selector.ts";
import { required } from "../../../../api/validation/problems.ts";

/** From which nodes a volume can be reached; fine when it does not say. */
export function validateVolumeNodeAffinity(path: string, affinity: VolumeNodeAffinity | undefined): FieldError[] {
  if (affinity === undefined) return [];
  const { required: selector } = affinity;
  if (selector === undefined) return [required(`${path}.required`, "must specify required node constraints")];
  // What cannot be the value of a label was let in once, and volumes are not made anew for that.
  return validateNodeSelector(`${path}.required`, selector, { allowsAnyValue: true });
}
