import { setMaxListeners } from "node:events";
import type { PodReference } from "../../api/pods.ts";
import { messageOf } from "../../base/errors.ts";
import { createLimiter } from "../../base/limiter.ts";
import type { Log } from "../../base/log.ts";
import { createMetrics } from "../../base/metrics.ts";
import { createTimeline } from "../../base/timeline.ts";
import { connectCri } from "../../cri/connect.ts";
import { createLinuxHost } from "../../host/linux/create-linux-host.ts";
import { removePod } from "../../node/runtime/pod-runtime/remove-pod.ts";
import { DEFAULT_GRACE_PERIOD_SECONDS, stopPod } from "../../node/runtime/pod-runtime/stop-pod.ts";
import type { PodRuntimeStatus } from "../../node/runtime/reading/pod-runtime-status.ts";
import { listRuntimePods, readPodRuntimeStatus } from "../../node/runtime/reading/read-pods.ts";
import { startContainerd } from "../containerd/start-containerd.ts";
import { readPodPlaces } from "./pod-places.ts";
import { readRuntimeOptions } from "./runtime-options.ts";
import { CONTAINER_LOGS_DIRECTORY, type StateLayout } from "./state-layout.ts";

const PODS_AT_ONCE = 16;

interface RemovePodsDeps {
  log: Log;
  /** Called with each pod, as `namespace/name`, when it is asked to end, and the seconds that it may take. */
  onEnding: (pod: string, gracePeriodSeconds: number) => void;
  /** Called with each pod, as `namespace/name`, when it is gone. */
  onRemoved: (pod: string) => void;
  /** Called with each pod that could not be removed in order, and the reason. */
  onFailure: (pod: string, reason: string) => void;
  signal: AbortSignal;
}

/**
 * Stops and removes every pod of the state directory's runtime, with the preStop hooks and grace periods that the
 * containers' own annotations record, so that no node agent is needed. No other process may work on the state directory
 * meanwhile. A pod that fails does not keep the others. Returns whether all pods are gone.
 */
export async function removeAllPods(layout: StateLayout, deps: RemovePodsDeps): Promise<boolean> {
  const options = await readRuntimeOptions(layout.directory);
  const containerd = await startContainerd({
    ...options,
    directory: layout.runtime,
    log: deps.log,
    signal: deps.signal,
  });
  const host = createLinuxHost();
  const cri = connectCri({ endpoint: containerd.endpoint, log: deps.log, metrics: createMetrics() });
  const { runtime } = cri;
  const { signal } = deps;
  setMaxListeners(0, signal); // every call in flight listens
  const stopDeps = { runtime, host, timeline: createTimeline(host.clock), metrics: undefined, endProbes: undefined };
  const { podLogs } = await readPodPlaces(layout.directory);
  const logs = { podLogsDirectory: podLogs, containerLogsDirectory: CONTAINER_LOGS_DIRECTORY };
  let failures = 0;
  try {
    const limiter = createLimiter(PODS_AT_ONCE);
    const remove = async (pod: PodReference) => {
      try {
        const status = await readPodRuntimeStatus({ runtime, host }, pod, signal);
        deps.onEnding(`${pod.namespace}/${pod.name}`, gracePeriodOf(status));
        await stopPod(stopDeps, undefined, status, { gracePeriodSeconds: undefined, signal });
        await removePod({ runtime, files: host.files, ...logs }, status, { keepLogs: false, signal });
        deps.onRemoved(`${pod.namespace}/${pod.name}`);
      } catch (error) {
        failures += 1;
        deps.onFailure(`${pod.namespace}/${pod.name}`, messageOf(error));
      }
    };
    const pods = await listRuntimePods(runtime, signal);
    await Promise.all(pods.map(async (pod) => await limiter.run(async () => await remove(pod))));
  } finally {
    cri.close();
    await containerd.stop();
  }
  return failures === 0;
}

/** The longest that any container of the pod may take. */
function gracePeriodOf({ containers }: PodRuntimeStatus): number {
  const running = containers.filter(({ state }) => state === "running");
  const allowed = running.map(({ recordedStop }) => recordedStop?.gracePeriodSeconds ?? DEFAULT_GRACE_PERIOD_SECONDS);
  return Math.max(0, ...allowed);
}
