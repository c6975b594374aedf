import type { ContainerStatus, Pod, PodStatus } from "../../../src/api/gen/types.ts";
import { PODS } from "../../../src/api/kube-resource.ts";
import {
  isMirrorPod,
  isRestartableInitContainer,
  isTerminalPhase,
  podFullName,
  podUid,
} from "../../../src/api/pods.ts";
import type { PodVersion } from "../api/api-pods.ts";
import type { Cluster } from "../api/create-cluster.ts";
import { isEndedByNode } from "../ended-by-node.ts";
import { containersOf, restartsAfterExit } from "../pod-script.ts";
import { short } from "../trace.ts";
import type { World } from "../world.ts";
import type { Check } from "./check.ts";

/**
 * What the node agent has said to the API of a pod it does not take back: a verdict, an end, a restart count. And it never
 * says of what runs and is ready that it is not, above all not because it was started anew.
 */
export function createApiStatusCheck(world: World, cluster: Cluster): Check {
  const check = (pod: Pod, previous: Pod) => {
    const problem = findRegression(world, pod, previous);
    if (problem === undefined) return;
    world.fail("what the API was told is not taken back", `${podFullName(pod)} ${short(podUid(pod))}: ${problem}`);
  };
  return {
    wrote({ verb, plural, subresource }, answer) {
      if (verb !== "patch" || plural !== "pods" || subresource !== "status") return;
      const pod = PODS.read(answer);
      const version: PodVersion | undefined = cluster.pods.versionOf(pod.metadata?.resourceVersion);
      if (version === undefined) world.fail("the simulator sees every version of a pod", podFullName(pod));
      else if (version.previous !== undefined) check(version.pod, version.previous);
    },
  };
}

function findRegression(world: World, pod: Pod, previous: Pod): string | undefined {
  const [before, after] = [previous.status ?? {}, pod.status ?? {}];
  if (isTerminalPhase(before.phase) && after.phase !== before.phase) return `${before.phase}, then ${after.phase}`;
  if (before.startTime !== undefined && after.startTime !== before.startTime) {
    return `started at ${before.startTime}, then at ${after.startTime}`;
  }
  for (const was of listContainers(before)) {
    const problem = findContainerRegression(world, {
      pod,
      was,
      is: listContainers(after).find(({ name }) => name === was.name),
    });
    if (problem !== undefined) return `container ${was.name}: ${problem}`;
  }
  return findAddressLoss(world, pod, { before, after }) ?? findUnreadiness(world, pod, { before, after });
}

function listContainers({ initContainerStatuses = [], containerStatuses = [] }: PodStatus): ContainerStatus[] {
  return [...initContainerStatuses, ...containerStatuses];
}

interface Comparison {
  pod: Pod;
  was: ContainerStatus;
  is: ContainerStatus | undefined;
}

function findContainerRegression(world: World, { pod, was, is }: Comparison): string | undefined {
  // A refused pod's status has only the reason, even when the pod ran under the agent before.
  if (is === undefined) return isEndedByNode(world, podUid(pod)) ? undefined : "is not spoken of any more";
  if (is.restartCount < was.restartCount) return `${was.restartCount} restarts, then ${is.restartCount}`;
  const isAnother = is.containerID !== undefined && is.containerID !== was.containerID;
  const ended = was.state?.terminated;
  if (ended !== undefined && is.state?.terminated === undefined && !isAnother) {
    const mayRestart = restartsAfterExit(pod, was.name, ended.exitCode);
    if (!mayRestart) return `ended with ${ended.exitCode} for good, then ${JSON.stringify(is.state)}`;
  }
  if (was.state?.running === undefined) return undefined;
  const stillRuns = world.cri.runningContainers().some(({ id }) => was.containerID?.endsWith(id) === true);
  if (!stillRuns) return undefined;
  if (is.state?.running === undefined || isAnother) return `runs, and is said to be ${JSON.stringify(is.state)}`;
  if (!was.ready || is.ready || isEnding(world, pod) || isFoundUnready(world, pod, was)) return undefined;
  return "runs, and is not ready any more";
}

/** A static pod's mirror says what the runtime says as well. */
function findAddressLoss(world: World, pod: Pod, { before, after }: { before: PodStatus; after: PodStatus }) {
  if (before.podIP === undefined || before.podIP === after.podIP || isMirrorPod(pod)) return undefined;
  // As of its containers: of a pod that is refused nothing is told but why.
  if (after.podIP === undefined && isEndedByNode(world, podUid(pod))) return undefined;
  const holder = world.cri
    .sandboxes()
    .find(({ config, ip, state }) => state === "ready" && config.metadata?.uid === podUid(pod) && ip === before.podIP);
  return holder && `has the address ${before.podIP}, and is said to have ${after.podIP ?? "none"}`;
}

/** The verdict on what the node ends is told with its end. */
function isEnding(world: World, pod: Pod): boolean {
  return pod.metadata?.deletionTimestamp !== undefined || isEndedByNode(world, podUid(pod));
}

function findUnreadiness(world: World, pod: Pod, { before, after }: { before: PodStatus; after: PodStatus }) {
  const readyOf = ({ conditions = [] }: PodStatus) => conditions.find(({ type }) => type === "Ready");
  if (readyOf(before)?.status !== "True" || readyOf(after)?.status === "True") return undefined;
  if (isTerminalPhase(after.phase) || isEnding(world, pod)) return undefined;
  const sidecars = (pod.spec?.initContainers ?? []).filter(isRestartableInitContainer).map(({ name }) => name);
  const lasting = [
    ...(after.containerStatuses ?? []),
    ...(after.initContainerStatuses ?? []).filter(({ name }) => sidecars.includes(name)),
  ];
  if (lasting.some(({ ready }) => !ready)) return undefined;
  return `all is ready, and the pod is not: ${JSON.stringify(readyOf(after))}`;
}

/**
 * Its readiness probe has failed often enough. Of a static pod an agent that was started anew knows nothing from before,
 * as upstream's: it is not ready until its first probe.
 */
function isFoundUnready({ probed }: World, pod: Pod, { name, containerID }: ContainerStatus): boolean {
  const container = containersOf(pod).find((each) => each.name === name);
  const probe = container?.readinessProbe;
  const id = containerID?.split("://")[1];
  if (isMirrorPod(pod) && (probe ?? container?.startupProbe) !== undefined) return true;
  if (probed === undefined || probe === undefined || id === undefined) return false;
  return probed.evidence(id, "readiness").failuresInARow >= (probe.failureThreshold ?? 3);
}
