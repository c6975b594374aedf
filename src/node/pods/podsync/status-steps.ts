import type { Container, Pod, PodStatus, ResourceStatus } from "../../../api/gen/types.ts";
import type { Clock } from "../../../base/clock.ts";
import type { PodProbes } from "../probes/pod-probes.ts";
import { computePodStatus } from "../status/compute-pod-status.ts";
import type { ReadySandboxes } from "./ready-sandboxes.ts";
import type { ResizeReports } from "./resize-steps.ts";
import type { StartFailures } from "./start-failures.ts";
import type { ReadPod } from "./sync-run.ts";

export interface StatusStepsDeps {
  clock: Pick<Clock, "now">;
  statuses: {
    get(uid: string): PodStatus | undefined;
    /** `mayRun`: something of the pod may run still. */
    set(pod: Pod, status: PodStatus, options: { mayRun: boolean }): void;
  };
  /** They follow what is read of the pod, and what they find goes into its status. */
  probes: Pick<PodProbes, "observe" | "verdictOf">;
  /** How far the pod's resize is. */
  resizes?: ResizeReports | undefined;
  hostIps(): readonly string[];
  runtimeName(): string;
  /** Whether the pod's runtime handler can make read-only what is mounted beneath a mount. */
  supportsRecursiveReadOnly(pod: Pod): boolean;
  /** Who knows the health of the devices that a container has. Default: no container has any. */
  readonly resourceHealth?: ReadonlyArray<((pod: Pod, container: Container) => ResourceStatus[]) | undefined>;
}

/** The steps of every work that make what was read of the pod known. */
interface StatusSteps {
  /** Probes begin and end with the containers that were read. */
  observeProbes(run: ReadPod): void;
  /** Computes the pod's status from what was read and from what the probes say of it, and publishes it. */
  publishStatus(run: ReadPod): void;
}

export function createStatusSteps(
  deps: StatusStepsDeps,
  { failures, sandboxes }: { failures: Pick<StartFailures, "of">; sandboxes: Pick<ReadySandboxes, "has"> },
): StatusSteps {
  const { statuses, probes } = deps;
  return {
    observeProbes({ pod, reference, phase, runtime }) {
      if (pod === undefined) return;
      const told = statuses.get(reference.uid) ?? pod.status;
      probes.observe(pod, { phase, containers: runtime.containers, told });
    },
    publishStatus(run) {
      const { pod, reference, phase, runtime, override } = run;
      if (pod === undefined) return;
      const status = computePodStatus({
        pod,
        runtime,
        previous: statuses.get(reference.uid),
        readiness: probes.verdictOf,
        waiting: failures.of(reference.uid),
        sandboxIsReady: phase === "syncing" && sandboxes.has(reference.uid),
        hostIps: deps.hostIps(),
        now: deps.clock.now(),
        runtimeName: deps.runtimeName(),
        supportsRecursiveReadOnly: deps.supportsRecursiveReadOnly(pod),
        resourceHealth: (container) => (deps.resourceHealth ?? []).flatMap((read) => read?.(pod, container) ?? []),
        actuatedResources: phase === "syncing" ? deps.resizes?.actuatedOf(reference.uid) : undefined,
        resizeConditions: phase === "syncing" ? deps.resizes?.conditionsOf(reference.uid) : undefined,
        workerPhase: phase,
        override,
      });
      statuses.set(pod, status, { mayRun: phase !== "terminated" });
      run.status = status;
    },
  };
}
