import type { TimelineRecord } from "../base/timeline.ts";
import { type ExplainedStep, explainStep, type PodExplanation, type Reason } from "./explanation.ts";
import { findMend } from "./find-mend.ts";

/**
 * The API group under which nodelet's API server tells what it has decided about a pod:
 * `/apis/explain.nodelet/v1/namespaces/NAMESPACE/pods/NAME`, with the right to `get` `pods` of this group.
 */
export const DECISIONS_GROUP = "explain.nodelet";
export const DECISIONS_VERSION = "v1";

/** What the control plane has decided about the pods of a name: who deleted them, and how they got their nodes. */
export interface PodDecisions {
  readonly kind: "PodDecisions";
  readonly apiVersion: "explain.nodelet/v1";
  /** Oldest first. */
  readonly steps: readonly ExplainedStep[];
  /** What the answer may lack. */
  readonly gaps: readonly string[];
}

/** The reason of the record that tells who deleted a pod. */
export const DELETION_REQUESTED = "DeletionRequested";
/** The reason of the record that tells which nodes were refused, and by which rule. */
export const NODES_REFUSED = "NodesRefused";
/** What stands between the rules in such a record. */
export const RULE_SEPARATOR = "; ";

/** Makes the answer of records. */
export function toPodDecisions(records: readonly TimelineRecord[], gaps: readonly string[]): PodDecisions {
  const apiVersion = `${DECISIONS_GROUP}/${DECISIONS_VERSION}` as const;
  return { kind: "PodDecisions", apiVersion, steps: records.map(explainStep), gaps };
}

/**
 * Adds what the control plane knows of a pod to what its node knows: all steps in order of time, who asked for its end,
 * and rule by rule why no node took it. Pure.
 */
export function addDecisions(
  found: PodExplanation,
  { steps: decided, gaps }: Pick<PodDecisions, "steps" | "gaps">,
): PodExplanation {
  const { pod, state, waits, ends } = found;
  const steps = mergeInOrder(found.steps, decided);
  const uid = pod.uid === "" ? (steps.at(-1)?.uid ?? "") : pod.uid;
  const own = decided.filter((step) => step.uid === uid);
  const isUnplaced = pod.node === "" && state === "Pending";
  const refused = isUnplaced ? lastOf(own, NODES_REFUSED).flatMap((step) => refusalsOf(step, pod.namespace)) : [];
  // A pod that finalizers hold is deleted once more, by its node when the containers have ended: the first one was the cause.
  const deletion = own
    .filter(({ reason }) => reason === DELETION_REQUESTED)
    .slice(0, 1)
    .map(({ reason, message, firstAt: at }) => ({ reason, message, at }));
  return {
    ...found,
    pod: { ...pod, uid },
    waits: [...waits, ...refused],
    ends: [...deletion, ...ends],
    steps,
    gaps: [...found.gaps, ...gaps],
  };
}

/**
 * Joins what two recorded, by the times of both. What one of them recorded stays in the order in which it did so, however its
 * clock jumped.
 */
function mergeInOrder(node: readonly ExplainedStep[], decided: readonly ExplainedStep[]): ExplainedStep[] {
  const merged: ExplainedStep[] = [];
  const waiting = [...decided].reverse();
  for (const step of node) {
    for (let next = waiting.at(-1); next !== undefined && isBefore(next, step); next = waiting.at(-1)) {
      merged.push(next);
      waiting.pop();
    }
    merged.push(step);
  }
  return [...merged, ...waiting.reverse()];
}

function isBefore(a: ExplainedStep, b: ExplainedStep): boolean {
  return Date.parse(a.at) < Date.parse(b.at);
}

/** One reason for each rule, because each has a mend of its own. */
function refusalsOf({ reason, message: all, firstAt: at }: ExplainedStep, namespace: string): Reason[] {
  return all.split(RULE_SEPARATOR).map((message) => {
    const mend = findMend({ namespace, reason, message });
    return { reason, message, at, ...(mend !== undefined && { mend }) };
  });
}

function lastOf(steps: readonly ExplainedStep[], reason: string): ExplainedStep[] {
  const last = steps.findLast((step) => step.reason === reason);
  return last === undefined ? [] : [last];
}
