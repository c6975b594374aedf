import { ApiError } from "../../../api/api-error.ts";
import { type KubeObject, typed, untyped } from "../../../api/object.ts";
import { labelSelectorOf } from "../../../api/selectors/label-selector.ts";
import { withPodCondition } from "../../control-loop/pod-condition.ts";

/** The decision about an eviction. */
type DisruptionPlan =
  /** No budget stands against it. */
  | { kind: "evict" }
  /** This budget allows it, and must count it. */
  | { kind: "disrupt"; budget: KubeObject };

/**
 * Decides by the disruption budgets of the pod's namespace whether it may be evicted now. Throws TooManyRequests when a
 * budget allows no disruption, InternalError when several budgets select the pod.
 */
export function planDisruption(pod: KubeObject, budgets: readonly KubeObject[]): DisruptionPlan {
  const { metadata, status } = typed("Pod", pod);
  const isDisrupted = ["Pending", "Succeeded", "Failed"].includes(status?.phase ?? "");
  if (isDisrupted || metadata?.deletionTimestamp !== undefined) return { kind: "evict" };
  const claiming = budgets.filter((budget) => {
    return labelSelectorOf(typed("PodDisruptionBudget", budget).spec?.selector).matches(metadata?.labels);
  });
  const [budget, second] = claiming;
  if (budget === undefined) return { kind: "evict" };
  if (second !== undefined) {
    const message = "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.";
    throw new ApiError("InternalError", message);
  }
  const isReady = status?.conditions?.some(({ type, status: value }) => type === "Ready" && value === "True") ?? false;
  const { spec, status: disruptions } = typed("PodDisruptionBudget", budget);
  const { currentHealthy = 0, desiredHealthy = 0 } = disruptions ?? {};
  const isHealthy = currentHealthy >= desiredHealthy && desiredHealthy > 0;
  const mayEvictUnready = spec?.unhealthyPodEvictionPolicy === "AlwaysAllow" || isHealthy;
  if (!isReady && mayEvictUnready) return { kind: "evict" };
  if ((disruptions?.observedGeneration ?? 0) < (budget.metadata.generation ?? 0)) throw unseenError(budget);
  if ((disruptions?.disruptionsAllowed ?? 0) < 1) throw disruptionError(budget);
  return { kind: "disrupt", budget };
}

const REFUSAL = "Cannot evict pod as it would violate the pod's disruption budget.";
/** After this time the budget's controller has counted. */
const UNSEEN_RETRY_SECONDS = 10;

/** The error for a budget whose status belongs to an earlier version of it. */
function unseenError({ metadata }: KubeObject): ApiError {
  const message = `The disruption budget ${metadata.name ?? ""} is still being processed by the server.`;
  const causes = [{ reason: "DisruptionBudget", message }];
  return new ApiError("TooManyRequests", REFUSAL, { causes, retryAfterSeconds: UNSEEN_RETRY_SECONDS });
}

function disruptionError(budget: KubeObject): ApiError {
  const { metadata, status } = typed("PodDisruptionBudget", budget);
  const name = metadata?.name ?? "";
  const detail = `The disruption budget ${name} needs ${status?.desiredHealthy ?? 0} healthy pods and has ${status?.currentHealthy ?? 0} currently`;
  return new ApiError("TooManyRequests", REFUSAL, { causes: [{ reason: "DisruptionBudget", message: detail }] });
}

/** The budget after one more disruption. The pod is listed as disrupted until the budget's controller counts again. */
export function disruptedBudget(budget: KubeObject, podName: string, now: string): KubeObject {
  const { status } = typed("PodDisruptionBudget", budget);
  const disruptedPods = { ...status?.disruptedPods, [podName]: now };
  const disruptionsAllowed = (status?.disruptionsAllowed ?? 0) - 1;
  return { ...budget, status: { ...status, disruptionsAllowed, disruptedPods } };
}

/** The pod with the condition that tells its owner that it did not fail by itself. */
export function evictedPod(pod: KubeObject, now: string): KubeObject {
  const wanted = {
    type: "DisruptionTarget",
    status: "True",
    reason: "EvictionByEvictionAPI",
    message: "Eviction API: evicting",
  };
  return untyped(withPodCondition(typed("Pod", pod), wanted, now) ?? typed("Pod", pod));
}
