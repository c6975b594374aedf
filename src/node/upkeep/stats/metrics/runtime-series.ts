import { SECOND } from "../../../../base/clock.ts";
import type { Log } from "../../../../base/log.ts";
import { type Metric, MetricType } from "../../../../cri/gen/cri-v1.ts";
import { isCriError, type RuntimeService } from "../../../../cri/port.ts";
import type { MetricFamily } from "./metric-page.ts";

/** The series of pods and containers that the runtime makes, in place of those that cadvisor makes of cgroups. */
export interface RuntimeSeries {
  /** Undefined where the runtime makes none. Rejects where it does not answer. */
  read(signal: AbortSignal): Promise<readonly MetricFamily[] | undefined>;
}

interface RuntimeSeriesDeps {
  readonly runtime: Pick<RuntimeService, "listMetricDescriptors" | "listPodSandboxMetrics">;
  readonly log: Log;
}

interface Descriptor {
  readonly help: string;
  readonly labelKeys: readonly string[];
}

const TIMEOUT_MS = 5 * SECOND;
const NANOSECONDS_PER_MS = 1_000_000n;

/**
 * Asks the runtime (pkg/kubelet/metrics/collectors/cri_metrics.go). What its series are called and labelled does not change
 * while it runs, and is asked for once; a sample that does not fit to it is left out.
 */
export function createRuntimeSeries({ runtime, log }: RuntimeSeriesDeps): RuntimeSeries {
  let descriptors: ReadonlyMap<string, Descriptor> | undefined;
  let isTold = false;

  const readAll = async (signal: AbortSignal): Promise<readonly Metric[]> => {
    const call = { signal, timeoutMs: TIMEOUT_MS };
    if (descriptors === undefined) {
      const answer = await runtime.listMetricDescriptors({}, call);
      descriptors = new Map(answer.descriptors.filter(isFit).map(({ name, ...rest }) => [name, rest]));
    }
    const { podMetrics } = await runtime.listPodSandboxMetrics({}, call);
    return podMetrics.flatMap(({ metrics, containerMetrics }) => [
      ...metrics,
      ...containerMetrics.flatMap((container) => container.metrics),
    ]);
  };

  return {
    async read(signal) {
      try {
        return familiesOf(await readAll(signal), descriptors ?? new Map());
      } catch (error) {
        // A runtime of another version may be there the next time.
        descriptors = undefined;
        if (!isCriError(error, "unimplemented")) throw error;
        if (!isTold) {
          log.warn(
            "The runtime does not support ListPodSandboxMetrics, which the feature gate PodAndContainerStatsFromCRI needs: " +
              "/metrics/cadvisor shows the kernel's cgroups, as without the gate",
          );
        }
        isTold = true;
        return undefined;
      }
    },
  };
}

/** A name that the format does not have would spoil the page for all others. */
function isFit({ name, labelKeys }: Descriptor & { readonly name: string }): boolean {
  return /^[a-zA-Z_:][a-zA-Z0-9_:]*$/.test(name) && labelKeys.every((key) => /^[a-zA-Z_][a-zA-Z0-9_]*$/.test(key));
}

function familiesOf(metrics: readonly Metric[], descriptors: ReadonlyMap<string, Descriptor>): MetricFamily[] {
  const families = new Map<string, MetricFamily & { readonly samples: Array<MetricFamily["samples"][number]> }>();
  for (const { name, metricType, labelValues, value, timestamp } of metrics) {
    const descriptor = descriptors.get(name);
    if (descriptor === undefined || descriptor.labelKeys.length !== labelValues.length) continue;
    const type = metricType === MetricType.COUNTER ? "counter" : "gauge";
    const family = families.get(name) ?? { name, help: `[INTERNAL] ${descriptor.help}`, type, samples: [] };
    families.set(name, family);
    family.samples.push({
      labels: Object.fromEntries(descriptor.labelKeys.map((key, index) => [key, labelValues[index] ?? ""])),
      value: Number(value?.value ?? 0n),
      // 0: it was read for this page.
      ...(timestamp > 0n && { at: Number(timestamp / NANOSECONDS_PER_MS) }),
    });
  }
  return [...families.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
}
