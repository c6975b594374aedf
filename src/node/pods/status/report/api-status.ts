import type { Pod, PodCondition, PodStatus } from "../../../../api/gen/types.ts";
import { isTerminalPhase } from "../../../../api/pods.ts";
import { formatTime } from "../../../../base/clock.ts";
import { mergePodStatus, withVerdictOf } from "../merge-pod-status.ts";
import { findNodeDisruption, isOwnedCondition } from "../pod-conditions.ts";
import type { PublishedStatus } from "../pod-statuses.ts";

/**
 * The status that the API server is to have: what the node says and what others own, where neither takes back what is
 * final (upstream: `mergePodStatus`, pkg/kubelet/status/status_manager.go). `apiPod` is the API server's pod that shows
 * the node's.
 */
export function computeApiStatus({ pod, status, mayRun }: PublishedStatus, apiPod: Pod, now: number): PodStatus {
  const api = apiPod.status ?? {};
  const merged = mergePodStatus(pod, api, status, now);
  // A controller that sees a pod end may replace it at once and give another pod what this one still holds.
  const isEarly = mayRun === true && isTerminalPhase(merged.phase) && !isTerminalPhase(api.phase);
  const own = isEarly ? withVerdictOf(api, merged) : merged;
  // A static pod has no generation, and its mirror is left without an observed one, as upstream leaves it (KEP-5067).
  const generation = own.observedGeneration ?? pod.metadata?.generation;
  const observedGeneration = latest(generation, api.observedGeneration);
  return {
    ...withoutForeign(own),
    ...foreignFields(api),
    ...(observedGeneration === undefined ? {} : { observedGeneration }),
    conditions: mergeConditions({ api, own, generation, now }),
  };
}

/**
 * Leaves out the scheduler's and the controllers' fields; the node restriction refuses nodes that touch some of them.
 */
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

/** The scheduler's and the controllers' fields, as the API server has them. */
function foreignFields(api: PodStatus): PodStatus {
  const { qosClass, nominatedNodeName, resourceClaimStatuses } = api;
  const { extendedResourceClaimStatus, nodeAllocatableResourceClaimStatuses } = api;
  return {
    // The API server fixes the class when it creates the pod and refuses another.
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

/**
 * The conditions in the API server's order, followed by the node's new ones. A condition that the node owns and does
 * not say any more is left out.
 */
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
 * The node's own condition DisruptionTarget. It is told together with the end of the pod and not before, so that no
 * controller replaces a pod that may still finish its work. A condition that the node only copied from others is not
 * repeated.
 */
function disruptionByNode(api: PodStatus, own: PodStatus, now: number): PodCondition | undefined {
  if (isTerminalPhase(api.phase) || !isTerminalPhase(own.phase)) return undefined;
  const ours = findNodeDisruption(own);
  if (ours === undefined) return undefined;
  const known = api.conditions?.find(({ type }) => type === ours.type);
  const kept = known?.status === ours.status ? known.lastTransitionTime : undefined;
  return { ...ours, lastTransitionTime: kept ?? formatTime(now) };
}
