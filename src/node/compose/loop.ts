import { recordAdmissions } from "../pods/admission/record-admissions.ts";
import { createPodForgetter } from "../pods/loop/forget-pod.ts";
import { createOrphanDirectories } from "../pods/loop/orphan-directories.ts";
import { createSyncLoop, type SyncLoop } from "../pods/loop/sync-loop.ts";
import { createPodRejecter } from "../pods/status/reject-pod.ts";
import type { PodWorkers } from "../pods/workers/pod-workers.ts";
import { removeLogsOfUid } from "../runtime/logs/container-log-paths.ts";
import type { AdmissionParts } from "./admission.ts";
import type { ClusterParts } from "./cluster.ts";
import type { Foundation } from "./foundation.ts";
import type { ProbeParts } from "./probes.ts";
import type { ReadingParts } from "./readings.ts";
import type { Reporting } from "./reporting.ts";
import type { RuntimeParts } from "./runtime.ts";
import type { SourceParts } from "./sources.ts";

interface LoopNeighbours {
  readonly cluster: ClusterParts | undefined;
  readonly sources: SourceParts;
  readonly readings: ReadingParts;
  readonly runtime: RuntimeParts;
  readonly probes: ProbeParts;
  readonly reporting: Reporting;
  readonly workers: PodWorkers;
  readonly admission: AdmissionParts;
}

/** The sync loop, with all parts that have to hear of what it does. */
export function composeLoop(foundation: Foundation, neighbours: LoopNeighbours): SyncLoop {
  const { ports, timeline, inbox, statuses } = foundation;
  const { cluster, sources, readings, runtime, probes, reporting, workers, admission } = neighbours;
  const { host, log } = ports;
  const { clock } = host;
  const keepers = [{ forget: statuses.remove }, readings.cache, probes.probes, admission, cluster?.refs, reporting];
  const collectDirectories = composeOrphanDirectories(foundation, runtime);
  return createSyncLoop({
    clock,
    log,
    inbox,
    desired: sources.desired,
    workers,
    runtimePods: readings.pleg.pods,
    admit: recordAdmissions(admission.admit, timeline),
    reject: createPodRejecter({ clock, timeline, statuses }),
    forget: createPodForgetter(keepers),
    collectDirectories(isKnown) {
      runtime.resources.collect(isKnown);
      collectDirectories(isKnown);
    },
    runtime: readings,
    onShown(pod) {
      cluster?.refs.show(pod);
      reporting.show(pod);
    },
    onPodsChanged() {
      admission.reviewResizes();
      reporting.podsChanged(workers.states());
    },
    onRelisted: reporting.judged,
  });
}

function composeOrphanDirectories(
  { ports, config, runner }: Foundation,
  { cgroups, podFiles, volumes }: RuntimeParts,
): ReturnType<typeof createOrphanDirectories> {
  const { host, log, metrics } = ports;
  return createOrphanDirectories({
    clock: host.clock,
    log,
    metrics,
    tasks: runner.tasks,
    directories: podFiles,
    tearDownVolumes: volumes.volumes.tearDown,
    collectCgroups: cgroups.pods?.collect,
    removeLogs: async (uid) => await removeLogsOfUid(host.files, config.podLogsDirectory, uid),
  });
}
