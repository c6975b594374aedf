import type { Pod } from "../../api/gen/types.ts";
import { podReference } from "../../api/pods.ts";
import { SECOND } from "../../base/clock.ts";
import { messageOf } from "../../base/errors.ts";
import type { Timeline } from "../../base/timeline.ts";
import type { NodeAgentConfig } from "../../config/node-agent-config.ts";
import type { LoopInbox } from "../pods/loop/loop-inbox.ts";
import { createPodSync } from "../pods/podsync/pod-sync.ts";
import type { PodProbes } from "../pods/probes/pod-probes.ts";
import type { PodStatuses } from "../pods/status/pod-statuses.ts";
import { measureSyncer } from "../pods/workers/measured-syncer.ts";
import { createWorkerMetrics } from "../pods/workers/metrics.ts";
import { referenceOf } from "../pods/workers/pod-syncer.ts";
import { createPodWorkers, type PodWorkers } from "../pods/workers/pod-workers.ts";
import type { NodeFacts } from "../runtime/config/node-facts.ts";
import { VolumeError } from "../storage/volumes/volume-error.ts";
import type { NodeAgentPorts } from "./node-agent-ports.ts";
import type { RuntimeParts } from "./runtime.ts";

/** After a sync that failed. */
const SYNC_BACK_OFF_MS = 10 * SECOND;

interface PodPartsDeps {
  ports: NodeAgentPorts;
  timeline: Timeline;
  inbox: LoopInbox;
  facts: NodeFacts;
  parts: RuntimeParts;
  statuses: PodStatuses;
  probes: PodProbes;
  /** Nothing of a pod that some source named is left on the node. */
  onFinished?: ((pod: Pod) => void) | undefined;
}

/** The pods: how one is synced, and a worker for each. */
export function composePods(deps: PodPartsDeps, config: NodeAgentConfig): PodWorkers {
  const { ports, timeline, inbox, facts, parts, statuses } = deps;
  const { clock, random } = ports.host;
  const { health, cache, pleg, runtime, podFiles } = parts;
  const syncer = createPodSync({
    clock,
    timeline,
    runtime,
    cache,
    refresh: async (pod) => await pleg.refresh(pod),
    statuses,
    probes: deps.probes,
    cgroups: parts.cgroups.pods,
    volumes: parts.volumes.volumes,
    directories: { make: podFiles.makeDirectories, remove: podFiles.removeDirectories },
    networkError: health.networkError,
    hostIps: () => facts.hostIps,
    runtimeName: () => health.runtime().name || "containerd",
    supportsRecursiveReadOnly: parts.supportsRecursiveReadOnly,
  });
  return createPodWorkers(
    {
      clock,
      random,
      log: ports.log,
      syncer: measureSyncer(syncer, { clock, metrics: ports.metrics }),
      metrics: createWorkerMetrics(ports.metrics),
      onGone({ subject }) {
        const { uid } = referenceOf(subject);
        // While its last status is still at hand.
        if (subject.kind === "pod") deps.onFinished?.(subject.pod);
        // At once, and not when the loop hears of it: by then a new pod of the same UID may be at work.
        statuses.remove(uid);
        cache.forget(uid);
        deps.probes.forget(uid);
        inbox.offerGone(uid);
      },
      onFailure: ({ subject }, work, error) => {
        if (subject.kind !== "pod") return;
        const record = (reason: string, message: string) =>
          timeline.record(podReference(subject.pod), { type: "Warning", reason, message });
        if (work === "terminating") record("FailedKillPod", `error killing pod: ${messageOf(error)}`);
        // Of its volumes the pod has heard already, one by one.
        else if (!(error instanceof VolumeError))
          record("FailedSync", `Error syncing pod, will be tried again: ${messageOf(error)}`);
      },
    },
    { resyncMs: config.kubelet.syncFrequency, backOffMs: SYNC_BACK_OFF_MS },
  );
}
