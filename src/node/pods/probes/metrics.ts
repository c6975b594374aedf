import type { Container, Pod } from "../../../api/gen/types.ts";
import type { Metrics } from "../../../base/metrics.ts";
import { PROBE_NAMES, type ProbeType } from "./probe-type.ts";

/** The metrics of probes, as upstream's pkg/kubelet/prober/prober_manager.go has them. */
export interface ProbeMetrics {
  /** `remove` removes the series of the probe, so that those of pods that are gone do not pile up. */
  of(pod: Pod, container: Container, kind: ProbeType): OneProbeMetrics;
}

/** The metrics of one probe of one container. */
interface OneProbeMetrics {
  count(result: "success" | "failure", seconds: number): void;
  remove(): void;
}

const RESULTS = { success: "successful", failure: "failed" } as const;

/** The series of `/metrics/probes`; they need a registry of their own, because that path serves nothing else. */
export function createProbeMetrics(metrics: Metrics): ProbeMetrics {
  const total = metrics.counter(
    "prober_probe_total",
    "Cumulative number of a liveness, readiness or startup probe for a container by result.",
    ["probe_type", "result", "container", "pod", "namespace", "pod_uid"],
  );
  const duration = metrics.histogram("prober_probe_duration_seconds", "Duration in seconds for a probe response.", {
    labels: ["probe_type", "container", "pod", "namespace"],
  });
  return {
    of(pod, container, kind) {
      const { name = "", namespace = "", uid = "" } = pod.metadata ?? {};
      const labels = { probe_type: PROBE_NAMES[kind], container: container.name, pod: name, namespace };
      const labelsOf = (result: keyof typeof RESULTS) => ({ ...labels, result: RESULTS[result], pod_uid: uid });
      return {
        count(result, seconds) {
          total.add(labelsOf(result));
          // Upstream does not observe the duration of a failure either.
          if (result === "success") duration.observe(seconds, labels);
        },
        remove() {
          total.remove(labelsOf("success"));
          total.remove(labelsOf("failure"));
          duration.remove(labels);
        },
      };
    },
  };
}
