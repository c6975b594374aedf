import type { Container, Pod } from "../../../api/gen/types.ts";
import { podReference } from "../../../api/pods.ts";
import type { BackOff } from "../../../base/back-off.ts";
import { type Clock, formatTime, MINUTE, SECOND } from "../../../base/clock.ts";
import type { Timeline } from "../../../base/timeline.ts";
import type { FeatureGates } from "../../../config/feature-gates.ts";
import type { KubeletConfiguration } from "../../../config/kubelet-configuration.ts";
import type { StartFailure } from "./start-failure.ts";

/**
 * How long a container that ended waits before it is started again: each restart makes the next wait longer, and a
 * container that has run for long enough begins anew. The waits are the `BackOff`'s, which the configuration sets.
 */
interface CrashLoopBackOff {
  /** When a container that ended at `endedAt` may start again, milliseconds since the epoch; undefined: at once. */
  waitUntil(uid: string, container: Container, endedAt: number): number | undefined;
  /** The container, which ended at `endedAt`, is about to start again; records that, with the waits. */
  lengthen(pod: Pod, container: Container, endedAt: number): void;
  /** Records the event of a container that waits, and returns what its status shows meanwhile. */
  tell(pod: Pod, container: Container, until: number): StartFailure;
  /** Forgets the waits of containers that have run for long enough. */
  collect(): void;
  /** The pod is gone. A pod that comes back under the same UID begins anew. */
  forget(uid: string): void;
}

interface BackOffSettings {
  kubelet: Pick<KubeletConfiguration, "crashLoopBackOff">;
  featureGates: Pick<FeatureGates, "KubeletCrashLoopBackOffMax" | "ReduceDefaultCrashLoopBackOffDecay">;
}

interface CrashLoopBackOffDeps {
  backOff: BackOff;
  clock: Pick<Clock, "now">;
  timeline: Timeline;
}

export function createCrashLoopBackOff({ backOff, clock, timeline }: CrashLoopBackOffDeps): CrashLoopBackOff {
  return {
    waitUntil: (uid, container, endedAt) => backOff.waitUntil(backOffKey(uid, container), endedAt, clock.now()),
    lengthen(pod, container, endedAt) {
      const now = clock.now();
      const nextMs = backOff.next(backOffKey(podReference(pod).uid, container), endedAt, now);
      // A clock that jumped back makes no negative wait.
      const afterSeconds = Math.max(0, Math.round((now - endedAt) / SECOND));
      const wait = `It ended ${formatSeconds(afterSeconds)} ago; if it ends again soon, its next start waits ${formatSeconds(nextMs / SECOND)}`;
      timeline.record(podReference(pod), {
        ...{ type: "Normal", reason: "Restarting", message: "Container is started again", container: container.name },
        causes: [{ reason: "RestartBackOff", message: wait, at: Math.min(endedAt, now) }],
      });
    },
    tell(pod, container, until) {
      const { uid, name, namespace } = podReference(pod);
      const delay = backOff.delay(backOffKey(uid, container)) / SECOND;
      const wait = `Its next start waits ${formatSeconds(delay)} after its end, until ${formatTime(until)}`;
      timeline.record(podReference(pod), {
        type: "Warning",
        reason: "BackOff",
        message: `Back-off restarting failed container ${container.name} in pod ${name}_${namespace}(${uid})`,
        container: container.name,
        causes: [{ reason: "RestartBackOff", message: wait, at: until - delay * SECOND }],
      });
      return {
        reason: "CrashLoopBackOff",
        message: `back-off ${formatSeconds(delay)} restarting failed container=${container.name} pod=${name}_${namespace}(${uid})`,
        retryAt: until,
      };
    },
    collect: () => backOff.collect(clock.now()),
    forget: (uid) => backOff.resetAll(`${uid}/`),
  };
}

/**
 * The shortest and the longest wait: 10 s, doubling to 5 min, or 1 s to 60 s where the gate of the reduced decay is on. A
 * longest wait that is configured takes precedence (upstream: `newCrashLoopBackOff`, pkg/kubelet/kubelet.go). A run of
 * twice the longest wait ends the back-off.
 */
export function crashLoopBackOffRange({ kubelet, featureGates }: BackOffSettings): {
  initialMs: number;
  maxMs: number;
} {
  const reduced = featureGates.ReduceDefaultCrashLoopBackOffDecay;
  const initialMs = reduced ? SECOND : 10 * SECOND;
  const maxMs = reduced ? MINUTE : 5 * MINUTE;
  if (!featureGates.KubeletCrashLoopBackOffMax) return { initialMs, maxMs };
  const longest = kubelet.crashLoopBackOff.maxContainerRestartPeriod ?? 5 * MINUTE;
  return { initialMs: Math.min(initialMs, longest), maxMs: longest };
}

/** A container whose image changed begins anew, because it may have been mended. */
function backOffKey(uid: string, container: Container): string {
  return `${uid}/${container.name}/${container.image ?? ""}`;
}

/** A duration as Go prints it: `40s`, `1m20s`, `5m0s`. */
function formatSeconds(seconds: number): string {
  return seconds < 60 ? `${seconds}s` : `${Math.floor(seconds / 60)}m${seconds % 60}s`;
}
