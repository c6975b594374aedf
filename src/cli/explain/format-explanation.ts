import { parseTime } from "../../base/clock.ts";
import { formatHumanDuration } from "../../base/human-duration.ts";
import { toPlainText } from "../../base/plain-text.ts";
import { formatDuration } from "../../config/duration.ts";
import type { NodeExplanation } from "../../explain/explain-node.ts";
import type { ObjectExplanation } from "../../explain/explain-object.ts";
import type { ExplainedCause, ExplainedStep, PodExplanation, Reason } from "../../explain/explanation.ts";
import { foldRepeats } from "../../explain/fold-repeats.ts";

/** Formats an explanation for people: what it waits for or what ended it first, then what happened, in order. */
export function formatPodExplanation(found: PodExplanation, now: number): string {
  const { steps, gaps } = found;
  const head = formatTroubles(found, now);
  const story = steps.length === 0 ? ["Nothing is known of what was decided."] : formatSteps(steps, found.pod.uid);
  const missing = gaps.map((gap) => `Note: ${toPlainText(gap)}`);
  return [...head, "", ...story, ...(missing.length === 0 ? [] : ["", ...missing])].join("\n");
}

/** Formats what ails the node, and its pods. */
export function formatNodeExplanation({ node, conditions, troubles, podCount }: NodeExplanation, now: number): string {
  const ails = conditions.map(({ type, status, reason = "", message = "", lastTransitionTime }) => {
    const since = formatSince(lastTransitionTime, now);
    return toPlainText(`${type} is ${status}${since}: ${[reason, message].filter((text) => text !== "").join(", ")}`);
  });
  const pods = `${podCount} pods, ${troubles.length} of them ${troubles.length === 1 ? "waits or has" : "wait or have"} failed.`;
  return [`Node ${toPlainText(node)}: ${pods}`, ...ails, ...formatAll(troubles, now)].join("\n");
}

/** Formats what a service, a job or a cron job is, and why it is not as it is wished. */
export function formatObjectExplanation({ object, state, waits, ends }: ObjectExplanation, now: number): string {
  const { kind, namespace, name } = object;
  const reasons = [
    ...waits.map((reason) => formatReason("waits", reason, now)),
    ...ends.map((reason) => formatReason("ended", reason, now)),
  ];
  return [toPlainText(`${kind} ${namespace}/${name} ${state}.`), ...reasons.flat()].join("\n");
}

/** Formats what each of several pods waits for. */
export function formatPending(troubles: readonly PodExplanation[], now: number): string {
  if (troubles.length === 0) return "No pod waits for anything.";
  return formatAll(troubles, now).join("\n").trimStart();
}

function formatAll(troubles: readonly PodExplanation[], now: number): string[] {
  return troubles.flatMap((found) => ["", ...formatTroubles(found, now)]);
}

function formatTroubles({ pod, state, isReady, waits, ends }: PodExplanation, now: number): string[] {
  const where = pod.node === "" || state === "Gone" ? "" : ` on ${pod.node}`;
  const word =
    state === "Gone"
      ? "is gone"
      : `is ${state}${state === "Running" ? (isReady ? " and ready" : ", but not ready") : ""}`;
  const reasons = [
    ...waits.map((reason) => formatReason("waits", reason, now)),
    ...ends.map((reason) => formatReason("ended", reason, now)),
  ];
  return [toPlainText(`Pod ${pod.namespace}/${pod.name} ${word}${where}.`), ...reasons.flat()];
}

function formatReason(
  what: "waits" | "ended",
  { reason, message, container, at, mend, causes = [] }: Reason,
  now: number,
): string[] {
  const of = container === undefined ? "" : ` ${container}`;
  const since = what === "waits" ? formatSince(at, now) : formatAgo(at, now);
  const words = toPlainText(message === "" ? reason : `${reason}: ${message}`);
  return [
    `  ${what}${toPlainText(of)}${since}  ${words}`,
    ...formatCauses(causes, (index) => `${" ".repeat(4 + 2 * index)}because`, now),
    ...(mend === undefined ? [] : [`    mend: ${toPlainText(mend)}`]),
  ];
}

/** A line a cause, each further in than what it led to. */
function formatCauses(causes: readonly ExplainedCause[], begin: (index: number) => string, now: number): string[] {
  return causes.map(({ reason, message, at }, index) => {
    return `${begin(index)}${formatAgo(at, now)}: ${toPlainText(message === "" ? reason : `${reason}: ${message}`)}`;
  });
}

/** A time that a jump of the clock has put into the future was just now: no duration is negative. */
function formatSince(at: string | undefined, now: number): string {
  const time = parseTime(at);
  return time === undefined ? "" : ` for ${formatHumanDuration(Math.max(0, now - time))}`;
}

function formatAgo(at: string | undefined, now: number): string {
  const time = parseTime(at);
  return time === undefined ? "" : ` ${formatHumanDuration(Math.max(0, now - time))} ago`;
}

/** A line a step: when, how long after the one before, what. What came again and again is told once, with how often. */
function formatSteps(steps: readonly ExplainedStep[], uid: string): string[] {
  let before: ExplainedStep | undefined;
  return foldRepeats(steps).flatMap((told) => {
    if (told.kind === "again") {
      before = told.last;
      const which = told.length === 1 ? "the step above" : `the ${told.length} steps above`;
      return [`${" ".repeat(36)}… ${which} ${told.times} times more, until ${toPlainText(told.last.at)}`];
    }
    const { step } = told;
    const isOther = before !== undefined && before.uid !== step.uid;
    const since = before === undefined || isOther ? "" : formatGap(Date.parse(step.firstAt) - Date.parse(before.at));
    const isFirst = before === undefined || isOther;
    before = step;
    const earlier = step.uid !== uid ? " (an earlier pod of this name)" : "";
    const causes = (step.causes ?? []).map((cause) => formatCause(cause));
    return [...(isFirst ? [`Pod ${toPlainText(step.uid)}${earlier}`] : []), formatStep(step, since), ...causes];
  });
}

/** A cause beneath its step, with its own time: it may be long before the step. */
function formatCause({ reason, message, at }: ExplainedCause): string {
  return `${" ".repeat(38)}because ${toPlainText(`${reason}: ${message}`)} (${toPlainText(at)})`;
}

function formatStep(step: ExplainedStep, since: string): string {
  const mark = step.type === "Warning" ? "!" : " ";
  const of = step.container === undefined ? "" : `[${step.container}] `;
  const times = step.count === 1 ? "" : ` (${step.count} times until ${step.at})`;
  const words = toPlainText(`${of}${step.reason}: ${step.message}${formatTook(step)}${times}`);
  return `${toPlainText(step.firstAt)} ${since.padStart(8)} ${mark} ${words}`;
}

/** How long a step took, where its words do not say so already. */
function formatTook({ tookMs, message }: ExplainedStep): string {
  if (tookMs === undefined) return "";
  const took = formatDuration(tookMs);
  return message.includes(` in ${took} `) ? "" : ` (took ${took})`;
}

/** Formats the time between two steps with the digits that matter: `+12ms`, `+1.5s`, `+3m`. */
function formatGap(ms: number): string {
  if (ms < 0) return "";
  if (ms < 1_000) return `+${ms}ms`;
  return ms < 60_000 ? `+${(ms / 1_000).toFixed(1)}s` : `+${formatHumanDuration(ms)}`;
}
