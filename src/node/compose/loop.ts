import type { Pod } from "../../api/gen/types.ts";
import { podReference } from "../../api/pods.ts";
import { computeQosClass } from "../../api/qos.ts";
import { formatTime } from "../../base/clock.ts";
import type { PartRunner } from "../../base/run-parts.ts";
import type { Timeline } from "../../base/timeline.ts";
import type { NodeAgentConfig } from "../../config/node-agent-config.ts";
import type { Rejection } from "../pods/admission/admission.ts";
import type { DesiredPods } from "../pods/desired/desired-pods.ts";
import type { LoopInbox } from "../pods/loop/loop-inbox.ts";
import { createOrphanDirectories } from "../pods/loop/orphan-directories.ts";
import { createSyncLoop, type SyncLoop } from "../pods/loop/sync-loop.ts";
import type { PodProbes } from "../pods/probes/pod-probes.ts";
import type { PodStatuses } from "../pods/status/pod-statuses.ts";
import type { PodWorkers } from "../pods/workers/pod-workers.ts";
import { removeLogsOfUid } from "../runtime/logs/container-log-paths.ts";
import type { AdmissionParts } from "./admission.ts";
import type { ClusterParts, ClusterReporting } from "./cluster.ts";
import type { NodeAgentPorts } from "./node-agent-ports.ts";
import type { RuntimeParts } from "./runtime.ts";

interface LoopDeps {
  readonly ports: NodeAgentPorts;
  readonly runner: PartRunner;
  readonly timeline: Timeline;
  readonly inbox: LoopInbox;
  readonly desired: DesiredPods;
  readonly statuses: PodStatuses;
  readonly workers: PodWorkers;
  readonly runtime: Pick<RuntimeParts, "cache" | "cgroups" | "pleg" | "podFiles" | "runtimeError" | "volumes">;
  readonly probes: Pick<PodProbes, "forget">;
  readonly admission: Pick<AdmissionParts, "admit" | "forget">;
  readonly cluster: Pick<ClusterParts, "refs"> | undefined;
  readonly reporting: ClusterReporting | undefined;
}

/** The sync loop, with everybody who has to hear of what it does. */
export function composeLoop(deps: LoopDeps, config: NodeAgentConfig): SyncLoop {
  const { ports, inbox, desired, statuses, workers, runtime, probes, admission, cluster, reporting } = deps;
  const { cache, pleg, runtimeError } = runtime;
  return createSyncLoop({
    clock: ports.host.clock,
    log: ports.log,
    inbox,
    desired,
    workers,
    runtimePods: pleg.pods,
    admit: admission.admit,
    reject: (pod, rejection) => reject(deps, pod, rejection),
    forget(uid) {
      statuses.remove(uid);
      for (const keeper of [cache, probes, admission, cluster?.refs, reporting]) keeper?.forget(uid);
    },
    collectDirectories: composeOrphanDirectories(deps, config),
    runtimeError,
    onShown(pod) {
      cluster?.refs.show(pod);
      reporting?.show(pod);
    },
    onPodsChanged: () => reporting?.podsChanged(workers.states()),
    onRelisted: () => reporting?.judged(),
  });
}

function composeOrphanDirectories(
  { ports, runner, runtime }: LoopDeps,
  { podLogsDirectory }: NodeAgentConfig,
): ReturnType<typeof createOrphanDirectories> {
  const { host, log, metrics } = ports;
  return createOrphanDirectories({
    clock: host.clock,
    log,
    metrics,
    tasks: runner.tasks,
    directories: runtime.podFiles,
    tearDownVolumes: runtime.volumes.volumes.tearDown,
    collectCgroups: runtime.cgroups.pods?.collect,
    removeLogs: async (uid) => await removeLogsOfUid(host.files, podLogsDirectory, uid),
  });
}

/** A pod that is refused fails without having been tried; as upstream, its status says no more than that. */
function reject({ ports, timeline, statuses }: LoopDeps, pod: Pod, { reason, message }: Rejection): void {
  timeline.record(podReference(pod), { type: "Warning", reason, message });
  const startTime = formatTime(ports.host.clock.now());
  const status = { phase: "Failed", reason, message: `Pod was rejected: ${message}` };
  statuses.set(pod, { ...status, qosClass: computeQosClass(pod), startTime });
}
