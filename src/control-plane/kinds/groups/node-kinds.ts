import { quantityMilliValue } from "../../../api/quantity.ts";
import { checkDnsLabel, checkQualifiedName } from "../../../api/validation/names.ts";
import { invalid, invalidEach } from "../../../api/validation/problems.ts";
import { validateLabels } from "../../../api/validation/metadata.ts";
import { validateTolerations } from "../../../api/validation/scheduling.ts";
import type { ResourceKind } from "../../ports/resource-kind.ts";
import { immutable } from "../core/immutable.ts";
import { defineKind } from "../define-kind.ts";
import { strategyOf } from "./typed-strategy.ts";

export const NODE_GROUP_KINDS: readonly ResourceKind[] = [
  defineKind({
    group: "node.k8s.io",
    kind: "RuntimeClass",
    plural: "runtimeclasses",
    namespaced: false,
    strategy: strategyOf("RuntimeClass", {
      needsResourceVersion: true,
      validate: ({ handler, overhead, scheduling }) => [
        ...invalidEach("handler", handler, checkDnsLabel(handler)),
        ...Object.entries(overhead?.podFixed ?? {}).flatMap(([resource, quantity]) => {
          const path = `overhead.podFixed.${resource}`;
          const errors = invalidEach(path, resource, checkQualifiedName(resource));
          if (quantityMilliValue(quantity) >= 0n) return errors;
          return [...errors, invalid(path, quantity, "must be greater than or equal to 0")];
        }),
        ...validateLabels("scheduling.nodeSelector", scheduling?.nodeSelector),
        ...validateTolerations("scheduling.tolerations", scheduling?.tolerations),
      ],
      validateUpdate: (next, current) => immutable("handler", next.handler, current.handler),
    }),
  }),
];
