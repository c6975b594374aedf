import { mkdir } from "node:fs/promises";
import { isAbort } from "../../base/abort.ts";
import type { Clock } from "../../base/clock.ts";
import { messageOf } from "../../base/errors.ts";
import { repeat } from "../../base/interval.ts";
import type { Log } from "../../base/log.ts";
import { DEFAULT_BRIDGE } from "../containerd/cni-config.ts";
import { bridgeAddressOf } from "../containerd/ensure-bridge.ts";
import { type ContainerdOptions, startContainerd } from "../containerd/start-containerd.ts";
import { ensureImages } from "../images/ensure-images.ts";
import { rotateLog } from "../processes/log-file.ts";
import { tellRangeClashes } from "./range-clashes.ts";
import { type AgentOptions, startAgent } from "./start-agent.ts";
import { type ControlPlaneChildOptions, startControlPlane } from "./start-control-plane.ts";
import { startDns } from "./start-dns.ts";
import { startProxy } from "./start-proxy.ts";
import type { StateLayout } from "./state-layout.ts";
import { type SupervisedProcess, superviseService } from "./supervise.ts";

interface NodeDeps {
  clock: Clock;
  log: Log;
  /** Called with one line for each finished step, for a person who waits. */
  progress: (line: string) => void;
  /** Called with the names of the steps that are under way, whenever they change. */
  waiting: (steps: readonly string[]) => void;
  signal: AbortSignal;
}

interface NodeOptions
  extends Pick<ContainerdOptions, "binary" | "bridge">,
    Pick<AgentOptions, "entry" | "manifests" | "healthzPort" | "kubeletArguments" | "logging">,
    Pick<
      ControlPlaneChildOptions,
      "apiAddress" | "apiPort" | "auditArguments" | "serviceCidr" | "podCidr" | "nodeName" | "scheduler" | "controllers"
    > {
  /** Runs the proxy of services. */
  proxy: boolean;
  /** Runs the DNS server of the cluster. */
  dns: boolean;
  /** The address of the service of the cluster's DNS, which pods ask, be the server ours or not. */
  clusterDns?: string | undefined;
  /** Called once, when containerd, the control plane and the node agent answer. */
  onReady: () => void;
}

const LOG_CHECK_PERIOD_MS = 60_000;

/**
 * Runs a node: containerd, the control plane and the node agent are children, as are the proxy of services and the DNS
 * server, and each is started again by itself when it ends. Returns when the signal has fired and all have stopped; pods
 * run on. Rejects when the first start fails.
 */
export async function runStandaloneNode(layout: StateLayout, options: NodeOptions, deps: NodeDeps): Promise<void> {
  const { clock, log, signal } = deps;
  const timed = createSteps(deps);
  await mkdir(layout.manifests, { recursive: true, mode: 0o700 });
  await tellRangeClashes({ ...options, bridge: options.bridge ?? DEFAULT_BRIDGE }, log);
  const launchContainerd = async () =>
    await startContainerd({ ...options, directory: layout.runtime, registries: layout.registries, log, signal });
  const podAddress = computePodAddress(options);
  const clusterDns = options.dns ? options.clusterDns : undefined;
  const planeOptions = { ...options, clusterDns, podAddress, log, signal };
  const launchControlPlane = async () => await startControlPlane(layout, planeOptions);
  const [containerd, controlPlane] = await startBoth(
    timed("containerd", launchContainerd, ({ version }) => `containerd ${version} is ready`),
    timed(
      "the Kubernetes API",
      launchControlPlane,
      () => `the Kubernetes API is ready at ${options.apiAddress}:${options.apiPort}`,
    ),
  );
  // The endpoint and the mount namespace are the same for every containerd that is started on this directory.
  const { endpoint, enterMountNamespace } = containerd;
  // A user who opens the cluster's API to the network opens the node's API as well.
  const agentOptions = { ...options, serverAddress: options.apiAddress, endpoint, enterMountNamespace, log, signal };
  const launchAgent = async () => await startAgent(layout, agentOptions);
  const companions = planCompanions(layout, options, deps);
  const startedCompanions = Promise.all(companions.map(async (one) => await startCompanion(one, { ...deps, timed })));
  let agent: Awaited<ReturnType<typeof launchAgent>>;
  try {
    const launchImages = async () => await ensureImages(containerd, layout);
    const describeImages = (built: boolean) => (built ? "the pause and demo images are built" : undefined);
    await timed("the pause and demo images", launchImages, describeImages);
    agent = await timed("the node agent", launchAgent, () => "the node agent is ready");
  } catch (error) {
    for (const { first } of await startedCompanions) await first.stop();
    await controlPlane.stop();
    await containerd.stop();
    throw error;
  }
  const others = await startedCompanions;
  options.onReady();
  const logs = [
    containerd.logFile,
    layout.agentLog,
    layout.controlPlaneLog,
    layout.proxyLog,
    layout.dnsLog,
    layout.supervisorLog,
  ];
  const rotation = keepLogsSmall(logs, deps);
  await superviseAll(
    { name: "node agent", first: agent, start: launchAgent },
    [
      ...others,
      { name: "the control plane", first: controlPlane, start: launchControlPlane },
      { name: "containerd", first: containerd, start: launchContainerd },
    ],
    { clock, log, signal },
  );
  await rotation;
}

/** Pods reach an API server on loopback at the bridge's address, which is theirs for routing as well. */
function computePodAddress({ apiAddress, podCidr }: NodeOptions): string | undefined {
  const isReachable = !apiAddress.startsWith("127.") && !["::1", "0.0.0.0", "::"].includes(apiAddress);
  return isReachable ? undefined : bridgeAddressOf(podCidr).address;
}

/** A child without which the node runs, if less well. */
interface Companion {
  name: string;
  start(): Promise<SupervisedProcess>;
}

function planCompanions(layout: StateLayout, options: NodeOptions, { log, signal }: NodeDeps): Companion[] {
  const proxyOptions = { ...options, log, signal };
  const proxy = { name: "the proxy of services", start: async () => await startProxy(layout, proxyOptions) };
  const dns = { name: "the DNS server", start: async () => await startDns(layout, { ...options, log, signal }) };
  return [...(options.proxy ? [proxy] : []), ...(options.dns ? [dns] : [])];
}

/**
 * Starts a companion, and never rejects. One that cannot start is told of, and started again and again like one that has
 * ended.
 */
async function startCompanion({ name, start }: Companion, deps: NodeDeps & { timed: RunStep }): Promise<Child> {
  try {
    return { name, start, first: await deps.timed(name, start, () => `${name} is ready`) };
  } catch (error) {
    if (!isAbort(error)) deps.log.error(`${name} does not start, and is tried again`, { error: messageOf(error) });
    const exited = Promise.resolve({ code: 1, signal: null });
    return { name, start, first: { pid: 0, exited, stop: async () => undefined } };
  }
}

async function keepLogsSmall(paths: readonly string[], { clock, log, signal }: NodeDeps): Promise<void> {
  try {
    await repeat(clock, { periodMs: LOG_CHECK_PERIOD_MS, signal }, async () => {
      for (const path of paths) {
        await rotateLog(path).catch((error: unknown) => log.warn("a log cannot be rotated", { path, error }));
      }
    });
  } catch (error) {
    if (!isAbort(error)) throw error;
  }
}

/** Starts both at the same time. When one cannot start, the other is stopped again. */
async function startBoth<A extends SupervisedProcess, B extends SupervisedProcess>(
  first: Promise<A>,
  second: Promise<B>,
): Promise<[A, B]> {
  const [a, b] = await Promise.allSettled([first, second]);
  if (a.status === "fulfilled" && b.status === "fulfilled") return [a.value, b.value];
  for (const started of [a, b]) if (started.status === "fulfilled") await started.value.stop();
  throw a.status === "rejected" ? a.reason : b.status === "rejected" ? b.reason : new Error("unreachable");
}

/** A child that runs, and how to start it again. */
interface Child {
  name: string;
  first: SupervisedProcess;
  start(): Promise<SupervisedProcess>;
}

/** Supervises all children. The agent stops first, so that it does not see its runtime and its API go. */
async function superviseAll(
  agent: Child,
  others: readonly Child[],
  deps: { clock: Clock; log: Log; signal: AbortSignal },
): Promise<void> {
  const agentStopped = new AbortController();
  const afterAgent = { ...deps, signal: agentStopped.signal };
  const supervised = others.map(async (child) => await superviseService(child, child.first, afterAgent));
  await superviseService(agent, agent.first, deps).finally(() => agentStopped.abort());
  await Promise.all(supervised);
}

/** Runs a step of the start, and tells that it is under way and what became of it; undefined is not worth a line. */
type RunStep = <T>(name: string, step: () => Promise<T>, describe: (result: T) => string | undefined) => Promise<T>;

function createSteps({ clock, progress, waiting }: NodeDeps): RunStep {
  const running = new Set<string>();
  return async (name, step, describe) => {
    const startedAt = clock.monotonic();
    running.add(name);
    waiting([...running]);
    try {
      const result = await step();
      const described = describe(result);
      if (described !== undefined) progress(`${described} (${((clock.monotonic() - startedAt) / 1000).toFixed(1)} s)`);
      return result;
    } finally {
      running.delete(name);
      waiting([...running]);
    }
  };
}
