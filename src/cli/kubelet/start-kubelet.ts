import { setMaxListeners } from "node:events";
import { inspect } from "node:util";
import { isAbort } from "../../base/abort.ts";
import type { Clock } from "../../base/clock.ts";
import { CodedError, messageOf, runAll } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import { runWithTasks } from "../../base/tasks.ts";
import { KUBELET_VERSION } from "../../config/kubelet-version.ts";
import type { NodeAgentConfig } from "../../config/node-agent-config.ts";
import { connectCri } from "../../cri/connect.ts";
import { connectContainerdContent } from "../../cri/containerd-content.ts";
import { connectContainerdEvents } from "../../cri/containerd-events.ts";
import { createRuntimeEvents } from "../../cri/create-runtime-events.ts";
import { watchOwnStops } from "../../cri/own-stops.ts";
import { connectCsi } from "../../csi/connect.ts";
import { connectDevicePlugin } from "../../device-plugin/connect.ts";
import { connectDraPlugin } from "../../dra/connect.ts";
import { serveGrpc } from "../../grpc/serve.ts";
import type { PageHandler } from "../../host/http-server.ts";
import { createLinuxHost } from "../../host/linux/create-linux-host.ts";
import { acceptWebSocket } from "../../host/linux/network/accept-web-socket.ts";
import { callUpgrade } from "../../host/linux/network/call-upgrade.ts";
import { listenHttp } from "../../host/linux/network/listen-http.ts";
import { endProcess } from "../../host/linux/system/end-process.ts";
import { setOwnOomScore } from "../../host/linux/system/oom-score.ts";
import { createServiceNotifier } from "../../host/linux/system/service-notifier.ts";
import { systemClock } from "../../host/linux/system/system-clock.ts";
import { createNodeAgent, type NodeAgent } from "../../node/compose/node-agent.ts";
import { httpMetricsOf } from "../../node/server/http-metrics.ts";
import { sharePages } from "../../node/server/shared-pages.ts";
import { connectPluginRegistration } from "../../plugin-registration/connect.ts";
import type { OpenedTracing } from "../../tracing/open-tracing.ts";
import { connectKube, type KubeLink } from "./connect-kube.ts";
import { limitEnding } from "./limit-ending.ts";
import { type NodeApiServer, openNodeApi } from "./open-node-api.ts";
import { createProcessMetrics } from "./process-metrics.ts";
import { runLocked } from "./run-locked.ts";
import { serveNode } from "./serve-node.ts";
import { watchProcess } from "./watch-process.ts";

/**
 * Settings that neither a flag nor the configuration has, with upstream's values by default. Only callers that compose
 * the node agent themselves set them.
 */
export interface StartKubeletOptions {
  /** The time limit of a call to a storage driver. Default: that of `connectCsi`. */
  readonly csiRequestTimeoutMs?: number;
}

/**
 * Builds the real ports, runs the node agent on them until SIGTERM or SIGINT, and closes them. Pods keep running.
 * Returns the exit code: 1 when something else ended the node agent, which the log then says. The process ends soon
 * after that, even where a call of the machine has no answer.
 */
export async function startKubelet(
  config: NodeAgentConfig,
  log: Log,
  options: StartKubeletOptions = {},
): Promise<number> {
  process.title = "nodelet kubelet";
  // One signal stops everything, so there are as many listeners as there are pods.
  setMaxListeners(0);
  // The watch is never released, because a second signal or an unhandled error may come until the process is gone.
  const { signal } = watchProcess(process, log, endProcess);
  const work = async (stop: AbortSignal) => await runUntilStopped({ config, log, signal: stop }, options);
  let code = 0;
  try {
    await runLocked(config.lockFile, { clock: systemClock, log }, { work, signal });
  } catch (error) {
    // The words are upstream's. An unforeseen error is logged with its stack.
    const stack = error instanceof CodedError ? {} : { stack: inspect(error) };
    log.error("command failed", { error: `failed to run Kubelet: ${messageOf(error)}`, ...stack });
    code = 1;
  }
  limitEnding(code, log, {
    setTimer: (delayMs, fire) => setTimeout(fire, delayMs).unref(),
    activeResources: () => process.getActiveResourcesInfo(),
    end: endProcess,
  });
  return code;
}

async function runUntilStopped(
  { config, log, signal }: { config: NodeAgentConfig; log: Log; signal: AbortSignal },
  { csiRequestTimeoutMs }: StartKubeletOptions,
): Promise<void> {
  const host = createLinuxHost();
  const metrics = await createProcessMetrics(host.machine, config, log);
  const tracing = await startTracing(config, { clock: host.clock, log });
  const containerd = connectContainerdEvents(config.runtimeEndpoint);
  const content = connectContainerdContent(config.imageEndpoint ?? config.runtimeEndpoint);
  const connected = connectCri({
    endpoint: config.runtimeEndpoint,
    imageEndpoint: config.imageEndpoint,
    requestTimeoutMs: config.kubelet.runtimeRequestTimeout,
    log,
    metrics,
    tracing,
    streamsLists: config.featureGates["CRIListStreaming"],
  });
  const { runtime, stops } = watchOwnStops(connected.runtime);
  const cri = { ...connected, runtime };
  const events = createRuntimeEvents({ runtime, containerd, stops, clock: host.clock, log });
  // The score is upstream's, so that the kernel kills pods first. Without the right to lower it the agent runs on.
  await setOwnOomScore(config.kubelet.oomScoreAdj).catch((error: unknown) => {
    log.info("Failed to ApplyOOMScoreAdj", { score: config.kubelet.oomScoreAdj, error: messageOf(error) });
  });
  log.info("Starting kubelet", {
    version: KUBELET_VERSION,
    node: config.nodeName,
    runtime: config.runtimeEndpoint,
    staticPodPath: config.staticPodPath,
    manifestUrl: config.manifestUrl,
    kubeconfig: config.cluster?.kubeconfigPath,
  });
  let kube: KubeLink | undefined;
  try {
    kube = config.cluster && (await connectKube(config, config.cluster, { host, log, metrics, tracing, signal }));
    const plugins = {
      connectRegistration: connectPluginRegistration,
      connectCsi: (driver: { endpoint: string; driverName: string }) =>
        connectCsi({ ...driver, metrics, requestTimeoutMs: csiRequestTimeoutMs }),
      connectDevicePlugin,
      connectDraPlugin,
      serve: serveGrpc,
    };
    const listDownloads = async (signal: AbortSignal) => await content.listDownloads({ signal });
    const runtimePorts = { cri, events, listDownloads };
    const common = { host, kube: kube?.ports, log, metrics, tracing };
    const agent = await createNodeAgent({ ...runtimePorts, ...common, plugins }, config);
    const nodePorts = { cri, ...common };
    const doors = { listen: listenHttp, callUpgrade, acceptWebSocket };
    const api = await openNodeApi({ ports: nodePorts, agent, reviews: kube?.reviews, ...doors }, config);
    try {
      const { measure } = httpMetricsOf(metrics, host.clock);
      const wrap = (handler: PageHandler) => measure(sharePages(handler, host.clock));
      await runServed({ agent, api, config, log, wrap }, signal);
    } finally {
      await api?.close();
    }
    log.info("Kubelet stopped, pods keep running");
  } catch (error) {
    if (!(signal.aborted && isAbort(error))) throw error;
  } finally {
    const closers = [
      async () => await kube?.close(),
      () => containerd.close(),
      () => content.close(),
      () => cri.close(),
      async () => await tracing?.close(),
    ];
    await runAll(closers, "stopping").catch((error: unknown) =>
      log.warn("A connection did not close", { error: messageOf(error) }),
    );
  }
}

/** What makes spans is loaded where they are asked for, and only there. */
async function startTracing(
  { kubelet, nodeName }: NodeAgentConfig,
  deps: { clock: Clock; log: Log },
): Promise<OpenedTracing | undefined> {
  if (kubelet.tracing === undefined) return undefined;
  const { openTracing } = await import("../../tracing/open-tracing.ts");
  return openTracing(deps, { ...kubelet.tracing, hostName: nodeName });
}

interface ServedAgent {
  agent: NodeAgent;
  api: NodeApiServer | undefined;
  config: NodeAgentConfig;
  log: Log;
  /** What stands around the read-only server's pages. */
  wrap(handler: PageHandler): PageHandler;
}

/** Runs the agent with its servers around it. A crash of either ends both. */
async function runServed({ agent, api, config, log, wrap }: ServedAgent, signal: AbortSignal): Promise<void> {
  const servers = await serveNode(agent.view, config, { listen: listenHttp, log, wrap });
  const notifier = createServiceNotifier(process.env);
  signal.addEventListener("abort", notifier.stopping, { once: true });
  notifier.ready();
  try {
    await runWithTasks(signal, async (tasks, inner) => {
      if (api !== undefined) tasks.spawn("node API", async () => await api.run(inner));
      await agent.run(inner);
    });
  } finally {
    await servers.close();
  }
}
