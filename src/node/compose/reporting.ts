import type { Pod } from "../../api/gen/types.ts";
import { podUid } from "../../api/pods.ts";
import { SECOND } from "../../base/clock.ts";
import type { Part } from "../../base/run-parts.ts";
import type { Timeline } from "../../base/timeline.ts";
import type { NodeAgentConfig } from "../../config/node-agent-config.ts";
import { createEventSink } from "../cluster/events/event-sink.ts";
import type { NodeRegistration } from "../cluster/node-status/node-registration.ts";
import type { DesiredPods } from "../pods/desired/desired-pods.ts";
import { createMirrorPods } from "../pods/mirror-pods/mirror-pods.ts";
import { createMirrorLives } from "../pods/reporting/mirror-lives.ts";
import { createMirrorUpkeep, type MirrorUpkeep } from "../pods/reporting/mirror-upkeep.ts";
import { createPodReports, type PodReports } from "../pods/reporting/pod-reports.ts";
import { createPodStartLatency } from "../pods/status/pod-start-latency.ts";
import type { PodStatuses } from "../pods/status/pod-statuses.ts";
import { createStatusReporter } from "../pods/status/report/status-reporter.ts";
import type { KubePorts, NodeAgentPorts } from "./node-agent-ports.ts";

/** What the API server is told of the pods. */
export interface Reporting extends PodReports, Pick<MirrorUpkeep, "podsChanged"> {
  recordNodeEvent: ReturnType<typeof createEventSink>["recordNode"];
  /** Sends what waits, before the parts are stopped. */
  flush(): Promise<void>;
  parts: readonly Part[];
}

interface ReportingDeps {
  ports: NodeAgentPorts;
  kube: KubePorts;
  timeline: Timeline;
  desired: DesiredPods;
  statuses: PodStatuses;
  registration: NodeRegistration;
}

const FLUSH_TIMEOUT_MS = { statuses: 5 * SECOND, events: SECOND };

/** Builds what reports: statuses of pods, mirrors of static pods, events. */
export function composeReporting(deps: ReportingDeps, { nodeName, kubelet }: NodeAgentConfig): Reporting {
  const { ports, kube, timeline, desired, statuses, registration } = deps;
  const { log, metrics } = ports;
  const { clock, random } = ports.host;
  const common = { clock, random, log };

  const lives = createMirrorLives({ desired, statuses });
  const { shownPodOf: apiPodOf } = lives;
  const sender = createStatusReporter({ ...common, client: kube.client, statuses, apiPodOf, metrics });
  const mirrors = createMirrorPods({ ...common, client: kube.client }, { nodeName });
  const events = createEventSink(
    { ...common, client: kube.events, timeline, apiPodOf: lives.eventPodOf },
    { nodeName, qps: kubelet.eventRecordQPS ?? 0, burst: kubelet.eventBurst },
  );

  const mirrorUpkeep = createMirrorUpkeep({ desired, lives, mirrors, registration, statuses });
  const uidOf = (pod: Pod) => desired.resolveUid(podUid(pod));
  const startLatency = createPodStartLatency({ clock, metrics, timeline, uidOf });
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
