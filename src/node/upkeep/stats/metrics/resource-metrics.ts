import type { PodReference } from "../../../../api/pods.ts";
import type { MeasuredCgroup, UsageSnapshot } from "../readings/usage-snapshot.ts";
import { sumOfPod } from "../summary/pod-sums.ts";
import type { MetricFamily, MetricSample } from "./metric-page.ts";

/** A value is divided by this, because a product with the inverse would show digits that were never measured. */
const NANOSECONDS = 1e9;

/** The usage of a subject of the page: the machine, a pod or a container. */
interface Subject extends MeasuredCgroup {
  readonly labels: Readonly<Record<string, string>>;
}

/**
 * Computes the page `/metrics/resource`, from which the autoscaler and `kubectl top` learn what pods use. Names, help
 * and labels are those of pkg/kubelet/metrics/collectors/resource_metrics.go. An undefined snapshot means that there
 * was an error, and the page says so.
 */
export function computeResourceMetrics(snapshot: UsageSnapshot | undefined): MetricFamily[] {
  const pods = snapshot?.pods ?? [];
  const node = snapshot === undefined ? [] : [{ ...snapshot.node, labels: {} }];
  const podSubjects = pods.map((pod) => ({ ...sumOfPod(pod), labels: labelsOf(pod.pod) }));
  const containers = pods.flatMap((pod) =>
    pod.containers.map((container) => ({ ...container, labels: { container: container.name, ...labelsOf(pod.pod) } })),
  );
  const error = [{ value: snapshot === undefined ? 1 : 0 }];
  const errorHelp = "1 if there was an error while getting container metrics, 0 otherwise";
  return [
    cpu("container", containers),
    memory("container", containers),
    {
      name: "container_start_time_seconds",
      help: "[STABLE] Start time of the container since unix epoch in seconds",
      type: "gauge",
      samples: containers
        .filter(({ createdAt }) => createdAt > 0)
        .map(({ labels, createdAt }) => ({ labels, value: createdAt / 1_000 })),
    },
    {
      name: "container_swap_limit_bytes",
      help: "[ALPHA] Current amount of the container swap limit in bytes. Reported only on non-windows systems",
      type: "gauge",
      samples: samplesOf(containers, ({ usage }) => usage.memory?.swapLimit),
    },
    swap("container", "Current amount of the container swap usage in bytes", containers),
    cpu("node", node),
    memory("node", node),
    swap("node", "Current swap usage of the node in bytes", node),
    cpu("pod", podSubjects),
    memory("pod", podSubjects),
    swap("pod", "Current amount of the pod swap usage in bytes", podSubjects),
    { name: "resource_scrape_error", help: `[STABLE] ${errorHelp}`, type: "gauge", samples: error },
    { name: "scrape_error", help: `[ALPHA] (Deprecated since 1.29.0) ${errorHelp}`, type: "gauge", samples: error },
  ];
}

function labelsOf({ namespace, name }: PodReference): Record<string, string> {
  return { namespace, pod: name };
}

function cpu(prefix: string, subjects: readonly Subject[]): MetricFamily {
  return {
    name: `${prefix}_cpu_usage_seconds_total`,
    help: `[STABLE] Cumulative cpu time consumed by the ${prefix} in core-seconds`,
    type: "counter",
    samples: samplesOf(subjects, ({ usage }) => usage.cpu && usage.cpu.usageNanoseconds / NANOSECONDS),
  };
}

function memory(prefix: string, subjects: readonly Subject[]): MetricFamily {
  return {
    name: `${prefix}_memory_working_set_bytes`,
    help: `[STABLE] Current working set of the ${prefix} in bytes`,
    type: "gauge",
    samples: samplesOf(subjects, ({ usage }) => usage.memory?.workingSet),
  };
}

function swap(prefix: string, help: string, subjects: readonly Subject[]): MetricFamily {
  return {
    name: `${prefix}_swap_usage_bytes`,
    help: `[ALPHA] ${help}. Reported only on non-windows systems`,
    type: "gauge",
    samples: samplesOf(subjects, ({ usage }) => usage.memory?.swap),
  };
}

/** Makes samples that carry the times of their readings, from which rates are computed. */
function samplesOf(subjects: readonly Subject[], amountOf: (subject: Subject) => number | undefined): MetricSample[] {
  return subjects.flatMap((subject) => {
    const value = amountOf(subject);
    return value === undefined ? [] : [{ labels: subject.labels, value, at: subject.at }];
  });
}
