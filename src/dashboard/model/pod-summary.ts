import type { Pod } from "../../api/gen/types.ts";
import { isPodReady, isTerminalPhase, podReference } from "../../api/pods.ts";
import { computePodStatusWord } from "../../cluster/status/pod-row.ts";
import { explainPod, isInTrouble } from "../../explain/explain-pod.ts";
import type { Reason } from "../../explain/explanation.ts";

/** A pod in a list. */
export interface DescribedPod {
  readonly pod: Pod;
  /** `namespace/name` */
  readonly key: string;
  /** kubectl's word. */
  readonly status: string;
  readonly tone: "good" | "wait" | "bad" | "done";
  /** What it waits for, or what ended it, where somebody should know; by its status alone. */
  readonly trouble: Reason | undefined;
}

/** These words say that a pod is on its way, and not that something is wrong. */
const ON_ITS_WAY = /^(Pending|ContainerCreating|PodInitializing|Terminating|Running|NotReady|Init:\d+\/\d+)$/;

/** Describes a pod by its status alone, for lists of hundreds. */
export function describePod(pod: Pod): DescribedPod {
  const { namespace, name } = podReference(pod);
  const status = computePodStatusWord(pod);
  const explanation = explainPod({ namespace, name, pod, records: [] });
  const isOnItsWay = ON_ITS_WAY.test(status) && !isUnschedulable(pod);
  const trouble = isInTrouble(explanation) && !isOnItsWay ? (explanation.waits[0] ?? explanation.ends[0]) : undefined;
  return { pod, key: `${namespace}/${name}`, status, trouble, tone: toneOf(pod, isOnItsWay) };
}

function toneOf(pod: Pod, isOnItsWay: boolean): DescribedPod["tone"] {
  const phase = pod.status?.phase;
  if (phase === "Succeeded") return "done";
  if (isTerminalPhase(phase)) return "bad";
  if (isPodReady(pod) && pod.metadata?.deletionTimestamp === undefined) return "good";
  return isOnItsWay ? "wait" : "bad";
}

function isUnschedulable({ spec, status }: Pod): boolean {
  const isRefused = status?.conditions?.some(
    ({ type, reason }) => type === "PodScheduled" && reason === "Unschedulable",
  );
  return !spec?.nodeName && isRefused === true;
}
