import type { FieldError } from "../../../api/field-error.ts";
import type { StorageClass, TopologySelectorLabelRequirement, TopologySelectorTerm } from "../../../api/gen/types.ts";
import { checkQualifiedName } from "../../../api/validation/names.ts";
import { duplicate, each, invalidEach, oneOf, required, unsupported } from "../../../api/validation/problems.ts";
import { defineKind } from "../define-kind.ts";
import { immutable } from "../rules/immutable.ts";
import { isSame } from "../rules/semantic-changes.ts";
import { strategyOf } from "../typed-strategy.ts";
import { keep, validateParameters, validateProvisioner } from "./class-parameters.ts";

const RECLAIM_POLICIES = ["Delete", "Retain"];

export const storageClassKind = defineKind({
  group: "storage.k8s.io",
  kind: "StorageClass",
  plural: "storageclasses",
  shortNames: ["sc"],
  namespaced: false,
  strategy: strategyOf("StorageClass", {
    returnsDeleted: true,
    default(draft) {
      draft.reclaimPolicy ??= "Delete";
      draft.volumeBindingMode ??= "Immediate";
    },
    validate: validateClass,
    validateUpdate: (next, current) => [
      ...keep("parameters", next.parameters, current.parameters),
      ...keep("provisioner", next.provisioner, current.provisioner),
      ...keep("reclaimPolicy", next.reclaimPolicy, current.reclaimPolicy),
      ...immutable("volumeBindingMode", next.volumeBindingMode, current.volumeBindingMode),
    ],
  }),
});

function validateClass({ provisioner, parameters, reclaimPolicy = "", ...rest }: StorageClass): FieldError[] {
  const { volumeBindingMode, allowedTopologies } = rest;
  const isKnown = reclaimPolicy === "" || RECLAIM_POLICIES.includes(reclaimPolicy);
  return [
    ...validateProvisioner("provisioner", provisioner),
    ...validateParameters("parameters", parameters),
    ...(isKnown ? [] : [unsupported("reclaimPolicy", reclaimPolicy, RECLAIM_POLICIES)]),
    ...oneOf("volumeBindingMode", volumeBindingMode, ["Immediate", "WaitForFirstConsumer"]),
    ...validateTopologies("allowedTopologies", allowedTopologies ?? []),
  ];
}

function validateTopologies(path: string, terms: readonly TopologySelectorTerm[]): FieldError[] {
  const before: Array<ReadonlyMap<string, ReadonlySet<string>>> = [];
  return each(path, terms, ({ matchLabelExpressions = [] }, termPath) => {
    const keys = new Map<string, ReadonlySet<string>>();
    const at = `${termPath}.matchLabelExpressions`;
    const errors = each(at, matchLabelExpressions, (requirement, requirementPath) => {
      const { key, values } = requirement;
      const problems = validateRequirement(requirement, requirementPath);
      if (keys.has(key)) problems.push(duplicate(`${requirementPath}.key`, key));
      keys.set(key, new Set(values));
      return problems;
    });
    if (before.some((other) => isSameTopology(other, keys))) errors.push(duplicate(at, ""));
    before.push(keys);
    return errors;
  });
}

function isSameTopology(
  one: ReadonlyMap<string, ReadonlySet<string>>,
  other: ReadonlyMap<string, ReadonlySet<string>>,
): boolean {
  const sorted = (keys: typeof one) => [...keys].map(([key, values]) => [key, [...values].sort()]);
  return isSame(Object.fromEntries(sorted(one)), Object.fromEntries(sorted(other)));
}

function validateRequirement({ key, values }: TopologySelectorLabelRequirement, path: string): FieldError[] {
  const seen = new Set<string>();
  return [
    ...(values.length === 0 ? [required(`${path}.values`)] : []),
    ...each(`${path}.values`, values, (value, at) => {
      const errors = seen.has(value) ? [duplicate(at, value)] : [];
      seen.add(value);
      return errors;
    }),
    ...invalidEach(`${path}.key`, key, checkQualifiedName(key)),
  ];
}
