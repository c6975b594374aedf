import { readdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { codeOf, runAll } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import { endDaemon } from "../processes/daemon.ts";
import {
  findProcesses,
  findProcessesByEnvironment,
  isProcessAlive,
  type ProcessIdentity,
  readProcessIdentity,
  terminateProcess,
} from "../processes/process-identity.ts";
import { runCommand } from "../processes/run-command.ts";
import { unmountBeneath } from "./mount-namespace.ts";
import { removeNetwork } from "./remove-network.ts";
import { computeRuntimeLayout, isContainerdOf, isPluginOf, isShimOf, type RuntimeLayout } from "./runtime-layout.ts";

const CONTAINERD_GRACE_PERIOD_MS = 5_000;
const SHIM_GRACE_PERIOD_MS = 1_000;
const PLUGIN_GRACE_PERIOD_MS = 1_000;

/**
 * Removes a containerd and everything that it made: the run state (see `removeRunState`), and then the directory with
 * its images and logs. A missing containerd is no error.
 */
export async function removeRuntime(directory: string): Promise<void> {
  await removeRunState(directory);
  await rm(directory, { recursive: true, force: true });
}

/**
 * Removes what a containerd made on the machine: the process, its pods without a grace period, their shims, mounts,
 * bridge, addresses and rules. Images and logs stay. Nothing of another containerd is touched. Every step is tried, and
 * the errors are joined and thrown. Pods that should end gracefully must be removed before.
 */
export async function removeRunState(directory: string): Promise<void> {
  const layout = computeRuntimeLayout(directory);
  const containerIds = (await listContainers(layout)).map(({ id }) => id);
  await runAll(
    [
      async () => await terminateAll(await findContainerds(layout), CONTAINERD_GRACE_PERIOD_MS),
      async () => await removeTasks(layout),
      // No new plugin begins now, and what the running ones make is removed after they end.
      async () => await terminateAll(await findPlugins(layout), PLUGIN_GRACE_PERIOD_MS),
      async () => await removeNetwork(layout, containerIds),
      async () => await unmountBeneath(directory, layout.root),
    ],
    `removing the runtime in ${directory}`,
  );
  const { state, cniAddressDirectory, cniConfigDirectory, socket, mountNamespace, pidFile } = layout;
  for (const path of [
    state,
    cniAddressDirectory,
    cniConfigDirectory,
    socket,
    `${socket}.ttrpc`,
    mountNamespace,
    pidFile,
  ]) {
    await rm(path, { recursive: true, force: true });
  }
}

/** Ends, with a grace period, the containerd of a supervisor that was killed. Its pods run on. */
export async function endContainerd(directory: string, log: Log): Promise<void> {
  const layout = computeRuntimeLayout(directory);
  await endDaemon({ pidFile: layout.pidFile, gracePeriodMs: CONTAINERD_GRACE_PERIOD_MS, log });
}

/** Counts the pods that have processes, whether or not containerd runs. Each has one shim. */
export async function countRunningPods(directory: string): Promise<number> {
  const layout = computeRuntimeLayout(directory);
  return (await findShims(layout)).length;
}

const findContainerds = async (layout: RuntimeLayout) => await findProcesses((args) => isContainerdOf(layout, args));
const findShims = async (layout: RuntimeLayout) => await findProcesses((args) => isShimOf(layout, args));
const findPlugins = async (layout: RuntimeLayout) =>
  await findProcessesByEnvironment((environment) => isPluginOf(layout, environment));

async function terminateAll(processes: readonly ProcessIdentity[], gracePeriodMs: number): Promise<void> {
  await Promise.all(processes.map(async (identity) => await terminateProcess(identity, gracePeriodMs)));
}

/**
 * Removes the tasks. runc ends the containers and their cgroups, and the shims end after them. The shims' sockets lie
 * outside the directory.
 */
async function removeTasks(layout: RuntimeLayout): Promise<void> {
  const shimSockets = await readShimSockets(layout);
  await Promise.all((await listContainers(layout)).map(({ root, id }) => removeContainer(root, id)));
  await terminateAll(await findShims(layout), SHIM_GRACE_PERIOD_MS);
  for (const socket of shimSockets) await rm(socket, { force: true });
}

/**
 * Lists the containers of runc, which has a directory for each container, beneath one for each containerd namespace.
 */
export async function listContainers(layout: RuntimeLayout): Promise<Array<{ root: string; id: string }>> {
  const found: Array<{ root: string; id: string }> = [];
  for (const namespace of await listDirectory(layout.runcRoot)) {
    const root = join(layout.runcRoot, namespace);
    for (const id of await listDirectory(root)) found.push({ root, id });
  }
  return found;
}

async function removeContainer(root: string, id: string): Promise<void> {
  const init = await readInitProcess(root, id);
  await runCommand("runc", ["--root", root, "delete", "--force", id]);
  if (init !== undefined && (await isProcessAlive(init))) {
    throw new Error(`process ${init.pid} of container ${id} does not end`);
  }
}

async function readInitProcess(root: string, id: string): Promise<ProcessIdentity | undefined> {
  const text = await readFile(join(root, id, "state.json"), "utf8").catch(() => "");
  const pid = /"init_process_pid":(\d+)/.exec(text)?.[1];
  return pid === undefined ? undefined : await readProcessIdentity(Number(pid));
}

/**
 * Reads the sockets of the shims. Each bundle names the socket of its shim in a file, as
 * `unix:///run/containerd/s/<hash>`.
 */
async function readShimSockets(layout: RuntimeLayout): Promise<string[]> {
  const tasks = join(layout.state, "io.containerd.runtime.v2.task");
  const sockets = new Set<string>();
  for (const namespace of await listDirectory(tasks)) {
    for (const id of await listDirectory(join(tasks, namespace))) {
      const address = await readFile(join(tasks, namespace, id, "address"), "utf8").catch(() => "");
      const path = /^unix:\/\/(\/run\/containerd\/s\/[0-9a-f]{64})$/.exec(address.trim())?.[1];
      if (path !== undefined) sockets.add(path);
    }
  }
  return [...sockets];
}

async function listDirectory(path: string): Promise<string[]> {
  try {
    return await readdir(path);
  } catch (error) {
    if (codeOf(error) === "ENOENT") return [];
    throw error;
  }
}
