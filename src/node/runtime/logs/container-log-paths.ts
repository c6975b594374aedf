import type { PodReference } from "../../../api/pods.ts";
import { codeOf } from "../../../base/errors.ts";
import type { Files } from "../../../host/port.ts";

/** The directory of a pod's logs, `<podLogsDirectory>/<namespace>_<name>_<uid>`, which log shippers parse. */
export function podLogDirectory(podLogsDirectory: string, pod: PodReference): string {
  return `${podLogsDirectory}/${podLogDirectoryName(pod)}`;
}

/** The name of that directory in the directory of all pods' logs. */
export const podLogDirectoryName = ({ namespace, name, uid }: PodReference) => `${namespace}_${name}_${uid}`;

/**
 * Removes the log directories of a pod of which only the UID is known. Namespaces and names contain no underscores, but
 * a UID may. Logs of other programs, which may share the directory, are left alone.
 */
export async function removeLogsOfUid(files: Files, podLogsDirectory: string, uid: string): Promise<void> {
  if ((await files.stat(podLogsDirectory)) === undefined) return;
  for (const { name } of await files.list(podLogsDirectory)) {
    const [, , ...rest] = name.split("_");
    if (rest.join("_") === uid) await files.remove(`${podLogsDirectory}/${name}`);
  }
}

/** The path of a container's log, relative to the pod's log directory, as CRI wants it. */
export function containerLogName(containerName: string, restartCount: number): string {
  return `${containerName}/${restartCount}.log`;
}

const LONGEST_LINK_NAME = 251;

/**
 * The flat link to a container's log, `<containerLogsDirectory>/<pod>_<namespace>_<container>-<containerId>.log`. Log
 * shippers still follow these links from the days of Docker. The name is cut to what file systems allow, as upstream
 * (pkg/kubelet/kuberuntime/legacy.go).
 */
export function legacyLogLink(
  containerLogsDirectory: string,
  pod: PodReference,
  container: { name: string; id: string },
): string {
  const name = `${pod.name}_${pod.namespace}_${container.name}-${container.id}`;
  return `${containerLogsDirectory}/${name.slice(0, LONGEST_LINK_NAME)}.log`;
}

/**
 * The restart count that follows from the logs on disk, for a container whose predecessors the runtime has forgotten. It is
 * one more than the highest `N.log`, and 0 where there is none, so that no log is overwritten.
 */
export async function readRestartCountFromLogs(files: Files, containerLogDirectory: string): Promise<number> {
  const entries = await files.list(containerLogDirectory).catch((error: unknown) => {
    if (codeOf(error) === "ENOENT") return [];
    throw error;
  });
  const counts = entries.map(({ name }) => restartCountOfLog(name) ?? -1);
  return Math.max(-1, ...counts) + 1;
}

/** The restart count of the container that wrote a log or one of its rotated files; undefined for another file. */
export function restartCountOfLog(fileName: string): number | undefined {
  const digits = /^(\d+)\.log/.exec(fileName)?.[1];
  return digits === undefined ? undefined : Number.parseInt(digits, 10);
}
