import type { Pod, PodCondition, PodStatus } from "../../../api/gen/types.ts";
import { isTerminalPhase } from "../../../api/pods.ts";
import { formatTime } from "../../../base/clock.ts";
import { mergePodStatus, withVerdictOf } from "./merge-pod-status.ts";
import { isOwnedCondition, TERMINATION_BY_KUBELET } from "./pod-conditions.ts";

/** What the node says of a pod. */
interface OwnStatus {
  readonly pod: Pod;
  readonly status: PodStatus;
  /** Something of the pod may run still. */
  readonly mayRun?: boolean;
}

/**
 * The status that the API is to have: what the node says, what others own, and of both what never goes back (upstream:
 * `mergePodStatus`, pkg/kubelet/status/status_manager.go). `apiPod` is the API's pod that shows the node's.
 */
export function computeApiStatus({ pod, status, mayRun }: OwnStatus, apiPod: Pod, now: number): PodStatus {
  const api = apiPod.status ?? {};
  const merged = mergePodStatus(pod, api, status, now);
  // Whoever sees a pod end may replace it at once, and give another what it holds.
  const isEarly = mayRun === true && isTerminalPhase(merged.phase) && !isTerminalPhase(api.phase);
  const own = isEarly ? withVerdictOf(api, merged) : merged;
  // Static pods have none, and their mirrors are left without one as upstream leaves them (KEP-5067).
  const generation = own.observedGeneration ?? pod.metadata?.generation;
  const observedGeneration = latest(generation, api.observedGeneration);
  return {
    ...withoutForeign(own),
    ...foreignFields(api),
    ...(observedGeneration === undefined ? {} : { observedGeneration }),
    conditions: mergeConditions({ api, own, generation, now }),
  };
}

/** Without those of the scheduler and of controllers; the node restriction refuses nodes that touch some of them. */
function withoutForeign(status: PodStatus): PodStatus {
  const {
    nominatedNodeName: _nominated,
    resourceClaimStatuses: _claims,
    extendedResourceClaimStatus: _extended,
    nodeAllocatableResourceClaimStatuses: _allocatable,
    ...own
  } = status;
  return own;
}

/** The same as the API has them. */
function foreignFields(api: PodStatus): PodStatus {
  const { qosClass, nominatedNodeName, resourceClaimStatuses } = api;
  const { extendedResourceClaimStatus, nodeAllocatableResourceClaimStatuses } = api;
  return {
    // The server fixes the class when it creates the pod and refuses another.
    ...(qosClass && { qosClass }),
    ...(nominatedNodeName && { nominatedNodeName }),
    ...(resourceClaimStatuses && { resourceClaimStatuses }),
    ...(extendedResourceClaimStatus && { extendedResourceClaimStatus }),
    ...(nodeAllocatableResourceClaimStatuses && { nodeAllocatableResourceClaimStatuses }),
  };
}

interface Conditions {
  api: PodStatus;
  own: PodStatus;
  generation: number | undefined;
  now: number;
}

/** In the API's order, with what is new of ours behind. What the node owns and does not say any more goes. */
function mergeConditions({ api, own, generation, now }: Conditions): PodCondition[] {
  const wanted = new Map<string, PodCondition>();
  for (const condition of own.conditions ?? []) {
    if (isOwnedCondition(condition.type)) wanted.set(condition.type, condition);
  }
  const disruption = disruptionByNode(api, own, now);
  if (disruption !== undefined) wanted.set(disruption.type, disruption);

  const merged: PodCondition[] = [];
  for (const known of api.conditions ?? []) {
    const ours = wanted.get(known.type);
    if (ours !== undefined) merged.push(withGeneration(ours, generation, known.observedGeneration));
    else if (!isOwnedCondition(known.type)) merged.push(known);
    wanted.delete(known.type);
  }
  return [...merged, ...[...wanted.values()].map((ours) => withGeneration(ours, generation, undefined))];
}

function withGeneration(condition: PodCondition, own: number | undefined, known: number | undefined): PodCondition {
  const observedGeneration = latest(own, known);
  return observedGeneration === undefined ? condition : { ...condition, observedGeneration };
}

function latest(own: number | undefined, known: number | undefined): number | undefined {
  if (own === undefined || known === undefined) return own ?? known;
  return Math.max(own, known);
}

/**
 * Told together with the end of the pod and not before, so that nobody replaces a pod that may still finish its work. A
 * copy of what others said of a disruption is not ours to repeat.
 */
function disruptionByNode(api: PodStatus, own: PodStatus, now: number): PodCondition | undefined {
  if (isTerminalPhase(api.phase) || !isTerminalPhase(own.phase)) return undefined;
  const ours = own.conditions?.find(({ type, reason }) => {
    return type === "DisruptionTarget" && reason === TERMINATION_BY_KUBELET;
  });
  if (ours === undefined) return undefined;
  const known = api.conditions?.find(({ type }) => type === ours.type);
  const kept = known?.status === ours.status ? known.lastTransitionTime : undefined;
  return { ...ours, lastTransitionTime: kept ?? formatTime(now) };
}
