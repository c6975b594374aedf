import type { Pod } from "../../api/gen/types.ts";
import { podReference } from "../../api/pods.ts";
import type { NodeReport, PodEvent } from "../status/node-report.ts";
import { computePodStatusWord } from "../status/pod-row.ts";
import type { ExpectedPod } from "./manifest-pods.ts";

/** How far the pods of a manifests directory have come. */
export interface Settlement {
  /** True when every pod is Running with all containers ready, or Succeeded. */
  settled: boolean;
  /** These are one sentence for each pod that is not there yet. */
  waiting: string[];
  /** These are one sentence for each pod that will not get there by waiting. */
  failed: string[];
}

/** The waiting reasons that do not go away with time. */
const HOPELESS = new Set(["InvalidImageName", "ErrImageNeverPull", "CreateContainerConfigError"]);

/** Compares the pods of the manifests with the node agent's report. */
export function computeSettlement(expected: readonly ExpectedPod[], report: NodeReport): Settlement {
  const waiting: string[] = [];
  const failed: string[] = [];
  for (const { namespace, name, file } of expected) {
    const staticName = `${name}-${report.node.name}`.toLowerCase();
    const pod = report.pods.find((candidate) => {
      const reference = podReference(candidate);
      return reference.namespace === namespace && reference.name === staticName;
    });
    const label = `${namespace}/${staticName}`;
    if (pod === undefined) {
      waiting.push(`${label} (${file}) has not been taken up`);
      continue;
    }
    if (isSettled(pod)) continue;
    const sentence = `${label} is ${computePodStatusWord(pod)}${explain(pod, report.events)}`;
    if (isHopeless(pod)) failed.push(sentence);
    else waiting.push(sentence);
  }
  return { settled: waiting.length === 0 && failed.length === 0, waiting, failed };
}

function isSettled(pod: Pod): boolean {
  if (pod.status?.phase === "Succeeded") return true;
  if (pod.status?.phase !== "Running") return false;
  const statuses = pod.status.containerStatuses ?? [];
  const done = (status: (typeof statuses)[number]) => status.state?.terminated?.exitCode === 0;
  return statuses.length > 0 && statuses.every((status) => (status.ready && status.state?.running) || done(status));
}

function isHopeless(pod: Pod): boolean {
  if (pod.status?.phase === "Failed") return true;
  const statuses = [...(pod.status?.initContainerStatuses ?? []), ...(pod.status?.containerStatuses ?? [])];
  return statuses.some((status) => HOPELESS.has(status.state?.waiting?.reason ?? ""));
}

/**
 * Returns the best explanation of the pod's state: its own message, that of a waiting container, or its last warning.
 */
function explain(pod: Pod, events: readonly PodEvent[]): string {
  const statuses = [...(pod.status?.initContainerStatuses ?? []), ...(pod.status?.containerStatuses ?? [])];
  const waiting = statuses.find((status) => status.state?.waiting?.message)?.state?.waiting?.message;
  const uid = podReference(pod).uid;
  const isTelling = (event: PodEvent) => event.type === "Warning" && event.reason !== "MissingClusterDNS";
  const warning = events.findLast((event) => event.pod.uid === uid && isTelling(event))?.message;
  const words = pod.status?.message ?? waiting ?? warning;
  return words ? `: ${words}` : "";
}
