import type { PodReference } from "../../../api/pods.ts";
import { codeOf } from "../../../base/errors.ts";
import type { Files } from "../../../host/port.ts";

/** `<podLogsDirectory>/<namespace>_<name>_<uid>`, which log shippers parse. */
export function podLogDirectory(podLogsDirectory: string, pod: PodReference): string {
  return `${podLogsDirectory}/${pod.namespace}_${pod.name}_${pod.uid}`;
}

/**
 * Removes the log directories of a UID whose name nobody remembers. Namespaces and names are without underscores, a UID
 * need not be. Others' logs, which may share the directory, are left alone.
 */
export async function removeLogsOfUid(files: Files, podLogsDirectory: string, uid: string): Promise<void> {
  if ((await files.stat(podLogsDirectory)) === undefined) return;
  for (const { name } of await files.list(podLogsDirectory)) {
    const [, , ...rest] = name.split("_");
    if (rest.join("_") === uid) await files.remove(`${podLogsDirectory}/${name}`);
  }
}

/** Relative to the pod's log directory, as CRI wants it. */
export function containerLogName(containerName: string, restartCount: number): string {
  return `${containerName}/${restartCount}.log`;
}

const LONGEST_LINK_NAME = 251;

/**
 * `<containerLogsDirectory>/<pod>_<namespace>_<container>-<containerId>.log`: the flat name of the Docker days, which log
 * shippers still follow. Cut to what file systems allow, as upstream does (pkg/kubelet/kuberuntime/legacy.go).
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
 * The restart count that the logs on disk prove, for a container whose predecessors the runtime has forgotten: one more
 * than the highest `N.log`; 0 when there is none. So a log is never overwritten.
 */
export async function readRestartCountFromLogs(files: Files, containerLogDirectory: string): Promise<number> {
  const entries = await files.list(containerLogDirectory).catch((error: unknown) => {
    if (codeOf(error) === "ENOENT") return [];
    throw error;
  });
  const counts = entries.map(({ name }) => Number.parseInt(/^(\d+)\.log/.exec(name)?.[1] ?? "-1", 10));
  return Math.max(-1, ...counts) + 1;
}
