import { podUid } from "../../api/pods.ts";
import { SECOND } from "../../base/clock.ts";
import type { Part } from "../../base/run-parts.ts";
import type { Decision } from "../../base/timeline.ts";
import { createEventSink } from "../cluster/events/event-sink.ts";
import type { DesiredPods } from "../pods/desired/desired-pods.ts";
import { createMirrorPods } from "../pods/mirror-pods/mirror-pods.ts";
import { createMirrorLives } from "../pods/reporting/mirror-lives.ts";
import { createMirrorUpkeep, type MirrorUpkeep } from "../pods/reporting/mirror-upkeep.ts";
import { createPodReports, type PodReports } from "../pods/reporting/pod-reports.ts";
import { createPodStartLatency } from "../pods/status/pod-start-latency.ts";
import { createStatusReporter } from "../pods/status/report/status-reporter.ts";
import type { ClusterParts } from "./cluster.ts";
import type { Foundation } from "./foundation.ts";

/** What the API server is told of the pods: their statuses, mirrors of static pods, events. */
export interface PodReporting extends PodReports, Pick<MirrorUpkeep, "podsChanged"> {
  /** Records an event of the node itself. */
  recordNodeEvent(decision: Decision): void;
  /** Sends what waits, before the parts are stopped. */
  flush(): Promise<void>;
  readonly parts: readonly Part[];
}

interface PodReportingNeighbours {
  readonly cluster: ClusterParts;
  readonly desired: DesiredPods;
}

const FLUSH_TIMEOUT_MS = { statuses: 5 * SECOND, events: SECOND };

/** Builds what reports pods. */
export function composePodReporting(
  { ports, config, timeline, statuses }: Foundation,
  { cluster, desired }: PodReportingNeighbours,
): PodReporting {
  const { log, metrics } = ports;
  const { clock, random } = ports.host;
  const { nodeName, kubelet } = config;
  const { kube, ownNode: registration } = cluster;
  const lives = createMirrorLives({ desired, statuses });
  const sender = createStatusReporter({
    client: kube.client,
    clock,
    random,
    log,
    metrics,
    statuses,
    apiPodOf: lives.shownPodOf,
  });
  const mirrors = createMirrorPods({ client: kube.client, clock, random, log }, { nodeName });
  const mirrorUpkeep = createMirrorUpkeep({ desired, lives, mirrors, registration, statuses });
  const events = createEventSink(
    { client: kube.events, clock, random, log, timeline, apiPodOf: lives.eventPodOf },
    { nodeName, qps: kubelet.eventRecordQPS ?? 0, burst: kubelet.eventBurst },
  );
  const startLatency = createPodStartLatency({
    clock,
    metrics,
    timeline,
    uidOf: (pod) => desired.resolveUid(podUid(pod)),
  });
  return {
    ...createPodReports({ desired, lives, sender, startLatency }),
    podsChanged: mirrorUpkeep.podsChanged,
    recordNodeEvent: events.recordNode,
    async flush() {
      await Promise.all([sender.flush(FLUSH_TIMEOUT_MS.statuses), events.flush(FLUSH_TIMEOUT_MS.events)]);
    },
    parts: [
      { name: "status sender", run: sender.run },
      { name: "mirror pods", run: mirrors.run },
      { name: "owner of mirror pods", run: mirrorUpkeep.run },
      { name: "events", run: events.run },
    ],
  };
}
