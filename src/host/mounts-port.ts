import type { FileType } from "./file-type.ts";

/**
 * Mounts, as the node agent needs them. No path passes a shell. What is mounted over a link is refused (`ELOOP`), and what
 * a link leads to is never unmounted: containers can plant links. Local mounts take microseconds; those of other machines
 * may never end, so that `mountFileSystem` runs in a process that is killed when its time is over.
 */
export interface Mounts {
  /** This process's mount table, outermost first. */
  list(): Promise<MountEntry[]>;
  /** Whether something is mounted over the path itself. Asked of the kernel, not of the table; false for a link. */
  isMountPoint(path: string): Promise<boolean>;
  /**
   * Mounts an empty file system in memory over an existing directory, at most `sizeBytes` large (undefined: the kernel's
   * default, half of the memory), its root of mode 1777. It is never swapped out where the kernel can promise that.
   * Nothing happens where one is mounted already.
   */
  mountMemory(path: string, sizeBytes: bigint | undefined): Promise<void>;
  /**
   * The same of huge pages. Rejects with `EINVAL` for a page size that the kernel has not. `sizeBytes` undefined: as many
   * pages as there are.
   */
  mountHugepages(path: string, size: { pageSizeBytes: bigint; sizeBytes: bigint | undefined }): Promise<void>;
  /** Shows `source` (links followed) at `target`, an existing directory or file of the same kind, with all below it. */
  bind(source: string, target: string, options?: { readOnly?: boolean }): Promise<void>;
  /**
   * Shows what `path` is beneath `root` at `target`. Made for paths that a container may change at any moment: each name
   * is opened in the directory that was opened before it, links are resolved by us and only as long as they stay beneath
   * `root` (else `EXDEV`; absolute ones count from the host's root and must lead beneath `root` too), and what was opened,
   * and nothing else, is mounted. What is missing is made as directories of `directoryMode`, where that is given, else
   * `ENOENT`. `target` is made, as a directory or an empty file, in a parent that exists. An earlier mount there is
   * replaced. Resolves with the type of what is shown.
   */
  bindBeneath(request: BindBeneath): Promise<{ type: FileType }>;
  /**
   * mount(8) with its helpers (`mount.nfs`). Rejects with `ETIMEDOUT` when it took longer than `timeoutMs`, with the
   * program's words else. `target` is an existing directory.
   */
  mountFileSystem(request: FileSystemMount, signal?: AbortSignal): Promise<void>;
  /**
   * As `mountFileSystem` for a block device that is checked by fsck first, and formatted if it holds nothing at all
   * (unless it is read-only). Rejects with `EINVAL` when it holds a file system of another type than asked for.
   */
  formatAndMount(request: FileSystemMount, signal?: AbortSignal): Promise<void>;
  /**
   * Unmounts all that is mounted over the path, stacked mounts and those below it included. Nothing happens where nothing
   * is, nor for a link. Rejects with `EBUSY` while it is used, with `ETIMEDOUT` if it does not end within `timeoutMs`
   * (default 30 s). `isLocal`: what is there needs no other machine to be unmounted, so that the mount table is read only
   * if it does not go at once.
   */
  unmount(path: string, options?: { timeoutMs?: number; isLocal?: boolean }): Promise<void>;
}

/** One line of the kernel's mount table. */
export interface MountEntry {
  readonly id: number;
  readonly parentId: number;
  /** `8:1` */
  readonly device: string;
  /** What of the file system is shown: `/` or, of a bind mount, a path in it. */
  readonly root: string;
  readonly path: string;
  /** `ext4` */
  readonly type: string;
  /** `/dev/sda1`, `tmpfs`, `server:/path` */
  readonly source: string;
  /** Of the mount and of its file system: `ro`, `size=1024k`. */
  readonly options: readonly string[];
  /** `shared`: mounts made below it, or by others below it, are seen on both sides. */
  readonly propagation: "private" | "shared" | "slave";
  /** Of a shared mount: those of one number see the same. */
  readonly peerGroup?: number;
}

export interface BindBeneath {
  /** The host path of the volume; who can change what is below it cannot change itself. */
  readonly root: string;
  /** Relative; `a/b`. Without `..`, which is refused (`EINVAL`). Empty: `root` itself. */
  readonly path: string;
  readonly target: string;
  readonly directoryMode?: number | undefined;
}

export interface FileSystemMount {
  /** `/dev/sda1`, `server:/path`. */
  readonly source: string;
  readonly target: string;
  /** `ext4`, `nfs`. */
  readonly type: string;
  readonly options: readonly string[];
  readonly timeoutMs: number;
}
