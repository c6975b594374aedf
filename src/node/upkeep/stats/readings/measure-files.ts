import { untilAborted } from "../../../../base/abort.ts";
import { codeOf } from "../../../../base/errors.ts";
import type { DirectoryEntry, Files } from "../../../../host/port.ts";
import type { PodFilesUsage, Taken } from "./storage-snapshot.ts";

type DiskFiles = Pick<Files, "diskUsage" | "list">;

const NOTHING: Taken = { bytes: 0, inodes: 0 };

/** Measures a file or a tree. The result is undefined when the path does not exist. */
export async function measureTree(files: DiskFiles, path: string, signal: AbortSignal): Promise<Taken | undefined> {
  const usage = await untilAborted(files.diskUsage(path, signal), signal);
  return usage && { bytes: usage.bytes, inodes: usage.inodes };
}

/**
 * Measures a pod's logs and its hosts file. Like upstream, it counts only files, because pods do not create the
 * directories (pkg/kubelet/stats/host_stats_provider.go).
 */
export async function measurePodFiles(
  files: DiskFiles,
  { logDirectory, hosts }: { readonly logDirectory: string; readonly hosts: string },
  signal: AbortSignal,
): Promise<PodFilesUsage> {
  const entries = await listOrNothing(files, logDirectory, signal);
  const containerLogs = new Map<string, Taken>();
  for (const { name, type } of entries) {
    if (type !== "directory") continue;
    const directory = `${logDirectory}/${name}`;
    const logs = await listOrNothing(files, directory, signal);
    containerLogs.set(name, await measureEach(files, directory, logs, signal));
  }
  const podLogs = await measureEach(files, logDirectory, entries, signal);
  return { containerLogs, podLogs, hosts: await measureTree(files, hosts, signal) };
}

async function measureEach(
  files: DiskFiles,
  directory: string,
  entries: readonly DirectoryEntry[],
  signal: AbortSignal,
): Promise<Taken> {
  let sum = NOTHING;
  for (const { name, type } of entries) {
    if (type !== "directory") sum = addTaken(sum, await measureTree(files, `${directory}/${name}`, signal));
  }
  return sum;
}

function addTaken(sum: Taken, more: Taken = NOTHING): Taken {
  return { bytes: sum.bytes + more.bytes, inodes: (sum.inodes ?? 0) + (more.inodes ?? 0) };
}

async function listOrNothing(files: DiskFiles, path: string, signal: AbortSignal): Promise<DirectoryEntry[]> {
  return await untilAborted(files.list(path), signal).catch((error: unknown) => {
    if (codeOf(error) === "ENOENT") return [];
    throw error;
  });
}
