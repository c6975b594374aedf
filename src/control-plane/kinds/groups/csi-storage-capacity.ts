import { parseQuantity } from "../../../api/quantity.ts";
import { checkDnsSubdomain } from "../../../api/validation/names.ts";
import { invalid, invalidEach } from "../../../api/validation/problems.ts";
import { immutable } from "../core/immutable.ts";
import { defineKind } from "../define-kind.ts";
import { validateLabelSelector } from "./label-selector.ts";
import { strategyOf } from "./typed-strategy.ts";

export const CSI_STORAGE_CAPACITIES = defineKind({
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
      ...immutable("nodeTopology", next.nodeTopology, current.nodeTopology),
      ...immutable("storageClassName", next.storageClassName, current.storageClassName),
    ],
  }),
});
