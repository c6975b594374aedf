import { SECOND } from "../../base/clock.ts";
import { createMetrics, declareStartTime } from "../../base/metrics.ts";
import type { Timeline } from "../../base/timeline.ts";
import { PROBE_USER_AGENT } from "../../config/kubelet-version.ts";
import type { LoopInbox } from "../pods/loop/loop-inbox.ts";
import { createSlots } from "../pods/probes/exec-slots.ts";
import { createProbeMetrics } from "../pods/probes/metrics.ts";
import { createPodProbes, type PodProbes } from "../pods/probes/pod-probes.ts";
import { runProbe } from "../pods/probes/run-probe.ts";
import type { PodStatuses } from "../pods/status/pod-statuses.ts";
import { expandVariables } from "../runtime/config/expansion.ts";
import type { NodeAgentPorts } from "./node-agent-ports.ts";

/**
 * Commands in containers that begin side by side. Each costs the runtime a process or two; more than this at once only
 * makes all of them late.
 */
const EXEC_SLOTS = { limit: 16, holdMs: 2 * SECOND };

/** The probes, and what `/metrics/probes` tells of them. */
export interface ProbeParts {
  probes: PodProbes;
  /** The text of `/metrics/probes`, in the format that `contentType` names. */
  renderMetrics(): Promise<string>;
  contentType: string;
}

interface ProbePartsDeps {
  ports: NodeAgentPorts;
  timeline: Timeline;
  inbox: LoopInbox;
  statuses: Pick<PodStatuses, "get">;
}

/** Builds the probes; what they find that a pod's worker must act on goes to the inbox. */
export function composeProbes({ ports, timeline, inbox, statuses }: ProbePartsDeps): ProbeParts {
  const { host, cri } = ports;
  const { clock, random } = host;
  const metrics = createMetrics();
  declareStartTime(metrics, clock.now());
  const slots = createSlots(clock, EXEC_SLOTS);
  const runner = {
    runtime: cri.runtime,
    expand: expandVariables,
    client: host.probes,
    userAgent: PROBE_USER_AGENT,
  };
  const probes = createPodProbes({
    clock,
    random,
    timeline,
    metrics: createProbeMetrics(metrics),
    podIpOf: (uid) => statuses.get(uid)?.podIP,
    async attempt(target, signal) {
      const run = async () => await runProbe(runner, target, signal);
      return target.probe.exec === undefined ? await run() : await slots(run, signal);
    },
  });
  // A container that is only ready or not needs nothing but its status.
  probes.subscribe(({ pod, kind }) => {
    if (kind !== "readiness") inbox.offerProbed(pod.metadata?.uid ?? "");
  });
  return { probes, renderMetrics: metrics.render, contentType: metrics.contentType };
}
