import { cloneJson } from "../../../../api/clone-json.ts";
import { defaultPod } from "../../../../api/defaults.ts";
import type { FieldError } from "../../../../api/field-error.ts";
import type {
  Affinity,
  LabelSelector,
  LabelSelectorRequirement,
  Pod,
  PodAffinityTerm,
} from "../../../../api/gen/types.ts";
import { isNew, type KubeObject, typed, untyped } from "../../../../api/object.ts";
import { isTerminalPhase } from "../../../../api/pods.ts";
import { computeQosClass } from "../../../../api/qos.ts";
import { validatePod } from "../../../../api/validate-pod.ts";
import { forbidden } from "../../../../api/validation/problems.ts";
import { fillAlwaysThere } from "../../rules/pod-template.ts";
import { validateExistingPod } from "./ephemeral-container-validation.ts";

/** Sets the defaults of a pod; see `defaultPod`. */
export function defaultPodObject(object: KubeObject): KubeObject {
  const pod = defaultPod(typed("Pod", object));
  if (pod.spec) {
    fillAlwaysThere(pod.spec);
    // A negative period means the shortest one.
    if ((pod.spec.terminationGracePeriodSeconds ?? 0) < 0) pod.spec.terminationGracePeriodSeconds = 1;
  }
  return untyped(pod);
}

/** Prepares a new pod, which is pending whatever status its author sent. */
export function preparePod(object: KubeObject): KubeObject {
  const pod = cloneJson(typed("Pod", object));
  const { spec = { containers: [] }, metadata = {} } = pod;
  pod.status = { phase: "Pending", qosClass: computeQosClass(pod) };
  if ((spec.schedulingGates ?? []).length > 0) {
    const message = "Scheduling is blocked due to non-empty scheduling gates";
    const lastTransitionTime = metadata.creationTimestamp ?? "";
    const reason = "SchedulingGated";
    pod.status.conditions = [{ type: "PodScheduled", status: "False", lastTransitionTime, reason, message }];
  }
  applyLabelKeys(pod, metadata.labels ?? {});
  return untyped(pod);
}

/**
 * Adds the pod's present values of the labels in `matchLabelKeys` to the selector, so that a scheduler has to look at
 * the selector only.
 */
function applyLabelKeys({ spec }: Pod, labels: Readonly<Record<string, string>>): void {
  for (const constraint of spec?.topologySpreadConstraints ?? []) applyLabelKeysOf(constraint, labels);
  const affinity: Affinity = spec?.affinity ?? {};
  for (const terms of [affinity.podAffinity, affinity.podAntiAffinity]) {
    const required = terms?.requiredDuringSchedulingIgnoredDuringExecution ?? [];
    const preferred = terms?.preferredDuringSchedulingIgnoredDuringExecution ?? [];
    for (const term of [...required, ...preferred.map(({ podAffinityTerm }) => podAffinityTerm)]) {
      applyLabelKeysOf(term, labels);
    }
  }
}

function applyLabelKeysOf(term: Partial<PodAffinityTerm>, labels: Readonly<Record<string, string>>): void {
  const { matchLabelKeys = [], mismatchLabelKeys = [], labelSelector } = term;
  if (labelSelector === undefined) return;
  const requirements = [
    ...requirementsOf("In", matchLabelKeys, labels),
    ...requirementsOf("NotIn", mismatchLabelKeys, labels),
  ];
  if (requirements.length > 0) addRequirements(labelSelector, requirements);
}

function requirementsOf(
  operator: "In" | "NotIn",
  keys: readonly string[],
  labels: Readonly<Record<string, string>>,
): LabelSelectorRequirement[] {
  return keys.flatMap((key) => {
    const value = labels[key];
    return value === undefined ? [] : [{ key, operator, values: [value] }];
  });
}

function addRequirements(selector: LabelSelector, requirements: readonly LabelSelectorRequirement[]): void {
  selector.matchExpressions = [...(selector.matchExpressions ?? []), ...requirements];
}

/**
 * The problems of a pod as in `validatePod`, without those of its metadata, which the registry checks for every kind.
 */
export function validatePodObject(object: KubeObject): FieldError[] {
  const pod = typed("Pod", object);
  const errors = isNew(object) ? [...validatePod(pod), ...validateUngated(pod)] : validateExistingPod(pod);
  return errors.filter(({ path }) => !path.startsWith("metadata."));
}

function validateUngated({ spec }: Pod): FieldError[] {
  const isGated = (spec?.schedulingGates ?? []).length > 0;
  if (!spec?.nodeName || !isGated) return [];
  return [forbidden("spec.nodeName", "cannot be set until all schedulingGates have been cleared")];
}

/**
 * The grace period of a pod's deletion, in seconds. A pod that runs on no node or has ended is removed at once; a
 * negative period is the shortest.
 */
export function podGracePeriodSeconds(object: KubeObject, requested: number | undefined): number {
  const { spec, status } = typed("Pod", object);
  if (!spec?.nodeName || isTerminalPhase(status?.phase)) return 0;
  const seconds = requested ?? spec.terminationGracePeriodSeconds ?? 0;
  return seconds < 0 ? 1 : seconds;
}
