import { posix } from "node:path";
import type { PodReference } from "../../../api/pods.ts";
import { codeOf, runAll } from "../../../base/errors.ts";
import * as cri from "../../../cri/gen/cri-v1.ts";
import type { Cri } from "../../../cri/port.ts";
import type { Files } from "../../../host/port.ts";
import { legacyLogLink, podLogDirectory, restartCountOfLog } from "../logs/container-log-paths.ts";
import { findLogPlace } from "../logs/log-place.ts";
import type { PodRuntimeStatus } from "../reading/pod-runtime-status.ts";

/** Where containers and their logs are removed. */
export interface RemoveDeps {
  runtime: Cri["runtime"];
  files: Files;
  podLogsDirectory: string;
  containerLogsDirectory: string;
}

/**
 * Removes all that the runtime and the log directories hold of a pod whose containers have stopped. The logs are
 * removed last: after a failure the runtime still lists the pod, so that the removal is repeated. With `keepLogs` the
 * newest log of each container stays.
 */
export async function removePod(
  deps: RemoveDeps,
  status: PodRuntimeStatus,
  { keepLogs, signal }: { keepLogs: boolean; signal: AbortSignal },
): Promise<void> {
  const tidy = keepLogs ? removeOldLogs : removeLogLink;
  const inSandboxes = new Set(status.sandboxes.map(({ id }) => id));
  const containers = status.containers.map((container) => async () => {
    await tidy(deps, status, container);
    // A sandbox takes its containers along.
    if (!inSandboxes.has(container.sandboxId)) await removeFromRuntime(deps, container.id, signal);
  });
  const sandboxes = status.sandboxes.map(
    ({ id }) =>
      async () =>
        await removeSandbox(deps.runtime, id, signal),
  );
  await runAll([...containers, ...sandboxes], "removing the pod from the runtime");
  if (!keepLogs) await deps.files.remove(podLogDirectory(deps.podLogsDirectory, status));
}

/**
 * Removes one stopped container of a pod that goes on, with its log and the log's rotated files. The files are removed
 * first, because without the container nobody would know them (upstream: removeContainerLog,
 * pkg/kubelet/kuberuntime/kuberuntime_container.go).
 */
export async function removeContainerAndLog(
  deps: RemoveDeps,
  pod: PodReference,
  container: { id: string; name: string; logPath: string },
  signal: AbortSignal,
): Promise<void> {
  const directory = `${podLogDirectory(deps.podLogsDirectory, pod)}/${container.name}`;
  if (posix.dirname(container.logPath) === directory) {
    const log = posix.basename(container.logPath);
    await removeLogs(deps, directory, (name) => name === log || name.startsWith(`${log}.`));
  }
  await removeContainer(deps, pod, container, signal);
}

/**
 * Removes the files of a container's log directory that are asked for. A pod that can write to the logs may exchange the
 * directory for a link meanwhile: what is listed and removed is in the one that is held open.
 */
async function removeLogs(
  { files, podLogsDirectory }: RemoveDeps,
  path: string,
  isWanted: (name: string) => boolean,
): Promise<void> {
  const place = findLogPlace(podLogsDirectory, path);
  const directory = place && (await orNothing(files.openDirectoryBeneath(place.root, place.path)));
  if (directory === undefined) return;
  try {
    for (const { name } of await directory.list()) if (isWanted(name)) await directory.remove(name);
  } finally {
    await directory.close();
  }
}

/** What is there in the place of a directory holds no log of ours, and must not keep its container. */
const NO_DIRECTORY = ["ENOENT", "ENOTDIR", "ELOOP"];

async function orNothing<T>(opened: Promise<T>): Promise<T | undefined> {
  try {
    return await opened;
  } catch (error) {
    if (NO_DIRECTORY.includes(codeOf(error) ?? "")) return undefined;
    throw error;
  }
}

/**
 * Removes one stopped container of a pod that begins anew, and keeps its log, by which the next one's restart count is
 * found. The logs of earlier restarts go, so that at most one log is left that no container owns.
 */
export async function removeContainerForRestart(
  deps: RemoveDeps,
  pod: PodReference,
  container: { id: string; name: string; restartCount: number },
  signal: AbortSignal,
): Promise<void> {
  await removeOldLogs(deps, pod, container);
  await removeFromRuntime(deps, container.id, signal);
}

/** Removes the logs of containers before this one, and the flat link to its own. */
async function removeOldLogs(
  deps: RemoveDeps,
  pod: PodReference,
  container: { id: string; name: string; restartCount: number },
): Promise<void> {
  await removeLogs(deps, `${podLogDirectory(deps.podLogsDirectory, pod)}/${container.name}`, (name) => {
    const count = restartCountOfLog(name);
    return count !== undefined && count < container.restartCount;
  });
  await removeLogLink(deps, pod, container);
}

/** Removes one stopped container and the flat link to its log. The log itself is removed with the pod's logs. */
async function removeContainer(
  deps: RemoveDeps,
  pod: PodReference,
  container: { id: string; name: string },
  signal: AbortSignal,
): Promise<void> {
  await removeLogLink(deps, pod, container);
  await removeFromRuntime(deps, container.id, signal);
}

async function removeLogLink(
  { files, containerLogsDirectory }: RemoveDeps,
  pod: PodReference,
  container: { id: string; name: string },
): Promise<void> {
  await files.remove(legacyLogLink(containerLogsDirectory, pod, container));
}

async function removeFromRuntime({ runtime }: RemoveDeps, containerId: string, signal: AbortSignal): Promise<void> {
  await unlessGone(runtime.removeContainer(cri.RemoveContainerRequest.fromPartial({ containerId }), { signal }));
}

/** Removes a stopped sandbox and all containers in it. */
export async function removeSandbox(runtime: Cri["runtime"], podSandboxId: string, signal: AbortSignal): Promise<void> {
  await unlessGone(runtime.removePodSandbox(cri.RemovePodSandboxRequest.fromPartial({ podSandboxId }), { signal }));
}

async function unlessGone(call: Promise<unknown>): Promise<void> {
  try {
    await call;
  } catch (error) {
    if (codeOf(error) !== "not-found") throw error;
  }
}
