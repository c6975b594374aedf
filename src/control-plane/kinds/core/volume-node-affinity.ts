import type { FieldError } from "../../../api/field-error.ts";
import type { NodeSelectorRequirement, NodeSelectorTerm, VolumeNodeAffinity } from "../../../api/gen/types.ts";
import { checkQualifiedName } from "../../../api/validation/names.ts";
import { each, forbidden, invalid, invalidEach, required } from "../../../api/validation/problems.ts";

/** From which nodes a volume can be reached; fine when it does not say. */
export function validateVolumeNodeAffinity(path: string, affinity: VolumeNodeAffinity | undefined): FieldError[] {
  if (affinity === undefined) return [];
  const { required: selector } = affinity;
  if (selector === undefined) return [required(`${path}.required`, "must specify required node constraints")];
  const at = `${path}.required.nodeSelectorTerms`;
  if (selector.nodeSelectorTerms.length === 0) return [required(at, "must have at least one node selector term")];
  return each(at, selector.nodeSelectorTerms, validateTerm);
}

function validateTerm({ matchExpressions, matchFields }: NodeSelectorTerm, path: string): FieldError[] {
  return [
    ...each(`${path}.matchExpressions`, matchExpressions, (requirement, at) => [
      ...validateOperator(requirement, at),
      ...invalidEach(`${at}.key`, requirement.key, checkQualifiedName(requirement.key)),
    ]),
    ...each(`${path}.matchFields`, matchFields, ({ key }, at) => {
      return key === "metadata.name" ? [] : [invalid(`${at}.key`, key, "not a valid field selector key")];
    }),
  ];
}

function validateOperator({ operator, values = [] }: NodeSelectorRequirement, path: string): FieldError[] {
  switch (operator) {
    case "In":
    case "NotIn":
      if (values.length > 0) return [];
      return [required(`${path}.values`, "must be specified when `operator` is 'In' or 'NotIn'")];
    case "Exists":
    case "DoesNotExist":
      if (values.length === 0) return [];
      return [forbidden(`${path}.values`, "may not be specified when `operator` is 'Exists' or 'DoesNotExist'")];
    case "Gt":
    case "Lt":
      if (values.length === 1) return [];
      return [required(`${path}.values`, "must be specified single value when `operator` is 'Lt' or 'Gt'")];
    default:
      return [invalid(`${path}.operator`, operator, "not a valid selector operator")];
  }
}
