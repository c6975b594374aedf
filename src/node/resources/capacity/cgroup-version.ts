import type { Files } from "../../../host/port.ts";

/** The version of cgroups that the machine mounts; one with both counts as version 1, as upstream counts it. */
export async function readCgroupVersion(files: Pick<Files, "stat">): Promise<1 | 2> {
  return (await files.stat("/sys/fs/cgroup/cgroup.controllers")) === undefined ? 1 : 2;
}

interface CgroupDemands {
  readonly failCgroupV1?: boolean | undefined;
  readonly singleProcessOOMKill?: boolean | undefined;
}

/** Rejects where the configuration asks for what version 1 of cgroups is not or cannot do (upstream: validation_linux.go). */
export async function requireCgroups(files: Pick<Files, "stat">, demands: CgroupDemands): Promise<void> {
  if ((await readCgroupVersion(files)) === 2) return;
  if (demands.failCgroupV1 === true) {
    const mend = "Boot with cgroup v2 (systemd.unified_cgroup_hierarchy=1), or set failCgroupV1: false";
    throw new Error(`kubelet is configured to not run on a host using cgroup v1 (failCgroupV1). ${mend}.`);
  }
  if (demands.singleProcessOOMKill === false) {
    throw new Error(
      "invalid configuration: singleProcessOOMKill must not be explicitly set to false when using cgroup v1",
    );
  }
}
