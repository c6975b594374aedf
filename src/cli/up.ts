import { appendFileSync } from "node:fs";
import { chmod, mkdir } from "node:fs/promises";
import { isAbort } from "../base/abort.ts";
import { messageOf } from "../base/errors.ts";
import { countRunningPods } from "../cluster/containerd/remove-runtime.ts";
import { claimProcessLock } from "../cluster/processes/process-lock.ts";
import { clusterDnsAddressOf } from "../cluster/supervisor/cluster-dns.ts";
import { nodeNameOf } from "../cluster/supervisor/node-name.ts";
import { choosePodPlaces } from "../cluster/supervisor/pod-places.ts";
import { runStandaloneNode } from "../cluster/supervisor/run-node.ts";
import { writeRuntimeOptions } from "../cluster/supervisor/runtime-options.ts";
import { endAgent } from "../cluster/supervisor/start-agent.ts";
import { endControlPlane } from "../cluster/supervisor/start-control-plane.ts";
import { endDns } from "../cluster/supervisor/start-dns.ts";
import { endProxy } from "../cluster/supervisor/start-proxy.ts";
import { computeStateLayout, type StateLayout } from "../cluster/supervisor/state-layout.ts";
import { createServiceNotifier } from "../host/linux/system/service-notifier.ts";
import { systemClock } from "../host/linux/system/system-clock.ts";
import { removePods } from "./down.ts";
import { followPods } from "./follow-pods.ts";
import { createLineLog } from "./line-log.ts";
import { requireRoot } from "./require-root.ts";
import { createSupervisorLink, type SupervisorLink, upDetached } from "./up-detached.ts";

/** The options as commander reads them. */
export interface UpOptions {
  detach: boolean;
  /** The path is absolute; undefined means `manifests` in the state directory. */
  manifests?: string;
  pods: boolean;
  waitTimeout: number;
  podCidr: string;
  bridge: string;
  containerd?: string;
  healthzPort: number;
  apiAddress: string;
  apiPort: number;
  serviceCidr: string;
  proxy: boolean;
  dns: boolean;
  kubeletArg: string[];
  stateDir: string;
  /** True in the background process of `--detach`. */
  supervisor: boolean;
}

/** How this program was started: `entry` is its JavaScript file, `argv` the arguments after it. */
export interface UpContext {
  entry: string;
  argv: readonly string[];
}

/**
 * The mode of the state directory. Containers with user namespaces pass through the directory to reach their root, but
 * may not list it. Private files in it have stricter modes of their own.
 */
const STATE_DIRECTORY_MODE = 0o711;

/** Runs a node until it is asked to stop, or with `--detach` until its pods run. Returns the exit code. */
export async function up(options: UpOptions, context: UpContext): Promise<number> {
  requireRoot("up");
  const layout = computeStateLayout(options.stateDir);
  await mkdir(layout.directory, { recursive: true, mode: STATE_DIRECTORY_MODE });
  await chmod(layout.directory, STATE_DIRECTORY_MODE);
  if (options.detach && !options.supervisor) return await upDetached(layout, options, context);
  const link = createSupervisorLink(options.supervisor);
  try {
    return await superviseOnce(layout, { options, context, link });
  } catch (error) {
    link.failed(messageOf(error));
    throw error;
  }
}

interface Supervision {
  options: UpOptions;
  context: UpContext;
  link: SupervisorLink;
}

/** Runs at most one supervisor for each state directory. A second one reports that and ends. */
async function superviseOnce(layout: StateLayout, supervision: Supervision): Promise<number> {
  const lock = await claimProcessLock(layout.lock);
  if (lock.state === "taken") {
    supervision.link.taken(lock.pid);
    console.error(`nodelet runs already in ${layout.directory} (pid ${lock.pid}).`);
    console.error("See it: nodelet status   Stop it: nodelet down");
    return 1;
  }
  try {
    return await supervise(layout, supervision);
  } finally {
    await lock.release();
  }
}

async function supervise(layout: StateLayout, { options, context, link }: Supervision): Promise<number> {
  const log = createLineLog((line) => appendLine(layout.supervisorLog, line), Date.now);
  const notifier = createServiceNotifier(process.env);
  const stop = stopOnSignals(() => {
    link.progress("stopping …");
    notifier.stopping();
  });
  const manifests = options.manifests ?? layout.manifests;
  const follower: { done: Promise<void> } = { done: Promise.resolve() };
  const onReady = () => {
    link.progress(`kubectl finds it with: export KUBECONFIG=${layout.kubeconfig}`);
    link.progress("See it in the browser: nodelet dashboard");
    link.ready();
    notifier.ready();
    if (!options.supervisor) follower.done = followInForeground(layout, manifests, stop.signal);
  };
  const runtime = {
    podCidr: options.podCidr,
    bridge: options.bridge,
    ...(options.containerd === undefined ? {} : { binary: options.containerd }),
  };
  try {
    const places = await choosePodPlaces(layout.directory, link.progress);
    await writeRuntimeOptions(layout.directory, { ...runtime, ...places, manifests });
    // An agent that outlived its supervisor would not notice that its runtime is replaced.
    await endAgent(layout, log);
    await endDns(layout, log);
    await endProxy(layout, log);
    await endControlPlane(layout, log);
    await runStandaloneNode(
      layout,
      {
        ...runtime,
        entry: context.entry,
        manifests,
        healthzPort: options.healthzPort,
        apiAddress: options.apiAddress,
        apiPort: options.apiPort,
        serviceCidr: options.serviceCidr,
        proxy: options.proxy,
        clusterDns: options.dns ? clusterDnsAddressOf(options.serviceCidr) : undefined,
        kubeletArguments: options.kubeletArg,
        nodeName: nodeNameOf(options.kubeletArg),
        onReady,
      },
      { clock: systemClock, log, progress: link.progress, signal: stop.signal },
    );
  } catch (error) {
    if (!isAbort(error)) {
      log.error("nodelet cannot go on", { error: messageOf(error) });
      throw error;
    }
  } finally {
    await follower.done;
  }
  if (options.pods) return await removePods(layout, log, true);
  await sayWhatLives(layout, link.progress);
  return 0;
}

/** The lines are few. A line that cannot be written, on a full disk for example, is dropped, and the node runs on. */
function appendLine(path: string, line: string): void {
  try {
    appendFileSync(path, line, { mode: 0o600 });
  } catch {
    // There is no other place to tell of it.
  }
}

async function followInForeground(layout: StateLayout, manifests: string, signal: AbortSignal): Promise<void> {
  console.log(`Pods of ${manifests} (Ctrl-C stops nodelet):`);
  await followPods({ socket: layout.agentSocket, print: (line) => console.log(line), signal });
}

async function sayWhatLives(layout: StateLayout, print: (line: string) => void): Promise<void> {
  const pods = await countRunningPods(layout.runtime);
  if (pods === 0) return print("nodelet is stopped; no pod runs.");
  print(
    `nodelet is stopped; ${pods} pods run on. "nodelet up" takes them up again, "nodelet down --pods" removes them.`,
  );
}

/**
 * Stops on signals. The first signal asks to stop, the second ends this process at once; the next supervisor then finds
 * its children again.
 */
function stopOnSignals(onStop: () => void): { signal: AbortSignal } {
  const controller = new AbortController();
  for (const name of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    process.on(name, () => {
      if (controller.signal.aborted) process.exit(130);
      onStop();
      controller.abort();
    });
  }
  return { signal: controller.signal };
}
