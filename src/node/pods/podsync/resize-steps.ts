import type { Pod, PodCondition } from "../../../api/gen/types.ts";
import type { Clock } from "../../../base/clock.ts";
import { lacksPodResources, type PodResourceInfo } from "../../resources/records/pod-resource-info.ts";
import { planContainerResize } from "../../runtime/plan/container-resize.ts";
import { findContainer, type PodRuntimeStatus } from "../../runtime/reading/pod-runtime-status.ts";
import type { ReadPod, SyncingRun } from "./sync-run.ts";

export interface ResizeStepsDeps {
  clock: Pick<Clock, "now">;
  /** What is told of resizes; undefined where pods keep the resources with which they came. */
  resizes?: ResizeReports | undefined;
}

/** How podsync hears and tells of the resizes of pods. */
export interface ResizeReports {
  conditionsOf(uid: string): PodCondition[];
  actuatedOf(uid: string): PodResourceInfo | undefined;
  observe(pod: Pod, isInProgress: boolean): void;
  fail(pod: Pod, message: string): void;
}

/** How soon a resize that failed is tried again. */
const RETRY_MS = 10_000;

/** The steps that tell how far a resize is. */
interface ResizeSteps {
  /** Compares what runs with what was granted, before a status is computed. */
  observeResize(run: ReadPod): void;
  /** Tells why a resize failed, and when it is tried again. */
  noteResize(run: SyncingRun): void;
}

export function createResizeSteps({ clock, resizes }: ResizeStepsDeps): ResizeSteps {
  return {
    observeResize({ pod, phase, runtime }) {
      if (pod === undefined || phase !== "syncing") return;
      resizes?.observe(pod, isResizing(pod, runtime, resizes.actuatedOf(runtime.uid)));
    },
    noteResize(run) {
      if (run.resizeError === undefined) return;
      resizes?.fail(run.pod, run.resizeError);
      run.retryAt = clock.now() + RETRY_MS;
    },
  };
}

function isResizing(pod: Pod, runtime: PodRuntimeStatus, actuated: PodResourceInfo | undefined): boolean {
  const containers = [...(pod.spec?.initContainers ?? []), ...(pod.spec?.containers ?? [])];
  const isDue = containers.some((container) => {
    const last = findContainer(runtime, container.name);
    if (last?.state !== "running") return false;
    return planContainerResize({ pod, container, id: last.id, actuated }) !== undefined;
  });
  return isDue || lacksPodResources(pod, actuated);
}
