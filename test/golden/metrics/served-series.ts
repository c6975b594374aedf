import { silentLog } from "../../../src/base/log.ts";
import { createMetrics } from "../../../src/base/metrics.ts";
import { startStallMeter } from "../../../src/base/stall-meter.ts";
import { declareBuildSeries } from "../../../src/config/build-series.ts";
import { composeConfiguration } from "../../../src/config/compose-configuration.ts";
import { createNodeAgentConfig, type NodeAgentConfig } from "../../../src/config/node-agent-config.ts";
import { createRuntimeEvents } from "../../../src/cri/create-runtime-events.ts";
import { createFakeCri } from "../../../src/cri/fake/create-fake-cri.ts";
import { declareCallSeries } from "../../../src/cri/measured-calls.ts";
import { seriesOf } from "../../../src/csi/csi-series.ts";
import { createFakeHost } from "../../../src/host/fake/create-fake-host.ts";
import { declareProcessSeries } from "../../../src/host/linux/system/process-series.ts";
import { createHttpKubeClient } from "../../../src/kube/http/create-http-kube-client.ts";
import { createRotationMetrics } from "../../../src/node/cluster/certificates/rotation-metrics.ts";
import { createNodeAgent } from "../../../src/node/compose/node-agent.ts";
import { createProbeMetrics } from "../../../src/node/pods/probes/metrics.ts";
import { declareProviderMetrics } from "../../../src/node/runtime/credential-providers/provider-metrics.ts";
import { httpMetricsOf } from "../../../src/node/server/http-metrics.ts";
import { computeCadvisorMetrics } from "../../../src/node/upkeep/stats/metrics/cadvisor-metrics.ts";
import type { MetricFamily } from "../../../src/node/upkeep/stats/metrics/metric-page.ts";
import { computeResourceMetrics } from "../../../src/node/upkeep/stats/metrics/resource-metrics.ts";
import { everyReading } from "./every-reading.ts";
import { type DeclaredSeries, recordDeclarations } from "./recorded-metrics.ts";

/** What a page serves, by name. Of pages that are made of readings, what they would serve if everything could be read. */
type ServedSeries = ReadonlyMap<string, Pick<DeclaredSeries, "type"> & Partial<DeclaredSeries>>;

/** Every page of a node agent that does all that it can be configured to do. */
export async function readServedSeries(): Promise<Readonly<Record<string, ServedSeries>>> {
  const { declared, view } = await composeEverything();
  const probes = recordDeclarations(createMetrics());
  createProbeMetrics(probes.metrics);
  const input = everyReading();
  return {
    "/metrics": declared,
    "/metrics/probes": new Map([...(await typesOf(view.statistics["/metrics/probes"])), ...probes.declared]),
    "/metrics/slis": await typesOf(view.health.find("/metrics/slis")),
    "/metrics/resource": describe(computeResourceMetrics(input.readings.usage)),
    "/metrics/cadvisor": describe(computeCadvisorMetrics(input)),
  };
}

async function composeEverything() {
  const host = createFakeHost();
  const cri = createFakeCri({ clock: host.clock });
  const { metrics, declared } = recordDeclarations(createMetrics());
  const config = createConfig();
  const user = {};
  const connection = { source: "kubeconfig", server: "http://127.0.0.1:1", namespace: "", user };
  const { clock, random, programs } = host;
  const deps = { clock, random, programs, log: silentLog, metrics, connection };
  const client = createHttpKubeClient(deps, { userAgent: "", qps: 0, burst: 0, timeoutMs: 1_000 });
  const connect = () => {
    throw new Error("nothing is run here");
  };
  const ports = {
    host,
    cri,
    events: createRuntimeEvents({ runtime: cri.runtime, clock: host.clock, log: silentLog }),
    plugins: {
      connectRegistration: connect,
      connectCsi: connect,
      connectDevicePlugin: connect,
      connectDraPlugin: connect,
      serve: connect,
    },
    kube: { client, heartbeat: client, events: client },
    log: silentLog,
    metrics,
  };
  const { view } = await createNodeAgent(ports, config);
  // What others than the node agent itself count, or it only where it is told to.
  declareBuildSeries(metrics, "linux/amd64", config.featureGates);
  declareProcessSeries(metrics);
  const stop = () => undefined;
  const loop = { watch: () => ({ expectWork: stop, stop }) };
  startStallMeter({ loop, metrics, log: silentLog, monotonic: () => 0 });
  declareCallSeries(metrics);
  seriesOf(metrics);
  declareProviderMetrics(metrics, "");
  createRotationMetrics(metrics, "kubelet-server");
  httpMetricsOf(metrics, host.clock);
  await client.close();
  return { view, declared };
}

function createConfig(): NodeAgentConfig {
  const flags = new Map<string, unknown>([["kubeconfig", "/etc/kubernetes/kubelet.conf"]]);
  const text = JSON.stringify({
    kind: "KubeletConfiguration",
    apiVersion: "kubelet.config.k8s.io/v1beta1",
    rotateCertificates: true,
    shutdownGracePeriod: "30s",
  });
  const dropIns = [{ path: "/etc/kubernetes/kubelet.conf.d/10-all.conf", text }];
  const { configuration, featureGates, errors } = composeConfiguration({ dropIns, flags });
  if (errors.length > 0) throw new Error(JSON.stringify(errors));
  const rest = { flags, hostname: "golden", workingDirectory: "/" };
  return createNodeAgentConfig({ configuration, featureGates, ...rest }).config;
}

type Page = (request: { method: string; path: string; query: URLSearchParams }) => unknown;

/** By the lines of the page's text, which name what has no samples too. */
async function typesOf(page: Page | undefined): Promise<ServedSeries> {
  const answer: unknown = await page?.({ method: "GET", path: "", query: new URLSearchParams() });
  const text = JSON.stringify(answer);
  const types = [...text.matchAll(/# TYPE (\w+) (counter|gauge|histogram)/g)];
  return new Map(types.map(([, name = "", type]) => [name, { type: readType(type) }]));
}

function describe(families: readonly MetricFamily[]): ServedSeries {
  const served = families.filter(({ samples }) => samples.length > 0);
  return new Map(
    served.map(({ name, type, samples }) => [
      name,
      { type, labels: [...new Set(samples.flatMap(({ labels = {} }) => Object.keys(labels)))].sort() },
    ]),
  );
}

function readType(text: string | undefined): DeclaredSeries["type"] {
  return text === "counter" || text === "gauge" ? text : "histogram";
}
