import { readdir, readlink, rm, rmdir } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { CodedError, codeOf, runAll } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import { unmountBeneath } from "../containerd/mount-namespace.ts";
import { countRunningPods, endContainerd, removeRunState } from "../containerd/remove-runtime.ts";
import { computeRuntimeLayout } from "../containerd/runtime-layout.ts";
import { endDaemon } from "../processes/daemon.ts";
import { sendSignal } from "../processes/process-identity.ts";
import { readLockHolder } from "../processes/process-lock.ts";
import { runSystemctl } from "../service/install-service.ts";
import { findServiceOf } from "../service/service-of-process.ts";
import { removeOwnCgroup } from "./own-cgroup.ts";
import { readPodPlaces } from "./pod-places.ts";
import { endAgent } from "./start-agent.ts";
import { endControlPlane } from "./start-control-plane.ts";
import { endDns } from "./start-dns.ts";
import { endProxy, removeProxyRules } from "./start-proxy.ts";
import { CONTAINER_LOGS_DIRECTORY, type StateLayout } from "./state-layout.ts";

const STOP_TIMEOUT_MS = 60_000;
const POLL_MS = 50;

interface StoppedNode {
  /** True when a supervisor ran. Without one, only leftovers of a killed supervisor were ended. */
  ran: boolean;
  /** The service of systemd that it ran as. It starts again with the machine, and now where an administrator says so. */
  service: string | undefined;
  /** The number of pods that live on. */
  pods: number;
}

/**
 * Stops the supervisor with its children, or what a killed one left behind. Pods run on. Rejects with `stop-timed-out`
 * when the supervisor does not end within a minute.
 */
export async function stopNode(layout: StateLayout, log: Log): Promise<StoppedNode> {
  const holder = await readLockHolder(layout.lock);
  const service = holder === undefined ? undefined : await findServiceOf(holder);
  if (holder !== undefined) {
    if (service === undefined) sendSignal(holder, "SIGTERM");
    else await runSystemctl("stop", service);
    const deadline = performance.now() + STOP_TIMEOUT_MS;
    while ((await readLockHolder(layout.lock)) === holder) {
      if (performance.now() > deadline) {
        throw new CodedError(
          "stop-timed-out",
          `the supervisor (pid ${holder}) does not end; see ${layout.supervisorLog}`,
        );
      }
      await delay(POLL_MS);
    }
  }
  await endAgent(layout, log);
  await endDns(layout, log);
  await endProxy(layout, log);
  await removeProxyRules(layout);
  await endControlPlane(layout, log);
  await endContainerd(layout.runtime, log);
  return { ran: holder !== undefined, service, pods: await countRunningPods(layout.runtime) };
}

/** Ends what a supervisor keeps running beside pods, with no time to end by itself. Each of them outlives that. */
export async function killNode(layout: StateLayout, log: Log): Promise<void> {
  const { agentPidFile, controlPlanePidFile, proxyPidFile, dnsPidFile } = layout;
  const pidFiles = [agentPidFile, controlPlanePidFile, proxyPidFile, dnsPidFile];
  await Promise.all(
    [...pidFiles, computeRuntimeLayout(layout.runtime).pidFile].map(
      async (pidFile) => await endDaemon({ pidFile, gracePeriodMs: 0, log }),
    ),
  );
}

/**
 * Removes what a run left on the machine: mounts, network, sockets, pod directories. Images and logs stay. Processes of
 * pods that still run are killed, so the pods should be removed before.
 */
export async function removeNodeRunState(layout: StateLayout, log: Log): Promise<void> {
  const { kubeletRoot, podLogs } = await readPodPlaces(layout.directory);
  await runAll(
    [
      async () => await removeProxyRules(layout),
      async () => await removeRunState(layout.runtime),
      async () => await removeOwnCgroup(layout.directory, log),
      async () => await removeLogLinks(podLogs),
      async () => await removeKubeletRoot(kubeletRoot),
      async () => await rm(layout.agentSocket, { force: true }),
    ],
    `removing the run state in ${layout.directory}`,
  );
}

/**
 * What is still mounted is somebody's data: nothing is removed before all of it is unmounted. A directory with a file
 * system of its own stays, empty.
 */
async function removeKubeletRoot(directory: string): Promise<void> {
  await unmountBeneath(directory);
  for (const name of await readdir(directory).catch(() => []))
    await rm(join(directory, name), { recursive: true, force: true });
  await rmdir(directory).catch((error: unknown) => {
    if (!["ENOENT", "EBUSY"].includes(codeOf(error) ?? "")) throw error;
  });
}

/** Removes the log links of containers that were killed rather than removed. Links to other kubelets' logs stay. */
async function removeLogLinks(podLogs: string): Promise<void> {
  for (const name of await readdir(CONTAINER_LOGS_DIRECTORY).catch(() => [])) {
    const path = join(CONTAINER_LOGS_DIRECTORY, name);
    const target = await readlink(path).catch(() => "");
    if (target.startsWith(`${podLogs}/`)) await rm(path, { force: true });
  }
}
