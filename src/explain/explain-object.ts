import type { Event } from "../api/gen/types.ts";
import { parseTime } from "../base/clock.ts";
import type { Reason } from "./explanation.ts";
import { findMend } from "./find-mend.ts";

/** Why an object that is no pod is not as it is wished. `nodelet explain -o json` prints it. */
export interface ObjectExplanation {
  readonly kind: "ObjectExplanation";
  readonly version: 1;
  readonly object: { readonly kind: string; readonly namespace: string; readonly name: string };
  /** What it is, in words that follow its name: `has 2 endpoints`. */
  readonly state: string;
  /** What must happen before it is as it is wished. */
  readonly waits: readonly Reason[];
  /** What ended it. */
  readonly ends: readonly Reason[];
}

/** A reason of an object, with the mend that is known for its words where none is given. */
export function reasonFor(namespace: string, reason: Reason): Reason {
  const mend = reason.mend ?? findMend({ namespace, ...reason });
  return { ...reason, ...(mend !== undefined && { mend }) };
}

/** The newest event of one of the reasons; undefined where there is none, or one of the others is newer. */
export function newestEvent(
  events: readonly Event[],
  { of, unless = [] }: { of: readonly string[]; unless?: readonly string[] },
): (Reason & { readonly at: string }) | undefined {
  const told = [...of, ...unless];
  const ordered = events.filter(({ reason = "" }) => told.includes(reason)).toSorted((a, b) => timeOf(a) - timeOf(b));
  const last = ordered.at(-1);
  if (last?.reason === undefined || !of.includes(last.reason)) return undefined;
  return { reason: last.reason, message: last.message ?? "", at: new Date(timeOf(last)).toISOString() };
}

function timeOf({ lastTimestamp, eventTime, metadata }: Event): number {
  return parseTime(lastTimestamp) ?? parseTime(eventTime) ?? parseTime(metadata.creationTimestamp) ?? 0;
}

/** Names a few of many: `a, b and 3 more`. */
export function nameFew(names: readonly string[]): string {
  const more = names.length - MAX_NAMED;
  return more > 0 ? `${names.slice(0, MAX_NAMED).join(", ")} and ${more} more` : names.join(", ");
}

const MAX_NAMED = 3;
