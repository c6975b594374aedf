import type { Container } from "../../../api/gen/types.ts";
import type { ContainerMount } from "./container-config.ts";

/** The file in which every container finds the names of hosts. */
export const ETC_HOSTS = "/etc/hosts";

/** The path on the host of the pod's own /etc/hosts, which its containers share. */
export function podHostsPath(rootDirectory: string, podUid: string): string {
  return `${rootDirectory}/pods/${podUid}/etc-hosts`;
}

/** The directory that holds the termination messages of a container's instances, one file each. */
export function terminationLogDirectory(rootDirectory: string, podUid: string, containerName: string): string {
  return `${rootDirectory}/pods/${podUid}/containers/${containerName}`;
}

/**
 * Returns a name of eight digits, as upstream's names are. Upstream's digits are random; these are made of the restart
 * count, so that a repeated start leaves no second file and the files of removed containers can be recognized.
 */
export function terminationLogName(restartCount: number): string {
  return restartCount.toString(16).padStart(8, "0");
}

/** Undefined for a name that `terminationLogName` did not make. */
export function restartCountOf(terminationLogName: string): number | undefined {
  return /^[0-9a-f]{8}$/.test(terminationLogName) ? Number.parseInt(terminationLogName, 16) : undefined;
}

/**
 * Returns the paths that a pod's containers can write to on the node's disk outside of their volumes, their own layer
 * and their logs: files of ours that are mounted into them. They count as the pod's local storage (CVE-2020-8557).
 */
export function podStoragePaths(rootDirectory: string, podUid: string): PodStoragePaths {
  const terminationLogs = `${rootDirectory}/pods/${podUid}/containers`;
  return { hosts: podHostsPath(rootDirectory, podUid), terminationLogs };
}

/**
 * `hosts` is a file. `terminationLogs` is a directory that holds one directory for each container, with the files of
 * its instances.
 */
interface PodStoragePaths {
  readonly hosts: string;
  readonly terminationLogs: string;
}

/** Host paths of the two files; one that is undefined is not mounted. */
export interface SystemFiles {
  /** Undefined before the pod has an address, as in kubelet. */
  hosts: string | undefined;
  terminationLog: string | undefined;
  seLinuxEnabled: boolean;
}

/**
 * True if the container gets the pod's /etc/hosts. A container that mounts something of its own there does not get it.
 */
export function wantsHostsFile({ volumeMounts = [] }: Container): boolean {
  // A path that does not begin with a slash counts from the root.
  return !volumeMounts.some(({ mountPath }) => mountPath === ETC_HOSTS || `/${mountPath}` === ETC_HOSTS);
}

/** Builds the mounts that every container gets after its volumes: /etc/hosts and the termination log. */
export function buildSystemMounts(container: Container, files: SystemFiles): ContainerMount[] {
  const { hosts, terminationLog, seLinuxEnabled: selinuxRelabel } = files;
  const mounts: ContainerMount[] = [];
  if (hosts !== undefined && wantsHostsFile(container)) {
    mounts.push({ containerPath: ETC_HOSTS, hostPath: hosts, selinuxRelabel });
  }
  if (terminationLog !== undefined && container.terminationMessagePath) {
    mounts.push({ containerPath: container.terminationMessagePath, hostPath: terminationLog, selinuxRelabel });
  }
  return mounts;
}
