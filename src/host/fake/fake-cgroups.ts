import { type CgroupMemory, type Cgroups, type CgroupUsage, NO_CGROUP_MEMORY } from "../cgroups-port.ts";
import { createFakeCgroupTree, type FakeCgroupTree } from "./fake-cgroup-tree.ts";

/** Cgroups that a test makes and changes. */
export interface FakeCgroups extends Cgroups {
  /** The tree of the cgroups, with the processes in them. */
  readonly tree: FakeCgroupTree;
  /** Makes the cgroup or replaces its usage. Fields that are not given are as in a cgroup where nothing happened. */
  set(path: string, usage: FakeUsage): void;
  delete(path: string): void;
  /** The cgroup of this process. */
  ownPath: string | undefined;
  /** The number of searches through the tree. */
  readonly searches: number;
}

/** An absent field means that processors and memory are counted, and are 0. */
interface FakeUsage extends Partial<Omit<CgroupUsage, "memory">> {
  readonly memory?: Partial<CgroupMemory> | undefined;
}

/** There is only the root at first. */
export function createFakeCgroups(): FakeCgroups {
  const usages = new Map<string, CgroupUsage>();
  let searches = 0;
  const tree = createFakeCgroupTree({
    made: (path) => cgroups.set(path, {}),
    removed: (path) => cgroups.delete(path),
  });
  const cgroups: FakeCgroups = {
    ...tree,
    tree,
    ownPath: undefined,
    get searches() {
      return searches;
    },
    set(path, { memory, ...rest }) {
      const none = { cpu: { usageNanoseconds: 0, userNanoseconds: 0, systemNanoseconds: 0 }, pids: [], pressure: {} };
      usages.set(path, { ...none, details: undefined, ...rest, memory: { ...NO_CGROUP_MEMORY, ...memory } });
    },
    delete: (path) => void usages.delete(path),
    async find(ids) {
      searches++;
      const idOf = (path: string) => /([^/-]+)\.scope$/.exec(path)?.[1] ?? path.slice(path.lastIndexOf("/") + 1);
      const paths = [...usages.keys()].filter((path) => !path.includes("crio-conmon-"));
      const found = paths.map((path) => [idOf(path), path] as const).filter(([id]) => ids.has(id));
      return new Map(found.sort(([, a], [, b]) => b.split("/").length - a.split("/").length));
    },
    async read(path, { details = false } = {}) {
      const usage = usages.get(path);
      return usage && (details ? usage : { ...usage, details: undefined });
    },
    own: async () => cgroups.ownPath,
  };
  cgroups.set("/", {});
  return cgroups;
}
