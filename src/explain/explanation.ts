import type { Cause, TimelineRecord } from "../base/timeline.ts";

/** Why a pod is as it is. `nodelet explain -o json` prints it, and the node's API answers with it. */
export interface PodExplanation {
  readonly kind: "PodExplanation";
  readonly version: 1;
  readonly pod: { readonly namespace: string; readonly name: string; readonly uid: string; readonly node: string };
  /** The phase; `Terminating` while it is deleted, `Gone` for a pod that nobody has any more, and `Refused` for one that its controller cannot make. */
  readonly state: string;
  readonly isReady: boolean;
  /** What must happen before the pod goes on; empty for one that is as it should be. */
  readonly waits: readonly Reason[];
  /** What ended the pod or, last, its containers; empty for what never ended. */
  readonly ends: readonly Reason[];
  /** What was decided, oldest first. */
  readonly steps: readonly ExplainedStep[];
  /** What the answer may lack, such as files of the history that cannot be read. */
  readonly gaps: readonly string[];
}

/** One reason in words. */
export interface Reason {
  /** Upstream's word, such as `ImagePullBackOff`. */
  readonly reason: string;
  readonly message: string;
  readonly container?: string;
  /** Since when, or when; RFC 3339. */
  readonly at?: string;
  /** What to do about it, where that is known. */
  readonly mend?: string;
  /** What led to it, the nearest first: each is the cause of the one before it. */
  readonly causes?: readonly ExplainedCause[];
}

/** What led to something: another decision, a state of the node, or a reading. */
export interface ExplainedCause {
  readonly reason: string;
  readonly message: string;
  /** When it was, or since when it has lasted; RFC 3339 with milliseconds. */
  readonly at: string;
}

/** One decision of the timeline. */
export interface ExplainedStep {
  /** The time of its last occurrence; RFC 3339 with milliseconds. */
  readonly at: string;
  readonly firstAt: string;
  readonly count: number;
  readonly type: string;
  readonly reason: string;
  readonly message: string;
  readonly container?: string;
  /** How long what it tells of took, where that was measured. */
  readonly tookMs?: number;
  readonly causes?: readonly ExplainedCause[];
  /** The pod that it was about: a later pod of the same name has another. */
  readonly uid: string;
}

/** Turns a record of the timeline into a step. */
export function explainStep({
  pod,
  at,
  firstAt,
  count,
  type,
  reason,
  message,
  container,
  tookMs,
  causes = [],
}: TimelineRecord): ExplainedStep {
  return {
    at: formatInstant(at),
    firstAt: formatInstant(firstAt),
    count,
    type,
    reason,
    message,
    ...(container !== undefined && { container }),
    ...(tookMs !== undefined && { tookMs }),
    ...(causes.length > 0 && { causes: causes.map(explainCause) }),
    uid: pod.uid,
  };
}

/** Turns a cause of a record into one of a step or a reason. */
export function explainCause({ reason, message, at }: Cause): ExplainedCause {
  return { reason, message, at: formatInstant(at) };
}

/** A time that a date cannot hold came from a record that was changed by hand, and must not cost the whole answer. */
function formatInstant(at: number): string {
  const date = new Date(at);
  return Number.isNaN(date.getTime()) ? new Date(0).toISOString() : date.toISOString();
}
