import type { Pod } from "../../api/gen/types.ts";
import { isHostNetworkPod, podReference } from "../../api/pods.ts";
import type { Random } from "../../base/random.ts";
import type { Files } from "../../host/port.ts";
import { computePodHostname } from "../identity/hostname.ts";
import { buildHostNetworkHostsFile, buildManagedHostsFile } from "../identity/hosts-file.ts";
import { computeVolumeMounts } from "../volumes/container-mounts.ts";
import type { ContainerMount } from "./config/container-config.ts";
import type { ContainerToStart } from "./pod-actions.ts";

/** The pod's own directory on the node, and the files in it that are mounted into its containers. */
export interface PodFiles {
  makeDirectories(pod: Pod): Promise<void>;
  removeDirectories(uid: string): Promise<void>;
  /** UIDs that have a directory. */
  listDirectories(): Promise<string[]>;
  /** Every mount of a container that starts now: its volumes, /etc/hosts and a fresh termination log. */
  makeMounts(input: MountInput): Promise<ContainerMount[]>;
}

export interface MountInput {
  pod: Pod;
  next: ContainerToStart;
  /** Of the sandbox; the node's own for a pod on the host network. */
  podIps: readonly string[];
  volumes: ReadonlyMap<string, string>;
}

export interface PodFilesOptions {
  /** kubelet's `--root-dir`. */
  rootDirectory: string;
  clusterDomain: string;
}

const HOSTS_FILE = "/etc/hosts";
const MAX_HOSTS_BYTES = 1024 * 1024;

export interface PodFilesDeps {
  files: Files;
  random: Random;
  /** Told when a pod's directory is gone, and with it what was noted in it of the pod's IDs. */
  userNamespaces?: { release(uid: string): Promise<void> } | undefined;
}

export function createPodFiles(deps: PodFilesDeps, options: PodFilesOptions): PodFiles {
  const { files } = deps;
  const podsDirectory = `${options.rootDirectory}/pods`;
  const podDirectory = (uid: string) => `${podsDirectory}/${uid}`;

  const makeHostsFile = async (pod: Pod, podIps: readonly string[]): Promise<string> => {
    const path = `${podDirectory(podReference(pod).uid)}/etc-hosts`;
    const hostAliases = pod.spec?.hostAliases ?? [];
    const names = computePodHostname(pod, options.clusterDomain);
    const { hostname, domain } = names.ok ? names : { hostname: podReference(pod).name, domain: "" };
    const content = isHostNetworkPod(pod)
      ? buildHostNetworkHostsFile((await files.read(HOSTS_FILE, MAX_HOSTS_BYTES)).toString("utf8"), hostAliases)
      : buildManagedHostsFile({ podIps, hostname, domain, hostAliases });
    // A container that runs keeps the file that it has mounted; of the same sandbox, the new one says the same. Every
    // start writes it, so that a crash costs nothing and no start waits for the disk.
    await files.replace(path, content, 0o644);
    return path;
  };

  const makeTerminationLog = async (uid: string, container: string): Promise<string> => {
    const directory = `${podDirectory(uid)}/containers/${container}`;
    await files.makeDirectory(directory, 0o750);
    const name = Math.floor(deps.random.next() * 0x1_0000_0000)
      .toString(16)
      .padStart(8, "0");
    const path = `${directory}/${name}`;
    // Whatever user the container runs as must be able to write it.
    await files.touch(path, 0o666);
    return path;
  };

  return {
    async makeDirectories(pod) {
      const directory = podDirectory(podReference(pod).uid);
      // The one that is made last, and removed first, stands for all: every sync comes by here, and most find them made.
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
    async makeMounts({ pod, next, podIps, volumes }) {
      const mounts: ContainerMount[] = computeVolumeMounts(next.container, volumes);
      const ownsHosts = mounts.some(({ containerPath }) => containerPath === HOSTS_FILE);
      const terminationPath = next.container.terminationMessagePath;
      const [hosts, terminationLog] = await Promise.all([
        podIps.length > 0 && !ownsHosts ? makeHostsFile(pod, podIps) : undefined,
        terminationPath ? makeTerminationLog(podReference(pod).uid, next.container.name) : undefined,
      ]);
      if (hosts !== undefined) mounts.push({ containerPath: HOSTS_FILE, hostPath: hosts });
      if (terminationPath && terminationLog !== undefined) {
        mounts.push({ containerPath: terminationPath, hostPath: terminationLog });
      }
      return mounts;
    },
  };
}
