import { setMaxListeners } from "node:events";
import type { Pod, PodStatus } from "../../../../../api/gen/types.ts";
import { CONFIG_MIRROR_ANNOTATION, CONFIG_SOURCE_ANNOTATION } from "../../../../../api/well-known.ts";
import { silentLog } from "../../../../../base/log.ts";
import type { Metrics } from "../../../../../base/metrics.ts";
import { createSeededRandom } from "../../../../../base/random.ts";
import { createFakeClock } from "../../../../../host/fake/fake-clock.ts";
import { createPodStatuses } from "../../pod-statuses.ts";
import { createStatusReporter } from "../status-reporter.ts";
import { createFakePodApi } from "./fake-pod-api.ts";

/** A pod of the API, called by its name; its UID is `uid-NAME` unless said otherwise. */
export function apiPod(name: string, more: { uid?: string; status?: PodStatus; deleted?: true } = {}): Pod {
  const { uid = `uid-${name}`, status = { phase: "Pending" }, deleted } = more;
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: {
      name,
      namespace: "default",
      uid,
      annotations: { [CONFIG_SOURCE_ANNOTATION]: "api" },
      ...(deleted && { deletionTimestamp: "2026-01-01T00:00:00Z", deletionGracePeriodSeconds: 30 }),
    },
    spec: { containers: [{ name: "main" }], restartPolicy: "Always" },
    status,
  };
}

/** A pod from a manifest. */
export function staticPod(name: string): Pod {
  const pod = apiPod(name);
  return { ...pod, metadata: { ...pod.metadata, annotations: { [CONFIG_SOURCE_ANNOTATION]: "file" } } };
}

/** The API's image of a static pod. */
export function mirrorPod(name: string, uid: string): Pod {
  const pod = apiPod(name, { uid });
  return { ...pod, metadata: { ...pod.metadata, annotations: { [CONFIG_MIRROR_ANNOTATION]: "hash" } } };
}

/** A reporter between a node's statuses and an API server whose watch is behind and tells it of changes. */
export function createReporterRig(options: { seed?: number; metrics?: Metrics; maxConcurrent?: number } = {}) {
  // The program does the same: every request that is under way listens to one signal.
  setMaxListeners(0);
  const clock = createFakeClock();
  const api = createFakePodApi(clock);
  const statuses = createPodStatuses({ clock });
  const nameOf = (uid: string) => uid.replace("uid-", "");
  const reporter = createStatusReporter(
    {
      client: api.client,
      clock,
      random: createSeededRandom(options.seed ?? 1),
      log: silentLog,
      statuses,
      apiPodOf: (uid) => api.copyOf(nameOf(uid)),
      ...(options.metrics && { metrics: options.metrics }),
    },
    { maxConcurrent: options.maxConcurrent },
  );
  api.onWatch = (name) => reporter.reconcile(`uid-${name}`);
  const stop = new AbortController();
  return {
    clock,
    api,
    statuses,
    reporter,
    start: (): Promise<void> => reporter.run(stop.signal),
    stop: () => stop.abort(),
    /** The API server has the pod, and the watch has shown it. */
    async add(...pods: Pod[]) {
      for (const pod of pods) api.put(pod);
      await clock.advance(api.watchDelayMs);
    },
  };
}
