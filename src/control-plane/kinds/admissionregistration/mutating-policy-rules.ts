import type { FieldError } from "../../../api/field-error.ts";
import type {
  MatchResources,
  MutatingAdmissionPolicy,
  MutatingAdmissionPolicyBinding,
  Mutation,
} from "../../../api/gen/types.ts";
import { each, invalid, oneOf, required, unsupported } from "../../../api/validation/problems.ts";
import { compileMutatingPolicy } from "../../cel/policies/compile-policy.ts";
import { validateBindingSpec, validateExpressions, validatePolicySpec } from "./policy-rules.ts";

const REINVOCATION_POLICIES = ["IfNeeded", "Never"];
const PATCH_TYPES = ["ApplyConfiguration", "JSONPatch"];
/** A deletion brings no object that could be changed. */
const OPERATIONS = ["*", "CONNECT", "CREATE", "UPDATE"];

/** What is wrong with a policy that changes objects, its expressions included. */
export function validateMutatingPolicy({ spec = {} }: MutatingAdmissionPolicy): FieldError[] {
  const { matchConstraints, mutations = [], reinvocationPolicy } = spec;
  const texts = mutations.flatMap(({ applyConfiguration, jsonPatch }) => {
    return [applyConfiguration?.expression ?? "", jsonPatch?.expression ?? ""];
  });
  return [
    ...validatePolicySpec(spec),
    ...checkOperations("spec.matchConstraints", matchConstraints),
    ...(mutations.length === 0 ? [required("spec.mutations", "mutations must contain at least one item")] : []),
    ...each("spec.mutations", mutations, checkMutation),
    ...validateExpressions(spec, texts, () => compileMutatingPolicy(spec)),
    ...oneOf("spec.reinvocationPolicy", reinvocationPolicy, REINVOCATION_POLICIES),
  ];
}

/** What is wrong with a binding of such a policy. */
export function validateMutatingBinding({ spec = {} }: MutatingAdmissionPolicyBinding): FieldError[] {
  return [...validateBindingSpec(spec), ...checkOperations("spec.matchResources", spec.matchResources)];
}

function checkOperations(path: string, { resourceRules = [] }: MatchResources = {}): FieldError[] {
  const operations = resourceRules.flatMap((rule) => rule.operations ?? []);
  const others = operations.filter((operation) => !OPERATIONS.includes(operation));
  return others.map((operation) => unsupported(`${path}.resourceRules.operations`, operation, OPERATIONS));
}

function checkMutation({ patchType, applyConfiguration, jsonPatch }: Mutation, path: string): FieldError[] {
  const parts = [
    { type: "ApplyConfiguration", field: "applyConfiguration", part: applyConfiguration },
    { type: "JSONPatch", field: "jsonPatch", part: jsonPatch },
  ];
  if (!PATCH_TYPES.includes(patchType)) return oneOf(`${path}.patchType`, patchType, PATCH_TYPES);
  return parts.flatMap(({ type, field, part }) => {
    const at = `${path}.${field}`;
    if (type !== patchType) {
      return part ? [invalid(at, `{${field}}`, `must not be specified when patchType is ${patchType}`)] : [];
    }
    if (!part) return [required(at, `must be specified when patchType is ${patchType}`)];
    return (part.expression ?? "").trim() === "" ? [required(`${at}.expression`)] : [];
  });
}
