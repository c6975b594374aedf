import type { FieldError } from "../../../api/field-error.ts";
import type { LabelSelector } from "../../../api/gen/types.ts";
import { parseQuantity } from "../../../api/quantity.ts";
import { validateLabelSelector } from "../../../api/validation/label-selector.ts";
import { checkDnsSubdomain } from "../../../api/validation/names.ts";
import { invalid, invalidEach } from "../../../api/validation/problems.ts";
import { defineKind } from "../define-kind.ts";
import { immutable } from "../rules/immutable.ts";
import { strategyOf } from "../typed-strategy.ts";

export const csiStorageCapacityKind = defineKind({
  group: "storage.k8s.io",
  kind: "CSIStorageCapacity",
  plural: "csistoragecapacities",
  strategy: strategyOf("CSIStorageCapacity", {
    needsResourceVersion: true,
    returnsDeleted: true,
    validate: ({ nodeTopology, storageClassName, capacity = "0" }) => {
      const isNegative = (parseQuantity(capacity)?.nanos ?? 0n) < 0n;
      return [
        ...validateLabelSelector("nodeTopology", nodeTopology),
        ...invalidEach("storageClassName", storageClassName, checkDnsSubdomain(storageClassName)),
        ...(isNegative ? [invalid("capacity", capacity, "must be greater than or equal to 0")] : []),
      ];
    },
    validateUpdate: (next, current) => [
      ...keepTopology(next.nodeTopology, current.nodeTopology),
      ...immutable("storageClassName", next.storageClassName, current.storageClassName),
    ],
  }),
});

/** The problems of a changed topology. An absent one means no node, and an empty one means all nodes. */
function keepTopology(next: LabelSelector | undefined, current: LabelSelector | undefined): FieldError[] {
  const path = "nodeTopology";
  if ((next === undefined) === (current === undefined)) return immutable(path, next, current);
  return [invalid(path, next ?? null, "field is immutable")];
}
