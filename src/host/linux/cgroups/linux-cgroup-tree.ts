import { assert } from "../../../base/assert.ts";
import type { CgroupTree } from "../../cgroup-tree-port.ts";
import { listKernelDirectories } from "./kernel-files.ts";
import { listProcesses, removeCgroup } from "./remove-cgroup.ts";
import { type HierarchiesV1, readHierarchiesV1 } from "./tree-v1.ts";
import { findLackV2, limitCgroupV2, makeCgroupV2 } from "./tree-v2.ts";

/** `root` is where the hierarchies of version 1, or the one of version 2, are mounted. */
export function createLinuxCgroupTree(root: string, isUnified: boolean): CgroupTree {
  let known: HierarchiesV1 | undefined;
  const hierarchies = (): HierarchiesV1 => {
    known ??= readHierarchiesV1(root);
    return known;
  };
  const directoriesOf = (path: string) =>
    (isUnified ? [root] : hierarchies().directories).map((directory) => `${directory}${beneath(path)}`);
  return {
    findLack: (path) => (isUnified ? findLackV2(root, beneath(path)) : hierarchies().findLack(beneath(path))),
    async make(path) {
      await Promise.resolve();
      if (isUnified) makeCgroupV2(root, path);
      else hierarchies().make(beneath(path));
    },
    limit: async (path, limits) =>
      await (isUnified ? limitCgroupV2(`${root}${beneath(path)}`, limits) : hierarchies().limit(beneath(path), limits)),
    children: (path) => [...new Set(directoriesOf(path).flatMap(listKernelDirectories))],
    processes: (path) => [...new Set(directoriesOf(path).flatMap((directory) => listProcesses(directory)))],
    async remove(path, options) {
      assert(beneath(path) !== "", "the root of the cgroups is not ours to remove");
      const ends = await Promise.allSettled(
        directoriesOf(path).map(async (directory) => await removeCgroup(directory, options)),
      );
      // Each hierarchy holds the same processes, so a process that keeps one of them from going keeps them all.
      const [failure] = ends.flatMap((end) => (end.status === "rejected" ? [end.reason] : []));
      if (failure !== undefined) throw failure;
    },
  };
}

function beneath(path: string): string {
  return path === "/" ? "" : path;
}
