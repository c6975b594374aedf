import { aborted } from "../../base/abort.ts";
import { type CgroupMemory, type Cgroups, type CgroupUsage, NO_CGROUP_MEMORY } from "../cgroups-port.ts";
import { fileError } from "../file-error.ts";
import type { MemoryMark, MemoryMarks } from "../memory-marks-port.ts";
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
  /** The marks of memory that are in force. */
  readonly memoryMarks: readonly MemoryMark[];
  /** The version of cgroups that it behaves as; 1 at first. */
  version: 1 | 2;
}

/** An absent field means that processors and memory are counted, and are 0. */
interface FakeUsage extends Partial<Omit<CgroupUsage, "memory">> {
  readonly memory?: Partial<CgroupMemory> | undefined;
}

/** There is only the root at first. */
export function createFakeCgroups(): FakeCgroups {
  const usages = new Map<string, CgroupUsage>();
  let searches = 0;
  const openMarks = new Set<FakeMemoryMarks>();
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
    get memoryMarks() {
      return [...openMarks].flatMap(({ marks }) => marks);
    },
    version: 1,
    set(path, { memory, ...rest }) {
      const before = usages.get(path)?.memory?.usage ?? 0;
      const none = { cpu: { usageNanoseconds: 0, userNanoseconds: 0, systemNanoseconds: 0 }, pids: [], pressure: {} };
      usages.set(path, { ...none, details: undefined, ...rest, memory: { ...NO_CGROUP_MEMORY, ...memory } });
      for (const each of openMarks) each.tell(path, before, memory?.usage ?? 0);
    },
    delete: (path) => usages.delete(path),
    async find(ids) {
      searches++;
      const idOf = (path: string) =>
        /([^/-]+)\.scope$/.exec(path)?.[1] ?? path.slice(path.lastIndexOf("/") + 1).replace(/^crio-/, "");
      const paths = [...usages.keys()].filter((path) => !path.includes("crio-conmon-"));
      const found = paths.map((path) => [idOf(path), path] as const).filter(([id]) => ids.has(id));
      return new Map(found.sort(([, a], [, b]) => b.split("/").length - a.split("/").length));
    },
    async read(path, { details = false } = {}) {
      const usage = usages.get(path);
      return usage && (details ? usage : { ...usage, details: undefined });
    },
    pressure: async (path) => usages.get(path)?.pressure ?? {},
    own: async () => cgroups.ownPath,
    openMemoryMarks() {
      if (cgroups.version === 2) return undefined;
      const marks = createFakeMemoryMarks(usages, () => openMarks.delete(marks));
      openMarks.add(marks);
      return marks;
    },
  };
  cgroups.set("/", {});
  return cgroups;
}

interface FakeMemoryMarks extends MemoryMarks {
  readonly marks: readonly MemoryMark[];
  /** The memory in use by a cgroup has changed. */
  tell(path: string, before: number, now: number): void;
}

function createFakeMemoryMarks(usages: ReadonlyMap<string, CgroupUsage>, onClose: () => void): FakeMemoryMarks {
  let marks: readonly MemoryMark[] = [];
  let listener: (() => void) | undefined;
  return {
    get marks() {
      return marks;
    },
    tell(path, before, now) {
      const isCrossed = marks.some(({ path: marked, bytes }) => {
        return marked === path && BigInt(before) >= bytes !== BigInt(now) >= bytes;
      });
      if (isCrossed) listener?.();
    },
    set(next) {
      const absent = next.find(({ path }) => !usages.has(path));
      if (absent !== undefined) throw fileError("ENOENT", "open", `/sys/fs/cgroup/memory${absent.path}`);
      marks = next;
    },
    async follow(onCrossed, signal) {
      listener = onCrossed;
      await aborted(signal);
      listener = undefined;
      onClose();
    },
  };
}
