import type { Container, Pod } from "../../../api/gen/types.ts";
import { isCriticalPod, isRestartableInitContainer } from "../../../api/pods.ts";
import { computeQosClass } from "../../../api/qos.ts";
import { quantityValue } from "../../../api/quantity.ts";
import { computePodRequests } from "../../../api/resources.ts";
import { assert } from "../../../base/assert.ts";

const GUARANTEED = -997n;
const BEST_EFFORT = 1000n;
/** The score of a burstable container stays strictly between the two others, whatever it requests. */
const BURSTABLE_MIN = 1000n + GUARANTEED;
const BURSTABLE_MAX = BEST_EFFORT - 1n;

/**
 * Computes `oom_score_adj` of the container's processes, -1000 to 1000: with a higher score the kernel kills them
 * sooner when the machine runs out of memory. The score of a burstable container falls with the share of memory that it
 * requested, so that a container within its request survives one that is not. Follows pkg/kubelet/qos/policy.go.
 */
export function computeOomScoreAdjust(pod: Pod, container: Container, memoryCapacityBytes: bigint): bigint {
  assert(memoryCapacityBytes > 0n, "a machine has memory");
  if (isNodeCriticalPod(pod)) return GUARANTEED;
  const qos = computeQosClass(pod);
  if (qos === "Guaranteed") return GUARANTEED;
  if (qos === "BestEffort") return BEST_EFFORT;

  const scoreOf = (bytes: bigint) => 1000n - (1000n * bytes) / memoryCapacityBytes;
  let score = scoreOf(memoryRequest(container) + podLevelSurplus(pod));
  if (isSidecar(pod, container)) {
    // A sidecar serves the main containers: it must not be killed before the least protected of them.
    const least = scoreOf(smallestMainRequest(pod));
    if (least < score) score = least;
  }
  if (score < BURSTABLE_MIN) return BURSTABLE_MIN;
  return score > BURSTABLE_MAX ? BURSTABLE_MAX : score;
}

function isNodeCriticalPod(pod: Pod): boolean {
  return isCriticalPod(pod) && pod.spec?.priorityClassName === "system-node-critical";
}

function isSidecar(pod: Pod, container: Container): boolean {
  const isInit = pod.spec?.initContainers?.some(({ name }) => name === container.name) ?? false;
  return isInit && isRestartableInitContainer(container);
}

function memoryRequest(container: Container): bigint {
  return quantityValue(container.resources?.requests?.["memory"] ?? "0");
}

function smallestMainRequest(pod: Pod): bigint {
  const [first = 0n, ...others] = (pod.spec?.containers ?? []).map(memoryRequest);
  let smallest = first;
  for (const request of others) if (request < smallest) smallest = request;
  return smallest;
}

/** Computes what the pod as a whole requested beyond its containers, split evenly among them. */
function podLevelSurplus(pod: Pod): bigint {
  const { spec } = pod;
  const podRequest = quantityValue(spec?.resources?.requests?.["memory"] ?? "0");
  if (spec === undefined || podRequest === 0n) return 0n;
  const containersOnly = computePodRequests({ ...pod, spec: { ...spec, resources: {}, overhead: {} } });
  const surplus = podRequest - quantityValue(containersOnly["memory"] ?? "0");
  return surplus / BigInt(spec.containers.length + (spec.initContainers?.length ?? 0));
}
