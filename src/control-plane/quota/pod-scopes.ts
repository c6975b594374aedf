import type { Pod, PodAffinityTerm, ScopedResourceSelectorRequirement } from "../../api/gen/types.ts";
import { computeQosClass } from "../../api/qos.ts";
import { selectsOneOf } from "./scope-selection.ts";

/** True when the pod belongs to the scope. No pod belongs to the scopes of other objects. */
export function isPodInScope(scope: ScopedResourceSelectorRequirement, pod: Pod): boolean {
  switch (scope.scopeName) {
    case "Terminating":
      return isTerminatingPod(pod);
    case "NotTerminating":
      return !isTerminatingPod(pod);
    case "BestEffort":
      return computeQosClass(pod) === "BestEffort";
    case "NotBestEffort":
      return computeQosClass(pod) !== "BestEffort";
    case "PriorityClass": {
      const { priorityClassName = "" } = pod.spec ?? {};
      return selectsOneOf(scope, priorityClassName === "" ? [] : [priorityClassName]);
    }
    case "CrossNamespacePodAffinity":
      return affinityTermsOf(pod).some(({ namespaces = [], namespaceSelector }) => {
        return namespaces.length > 0 || namespaceSelector !== undefined;
      });
    default:
      return false;
  }
}

/** True for a pod that ends by itself at a time that is set: the word means nothing else in quotas. */
export function isTerminatingPod({ spec }: Pod): boolean {
  return spec?.activeDeadlineSeconds !== undefined && spec.activeDeadlineSeconds >= 0;
}

function affinityTermsOf({ spec }: Pod): PodAffinityTerm[] {
  const { podAffinity, podAntiAffinity } = spec?.affinity ?? {};
  return [podAffinity, podAntiAffinity].flatMap((rules) => [
    ...(rules?.requiredDuringSchedulingIgnoredDuringExecution ?? []),
    ...(rules?.preferredDuringSchedulingIgnoredDuringExecution ?? []).map(({ podAffinityTerm }) => podAffinityTerm),
  ]);
}
