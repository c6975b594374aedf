import type { CgroupLimits, CgroupTree } from "../cgroup-tree-port.ts";
import { fileError } from "../file-error.ts";

/** The calls of the tree that a test can make fail. */
export type CgroupTreeOperation = "make" | "limit" | "remove";

/** Cgroups in memory, which a test can examine and change. */
export interface FakeCgroupTree extends CgroupTree {
  /** All cgroups but the root, by path, with the limits that they were given. */
  readonly limits: ReadonlyMap<string, CgroupLimits>;
  /** Puts a process into a cgroup, which is made where it is missing, as a runtime does. */
  enter(path: string, pid: number): void;
  /** Removes all cgroups, as a new start of the machine does: they belong to the kernel, and go with it. */
  clear(): void;
  /** Takes the process out of all cgroups. */
  leave(pid: number): void;
  /** The processes that were killed. */
  readonly killed: readonly number[];
  /** It is called before each change. The change fails with the error that it returns, and has no effect then. */
  fault: ((operation: CgroupTreeOperation, path: string) => Error | undefined) | undefined;
}

/** Hears of cgroups that are made and removed, for a count of their usage. */
interface FakeCgroupListener {
  made(path: string): void;
  removed(path: string): void;
}

/** The tree has only the root at first. */
export function createFakeCgroupTree(listener: FakeCgroupListener): FakeCgroupTree {
  const limits = new Map<string, CgroupLimits>();
  const places = new Map<number, string>();
  const killed: number[] = [];
  const isIn = (path: string, place: string) => path === "/" || place === path || place.startsWith(`${path}/`);
  const processes = (path: string) => [...places].flatMap(([pid, place]) => (isIn(path, place) ? [pid] : []));
  const throwFault = (operation: CgroupTreeOperation, path: string) => {
    const fault = tree.fault?.(operation, path);
    if (fault !== undefined) throw fault;
  };
  const add = (path: string) => {
    const parts = path.split("/").slice(1);
    for (const index of parts.keys()) {
      const each = `/${parts.slice(0, index + 1).join("/")}`;
      if (limits.has(each)) continue;
      limits.set(each, {});
      listener.made(each);
    }
  };
  const tree: FakeCgroupTree = {
    limits,
    killed,
    fault: undefined,
    enter(path, pid) {
      add(path);
      places.set(pid, path);
    },
    clear() {
      for (const path of limits.keys()) listener.removed(path);
      limits.clear();
      places.clear();
    },
    leave: (pid) => places.delete(pid),
    findLack(path) {
      if (path === "/" || limits.has(path)) return undefined;
      return `has some missing paths: /sys/fs/cgroup/cpu${path}`;
    },
    async make(path) {
      throwFault("make", path);
      add(path);
    },
    async limit(path, more) {
      throwFault("limit", path);
      const had = limits.get(path);
      if (had === undefined) throw fileError("ENOENT", "open", `/sys/fs/cgroup/cpu${path}/cpu.shares`);
      const given = Object.entries(more).filter(([, value]) => value !== undefined);
      limits.set(path, { ...had, ...Object.fromEntries(given) });
    },
    children(path) {
      const prefix = path === "/" ? "/" : `${path}/`;
      const below = [...limits.keys()]
        .filter((each) => each.startsWith(prefix))
        .map((each) => each.slice(prefix.length));
      return below.filter((name) => !name.includes("/"));
    },
    processes,
    async remove(path, { killing }) {
      throwFault("remove", path);
      for (const pid of killing ? processes(path) : []) {
        places.delete(pid);
        killed.push(pid);
      }
      if (processes(path).length > 0) throw fileError("EBUSY", "rmdir", `/sys/fs/cgroup/cpu${path}`);
      for (const each of [...limits.keys()].filter((candidate) => isIn(path, candidate))) {
        limits.delete(each);
        listener.removed(each);
      }
    },
  };
  return tree;
}
