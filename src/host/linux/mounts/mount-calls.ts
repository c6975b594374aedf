import { getSystemErrorMap } from "node:util";
import { CodedError } from "../../../base/errors.ts";

/**
 * mount(2) and umount2(2). There are two adapters: the C library's functions, and mount(8) and umount(8) where those
 * functions cannot be called. Both reject with a CodedError that has the system's code.
 */
export interface MountCalls {
  mount(call: MountCall): Promise<void>;
  unmount(call: UnmountCall): Promise<void>;
}

export interface MountCall {
  /** The attempted operation in the message: `bind '/a' at`. */
  readonly operation: string;
  /** For messages only. */
  readonly path: string;
  /** The source: a name that only the file system understands, or an open file. */
  readonly source: string | { readonly fd: number };
  /** The place that it is mounted over: an open file, so that no name is looked up again. */
  readonly target: { readonly fd: number };
  /** The type of the file system; empty when an existing mount is bound or changed. */
  readonly type: string;
  /** `MS_…` */
  readonly flags: number;
  /** Options for the file system: `size=1024,noswap`. */
  readonly data: string;
}

/** Takes away the mount over a name in an open directory. A link in its place is not followed. */
export interface UnmountCall {
  readonly parent: { readonly fd: number };
  readonly name: string;
  /** For messages only. */
  readonly path: string;
  readonly timeoutMs: number;
  /** False for a file system of another machine, or of a process, that may never answer. */
  readonly isLocal: boolean;
}

/** The flags of `<linux/mount.h>`; they are the same on every architecture. */
export const MS_RDONLY = 0x1;
export const MS_REMOUNT = 0x20;
export const MS_BIND = 0x1000;
export const MS_REC = 0x4000;
export const MS_SLAVE = 0x80000;

/** The flags of a mount itself. A remount takes away those that it does not name again. */
export const MOUNT_FLAGS: ReadonlyMap<string, number> = new Map([
  ["ro", MS_RDONLY],
  ["nosuid", 0x2],
  ["nodev", 0x4],
  ["noexec", 0x8],
  ["nosymfollow", 0x100],
  ["noatime", 0x400],
  ["nodiratime", 0x800],
  ["relatime", 0x200000],
]);

/** `code` is the system's name of the error (`EBUSY`). `why` is a program's words; default the system's. */
export function mountError(
  code: string,
  { operation, path, why }: { operation: string; path: string; why?: string | undefined },
  cause?: unknown,
): CodedError<string> {
  const meaning = why ?? meanings().get(code);
  return new CodedError(code, `${code}: cannot ${operation} '${path}'${meaning ? `: ${meaning}` : ""}`, { cause });
}

/** Names an errno; `EIO` for an unknown number. */
export function codeOfErrno(errno: number): string {
  return getSystemErrorMap().get(-errno)?.[0] ?? "EIO";
}

let known: ReadonlyMap<string, string> | undefined;

function meanings(): ReadonlyMap<string, string> {
  known ??= new Map(getSystemErrorMap().values());
  return known;
}
