import type { Pod } from "../../api/gen/types.ts";
import { isStaticPod, podUid } from "../../api/pods.ts";
import { aborted } from "../../base/abort.ts";
import { SECOND } from "../../base/clock.ts";
import type { Part } from "../../base/run-parts.ts";
import type { Timeline } from "../../base/timeline.ts";
import type { NodeAgentConfig } from "../../config/node-agent-config.ts";
import { createEventSink } from "../cluster/events/event-sink.ts";
import type { NodeRegistration } from "../cluster/node-status/node-registration.ts";
import type { DesiredPods } from "../pods/desired/desired-pods.ts";
import { manifestHash, mirroredHash } from "../pods/mirror-pods/make-mirror-pod.ts";
import { createMirrorPods } from "../pods/mirror-pods/mirror-pods.ts";
import { isAnotherLife } from "../pods/status/another-life.ts";
import { createPodStartLatency } from "../pods/status/pod-start-latency.ts";
import type { PodStatuses } from "../pods/status/pod-statuses.ts";
import { createStatusReporter } from "../pods/status/report/status-reporter.ts";
import type { PodState } from "../pods/workers/pod-state.ts";
import type { KubePorts, NodeAgentPorts } from "./node-agent-ports.ts";

/** What the API server is told of the pods. */
export interface Reporting {
  /** The API server shows this of a pod, or of a mirror. */
  show(pod: Pod): void;
  /** Which pods there should be may have changed. */
  podsChanged(states: ReadonlyMap<string, PodState>): void;
  /** Nothing of the pod is left on the node. */
  finished(pod: Pod): void;
  forget(uid: string): void;
  /** Pods of which something is held. */
  podUids(): readonly string[];
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

  /** UIDs of mirrors whose static pods have ended, and may begin anew under the same name and UID. */
  const outlived = new Set<string>();
  const isOutlived = (mirror: Pod): boolean => {
    const pod = desired.staticPodOf(mirror);
    const known = pod && statuses.get(podUid(pod));
    return outlived.has(podUid(mirror)) || (known !== undefined && isAnotherLife(mirror.status ?? {}, known));
  };
  const shownPodOf = (uid: string): Pod | undefined => {
    const pod = desired.byUid(uid);
    if (pod === undefined || !isStaticPod(pod)) return pod;
    const mirror = desired.mirrorPodOf(pod);
    // That of an older manifest, or of a former life, is about to be replaced.
    const isShown = mirror !== undefined && mirroredHash(mirror) === manifestHash(pod) && !isOutlived(mirror);
    return isShown ? mirror : undefined;
  };
  const sender = createStatusReporter({ ...common, client: kube.client, statuses, apiPodOf: shownPodOf, metrics });
  const mirrors = createMirrorPods({ ...common, client: kube.client }, { nodeName });
  const events = createEventSink(
    { ...common, client: kube.events, timeline, apiPodOf: (uid) => shownPodOf(uid) ?? desired.byUid(uid) },
    { nodeName, qps: kubelet.eventRecordQPS ?? 0, burst: kubelet.eventBurst },
  );

  let states: ReadonlyMap<string, PodState> = new Map();
  const updateMirrors = () => {
    const ending = new Set<string>();
    for (const { phase, fullName } of states.values()) {
      if (phase === "terminating" || phase === "terminated") ending.add(fullName);
    }
    const mirrorPods = desired.mirrorPods();
    for (const uid of outlived) if (!mirrorPods.some((mirror) => podUid(mirror) === uid)) outlived.delete(uid);
    mirrors.update({
      staticPods: desired.pods().filter((pod) => isStaticPod(pod) && states.has(podUid(pod))),
      mirrorPods,
      isOutlived,
      nodeUid: registration.node()?.metadata?.uid,
      sourcesReady: desired.allReady(),
      isEnding: (fullName) => ending.has(fullName),
    });
  };

  /** Where the mirror was not known yet when its pod began anew. */
  const replaceOutlived = ({ pod }: { pod: Pod }) => {
    const mirror = isStaticPod(pod) ? desired.mirrorPodOf(pod) : undefined;
    if (mirror !== undefined && isOutlived(mirror)) updateMirrors();
  };

  const uidOf = (pod: Pod) => desired.resolveUid(podUid(pod));
  const startLatency = createPodStartLatency({ clock, metrics, timeline, uidOf });

  return {
    show(pod) {
      // A mirror may be shown whose pod is gone, or not known yet: nobody would ever forget it.
      if (desired.byUid(uidOf(pod)) !== undefined) startLatency.show(pod);
      sender.reconcile(uidOf(pod));
    },
    podsChanged(known) {
      states = known;
      updateMirrors();
    },
    finished(pod) {
      const mirror = isStaticPod(pod) ? desired.mirrorPodOf(pod) : undefined;
      if (mirror !== undefined) outlived.add(podUid(mirror));
      sender.finished(pod);
    },
    forget(uid) {
      startLatency.forget(uid);
      if (desired.byUid(uid) === undefined) sender.forget(uid);
    },
    podUids: () => [...new Set([...sender.podUids(), ...startLatency.podUids()])],
    recordNodeEvent: events.recordNode,
    async flush() {
      await Promise.all([sender.flush(FLUSH_TIMEOUT_MS.statuses), events.flush(FLUSH_TIMEOUT_MS.events)]);
    },
    parts: [
      { name: "status sender", run: sender.run },
      { name: "mirror pods", run: mirrors.run },
      {
        name: "owner of mirror pods",
        async run(signal) {
          const stops = [registration.subscribe(updateMirrors), statuses.subscribe(replaceOutlived)];
          if (registration.node() !== undefined) updateMirrors();
          await aborted(signal);
          for (const stop of stops) stop();
        },
      },
      { name: "events", run: events.run },
    ],
  };
}
