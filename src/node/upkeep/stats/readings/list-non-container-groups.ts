import type { PodReference } from "../../../../api/pods.ts";
import type { CgroupTree } from "../../../../host/cgroup-tree-port.ts";
import { podUidOf } from "../../../resources/cgroups/cgroup-name.ts";

/** A cgroup that holds others, or a daemon, and is no container's. */
interface Group {
  readonly path: string;
  /** The pod whose cgroup it is. */
  readonly pod: PodReference | undefined;
}

interface GroupPlaces {
  /** The cgroup of all pods; undefined where pods have none of their own. */
  readonly allPods: string | undefined;
  readonly daemons: ReadonlyArray<string | undefined>;
  /** The pods that are measured. */
  readonly pods: readonly PodReference[];
}

/**
 * Lists the cgroups of all pods, of the QoS classes, of the pods and of the daemons, as cAdvisor does beneath the roots
 * that a kubelet gives it. Pods that are not measured, such as those that have ended, are left out, and so is the root.
 */
export function listNonContainerGroups(
  tree: Pick<CgroupTree, "children">,
  { allPods, daemons, pods }: GroupPlaces,
): Group[] {
  const groups = new Map<string, Group>();
  const add = (path: string | undefined, pod?: PodReference) => {
    if (path !== undefined && path !== "/" && !groups.has(path)) groups.set(path, { path, pod });
  };
  add(allPods);
  const byUid = new Map(pods.map((pod) => [pod.uid, pod]));
  const driver = allPods?.endsWith(".slice") === true ? "systemd" : "cgroupfs";
  const addPods = (parent: string): string[] =>
    tree.children(parent).filter((name) => {
      const uid = podUidOf(name, driver);
      const pod = uid === undefined ? undefined : byUid.get(uid);
      if (pod !== undefined) add(`${parent}/${name}`, pod);
      return uid === undefined;
    });
  if (allPods !== undefined) {
    const classes = addPods(allPods).filter((name) => /(^|-)(burstable|besteffort)(\.slice)?$/.test(name));
    for (const name of classes) {
      add(`${allPods}/${name}`);
      addPods(`${allPods}/${name}`);
    }
  }
  for (const daemon of daemons) add(daemon);
  return [...groups.values()];
}
