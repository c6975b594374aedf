import { AbortedError, throwIfAborted } from "../../base/abort.ts";
import type { Clock } from "../../base/clock.ts";
import { CodedError } from "../../base/errors.ts";
import { fileError } from "../file-error.ts";
import type { FileSystemMount, MountEntry, Mounts } from "../mounts-port.ts";
import { bindBeneath } from "./bind-beneath-in-memory.ts";
import type { MemoryEntry } from "./memory-entry.ts";
import type { MemoryTree } from "./memory-tree.ts";
import {
  bind,
  createRoot,
  findMountTarget,
  listMounts,
  mountMemory,
  mountPointAt,
  mountRoot,
  unmountAll,
} from "./mount-in-memory.ts";

/**
 * Mounts in memory, over the tree of the fake files, that obey the port. A file system that is mounted again from the
 * same source still holds the files that were written to it. The synchronous methods are the rest of the machine and
 * pass no hook.
 */
export interface FakeMounts extends Mounts {
  /** Hands every access to the hook, before and after its effect. The returned function takes the hook away. */
  intercept(hook: MountHook): () => void;
  /** The mount table. */
  mounted(): readonly MountEntry[];
  /** Unmounts as an operator's `umount` does. Nothing happens where nothing is mounted. */
  drop(path: string): void;
  /** Keeps a mount busy, as a process that works in the directory does. The returned function lets go. */
  hold(path: string): () => void;
  /**
   * Sets the content of a block device from now on. `undefined` means no content, so that `formatAndMount` formats it.
   */
  putDevice(source: string, type: string | undefined): void;
}

/**
 * A hook may throw, to fail the access, or wait, to delay it (or, by never resolving, to hang it). A throw in the
 * "after" phase fails an access whose effect has happened, as a crash right after it would.
 */
type MountHook = (access: MountAccess) => Promise<void> | void;

/** One access, as a hook sees it. */
export interface MountAccess {
  readonly operation: keyof Mounts;
  /** The target; empty for `list`. */
  readonly path: string;
  /** The source that is to be shown there, where the operation has one. */
  readonly source?: string | undefined;
  readonly phase: "before" | "after";
}

const UNMOUNT_TIMEOUT_MS = 30_000;

/** `hugepageSizes` are in bytes; other sizes are refused. */
export function createFakeMounts(deps: {
  clock: Clock;
  tree: MemoryTree;
  hugepageSizes: () => readonly bigint[];
}): FakeMounts {
  const { clock, tree } = deps;
  const hooks = new Set<MountHook>();
  const holds = new Set<{ path: string }>();
  const devices = createDevices(tree);

  const access = async <T>(what: Omit<MountAccess, "phase">, effect: () => T): Promise<T> => {
    for (const hook of hooks) await hook({ ...what, phase: "before" });
    const result = effect();
    for (const hook of hooks) await hook({ ...what, phase: "after" });
    return result;
  };
  const refuseBusy = (path: string) => {
    const isBelow = (held: { path: string }) => held.path === path || held.path.startsWith(`${path}/`);
    if ([...holds].some(isBelow) && mountPointAt(tree, path)) throw fileError("EBUSY", "umount", path);
  };
  const mountFrom = (request: FileSystemMount, root: () => MemoryEntry) => {
    const { source, target, type, options } = request;
    const place = findMountTarget(tree, target, "directory");
    const all = options.includes("ro") ? options : ["rw", ...options];
    mountRoot(tree, place, { root: root(), type, source, options: all });
  };

  return {
    intercept(hook) {
      hooks.add(hook);
      return () => hooks.delete(hook);
    },
    mounted: () => listMounts(tree),
    drop: (path) => unmountAll(tree, path),
    hold(path) {
      const held = { path };
      holds.add(held);
      return () => holds.delete(held);
    },
    putDevice: devices.put,
    list: async () => access({ operation: "list", path: "" }, () => listMounts(tree)),
    isMountPoint: async (path) =>
      access({ operation: "isMountPoint", path }, () => path === "/" || mountPointAt(tree, path) !== undefined),
    mountMemory: async (path, sizeBytes) =>
      access({ operation: "mountMemory", path }, () => {
        const size = sizeBytes === undefined ? [] : [`size=${sizeBytes / 1024n}k`];
        mountMemory(tree, path, { type: "tmpfs", source: "tmpfs", options: ["rw", ...size] });
      }),
    mountHugepages: async (path, { pageSizeBytes }) =>
      access({ operation: "mountHugepages", path }, () => {
        if (!deps.hugepageSizes().includes(pageSizeBytes)) {
          throw new CodedError("EINVAL", `EINVAL: cannot mount huge pages of ${pageSizeBytes} bytes at '${path}'`);
        }
        const options = ["rw", `pagesize=${pageSizeBytes / 1_048_576n}M`];
        mountMemory(tree, path, { type: "hugetlbfs", source: "nodev", options });
      }),
    bind: async (source, target, { readOnly = false } = {}) =>
      access({ operation: "bind", path: target, source }, () => bind(tree, source, target, readOnly)),
    bindBeneath: async (request) => {
      const source = `${request.root}/${request.path}`;
      return await access({ operation: "bindBeneath", path: request.target, source }, () => bindBeneath(tree, request));
    },
    mountFileSystem: async (request, signal) => {
      const what = { operation: "mountFileSystem", path: request.target, source: request.source } as const;
      await within(clock, { ...what, timeoutMs: request.timeoutMs, signal }, async (isOver) =>
        access(what, () => isOver() || mountFrom(request, () => devices.open(request))),
      );
    },
    formatAndMount: async (request, signal) => {
      const what = { operation: "formatAndMount", path: request.target, source: request.source } as const;
      await within(clock, { ...what, timeoutMs: request.timeoutMs, signal }, async (isOver) =>
        access(what, () => isOver() || mountFrom(request, () => devices.format(request))),
      );
    },
    growFileSystem: async ({ source, target, timeoutMs }, signal) => {
      const what = { operation: "growFileSystem", path: target, source } as const;
      await within(clock, { ...what, timeoutMs, signal }, async (isOver) =>
        access(what, () => isOver() || devices.grow(source, target)),
      );
    },
    unmount: async (path, { timeoutMs = UNMOUNT_TIMEOUT_MS } = {}) => {
      await within(clock, { operation: "unmount", path, timeoutMs }, async (isOver) =>
        access({ operation: "unmount", path }, () => {
          if (isOver()) return;
          refuseBusy(path);
          unmountAll(tree, path);
        }),
      );
    },
  };
}

interface Bound {
  operation: keyof Mounts;
  path: string;
  timeoutMs: number;
  signal?: AbortSignal | undefined;
}

/** Work after the time-out or the abort has no effect any more, because the process that would do it was killed. */
async function within(clock: Clock, bound: Bound, work: (isOver: () => boolean) => Promise<unknown>): Promise<void> {
  const { operation, path, timeoutMs, signal } = bound;
  throwIfAborted(signal);
  let isOver = false;
  await new Promise<void>((resolve, reject) => {
    const end = (settle: () => void) => {
      isOver = true;
      timer.cancel();
      signal?.removeEventListener("abort", onAbort);
      settle();
    };
    const onAbort = () => end(() => reject(new AbortedError()));
    const timer = clock.setTimer(timeoutMs, () => {
      const message = `ETIMEDOUT: ${operation} of '${path}' did not end within ${timeoutMs} ms`;
      end(() => reject(new CodedError("ETIMEDOUT", message)));
    });
    signal?.addEventListener("abort", onAbort, { once: true });
    work(() => isOver).then(
      () => end(resolve),
      (error: unknown) => end(() => reject(error instanceof Error ? error : new Error(String(error)))),
    );
  });
}

const GROWING_TYPES: ReadonlySet<string> = new Set(["ext3", "ext4", "xfs", "btrfs"]);

/** The file systems that are mounted by their source: servers' exports and block devices. */
function createDevices(tree: MemoryTree) {
  const devices = new Map<string, { type: string; root: MemoryEntry } | undefined>();
  const open = ({ source, type }: FileSystemMount): MemoryEntry => {
    const found = devices.get(source);
    if (found === undefined && devices.has(source)) {
      throw new CodedError("EINVAL", `EINVAL: cannot mount '${source}': wrong fs type, bad option, bad superblock`);
    }
    const device = found ?? { type, root: createRoot(tree, 0o755) };
    devices.set(source, device);
    return device.root;
  };
  return {
    put: (source: string, type: string | undefined) => {
      devices.set(source, type === undefined ? undefined : { type, root: createRoot(tree, 0o755) });
    },
    /** The files of a fake file system have no size, so that nothing of one that grows can be seen. */
    grow: (source: string, target: string) => {
      const type = devices.get(source)?.type;
      if (type === undefined || GROWING_TYPES.has(type)) return;
      throw new CodedError("EOPNOTSUPP", `EOPNOTSUPP: cannot grow the file system of '${source}' at '${target}'`);
    },
    /** An export is empty until it is first mounted. */
    open,
    format: (request: FileSystemMount): MemoryEntry => {
      const { source, type, options } = request;
      const found = devices.get(source);
      if (found === undefined) {
        if (options.includes("ro")) {
          throw new CodedError("EINVAL", `EINVAL: cannot mount '${source}': it holds nothing and is read-only`);
        }
        devices.delete(source);
      } else if (found.type !== type) {
        throw new CodedError("EINVAL", `EINVAL: cannot mount '${source}' as ${type}: it holds ${found.type}`);
      }
      return open(request);
    },
  };
}
