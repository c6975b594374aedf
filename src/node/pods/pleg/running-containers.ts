import type { PodRuntimeStatus, RuntimePod } from "../../runtime/reading/pod-runtime-status.ts";
import type { PodCache } from "./pod-cache.ts";

/** What runs, by the last reading of the runtime. */
export interface RunningContainers {
  /** The containers of one pod, with all that is known of them. */
  ofPod(podUid: string): PodRuntimeStatus["containers"];
  /** True where `ofPod` has any. */
  runsContainers(podUid: string): boolean;
  /** True where the runtime's list of pods shows a container of the pod that runs. */
  isListed(podUid: string): boolean;
  /** All containers in the runtime's list of pods that run; `logPath` is undefined where the pod was not read so far. */
  list(): Generator<{ readonly id: string; readonly logPath: string | undefined }>;
}

interface RunningContainersDeps {
  readonly cache: Pick<PodCache, "latest">;
  readonly pleg: { pods(): ReadonlyMap<string, RuntimePod> };
}

export function createRunningContainers({ cache, pleg }: RunningContainersDeps): RunningContainers {
  const ofPod = (podUid: string) => (cache.latest(podUid)?.containers ?? []).filter(({ state }) => state === "running");
  return {
    ofPod,
    runsContainers: (podUid) => ofPod(podUid).length > 0,
    isListed: (podUid) =>
      pleg
        .pods()
        .get(podUid)
        ?.containers.some(({ state }) => state === "running") === true,
    *list() {
      for (const { uid, containers } of pleg.pods().values()) {
        const read = cache.latest(uid)?.containers ?? [];
        for (const { id, state } of containers) {
          if (state === "running") yield { id, logPath: read.find((container) => container.id === id)?.logPath };
        }
      }
    },
  };
}
