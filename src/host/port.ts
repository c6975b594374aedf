import type { Clock } from "../base/clock.ts";
import type { Random } from "../base/random.ts";
import type { Cgroups } from "./cgroups-port.ts";
import type { FileType } from "./file-type.ts";
import type { GroupChange } from "./group-permissions.ts";
import type { Logind } from "./logind-port.ts";
import type { Mounts } from "./mounts-port.ts";
import type { OpenedFile } from "./opened-file.ts";
import type { ProbeClient } from "./probe-port.ts";
import type { Proc } from "./proc-port.ts";
import type { Programs } from "./programs-port.ts";
import type { Systemd } from "./systemd-port.ts";

/**
 * The machine, as the node agent needs it. Only adapters of this port touch files, sockets and the clock; everything
 * above rank 2 gets it handed in. The real adapter and the fake pass one contract suite (`test/contract/host.test.ts`).
 */
export interface Host {
  readonly clock: Clock;
  readonly random: Random;
  readonly files: Files;
  readonly http: HttpClient;
  readonly machine: Machine;
  readonly mounts: Mounts;
  readonly probes: ProbeClient;
  readonly programs: Programs;
  readonly logind: Logind;
  readonly systemd: Systemd;
  readonly cgroups: Cgroups;
  readonly proc: Proc;
}

/** Paths are absolute. A missing file rejects with an error whose `code` is `ENOENT`, as Node.js does, and so on. */
export interface Files {
  /**
   * Rejects with `EFBIG` (and reads no further) when the file is longer than `maxBytes`, with `EISDIR` for a directory
   * and with `EINVAL` for anything else that is no regular file: a FIFO or a device never makes the caller wait.
   */
  read(path: string, maxBytes: number): Promise<Buffer>;
  /**
   * Writes beside the file, syncs and renames over it: a reader sees the old content or the new one, also after a
   * crash.
   */
  writeAtomically(path: string, data: string | Buffer, mode: number): Promise<void>;
  /**
   * Does the same as `writeAtomically` without waiting until the disk has the new name: a reader sees the old content or the
   * new one, after a crash of the machine as well, but there it may be the old one, or no file, although this has resolved.
   */
  exchange(path: string, data: string | Buffer, mode: number): Promise<void>;
  /**
   * Does the same as `writeAtomically` without waiting for the disk: after a crash of the machine the file may be empty
   * or gone. It is for files that are written anew anyway before they are next needed.
   */
  replace(path: string, data: string | Buffer, mode: number): Promise<void>;
  /**
   * Adds to the end of a file, and makes it with this mode if it is absent. It does not wait for the disk. A link is
   * `ELOOP`. After a failure a part of the data may be there.
   */
  append(path: string, data: string | Buffer, mode: number): Promise<void>;
  /** Makes the file if it is absent, leaves its content alone, and sets its mode in any case. A link is `ELOOP`. */
  touch(path: string, mode: number): Promise<void>;
  /**
   * Makes the directory and its parents (parents 0755) and sets the mode of the last, whatever the umask. New ones take
   * the set-group-ID bit over from the directory that they are made in.
   */
  makeDirectory(path: string, mode: number): Promise<void>;
  /** Gives an existing directory to a group and sets its mode, the set-group-ID bit included. */
  setGroup(path: string, group: number, mode: number): Promise<void>;
  /**
   * Gives a tree to a group, as upstream does for a pod's fsGroup. The group may read (and, unless `readOnly`, write)
   * each file and search each directory, which hands the group on by its set-group-ID bit. No other right is taken
   * away. For a link only its own group changes, not the file that it leads to. Mounts in the tree are left alone. The
   * root comes last. A root that is a link is `ELOOP`. After a failure or an abort a part of the tree is changed.
   */
  changeGroup(path: string, options: GroupChange, signal?: AbortSignal): Promise<void>;
  /**
   * Makes a directory with all its files. Rejects with `EEXIST` when anything, even a link, is at `path`, and follows
   * no link beneath it. It waits for no disk. A failure or a crash leaves the part that was made so far; the order is
   * always the same.
   */
  createTree(path: string, tree: NewTree): Promise<void>;
  /** Entries by name, sorted by code unit. Rejects with `EOVERFLOW` past 100,000 of them. */
  list(path: string): Promise<DirectoryEntry[]>;
  /** Follows links; undefined when there is nothing. */
  stat(path: string): Promise<FileStatus | undefined>;
  /**
   * How much of the disk a file or a tree takes; undefined when there is nothing. It is made for trees that containers
   * may change meanwhile: no link is followed, and other file systems in the tree are neither counted nor asked
   * anything. Rejects with `AbortedError` soon after the signal fires.
   */
  diskUsage(path: string, signal?: AbortSignal): Promise<DiskUsage | undefined>;
  /** Makes a symbolic link. Replaces an existing link in one step; anything else at `path` is `EEXIST`. */
  link(target: string, path: string): Promise<void>;
  /** The target of a symbolic link; undefined when the path is no link. */
  readLink(path: string): Promise<string | undefined>;
  /**
   * Removes a file or a tree without following links; absent is fine. A mount in the tree rejects with `EBUSY` and is
   * left as it is, bind mounts included. Whatever was removed before the mount was met stays removed.
   */
  remove(path: string): Promise<void>;
  /**
   * Removes an empty directory (`ENOTEMPTY` for any other); absent is fine. It is for mount points: even if an unmount
   * went wrong, no user's data is removed.
   */
  removeEmptyDirectory(path: string): Promise<void>;
  /**
   * Opens `path`, which is relative and without `..`, in the directory `root`. It is made for trees that containers may
   * change meanwhile. A link is followed where it stays beneath the root (an absolute one where it begins with the
   * root's path), else it is `EXDEV`. With `refusesLinks` any link is `ELOOP`. It refuses what `read` refuses; a FIFO
   * or a device never makes the caller wait.
   */
  openBeneath(root: string, path: string, options?: { readonly refusesLinks: boolean }): Promise<OpenedFile>;
  /** Does the same as `list`, for a directory that is looked up as in `openBeneath`. `ENOTDIR` for anything else. */
  listBeneath(root: string, path: string): Promise<DirectoryEntry[]>;
  /** Opens a directory that is looked up as in `openBeneath`; any link on the way is `ELOOP`. `ENOTDIR` for anything else. */
  openDirectoryBeneath(root: string, path: string): Promise<OpenedDirectory>;
  /**
   * Does the same as `makeDirectory`, for a directory that is looked up as in `openDirectoryBeneath`. The root is made as
   * well, and links above and at it are followed.
   */
  makeDirectoryBeneath(root: string, path: string, mode: number): Promise<void>;
  /**
   * Gives a file another name in the same file system. It replaces nothing: an existing name is `EEXIST`. At every
   * moment at least one of the two names leads to the file; a crash may leave both.
   */
  rename(from: string, to: string): Promise<void>;
  /**
   * Calls `onChange` once when the watch is in force, and again after something in the directory changed (several
   * changes may give one call). Resolves when the signal fires. Also resolves, after a last call, when the directory
   * itself was removed or moved. Rejects if it cannot watch.
   */
  watch(directory: string, onChange: () => void, signal: AbortSignal): Promise<void>;
  /**
   * Notes what leaves the directory from now on, also where something of that name is there again by the time that
   * somebody looks. Rejects if it cannot.
   */
  noteRemovals(directory: string): Promise<Removals>;
}

/**
 * A directory that is held open. What is done through it is done in it, even if its name goes or leads elsewhere meanwhile.
 * It is named by the names of its entries. The opener closes it.
 */
export interface OpenedDirectory {
  /** Does the same as `Files.list`. */
  list(): Promise<DirectoryEntry[]>;
  /** Does the same as `Files.remove`. */
  remove(name: string): Promise<void>;
  /** Does the same as `Files.rename`. */
  rename(from: string, to: string): Promise<void>;
  /**
   * Compresses a file with gzip and writes it, with its mode, as `to.name`. It is written as `to.unfinished` at first,
   * replacing anything there, and is on the disk before it gets its final name. A link at `from` is `ELOOP`,
   * a file of more than `maxBytes` is `EFBIG`. The memory needed does not depend on the file's length.
   */
  compress(from: string, to: CompressedNames, limits: CompressionLimits): Promise<void>;
  close(): Promise<void>;
}

/** What a compressed file is called, and what it is called until it is whole. */
export interface CompressedNames {
  readonly name: string;
  readonly unfinished: string;
}

/** When a compression ends before the file's end. */
export interface CompressionLimits {
  readonly maxBytes: number;
  readonly signal: AbortSignal;
}

/** The names that left a directory. They are hints: some may be missing after thousands of changes. */
export interface Removals {
  /**
   * Returns the names that were removed or moved away since it was called last, none after `close`. A file that another
   * one is renamed over was never away.
   */
  take(): ReadonlySet<string>;
  close(): void;
}

/** The tree that `createTree` makes. */
export interface NewTree {
  /**
   * The files by their paths beneath the directory: names joined by single slashes, none of them empty, `.` or `..`.
   */
  readonly files: ReadonlyMap<string, NewFile>;
  /** The mode of the directory itself and of those that its files' paths name, whatever the umask. */
  readonly directoryMode: number;
  /** The group of everything in the tree. Default: as the system gives it. */
  readonly group?: number | undefined;
  /**
   * Symbolic links in the directory that the tree is made in: their targets by their names. They are made last, in their
   * order. A name that is taken is `EEXIST`.
   */
  readonly links?: ReadonlyMap<string, string> | undefined;
  /** The file system is in memory, so that nothing has to wait for a disk. Default false. */
  readonly isInMemory?: boolean | undefined;
}

export interface NewFile {
  readonly data: Buffer;
  /** The mode, whatever the umask. */
  readonly mode: number;
  /** The owner. Default: this process's user. */
  readonly user?: number | undefined;
}

/** The type is that of the entry itself: a link counts as a link. */
export interface DirectoryEntry {
  name: string;
  type: FileType;
}

export interface FileStatus {
  type: FileType;
  sizeBytes: number;
  /** Milliseconds since the epoch, with a fraction where the file system has one. */
  modifiedAt: number;
  /** Permission bits. */
  mode: number;
  /** The numbers of the owner and the group. */
  user: number;
  group: number;
  /** It tells file systems apart, as long as they are mounted. */
  device: string;
  /**
   * It differs from an earlier one wherever the content may differ. It is made of device, inode, size and the times of
   * change.
   */
  version: string;
}

/** The space that a tree takes of its file system. */
export interface DiskUsage {
  /** The bytes of its blocks, holes excluded; directories take some, too. A file with several names counts once. */
  readonly bytes: number;
  readonly inodes: number;
  /** False for a tree too deep to be seen as a whole: the tree then takes at least this much. */
  readonly isWhole: boolean;
}

export interface HttpClient {
  /**
   * Makes one request, without a proxy or keep-alive. Up to ten redirects are followed for GET and HEAD where they stay
   * on the same host name; any other redirect is the answer. Rejects with `ETIMEDOUT`, `EFBIG`, the system's code
   * (`ECONNREFUSED`, …), `ENOTTLS` where https was asked and http answered, `EINVAL` for a URL that is not http or
   * https, or with `AbortedError`.
   */
  request(request: HttpRequest, signal: AbortSignal): Promise<HttpResponse>;
}

export interface HttpRequest {
  method: "GET" | "POST" | "PUT" | "HEAD";
  url: string;
  headers?: ReadonlyArray<readonly [name: string, value: string]>;
  /** The limit for the whole exchange, redirects included. */
  timeoutMs: number;
  /** A longer body rejects with `EFBIG`. */
  maxBodyBytes: number;
  /** TLS certificates are verified. Default false, as kubelet's probes and hooks do. */
  verifyTls?: boolean;
}

export interface HttpResponse {
  status: number;
  /** Headers by lower-case names. The values of a header that came several times are joined with ", ". */
  headers: Readonly<Record<string, string>>;
  body: Buffer;
}

export interface Machine {
  /** The kernel's host name, lower case, as kubelet names the node by default. */
  hostname(): string;
  /** The addresses of the interface that the default route leaves by, IPv4 first; empty without a network. */
  nodeAddresses(): Promise<string[]>;
  /** The addresses of all interfaces, loopback and link-local ones included; no interface is named behind a `%`. */
  interfaceAddresses(): string[];
  /** Bytes. */
  memoryCapacityBytes(): Promise<bigint>;
  /** Bytes; 0 without swap. */
  swapCapacityBytes(): Promise<bigint>;
  cpuCount(): number;
  /** How many accesses of files this process can have under way. An access that hangs takes its place for as long. */
  fileAccessPlaces(): number;
  /** The sizes of huge pages that the kernel knows, smallest first, with the pages set aside of each. */
  hugepages(): Promise<Hugepages[]>;
  /** The capacity of the file system that holds the path. Rejects with `ENOENT` when there is nothing. */
  fileSystemCapacity(path: string): Promise<FileSystemCapacity>;
  /** The same, with how full the file system is. It may never settle where the file system is another machine's. */
  fileSystemUsage(path: string): Promise<FileSystemUsage>;
  identity(): Promise<MachineIdentity>;
  /** Looks at every processor, which takes milliseconds. */
  parts(): Promise<MachineParts>;
}

/** What the machine is built of. 0 and nothing mean that the kernel does not tell. */
export interface MachineParts {
  readonly physicalCores: number;
  readonly sockets: number;
  readonly memoryModules: readonly MemoryModules[];
}

/** The memory modules of one type. */
export interface MemoryModules {
  /** The kernel's word for it: `Unbuffered-DDR4`. */
  readonly type: string;
  readonly count: number;
  readonly bytes: number;
}

/** The facts that tell this machine, and this boot of it, from others. */
export interface MachineIdentity {
  /** The id from systemd; empty on a machine that has none. */
  readonly machineId: string;
  /** The UUID as the firmware writes it; the machine id where that cannot be read (containers, boards without DMI). */
  readonly systemUuid: string;
  /** It changes with each boot; empty where the kernel does not tell. */
  readonly bootId: string;
  /** `uname -r`. */
  readonly kernelRelease: string;
  /** The distribution's own name: `PRETTY_NAME` of os-release. `Unknown` without that file. */
  readonly osImage: string;
  /** The architecture in Go's words, which Kubernetes uses: `amd64`, `arm64`, … */
  readonly architecture: string;
}

/** Pages of one size, used or not. */
export interface Hugepages {
  readonly pageSizeBytes: bigint;
  readonly pages: bigint;
}

/** How full a file system is. */
export interface FileSystemUsage {
  readonly bytes: Usage;
  /** All values are 0 where the file system makes inodes as it needs them. */
  readonly inodes: Usage;
}

/** `available` is for users other than root. Some may be kept for root, so the three need not add up. */
export interface Usage {
  readonly total: bigint;
  readonly available: bigint;
  readonly used: bigint;
}

/** How much a file system can hold, used or not. */
export interface FileSystemCapacity {
  readonly sizeBytes: bigint;
  /** The number is 0 where the file system makes inodes as it needs them. */
  readonly inodes: bigint;
}
