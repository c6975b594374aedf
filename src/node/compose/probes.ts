import { createMetrics, declareStartTime, type Metrics } from "../../base/metrics.ts";
import { PROBE_USER_AGENT } from "../../config/kubelet-version.ts";
import { createLimitedProbes } from "../pods/probes/limited-probes.ts";
import { createProbeMetrics } from "../pods/probes/metrics.ts";
import { createPodProbes, type PodProbes } from "../pods/probes/pod-probes.ts";
import { wakeOnVerdict } from "../pods/probes/wake-on-verdict.ts";
import { expandWords } from "../runtime/config/expansion.ts";
import type { Foundation } from "./foundation.ts";

/** The probes, and what `/metrics/probes` tells of them. */
export interface ProbeParts {
  readonly probes: PodProbes;
  readonly metrics: Pick<Metrics, "contentType" | "render">;
}

/** Builds the probes; what they find that a pod's worker must act on goes to the inbox. */
export function composeProbes({ ports, timeline, inbox, statuses }: Foundation): ProbeParts {
  const { host, cri } = ports;
  const { clock, random } = host;
  const metrics = createMetrics();
  declareStartTime(metrics, clock.now());
  const probes = createPodProbes({
    clock,
    random,
    timeline,
    metrics: createProbeMetrics(metrics),
    podIpOf: (uid) => statuses.get(uid)?.podIP,
    attempt: createLimitedProbes(clock, {
      runtime: cri.runtime,
      expand: expandWords,
      client: host.probes,
      userAgent: PROBE_USER_AGENT,
    }),
  });
  wakeOnVerdict(probes, inbox.offerProbed);
  return { probes, metrics };
}
