import { beforeEach, describe, expect, it } from "vitest";
import { silentLog } from "../../../base/log.ts";
import {
  ListMetricDescriptorsResponse,
  ListPodSandboxMetricsResponse,
  ListPodSandboxStatsResponse,
  MetricType,
} from "../../../cri/gen/cri-v1.ts";
import { CriError } from "../../../cri/port.ts";
import { createStatsWorld, MIB } from "./__fixtures__/stats-world.ts";
import { createRuntimeSeries } from "./metrics/runtime-series.ts";
import { createSandboxStats } from "./readings/sandbox-stats.ts";
import { createStatsEndpoints } from "./stats-endpoints.ts";

const AT = Date.UTC(2026, 0, 1);
const timestamp = BigInt(AT) * 1_000_000n;
const many = (value: number) => ({ value: BigInt(value) });
const psi = { Full: { Total: 5n, Avg10: 1, Avg60: 2, Avg300: 3 }, Some: { Total: 6n, Avg10: 4, Avg60: 5, Avg300: 6 } };
const PSI = { full: { total: 5, avg10: 1, avg60: 2, avg300: 3 }, some: { total: 6, avg10: 4, avg60: 5, avg300: 6 } };

/** How the runtime answers to each question, in place of what it would tell. */
let failure: CriError | undefined;
let warnings: string[];
let asked: string[];

const answer = async <T>(rpc: string, make: () => T): Promise<T> => {
  asked.push(rpc);
  if (failure) throw failure;
  return await Promise.resolve(make());
};
const failWith = (code: "unimplemented" | "unavailable") => {
  failure = new CriError(code, { rpc: "ListX", endpoint: "unix:///x", detail: "no" });
};
const runtime = {
  listPodSandboxStats: async () =>
    await answer("listPodSandboxStats", () =>
      ListPodSandboxStatsResponse.fromPartial({
        stats: [
          {
            attributes: { id: "sandbox-of-web" },
            linux: {
              cpu: { timestamp, usageCoreNanoSeconds: many(2e9), usageNanoCores: many(3e8), psi },
              memory: { timestamp, workingSetBytes: many(50 * MIB), availableBytes: many(14 * MIB) },
              io: { timestamp, psi },
              process: { timestamp, processCount: many(4) },
              network: {
                timestamp,
                defaultInterface: { name: "eth0", rxBytes: many(7), txBytes: many(8) },
                interfaces: [{ name: "eth0", rxBytes: many(7), txBytes: many(8) }],
              },
              containers: [
                {
                  attributes: { id: "c1" },
                  cpu: { timestamp, usageCoreNanoSeconds: many(1e9), usageNanoCores: many(1e8) },
                  memory: { timestamp, workingSetBytes: many(40 * MIB), usageBytes: many(41 * MIB) },
                  swap: { timestamp, swapUsageBytes: many(5), swapAvailableBytes: many(2) },
                },
              ],
            },
          },
          { attributes: { id: "of another node agent" }, linux: {} },
        ],
      }),
    ),
  listMetricDescriptors: async () =>
    await answer("listMetricDescriptors", () =>
      ListMetricDescriptorsResponse.fromPartial({
        descriptors: [
          { name: "container_memory_rss", help: "Size of RSS", labelKeys: ["id", "pod"] },
          { name: "container_cpu_usage_seconds_total", help: "CPU time", labelKeys: ["id"] },
          { name: "container\nx", help: "", labelKeys: [] },
          { name: "container_x", help: "", labelKeys: ['id="'] },
        ],
      }),
    ),
  listPodSandboxMetrics: async () =>
    await answer("listPodSandboxMetrics", () =>
      ListPodSandboxMetricsResponse.fromPartial({
        podMetrics: [
          {
            podSandboxId: "s",
            metrics: [
              { name: "container_memory_rss", metricType: MetricType.GAUGE, labelValues: ["s", "web"], value: many(9) },
              { name: "container_memory_rss", metricType: MetricType.GAUGE, labelValues: ["s"], value: many(9) },
              { name: "unknown", metricType: MetricType.GAUGE, labelValues: [], value: many(9) },
              { name: "container\nx", metricType: MetricType.GAUGE, labelValues: [], value: many(9) },
              { name: "container_x", metricType: MetricType.GAUGE, labelValues: ["s"], value: many(9) },
            ],
            containerMetrics: [
              {
                containerId: "c1",
                metrics: [
                  {
                    ...{ name: "container_cpu_usage_seconds_total", metricType: MetricType.COUNTER, timestamp },
                    ...{ labelValues: ["c1"], value: many(3) },
                  },
                ],
              },
            ],
          },
        ],
      }),
    ),
};

const create = () => {
  const log = { ...silentLog, warn: (message: string) => void warnings.push(message) };
  const world = createStatsWorld({ sandboxStats: createSandboxStats({ runtime, log }) });
  world.host.cgroups.set("/", { memory: { workingSet: 400 * MIB } });
  world.host.cgroups.set("/k8s.io/c1", { memory: { workingSet: 30 * MIB }, pids: [7] });
  const machine = { physicalCores: 1, sockets: 1, memoryModules: [], cpuCores: 2 };
  const identity = { machineId: "m", systemUuid: "u", bootId: "b", kernelRelease: "6", osImage: "Debian" };
  const endpoints = createStatsEndpoints({
    stats: world.stats,
    containers: {
      readAll: async () => await Promise.reject(new Error("the kernel was asked")),
      readMachine: async () => ({ machine: { ...machine, ...identity }, node: await world.stats.constants() }),
    },
    runtimeSeries: createRuntimeSeries({ runtime, log }),
    log,
  });
  return { world, endpoints };
};

beforeEach(() => {
  failure = undefined;
  warnings = [];
  asked = [];
});

describe("statistics from the runtime", () => {
  it("tell of pods and containers what it tells, and the kernel is not asked for them", async () => {
    const { world } = create();
    const { pods } = await world.read(world.stats.summary(new AbortController().signal));
    const time = "2026-01-01T00:00:00Z";
    expect(pods).toMatchObject([
      {
        cpu: { time, usageNanoCores: 3e8, usageCoreNanoSeconds: 2e9, psi: PSI },
        memory: { time, workingSetBytes: 50 * MIB, availableBytes: 14 * MIB },
        io: { time, psi: PSI },
        network: { time, name: "eth0", rxBytes: 7, txBytes: 8 },
        process_stats: { process_count: 4 },
        swap: { swapUsageBytes: 5, swapAvailableBytes: 2 },
        containers: [
          {
            name: "name-of-c1",
            cpu: { time, usageNanoCores: 1e8, usageCoreNanoSeconds: 1e9 },
            memory: { time, workingSetBytes: 40 * MIB, usageBytes: 41 * MIB },
          },
        ],
      },
    ]);
    await world.end();
  });

  it("come from the kernel where the runtime keeps none, which is said once", async () => {
    failWith("unimplemented");
    const { world } = create();
    for (let round = 0; round < 2; round++) {
      await world.host.clock.advance(5_000);
      const { pods } = await world.read(world.stats.cpuAndMemory(new AbortController().signal));
      expect(pods).toMatchObject([{ containers: [{ memory: { workingSetBytes: 30 * MIB } }] }]);
    }
    expect(warnings).toEqual([expect.stringContaining("does not support ListPodSandboxStats")]);
    await world.end();
  });

  it("are refused while the runtime does not answer", async () => {
    failWith("unavailable");
    const { world, endpoints } = create();
    const request = { method: "GET", query: new URLSearchParams() };
    expect(await endpoints["/stats/summary"]?.({ ...request, path: "/stats/summary" })).toMatchObject({ status: 500 });
    await world.end();
  });
});

describe("/metrics/cadvisor", () => {
  const read = async (endpoints: ReturnType<typeof create>["endpoints"]) => {
    const page = await endpoints["/metrics/cadvisor"]?.({
      ...{ method: "GET", path: "/metrics/cadvisor", query: new URLSearchParams() },
    });
    return String(page?.body);
  };

  it("shows the runtime's series, without those that do not fit to its own words, and the machine's", async () => {
    const { world, endpoints } = create();
    const page = await read(endpoints);
    expect(page).toContain("# HELP container_memory_rss [INTERNAL] Size of RSS\n# TYPE container_memory_rss gauge\n");
    expect(page.match(/^container_.*$/gm)).toEqual([
      `container_cpu_usage_seconds_total{id="c1"} 3 ${AT}`,
      'container_memory_rss{id="s",pod="web"} 9',
    ]);
    expect(page).toContain('machine_cpu_cores{boot_id="b",machine_id="m",system_uuid="u"} 2');
    await read(endpoints);
    expect(asked).toEqual(["listMetricDescriptors", "listPodSandboxMetrics", "listPodSandboxMetrics"]);
    await world.end();
  });

  it("shows the kernel's where the runtime makes none, which is said once", async () => {
    failWith("unimplemented");
    const { world, endpoints } = create();
    await read(endpoints);
    // The kernel's are asked for: here they cannot be read, and the page says so.
    expect(await read(endpoints)).toContain("container_scrape_error 1");
    expect(warnings.filter((message) => message.includes("ListPodSandboxMetrics"))).toHaveLength(1);
    await world.end();
  });
});
