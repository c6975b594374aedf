import { isAbort } from "../../../base/abort.ts";
import { messageOf } from "../../../base/errors.ts";
import type { Log } from "../../../base/log.ts";
import type { Page, PageRequest } from "../../../host/http-server.ts";
import {
  type CadvisorInput,
  computeCadvisorMetrics,
  computeRuntimePage,
  type MachineInput,
} from "./metrics/cadvisor-metrics.ts";
import { METRIC_PAGE_TYPE, type MetricFamily, renderMetrics } from "./metrics/metric-page.ts";
import { computeResourceMetrics } from "./metrics/resource-metrics.ts";
import type { RuntimeSeries } from "./metrics/runtime-series.ts";
import type { NodeStats } from "./node-stats.ts";

/** A request for statistics. Only the node's own API gives a signal, which fires when the client has gone. */
interface StatsRequest extends PageRequest {
  readonly signal?: AbortSignal;
}

/** The handlers by path: `/stats/summary`, `/metrics/resource`, `/metrics/cadvisor`. */
export type StatsEndpoints = Readonly<Record<string, (request: StatsRequest) => Promise<Page>>>;

interface StatsEndpointsDeps {
  readonly stats: Pick<NodeStats, "summary" | "cpuAndMemory" | "counters">;
  /** Reads the input of `/metrics/cadvisor`. */
  readonly containers: {
    readAll(signal: AbortSignal): Promise<CadvisorInput>;
    readMachine(): Promise<MachineInput>;
  };
  /** The runtime's own series, where they are shown in place of the kernel's (`PodAndContainerStatsFromCRI`). */
  readonly runtimeSeries?: RuntimeSeries | undefined;
  readonly log: Log;
}

/** The signal of requests that bring none. Their work is bounded in time anyway. */
const NEVER = new AbortController().signal;

/** Follows pkg/kubelet/server/stats/handler.go and `InstallAuthNotRequiredHandlers` of pkg/kubelet/server/server.go. */
export function createStatsEndpoints({ stats, containers, runtimeSeries, log }: StatsEndpointsDeps): StatsEndpoints {
  /** Makes a page that itself reports when the readings could not be made. */
  const page = async <T>(
    what: string,
    read: () => Promise<T>,
    compute: (readings: T | undefined) => MetricFamily[],
  ): Promise<Page> => {
    let readings: T | undefined;
    try {
      readings = await read();
    } catch (error) {
      if (isAbort(error)) throw error;
      log.warn("Cannot read the statistics", { page: what, error: messageOf(error) });
    }
    return { status: 200, headers: { "content-type": METRIC_PAGE_TYPE }, body: renderMetrics(compute(readings)) };
  };

  return {
    async "/stats/summary"({ method, query, signal = NEVER }) {
      if (method !== "GET" && method !== "HEAD" && method !== "POST") return METHOD_NOT_ALLOWED;
      const values = query.getAll("only_cpu_and_memory");
      const isPart = values.length === 1 && values[0] === "true";
      try {
        const summary = await (isPart ? stats.cpuAndMemory(signal) : stats.summary(signal));
        return { status: 200, headers: { "content-type": "application/json" }, body: JSON.stringify(summary) };
      } catch (error) {
        if (isAbort(error)) throw error;
        log.warn("Cannot read the statistics", { page: "/stats/summary", error: messageOf(error) });
        return { status: 500, body: `Internal Error: ${messageOf(error)}` };
      }
    },
    async "/metrics/resource"({ signal = NEVER }) {
      return await page("/metrics/resource", async () => await stats.counters(signal), computeResourceMetrics);
    },
    async "/metrics/cadvisor"({ signal = NEVER }) {
      const read = async () => {
        const families = await runtimeSeries?.read(signal);
        if (families === undefined) return computeCadvisorMetrics(await containers.readAll(signal));
        return computeRuntimePage(families, await containers.readMachine());
      };
      return await page("/metrics/cadvisor", read, (families) => families ?? computeCadvisorMetrics(undefined));
    },
  };
}

const METHOD_NOT_ALLOWED: Page = { status: 405, body: "405: Method Not Allowed" };
