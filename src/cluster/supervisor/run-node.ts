import { mkdir } from "node:fs/promises";
import { isAbort } from "../../base/abort.ts";
import type { Clock } from "../../base/clock.ts";
import { repeat } from "../../base/interval.ts";
import type { Log } from "../../base/log.ts";
import { type ContainerdOptions, startContainerd } from "../containerd/start-containerd.ts";
import { ensureImages } from "../images/ensure-images.ts";
import { rotateLog } from "../processes/log-file.ts";
import { type AgentOptions, startAgent } from "./start-agent.ts";
import { type ControlPlaneChildOptions, startControlPlane } from "./start-control-plane.ts";
import type { StateLayout } from "./state-layout.ts";
import { type SupervisedProcess, superviseService } from "./supervise.ts";

interface NodeDeps {
  clock: Clock;
  log: Log;
  /** Called with one line for each finished step, for a person who waits. */
  progress: (line: string) => void;
  signal: AbortSignal;
}

interface NodeOptions
  extends Pick<ContainerdOptions, "binary" | "bridge">,
    Pick<AgentOptions, "entry" | "manifests" | "healthzPort" | "kubeletArguments">,
    Pick<ControlPlaneChildOptions, "apiAddress" | "apiPort" | "serviceCidr" | "podCidr" | "nodeName"> {
  /** Called once, when containerd, the control plane and the node agent answer. */
  onReady: () => void;
}

const LOG_CHECK_PERIOD_MS = 60_000;

/**
 * Runs a node: containerd, the control plane and the node agent are three children, and each is started again by itself
 * when it ends. Returns when the signal has fired and all have stopped; pods run on. Rejects when the first start
 * fails.
 */
export async function runStandaloneNode(layout: StateLayout, options: NodeOptions, deps: NodeDeps): Promise<void> {
  const { clock, log, signal } = deps;
  await mkdir(layout.manifests, { recursive: true, mode: 0o700 });
  const launchContainerd = async () => await startContainerd({ ...options, directory: layout.runtime, log });
  const launchControlPlane = async () => await startControlPlane(layout, { ...options, log, signal });
  const [containerd, controlPlane] = await startBoth(
    timed(deps, launchContainerd, ({ version }) => `containerd ${version} is ready`),
    timed(deps, launchControlPlane, () => `the Kubernetes API is ready at ${options.apiAddress}:${options.apiPort}`),
  );
  // The endpoint and the mount namespace are the same for every containerd that is started on this directory.
  const { endpoint, enterMountNamespace } = containerd;
  // A user who opens the cluster's API to the network opens the node's API as well.
  const agentOptions = { ...options, serverAddress: options.apiAddress, endpoint, enterMountNamespace, log, signal };
  const launchAgent = async () => await startAgent(layout, agentOptions);
  let agent: Awaited<ReturnType<typeof launchAgent>>;
  try {
    const startedAt = clock.monotonic();
    if (await ensureImages(containerd, layout.images)) say(deps, startedAt, "the pause and demo images are built");
    agent = await timed(deps, launchAgent, () => "the node agent is ready");
  } catch (error) {
    await controlPlane.stop();
    await containerd.stop();
    throw error;
  }
  options.onReady();
  const logs = [containerd.logFile, layout.agentLog, layout.controlPlaneLog, layout.supervisorLog];
  const rotation = keepLogsSmall(logs, deps);
  await superviseAll(
    {
      agent: { first: agent, start: launchAgent },
      controlPlane: { first: controlPlane, start: launchControlPlane },
      containerd: { first: containerd, start: launchContainerd },
    },
    { clock, log, signal },
  );
  await rotation;
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
  first: SupervisedProcess;
  start(): Promise<SupervisedProcess>;
}

interface Children {
  agent: Child;
  controlPlane: Child;
  containerd: Child;
}

/** Supervises all children. The agent stops first, so that it does not see its runtime and its API go. */
async function superviseAll(children: Children, deps: { clock: Clock; log: Log; signal: AbortSignal }): Promise<void> {
  const { agent, controlPlane, containerd } = children;
  const agentStopped = new AbortController();
  const afterAgent = { ...deps, signal: agentStopped.signal };
  const others = [
    superviseService({ name: "the control plane", start: controlPlane.start }, controlPlane.first, afterAgent),
    superviseService({ name: "containerd", start: containerd.start }, containerd.first, afterAgent),
  ];
  await superviseService({ name: "node agent", start: agent.start }, agent.first, deps).finally(() => {
    agentStopped.abort();
  });
  await Promise.all(others);
}

async function timed<T>(deps: NodeDeps, step: () => Promise<T>, describe: (result: T) => string): Promise<T> {
  const startedAt = deps.clock.monotonic();
  const result = await step();
  say(deps, startedAt, describe(result));
  return result;
}

function say({ clock, progress }: NodeDeps, startedAt: number, what: string): void {
  progress(`${what} (${((clock.monotonic() - startedAt) / 1000).toFixed(1)} s)`);
}
