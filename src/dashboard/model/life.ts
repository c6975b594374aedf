import { parseTime } from "../../base/clock.ts";
import type { ExplainedStep, PodExplanation } from "../../explain/explanation.ts";

/** How a pod or a container is. Whether it is ready is told of pods only; what ended with an error has failed. */
export type LifeState = "waiting" | "running" | "ready" | "done" | "failed";

/** A time in one state. Times are milliseconds since the epoch. */
interface LifeSpan {
  readonly state: LifeState;
  readonly from: number;
  readonly until: number;
  /** What began it, in the words of the record. */
  readonly why: string;
}

/** The pod itself, or one of its containers, with the warnings about it. */
interface LifeLane {
  /** "" for the pod itself. */
  readonly container: string;
  readonly spans: readonly LifeSpan[];
  readonly warnings: ReadonlyArray<{ readonly at: number; readonly count: number; readonly words: string }>;
}

/** Everything on one axis. */
interface Life {
  readonly from: number;
  readonly until: number;
  readonly lanes: readonly LifeLane[];
}

/** The state that begins with a record, by its reason. */
const POD_STATES: Readonly<Record<string, LifeState>> = {
  PodReady: "ready",
  PodNotReady: "waiting",
  PodSucceeded: "done",
  PodFailed: "failed",
  Evicted: "failed",
};
const CONTAINER_STATES: Readonly<Record<string, LifeState>> = {
  Pulling: "waiting",
  Started: "running",
  BackOff: "waiting",
  CrashLoopBackOff: "waiting",
};

/** Computes the life of a pod from the records about it; undefined where there are none. */
export function computeLife({ pod, state, steps }: PodExplanation, now: number): Life | undefined {
  const own = steps.filter(({ uid }) => uid === pod.uid);
  const times = own.flatMap(({ firstAt, at }) => [parseTime(firstAt) ?? [], parseTime(at) ?? []].flat());
  if (times.length === 0) return undefined;
  // A clock that was set back put later records before the first.
  const from = times.reduce((least, time) => Math.min(least, time));
  const last = times.reduce((most, time) => Math.max(most, time));
  const isOver = state === "Gone" || state === "Succeeded" || state === "Failed";
  const until = Math.max(from + 1, isOver ? last : Math.max(now, last));
  const containers = [...new Set(own.flatMap(({ container }) => container ?? []))];
  const lanes = ["", ...containers].map((container): LifeLane => {
    const records = own.filter((step) => (step.container ?? "") === container);
    const begins = records.flatMap((step) => {
      const began = stateOf(step);
      const at = parseTime(step.firstAt);
      return began === undefined || at === undefined ? [] : [{ state: began, at, why: wordsOf(step) }];
    });
    const whole = container === "" ? [{ state: "waiting" as const, at: from, why: "" }, ...begins] : begins;
    return { container, spans: joinSpans(whole, until), warnings: records.filter(isWarning).map(describeWarning) };
  });
  return { from, until, lanes };
}

interface Begin {
  readonly state: LifeState;
  readonly at: number;
  readonly why: string;
}

/** Each state lasts until the next one begins, and the same one again is no other. */
function joinSpans(begins: readonly Begin[], until: number): LifeSpan[] {
  let latest = Number.NEGATIVE_INFINITY;
  // States follow each other in the order of the records; one that a clock set back dates earlier begins with the one before.
  const inOrder = begins.map((begin) => {
    latest = Math.max(latest, begin.at);
    return { ...begin, at: latest };
  });
  const changes = inOrder.filter(({ state }, index) => inOrder[index - 1]?.state !== state);
  return changes.map(({ state, at, why }, index) => {
    return { state, from: at, until: Math.max(at, changes[index + 1]?.at ?? until), why };
  });
}

function stateOf({ reason, type, container }: ExplainedStep): LifeState | undefined {
  if (container === undefined) return POD_STATES[reason];
  if (reason === "Exited") return type === "Warning" ? "failed" : "done";
  return CONTAINER_STATES[reason];
}

function isWarning({ type }: ExplainedStep): boolean {
  return type === "Warning";
}

function describeWarning(step: ExplainedStep) {
  return { at: parseTime(step.at) ?? 0, count: step.count, words: wordsOf(step) };
}

function wordsOf({ reason, message }: ExplainedStep): string {
  return message === "" ? reason : `${reason}: ${message}`;
}
