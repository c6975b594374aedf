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
  /** The last `maxBytes` of the file; all of it when it is shorter. Refuses what `read` refuses. */
  readTail(path: string, maxBytes: number): Promise<Buffer>;
  /** Written beside and renamed over, fsynced: a reader sees the old content or the new one, also after a crash. */
  writeAtomically(path: string, data: string | Buffer, mode: number): Promise<void>;
  /**
   * As `writeAtomically`, without waiting for the disk: after a crash of the machine the file may be empty or gone. For
   * what is written anew anyway before it is next needed.
   */
  replace(path: string, data: string | Buffer, mode: number): Promise<void>;
  /** Makes the file if it is absent, leaves its content alone, and sets its mode in any case. A link is `ELOOP`. */
  touch(path: string, mode: number): Promise<void>;
  /** Makes the directory and its parents (parents 0755) and sets the mode of the last, whatever the umask. */
  makeDirectory(path: string, mode: number): Promise<void>;
  /** Gives an existing directory to a group and sets its mode, set-group-ID bit included. */
  setGroup(path: string, group: number, mode: number): Promise<void>;
  /**
   * Gives a tree to a group, as upstream does for a pod's fsGroup: the group may read (and, unless `readOnly`, write) each
   * file and search each directory, which hands the group on by its set-group-ID bit; no right is taken from anybody. Of a
   * link only the group changes, not what it leads to. What is mounted in the tree is left alone. The root comes last. A
   * root that is a link is `ELOOP`. After a failure or an abort a part of the tree is changed.
   */
  changeGroup(path: string, options: GroupChange, signal?: AbortSignal): Promise<void>;
  /**
   * Makes a directory with all its files. Rejects with `EEXIST` when anything is at `path`, a link too, and follows no
   * link beneath it. Waits for no disk. A failure or a crash leaves what was made so far, always in the same order.
   */
  createTree(path: string, tree: NewTree): Promise<void>;
  /** Entries by name, sorted by code unit. Rejects with `EOVERFLOW` past 100,000 of them. */
  list(path: string): Promise<DirectoryEntry[]>;
  /** Follows links; undefined when there is nothing. */
  stat(path: string): Promise<FileStatus | undefined>;
  /**
   * How much of the disk a file, or a tree, takes; undefined when there is nothing. Made for what containers may change
   * meanwhile: no link is followed, and other file systems in the tree are neither counted nor asked anything. Rejects
   * with AbortedError soon after the signal fires.
   */
  diskUsage(path: string, signal?: AbortSignal): Promise<DiskUsage | undefined>;
  /** Makes a symbolic link. Replaces an existing link in one step; anything else at `path` is `EEXIST`. */
  link(target: string, path: string): Promise<void>;
  /** The target of a symbolic link; undefined when the path is no link. */
  readLink(path: string): Promise<string | undefined>;
  /**
   * Removes a file or a tree without following links; absent is fine. Anything mounted in the tree rejects with `EBUSY`
   * and is left as it is, bind mounts included; what was removed before it was met stays removed.
   */
  remove(path: string): Promise<void>;
  /**
   * Removes a directory that holds nothing (`ENOTEMPTY` else); absent is fine. For mount points: whatever went wrong with
   * an unmount, nobody's data is removed.
   */
  removeEmptyDirectory(path: string): Promise<void>;
  /**
   * Opens what is at `path`, which is relative and without `..`, in the directory `root`. Made for trees that containers
   * may change meanwhile: a link is followed where it stays beneath the root (an absolute one where it begins with the
   * root's path), else it is `EXDEV`; any link is `ELOOP` with `refusesLinks`. Refuses what `read` refuses; a FIFO or a
   * device never makes the caller wait.
   */
  openBeneath(root: string, path: string, options?: { readonly refusesLinks: boolean }): Promise<OpenedFile>;
  /** As `list`, for a directory that is looked up as `openBeneath` does. `ENOTDIR` for anything else. */
  listBeneath(root: string, path: string): Promise<DirectoryEntry[]>;
  /**
   * Gives a file another name in the same file system. Replaces nothing: `EEXIST`. Never neither name leads to it; a crash
   * may leave both.
   */
  rename(from: string, to: string): Promise<void>;
  /**
   * Writes a file, in gzip's form and with its mode, to `to`: at first as `unfinished`, whatever was there, and on the disk
   * before it has its name. A link at `from` is `ELOOP`. Memory does not depend on the file's length.
   */
  compress(
    from: string,
    to: { readonly path: string; readonly unfinished: string },
    signal: AbortSignal,
  ): Promise<void>;
  /**
   * Calls `onChange` once when the watch is in force, and again after something in the directory changed (several
   * changes may give one call). Resolves when the signal fires, and when the directory itself was removed or moved: then
   * after a last call. Rejects if it cannot watch.
   */
  watch(directory: string, onChange: () => void, signal: AbortSignal): Promise<void>;
}

/** What `createTree` makes. */
export interface NewTree {
  /** By their paths beneath the directory: names joined by single slashes, none of them empty, `.` or `..`. */
  readonly files: ReadonlyMap<string, NewFile>;
  /** Of the directory itself and of those that its files' paths name, whatever the umask. */
  readonly directoryMode: number;
  /** Of everything in the tree. Default: as the system gives it. */
  readonly group?: number | undefined;
}

export interface NewFile {
  readonly data: Buffer;
  /** Whatever the umask. */
  readonly mode: number;
  /** Who owns it. Default: this process's user. */
  readonly user?: number | undefined;
}

/** The type is that of the entry itself: a link is a link. */
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
  /** The numbers of its owner. */
  user: number;
  group: number;
  /** Tells file systems apart, as long as they are mounted. */
  device: string;
  /** Differs from an earlier one wherever the content may: made of device, inode, size and the times of change. */
  version: string;
}

/** What a tree takes of its file system. */
export interface DiskUsage {
  /** Of the blocks, holes excluded; directories take some, too. A file of several names counts once. */
  readonly bytes: number;
  readonly inodes: number;
  /** False for a tree too deep or too wide to be seen as a whole: then it takes at least this. */
  readonly isWhole: boolean;
}

export interface HttpClient {
  /**
   * One request: no proxy, no keep-alive. Up to ten redirects are followed for GET and HEAD where they stay on the same
   * host name; any other redirect is the answer. Rejects with `ETIMEDOUT`, `EFBIG`, the system's code (`ECONNREFUSED`,
   * …), `ENOTTLS` where https was asked and http answered, `EINVAL` for a URL that is not http or https, or with AbortedError.
   */
  request(request: HttpRequest, signal: AbortSignal): Promise<HttpResponse>;
}

export interface HttpRequest {
  method: "GET" | "POST" | "PUT" | "HEAD";
  url: string;
  headers?: ReadonlyArray<readonly [name: string, value: string]>;
  /** For the whole exchange, redirects included. */
  timeoutMs: number;
  /** A longer body rejects with `EFBIG`. */
  maxBodyBytes: number;
  /** TLS certificates are verified. Default false, as kubelet's probes and hooks do. */
  verifyTls?: boolean;
}

export interface HttpResponse {
  status: number;
  /** Lower-case names; the values of one that came several times are joined with ", ". */
  headers: Readonly<Record<string, string>>;
  body: Buffer;
}

export interface Machine {
  /** The kernel's host name, lower case, as kubelet names the node by default. */
  hostname(): string;
  /** The addresses of the interface that the default route leaves by, IPv4 first; empty without a network. */
  nodeAddresses(): Promise<string[]>;
  /** Of all interfaces, loopback and link-local addresses included; no interface is named behind a `%`. */
  interfaceAddresses(): string[];
  /** Bytes. */
  memoryCapacityBytes(): Promise<bigint>;
  /** Bytes; 0 without swap. */
  swapCapacityBytes(): Promise<bigint>;
  cpuCount(): number;
  /** How many accesses of files this process can have under way; one that hangs takes its place for as long. */
  fileAccessPlaces(): number;
  /** The sizes of huge pages that the kernel knows, smallest first, with the pages set aside of each. */
  hugepages(): Promise<Hugepages[]>;
  /** Of the file system that holds the path. Rejects with `ENOENT` when there is nothing. */
  fileSystemCapacity(path: string): Promise<FileSystemCapacity>;
  /** The same, with how full it is. May never settle where the file system is another machine's. */
  fileSystemUsage(path: string): Promise<FileSystemUsage>;
  identity(): Promise<MachineIdentity>;
}

/** What tells this machine, and this run of it, from others. */
export interface MachineIdentity {
  /** systemd's; empty on a machine that has none. */
  readonly machineId: string;
  /** Of the firmware, as it writes it; the machine id where that cannot be read (containers, boards without DMI). */
  readonly systemUuid: string;
  /** Another one after each boot; empty where the kernel does not tell. */
  readonly bootId: string;
  /** `uname -r`. */
  readonly kernelRelease: string;
  /** As the distribution calls itself: `PRETTY_NAME` of os-release. `Unknown` without that file. */
  readonly osImage: string;
  /** In Go's words, as Kubernetes has them: `amd64`, `arm64`, … */
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
  /** All 0 where the file system makes them as it needs them. */
  readonly inodes: Usage;
}

/** `available`: to users other than root, for whom some may be kept; so the three need not add up. */
export interface Usage {
  readonly total: bigint;
  readonly available: bigint;
  readonly used: bigint;
}

/** How much a file system can hold, used or not. */
export interface FileSystemCapacity {
  readonly sizeBytes: bigint;
  /** 0 where the file system makes them as it needs them. */
  readonly inodes: bigint;
}
