import type { Probe } from "../../../api/gen/types.ts";
import type { ProbeType } from "./probe-type.ts";

/**
 * The verdict of one probe on one container.
 *
 *     unknown ──► success ◄──► failure      after that many of the same result in a row
 *        └───────────────────────▲
 *
 * A startup probe is over with its first verdict, a liveness probe when it has failed: the next container has a track
 * of its own.
 */
export interface ProbeTrack {
  readonly verdict: "unknown" | "success" | "failure";
  /** The newest result, and how often it came in a row. */
  readonly last: "success" | "failure" | undefined;
  readonly inARow: number;
  readonly isOver: boolean;
}

/**
 * Before the first probe a container is not ready, alive, and not known to have started. `known`: the verdict on this
 * very container that a node agent before this one published.
 */
export function startTrack(kind: ProbeType, known?: "success" | "failure"): ProbeTrack {
  const verdict = known ?? (kind === "liveness" ? "success" : kind === "readiness" ? "failure" : "unknown");
  return { verdict, last: undefined, inARow: 0, isOver: kind === "startup" && known === "success" };
}

/** The track after one more result. A result below its threshold leaves the verdict as it was. */
export function addResult(
  track: ProbeTrack,
  result: "success" | "failure",
  { kind, probe }: { kind: ProbeType; probe: Probe },
): ProbeTrack {
  const inARow = track.last === result ? track.inARow + 1 : 1;
  const threshold = result === "success" ? probe.successThreshold || 1 : probe.failureThreshold || 3;
  if (inARow < threshold) return { ...track, last: result, inARow };
  const isOver = kind === "startup" || (kind === "liveness" && result === "failure");
  return { verdict: result, last: result, inARow, isOver };
}
