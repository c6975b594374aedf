import { closeSync, openSync, readdirSync, readlinkSync, readSync } from "node:fs";
import { codeOf } from "../../../base/errors.ts";

/** The bound is longer than any file that is read here, such as `cgroup.procs` with tens of thousands of processes. */
const MAX_BYTES = 1024 * 1024;
const buffer = Buffer.allocUnsafe(64 * 1024);

/**
 * The file or its subject is absent, has just gone, is switched off in this kernel, or may not be read by this process.
 */
const NOTHING = new Set(["ENOENT", "ENOTDIR", "ENODEV", "ESRCH", "EOPNOTSUPP", "ENOTSUP", "EINVAL", "EACCES", "EPERM"]);

/**
 * Reads a file of procfs or of cgroups, which the kernel makes in memory while it is read. It is read synchronously and
 * not by the threads of the file system: that takes a tenth of the time, and no disk can hang. Undefined where there is
 * nothing to read.
 */
export function readKernelFile(path: string): string | undefined {
  return orNothing(() => {
    const descriptor = openSync(path, "r");
    try {
      const first = readSync(descriptor, buffer, 0, buffer.length, null);
      let text = buffer.toString("latin1", 0, first);
      for (let length = first; length > 0 && text.length < MAX_BYTES; text += buffer.toString("latin1", 0, length)) {
        length = readSync(descriptor, buffer, 0, buffer.length, null);
      }
      return text;
    } finally {
      closeSync(descriptor);
    }
  });
}

/** The directories in a directory of one of those file systems; empty where there is none. */
export function listKernelDirectories(path: string): string[] {
  const entries = orNothing(() => readdirSync(path, { withFileTypes: true })) ?? [];
  return entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
}

/** The names in such a directory; undefined where there is none. */
export function listKernelNames(path: string): string[] | undefined {
  return orNothing(() => readdirSync(path));
}

/** What a link of one of those file systems shows; undefined where it has gone. */
export function readKernelLink(path: string): string | undefined {
  return orNothing(() => readlinkSync(path));
}

function orNothing<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (NOTHING.has(codeOf(error) ?? "")) return undefined;
    throw error;
  }
}

/** Reads lines of a name and a number. */
export function parseFlatKeyed(text: string | undefined): ReadonlyMap<string, number> {
  const values = new Map<string, number>();
  for (const line of text?.split("\n") ?? []) {
    const space = line.indexOf(" ");
    if (space > 0) values.set(line.slice(0, space), Number(line.slice(space + 1)));
  }
  return values;
}

/** Undefined where there is no number: no file, or `max`. */
export function parseNumber(text: string | undefined): number | undefined {
  const digits = text?.trim();
  return digits !== undefined && /^-?\d+$/.test(digits) ? Number(digits) : undefined;
}
