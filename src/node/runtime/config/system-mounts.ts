import type { Container } from "../../../api/gen/types.ts";
import type { ContainerMount } from "./container-config.ts";

/** Where every container finds the names of hosts. */
export const ETC_HOSTS = "/etc/hosts";

/** The pod's own /etc/hosts on the host, shared by its containers. */
export function podHostsPath(rootDirectory: string, podUid: string): string {
  return `${rootDirectory}/pods/${podUid}/etc-hosts`;
}

/** Holds what the instances of a container have left as their last words, a file each. */
export function terminationLogDirectory(rootDirectory: string, podUid: string, containerName: string): string {
  return `${rootDirectory}/pods/${podUid}/containers/${containerName}`;
}

/**
 * A name of eight digits, as upstream's, which are random ones there. Made of the restart count instead, so that a start
 * that is tried again leaves no second file, and those of containers that are gone can be told.
 */
export function terminationLogName(restartCount: number): string {
  return restartCount.toString(16).padStart(8, "0");
}

/** Undefined for a name that `terminationLogName` has not made. */
export function restartCountOf(terminationLogName: string): number | undefined {
  return /^[0-9a-f]{8}$/.test(terminationLogName) ? Number.parseInt(terminationLogName, 16) : undefined;
}

/**
 * What a pod's containers can write on the node's disk outside of their volumes, their own layer and their logs: files of
 * ours that are mounted into them. It counts as the pod's local storage (CVE-2020-8557).
 */
export function podStoragePaths(rootDirectory: string, podUid: string): PodStoragePaths {
  const terminationLogs = `${rootDirectory}/pods/${podUid}/containers`;
  return { hosts: podHostsPath(rootDirectory, podUid), terminationLogs };
}

/** A file, and a directory that holds one for each container, with the files of its instances. */
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

/** Whether the container gets the pod's /etc/hosts: not where it mounts something of its own there. */
export function wantsHostsFile({ volumeMounts = [] }: Container): boolean {
  // A path that does not begin with a slash counts from the root.
  return !volumeMounts.some(({ mountPath }) => mountPath === ETC_HOSTS || `/${mountPath}` === ETC_HOSTS);
}

/** What every container gets besides its volumes, after them: /etc/hosts and the termination log. */
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
