import type { Probe } from "../../../api/gen/types.ts";
import type { Random } from "../../../base/random.ts";
import type { ProbeType } from "./probe-type.ts";

/** The facts that a probe's first time depends on; milliseconds, `now` and `startedAt` since the epoch. */
interface FirstProbeInput {
  readonly kind: ProbeType;
  readonly probe: Probe;
  readonly now: number;
  /** When the container was started; 0 where the runtime gives no time. */
  readonly startedAt: number;
  /** A node agent before this one published the probe's verdict. */
  readonly isKnown: boolean;
  readonly random: Random;
}

/** `periodSeconds`. Default 10. */
export function periodMsOf({ periodSeconds }: Probe): number {
  return (periodSeconds || 10) * 1000;
}

/**
 * How long from now on a probe waits before it is made for the first time: for its initial delay, and otherwise
 * - not at all for a container that has not started or is not ready, because the pod waits for the probe. Upstream
 * makes
 *   it with the next tick of a clock that began before the container did, up to a period later;
 * - one period for a liveness probe, which is upstream's longest wait, because a container that has just begun is
 * alive;
 * - a random part of a period where the container ran before the node agent did, so that not all are probed at once.
 */
export function firstProbeDelay({ kind, probe, now, startedAt, isKnown, random }: FirstProbeInput): number {
  const delayMs = (probe.initialDelaySeconds ?? 0) * 1000;
  const passed = startedAt > 0 ? Math.max(0, now - startedAt) : 0;
  const left = Math.max(0, delayMs - passed);
  if (left > 0) return left;
  if (isKnown) return random.next() * periodMsOf(probe);
  return kind === "liveness" ? periodMsOf(probe) : 0;
}
