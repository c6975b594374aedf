import type { Pod } from "../../../api/gen/types.ts";
import { isHostNetworkPod, podReference } from "../../../api/pods.ts";
import type { Files } from "../../../host/port.ts";
import type { SubPaths } from "../../storage/volumes/subpaths/sub-paths.ts";
import {
  buildSystemMounts,
  ETC_HOSTS,
  podHostsPath,
  restartCountOf,
  terminationLogDirectory,
  terminationLogName,
  wantsHostsFile,
} from "../config/system-mounts.ts";
import { computePodHostname } from "../identity/hostname.ts";
import { buildHostNetworkHostsFile, buildManagedHostsFile } from "../identity/hosts-file.ts";
import type { ContainerToStart } from "../plan/pod-actions.ts";
import { type MadeMounts, makeVolumeMounts, type VolumeMountInput } from "./make-volume-mounts.ts";

/** The pod's own directory on the node, and the files in it that are mounted into its containers. */
export interface PodFiles {
  makeDirectories(pod: Pod): Promise<void>;
  removeDirectories(uid: string): Promise<void>;
  /** Lists the UIDs that have a directory. */
  listDirectories(): Promise<string[]>;
  /**
   * Makes the mounts of a container that is about to start: its volumes, /etc/hosts and a fresh termination log. Rejects
   * where files of the node cannot be made or read.
   */
  makeMounts(input: MountInput): Promise<MadeMounts>;
}

interface MountInput extends VolumeMountInput {
  next: ContainerToStart;
  /** The sandbox's addresses, or the node's own for a pod on the host network. */
  podIps: readonly string[];
}

interface PodFilesOptions {
  /** kubelet's `--root-dir`. */
  rootDirectory: string;
  clusterDomain: string;
  /** Whether the kernel enforces or at least knows SELinux, so that files need labels. */
  seLinuxEnabled: boolean;
}

const MAX_HOSTS_BYTES = 1024 * 1024;

interface PodFilesDeps {
  files: Files;
  subPaths: Pick<SubPaths, "prepare">;
  /** Told when a pod's directory is gone, and with it what was noted in it of the pod's IDs; undefined: nothing was. */
  userNamespaces: { release(uid: string): Promise<void> } | undefined;
}

export function createPodFiles(deps: PodFilesDeps, options: PodFilesOptions): PodFiles {
  const { files } = deps;
  const { rootDirectory, seLinuxEnabled } = options;
  const podsDirectory = `${rootDirectory}/pods`;
  const podDirectory = (uid: string) => `${podsDirectory}/${uid}`;

  const makeHostsFile = async (pod: Pod, podIps: readonly string[]): Promise<string> => {
    const path = podHostsPath(rootDirectory, podReference(pod).uid);
    const hostAliases = pod.spec?.hostAliases ?? [];
    const names = computePodHostname(pod, options.clusterDomain);
    const { hostname, domain } = names.ok ? names : { hostname: podReference(pod).name, domain: "" };
    const content = isHostNetworkPod(pod)
      ? buildHostNetworkHostsFile((await files.read(ETC_HOSTS, MAX_HOSTS_BYTES)).toString("utf8"), hostAliases)
      : buildManagedHostsFile({ podIps, hostname, domain, hostAliases });
    // A running container keeps the file that it has mounted, which has the same content within one sandbox. Every start
    // writes the file anew, so that it need not be written durably and no start waits for the disk.
    await files.replace(path, content, 0o644);
    return path;
  };

  const makeTerminationLog = async (uid: string, { container, restartCount }: ContainerToStart): Promise<string> => {
    const directory = terminationLogDirectory(rootDirectory, uid, container.name);
    // A first container mostly finds nothing, and any other the directory of the one before it.
    if (restartCount === 0 || (await files.stat(directory)) === undefined) {
      for (const made of [parentOf(directory), directory]) await files.makeDirectory(made, 0o750);
    }
    const path = `${directory}/${terminationLogName(restartCount)}`;
    // Any user that the container runs as must be able to write it, and must not find an earlier container's message in it.
    await files.replace(path, "", 0o666);
    if (restartCount > 1) await removeOldLogs(files, directory, restartCount);
    return path;
  };

  return {
    async makeDirectories(pod) {
      const directory = podDirectory(podReference(pod).uid);
      // The directory that is made last and removed first tells of all. Every sync checks it, and mostly finds it made.
      if ((await files.stat(`${directory}/volumes`)) !== undefined) return;
      for (const part of ["", "/plugins", "/volumes"]) await files.makeDirectory(`${directory}${part}`, 0o750);
    },
    async removeDirectories(uid) {
      await files.remove(podDirectory(uid));
      await deps.userNamespaces?.release(uid);
    },
    async listDirectories() {
      if ((await files.stat(podsDirectory)) === undefined) return [];
      return (await files.list(podsDirectory)).filter(({ type }) => type === "directory").map(({ name }) => name);
    },
    async makeMounts(input) {
      const { pod, next, podIps } = input;
      const { container } = next;
      const shown = await makeVolumeMounts(deps, { ...input, seLinuxEnabled });
      if (!shown.ok) return shown;
      // These files are made last: a container that cannot be made is tried often and must leave nothing behind.
      const hasHosts = (podIps.length > 0 || isHostNetworkPod(pod)) && wantsHostsFile(container);
      const [hosts, terminationLog] = await Promise.all([
        hasHosts ? makeHostsFile(pod, podIps) : undefined,
        container.terminationMessagePath ? makeTerminationLog(podReference(pod).uid, next) : undefined,
      ]);
      const system = buildSystemMounts(container, { hosts, terminationLog, seLinuxEnabled });
      return { ok: true, mounts: [...shown.mounts, ...system], devices: shown.devices };
    },
  };
}

/**
 * Removes the termination logs of all but the last container before this one, whose message may still be read. A failure
 * keeps no container from starting; the next start tries again.
 */
async function removeOldLogs(files: Files, directory: string, restartCount: number): Promise<void> {
  try {
    for (const { name } of await files.list(directory)) {
      const count = restartCountOf(name);
      if (count !== undefined && count < restartCount - 1) await files.remove(`${directory}/${name}`);
    }
  } catch {
    // They are removed with the pod at the latest.
  }
}

const parentOf = (path: string) => path.slice(0, path.lastIndexOf("/"));
