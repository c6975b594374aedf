import type { Container } from "../../../api/gen/types.ts";
import type { ContainerMount } from "./container-config.ts";

const ETC_HOSTS = "/etc/hosts";

/** The pod's own /etc/hosts on the host, shared by its containers. */
export function podHostsPath(rootDirectory: string, podUid: string): string {
  return `${rootDirectory}/pods/${podUid}/etc-hosts`;
}

/** Where one instance of a container leaves its last words; `instance` is random, one an instance. */
export function terminationLogPath(
  rootDirectory: string,
  podUid: string,
  container: { name: string; instance: string },
): string {
  return `${rootDirectory}/pods/${podUid}/containers/${container.name}/${container.instance}`;
}

/** Host paths of the two files; one that is undefined is not mounted. */
export interface SystemFiles {
  /** Undefined before the pod has an address, as in kubelet. */
  hosts: string | undefined;
  terminationLog: string | undefined;
}

/** What every container gets besides its volumes, after them: /etc/hosts unless it brings its own, and the termination log. */
export function buildSystemMounts(container: Container, files: SystemFiles): ContainerMount[] {
  const mounts: ContainerMount[] = [];
  const bringsHosts = container.volumeMounts?.some(({ mountPath }) => mountPath === ETC_HOSTS) ?? false;
  if (files.hosts !== undefined && !bringsHosts) mounts.push({ containerPath: ETC_HOSTS, hostPath: files.hosts });
  if (files.terminationLog !== undefined && container.terminationMessagePath) {
    mounts.push({ containerPath: container.terminationMessagePath, hostPath: files.terminationLog });
  }
  return mounts;
}
