import { typed } from "../../api/object.ts";
import { lenientSelectorOf } from "../control-loop/lenient-selector.ts";
import type { ResourceReader } from "../ports/resources.ts";
import type { Budget } from "./preemption.ts";

/** The disruption budgets of all namespaces. An empty selector protects no pod here, as in upstream. */
export function readBudgets(reader: ResourceReader): Budget[] {
  return reader.list("poddisruptionbudgets.policy").map((object) => {
    const { metadata, spec, status } = typed("PodDisruptionBudget", object);
    const selector = lenientSelectorOf(spec?.selector);
    return {
      namespace: metadata?.namespace ?? "",
      allowed: status?.disruptionsAllowed ?? 0,
      disrupted: new Set(Object.keys(status?.disruptedPods ?? {})),
      protects: (labels) => !selector.isEverything && selector.matches(labels),
    };
  });
}
