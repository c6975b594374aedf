import type { Cause, TimelineRecord } from "../base/timeline.ts";

/** The longest chain of causes; what led to more than that was told before. */
const MAX_CAUSES = 8;

/** The reasons of records that have a pod's containers stopped, and what each of the stops is told with. */
const ENDS_OF_POD: ReadonlySet<string> = new Set([
  "Evicted",
  "Preempting",
  "NodeShutdown",
  "DeadlineExceeded",
  "PodDeletionRequested",
  "PodRemoved",
]);

/**
 * Links records of one pod that follow from each other: a stop follows from the probe that failed or from what ends the
 * whole pod, an end of a container from its stop, the wait for a restart from that end. What a record tells of its own causes
 * stays. Pure; the records are in their order, whatever their clocks say.
 */
export function linkCauses(records: readonly TimelineRecord[]): TimelineRecord[] {
  const linked: TimelineRecord[] = [];
  for (const [index, record] of records.entries()) {
    const found = findCause(record, linked) ?? findPeak(record, records, index);
    const own = record.causes ?? [];
    const added = found === undefined ? [] : [causeOf(found), ...(found.causes ?? [])];
    const causes = [...own, ...added].slice(0, MAX_CAUSES);
    linked.push(causes.length === 0 ? record : { ...record, causes });
  }
  return linked;
}

/** Finds what a record follows from, among those before it. */
function findCause(record: TimelineRecord, before: readonly TimelineRecord[]): TimelineRecord | undefined {
  const { reason, message, container } = record;
  const ofContainer = (earlier: TimelineRecord) => earlier.container === container;
  switch (reason) {
    case "BackOff":
      return lastSince(before, (earlier) => ofContainer(earlier) && earlier.reason === "Exited", container);
    case "Restarting":
      return before.findLast((earlier) => ofContainer(earlier) && earlier.reason === "Exited");
    case "Exited": {
      const why = message.includes("OOMKilled") ? "MemoryPeak" : "Killing";
      return lastSince(before, (earlier) => ofContainer(earlier) && earlier.reason === why, container);
    }
    case "Killing":
      if (/ failed (liveness|startup) probe/.test(message)) {
        return before.findLast((earlier) => ofContainer(earlier) && isFailedVerdict(earlier));
      }
      if (message === "FailedPostStartHook") {
        return before.findLast((earlier) => ofContainer(earlier) && earlier.reason === message);
      }
      return message.startsWith("Stopping container")
        ? before.findLast((earlier) => ENDS_OF_POD.has(earlier.reason))
        : undefined;
    case "PodNotReady":
      return before.at(-1)?.reason === "ProbeVerdict" ? before.findLast(isFailedVerdict) : undefined;
    case "PodFailed":
      return before.findLast((earlier) => ENDS_OF_POD.has(earlier.reason) || earlier.reason === "Exited");
    default:
      return undefined;
  }
}

/** The peak of memory is read when a container has ended, and is recorded a little after that. */
function findPeak(
  ended: TimelineRecord,
  records: readonly TimelineRecord[],
  index: number,
): TimelineRecord | undefined {
  if (ended.reason !== "Exited" || !ended.message.includes("OOMKilled")) return undefined;
  const later = records.slice(index + 1).filter(({ container }) => container === ended.container);
  const found = later.find(({ reason }) => reason === "MemoryPeak" || reason === "Started" || reason === "Exited");
  return found?.reason === "MemoryPeak" ? found : undefined;
}

/** The last record that fits since the container was started last: what led to an earlier end led to no later one. */
function lastSince(
  before: readonly TimelineRecord[],
  fits: (record: TimelineRecord) => boolean,
  container: string | undefined,
): TimelineRecord | undefined {
  const startedAt = before.findLastIndex((earlier) => earlier.container === container && earlier.reason === "Started");
  return before.slice(startedAt + 1).findLast(fits);
}

function isFailedVerdict({ reason, type }: TimelineRecord): boolean {
  return reason === "ProbeVerdict" && type === "Warning";
}

function causeOf({ reason, message, at }: TimelineRecord): Cause {
  return { reason, message, at };
}
