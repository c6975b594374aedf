import type { Pod } from "../../api/gen/types.ts";
import { isMirrorPod, nodeUidOf } from "../../api/pods.ts";
import { parseTime } from "../../base/clock.ts";
import type { ExplainedStep } from "../../explain/explanation.ts";

/** One thing that had to be done before the pod was ready. Times are milliseconds since the epoch. */
export interface StartStep {
  readonly what: "scheduling" | "volumes" | "sandbox" | "image" | "create" | "start" | "ready";
  /** The container; undefined for what concerns the whole pod. */
  readonly container: string | undefined;
  readonly from: number;
  /** Undefined: it goes on. */
  readonly until: number | undefined;
  /** What was recorded at its end. */
  readonly note: string;
}

/** The start of a pod, from its creation until it was ready first. */
interface Waterfall {
  readonly from: number;
  /** The end of the last step, or now while one goes on. */
  readonly until: number;
  readonly steps: readonly StartStep[];
}

/** The order in which a container comes to run, by the reasons of the records. */
const CONTAINER_STEPS = [
  { what: "image", begin: "Pulling", end: "Pulled" },
  { what: "create", begin: undefined, end: "Created" },
  { what: "start", begin: undefined, end: "Started" },
] as const;

/**
 * Computes the first start of a pod from its records. A step begins where what it needs has ended, because a pod's worker
 * does one thing after the other. Undefined where nothing of the start is known.
 */
export function computeWaterfall(pod: Pod, steps: readonly ExplainedStep[], now: number): Waterfall | undefined {
  const own = steps.filter(({ uid }) => uid === nodeUidOf(pod));
  const createdAt = parseTime(pod.metadata?.creationTimestamp);
  const first = own[0] === undefined ? undefined : parseTime(own[0].firstAt);
  // A mirror pod may be older than the start: its static pod is made anew beneath it.
  const from = isMirrorPod(pod) ? (first ?? createdAt) : (createdAt ?? first);
  if (from === undefined) return undefined;
  const found: StartStep[] = [];
  let at = from;
  const add = (what: StartStep["what"], end: ExplainedStep | undefined, time = parseTime(end?.firstAt)) => {
    if (time === undefined) return;
    found.push({ what, container: undefined, from: Math.min(at, time), until: time, note: end?.message ?? "" });
    at = Math.max(at, time);
  };
  const scheduled = pod.status?.conditions?.find(({ type, status }) => type === "PodScheduled" && status === "True");
  // The API server's times are whole seconds: what the node recorded first was not before the pod had a node.
  const scheduledAt = parseTime(scheduled?.lastTransitionTime);
  add(
    "scheduling",
    undefined,
    scheduledAt === undefined ? undefined : Math.max(from, Math.min(scheduledAt, first ?? scheduledAt)),
  );
  add("volumes", firstOf(own, "VolumesReady"));
  add("sandbox", firstOf(own, "SandboxStarted"));
  const containers = [...(pod.spec?.initContainers ?? []), ...(pod.spec?.containers ?? [])];
  for (const { name } of containers) found.push(...containerSteps(own, name, at));
  const ready = firstOf(own, "PodReady");
  const lastEnd = Math.max(at, ...found.map(({ until }) => until ?? at));
  if (ready !== undefined) {
    const until = Math.max(lastEnd, parseTime(ready.firstAt) ?? lastEnd);
    found.push({ what: "ready", container: undefined, from: lastEnd, until, note: ready.message });
  }
  if (found.length === 0) return undefined;
  const told = found.map((step) => withoutJumps(step, from));
  const ends = told.map((step) => step.until ?? Math.max(step.from, now));
  return { from, until: Math.max(from, ...ends), steps: told };
}

/** A clock that was set back makes nothing end before it began, nor begin before the pod did. */
function withoutJumps(step: StartStep, begin: number): StartStep {
  const from = Math.max(begin, step.from);
  return { ...step, from, until: step.until === undefined ? undefined : Math.max(from, step.until) };
}

function containerSteps(own: readonly ExplainedStep[], container: string, podReadyAt: number): StartStep[] {
  const records = own.filter((step) => step.container === container);
  const found: StartStep[] = [];
  let at = podReadyAt;
  for (const { what, begin, end } of CONTAINER_STEPS) {
    const begun = begin === undefined ? undefined : parseTime(firstOf(records, begin)?.firstAt);
    const last = firstOf(records, end);
    const ended = parseTime(last?.firstAt);
    if (begun === undefined && ended === undefined) continue;
    // Where it was measured how long a step took, what lies between it and the one before is not told as its time.
    const measured = ended === undefined || last?.tookMs === undefined ? at : Math.max(at, ended - last.tookMs);
    const from = begun ?? Math.min(measured, ended ?? at);
    found.push({ what, container, from, until: ended, note: last?.message ?? "" });
    if (ended === undefined) break;
    at = Math.max(at, ended);
  }
  return found;
}

function firstOf(steps: readonly ExplainedStep[], reason: string): ExplainedStep | undefined {
  return steps.find((step) => step.reason === reason);
}
