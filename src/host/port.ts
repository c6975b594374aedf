import type { Clock } from "../base/clock.ts";
import type { Random } from "../base/random.ts";

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
   * Mounts an empty file system in memory over an existing directory, at most `sizeBytes` large (undefined: the kernel's
   * default, half of the memory). Nothing happens where one is mounted already.
   */
  mountMemory(path: string, sizeBytes: bigint | undefined): Promise<void>;
  /** Unmounts what is mounted at the path, with its content; nothing happens where nothing is. */
  unmount(path: string): Promise<void>;
  /** Entries by name, sorted by code unit. Rejects with `EOVERFLOW` past 100,000 of them. */
  list(path: string): Promise<DirectoryEntry[]>;
  /** Follows links; undefined when there is nothing. */
  stat(path: string): Promise<FileStatus | undefined>;
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
   * Calls `onChange` once when the watch is in force, and again after something in the directory changed (several
   * changes may give one call). Resolves when the signal fires, and when the directory itself was removed or moved: then
   * after a last call. Rejects if it cannot watch.
   */
  watch(directory: string, onChange: () => void, signal: AbortSignal): Promise<void>;
}

/** The type is that of the entry itself: a link is a link. */
export interface DirectoryEntry {
  name: string;
  type: FileType;
}

export type FileType = "file" | "directory" | "link" | "socket" | "character-device" | "block-device" | "other";

export interface FileStatus {
  type: FileType;
  sizeBytes: number;
  /** Milliseconds since the epoch, with a fraction where the file system has one. */
  modifiedAt: number;
  /** Permission bits. */
  mode: number;
  /** Differs from an earlier one wherever the content may: made of device, inode, size and the times of change. */
  version: string;
}

export interface HttpClient {
  /**
   * One request: no proxy, no keep-alive. Up to ten redirects are followed for GET and HEAD where they stay on the same
   * host name; any other redirect is the answer. Rejects with `ETIMEDOUT`, `EFBIG`, the system's code (`ECONNREFUSED`,
   * …), `EINVAL` for a URL that is not http or https, or with AbortedError.
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
  /** Bytes. */
  memoryCapacityBytes(): Promise<bigint>;
  cpuCount(): number;
}
