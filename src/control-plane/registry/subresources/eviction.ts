import { ApiError } from "../../../api/api-error.ts";
import { type KubeObject, type ObjectOf, typed, untyped } from "../../../api/object.ts";
import { labelSelectorOf } from "../../../api/selectors/label-selector.ts";
import { withPodCondition } from "../../control-loop/pod-condition.ts";

/** The decision about an eviction. */
type DisruptionPlan =
  /** No budget stands against it. */
  | { kind: "evict" }
  /** This budget does not count the pod, because it is not ready. The pod must not become so before it is deleted. */
  | { kind: "evict-unready"; budget: KubeObject }
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
  const { spec, status: disruptions = {} } = typed("PodDisruptionBudget", budget);
  const { currentHealthy = 0, desiredHealthy = 0, disruptionsAllowed = 0, disruptedPods = {} } = disruptions;
  const isHealthy = currentHealthy >= desiredHealthy && desiredHealthy > 0;
  const mayEvictUnready = spec?.unhealthyPodEvictionPolicy === "AlwaysAllow" || isHealthy;
  if (!isReady && mayEvictUnready) return { kind: "evict-unready", budget };
  if ((disruptions.observedGeneration ?? 0) < (budget.metadata.generation ?? 0)) throw unseenError(budget);
  if (disruptionsAllowed < 1) throw disruptionError(budget);
  if (Object.keys(disruptedPods).length > MAX_DISRUPTED_PODS) throw crowdedError(budget);
  return { kind: "disrupt", budget };
}

/** With more evictions that the budget's controller has not seen yet, no others are allowed. */
const MAX_DISRUPTED_PODS = 2_000;

function crowdedError({ metadata }: KubeObject): ApiError {
  const detail = "DisruptedPods map too big - too many evictions not confirmed by PDB controller";
  const name = metadata.name ?? "";
  return new ApiError("Forbidden", `poddisruptionbudget.policy "${name}" is forbidden: ${detail}`);
}

const REFUSAL = "Cannot evict pod as it would violate the pod's disruption budget.";
/** After this time the budget's controller has counted. */
const UNSEEN_RETRY_SECONDS = 10;

/** The error for a budget whose status does not fit any more, because the budget or the pod has changed. */
export function unseenError({ metadata }: KubeObject): ApiError {
  const message = `The disruption budget ${metadata.name ?? ""} is still being processed by the server.`;
  const causes = [{ reason: "DisruptionBudget", message }];
  return new ApiError("TooManyRequests", REFUSAL, { causes, retryAfterSeconds: UNSEEN_RETRY_SECONDS });
}

function disruptionError(budget: KubeObject): ApiError {
  const causes = [{ reason: "DisruptionBudget", message: refusalDetail(typed("PodDisruptionBudget", budget)) }];
  return new ApiError("TooManyRequests", REFUSAL, { causes });
}

function refusalDetail({ metadata, status = {} }: ObjectOf<"PodDisruptionBudget">): string {
  const subject = `The disruption budget ${metadata.name ?? ""}`;
  const { currentHealthy = 0, desiredHealthy = 0, conditions = [] } = status;
  const condition = conditions.find(({ type }) => type === "DisruptionAllowed");
  const { reason = "", message = "" } = condition?.status === "False" ? condition : {};
  // The numbers of a budget that could not be counted mean nothing.
  if (reason === "SyncFailed" && message !== "") {
    return `${subject} does not allow evicting pods currently because it failed sync: ${message}`;
  }
  if (currentHealthy <= desiredHealthy) {
    return `${subject} needs ${desiredHealthy} healthy pods and has ${currentHealthy} currently`;
  }
  const because = message === "" ? "" : ` (${reason}): ${message}`;
  return `${subject} does not allow evicting pods currently${because}`;
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
