import type { FileType } from "./file-type.ts";

/**
 * Mounts, as the node agent needs them. No path passes a shell. A mount over a link is refused (`ELOOP`), and the place
 * that a link leads to is never unmounted, because containers can plant links. Local mounts take microseconds. Mounts
 * of other machines may never end, so `mountFileSystem` runs in a process that is killed when its time is over.
 */
export interface Mounts {
  /** This process's mount table, outermost first. */
  list(): Promise<MountEntry[]>;
  /** Whether something is mounted over the path itself. The kernel answers this, not the table; false for a link. */
  isMountPoint(path: string): Promise<boolean>;
  /**
   * Mounts an empty file system in memory over an existing directory. It is at most `sizeBytes` large (undefined: the
   * kernel's default, half of the memory), and its root has mode 1777. It is never swapped out where the kernel can
   * promise that. Nothing happens where one is mounted already.
   */
  mountMemory(path: string, sizeBytes: bigint | undefined): Promise<void>;
  /**
   * Mounts huge pages in the same way. Rejects with `EINVAL` for a page size that the kernel does not have. `sizeBytes`
   * undefined means as many pages as there are.
   */
  mountHugepages(path: string, size: { pageSizeBytes: bigint; sizeBytes: bigint | undefined }): Promise<void>;
  /**
   * Shows `source` (links are followed) at `target`, an existing directory or file of the same kind, with all below it.
   */
  bind(source: string, target: string, options?: { readOnly?: boolean }): Promise<void>;
  /**
   * Shows `path` beneath `root` at `target`. It is made for paths that a container may change at any moment. Each name
   * is opened in the directory that was opened before it. This process resolves links itself, and only as long as they
   * stay beneath `root` (else `EXDEV`); absolute links count from the host's root and must lead beneath `root` too. The
   * opened file, and nothing else, is mounted. Missing names are made as directories of `directoryMode` if that is
   * given, else they are `ENOENT`. `target` is made, as a directory or an empty file, in a parent that exists. An
   * earlier mount there is replaced. Resolves with the type of what is shown.
   */
  bindBeneath(request: BindBeneath): Promise<{ type: FileType }>;
  /**
   * Runs mount(8) with its helpers (`mount.nfs`). Rejects with `ETIMEDOUT` when it took longer than `timeoutMs`, else
   * with the program's words. `target` is an existing directory.
   */
  mountFileSystem(request: FileSystemMount, signal?: AbortSignal): Promise<void>;
  /**
   * Does the same as `mountFileSystem` for a block device, which fsck checks first. The device is formatted if it holds
   * nothing at all (unless the mount is read-only). Rejects with `EINVAL` when the device holds a file system of
   * another type.
   */
  formatAndMount(request: FileSystemMount, signal?: AbortSignal): Promise<void>;
  /**
   * Makes the file system of a block device, mounted at `target`, as large as the device. One that is as large already is
   * a success too. Nothing happens where the device is read-only or holds nothing at all. Rejects with `EOPNOTSUPP` for a
   * type that cannot grow, with `ENOENT` where the program of the type (`resize2fs`, `xfs_growfs`, `btrfs`) is missing,
   * and with `ETIMEDOUT`.
   */
  growFileSystem(request: GrownFileSystem, signal?: AbortSignal): Promise<void>;
  /**
   * Unmounts all that is mounted over the path, stacked mounts and those below it included. Does nothing where nothing
   * is mounted, nor for a link. Rejects with `EBUSY` while the mount is in use, and with `ETIMEDOUT` if it does not end
   * within `timeoutMs` (default 30 s). `isLocal` says that no other machine is needed for the unmount, so that the
   * mount table is read only if the first attempt fails.
   */
  unmount(path: string, options?: { timeoutMs?: number; isLocal?: boolean }): Promise<void>;
}

/** One line of the kernel's mount table. */
export interface MountEntry {
  readonly id: number;
  readonly parentId: number;
  /** `8:1` */
  readonly device: string;
  /** The part of the file system that is shown: `/`, or a path in it for a bind mount. */
  readonly root: string;
  readonly path: string;
  /** `ext4` */
  readonly type: string;
  /** `/dev/sda1`, `tmpfs`, `server:/path` */
  readonly source: string;
  /** The options of the mount and of its file system: `ro`, `size=1024k`. */
  readonly options: readonly string[];
  /** `shared` means that mounts made below it, or below its peers, are seen on both sides. */
  readonly propagation: "private" | "shared" | "slave";
  /** Set for a shared mount. Mounts with the same number see the same. */
  readonly peerGroup?: number;
}

export interface BindBeneath {
  /** The host path of the volume. A container that can change what is below `root` cannot change `root` itself. */
  readonly root: string;
  /** It is relative (`a/b`) and without `..`, which is refused (`EINVAL`). An empty path means `root` itself. */
  readonly path: string;
  readonly target: string;
  readonly directoryMode?: number | undefined;
}

export interface GrownFileSystem {
  /** `/dev/sda1` */
  readonly source: string;
  readonly target: string;
  readonly timeoutMs: number;
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
