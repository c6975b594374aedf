import { closeSync, readSync } from "node:fs";
import { endianness } from "node:os";
import { codeOf } from "../../../base/errors.ts";
import type { Removals } from "../../port.ts";
import { loadInotify } from "../system/inotify.ts";

const IN_MOVED_FROM = 0x40;
const IN_DELETE = 0x200;
const IN_ONLYDIR = 0x01000000;
/** `struct inotify_event`: watch, mask, cookie and the length of the name that follows. */
const HEAD_BYTES = 16;
const LENGTH_OFFSET = 12;
const BUFFER_BYTES = 64 * 1024;
/** More than the kernel's queue holds, which is 16,384 events unless somebody raised it. */
const MAX_READS = 100;

/**
 * An inotify queue of its own that is read when it is asked for, because Node.js tells no removal from a creation. See
 * `Files.noteRemovals`. Rejects where the native part of koffi cannot be loaded.
 */
export async function noteRemovals(directory: string): Promise<Removals> {
  const inotify = loadInotify();
  const queue = inotify.init();
  let isOpen = true;
  const close = () => {
    if (isOpen) closeSync(queue);
    isOpen = false;
  };
  try {
    await inotify.add(queue, directory, IN_DELETE | IN_MOVED_FROM | IN_ONLYDIR);
  } catch (error) {
    close();
    throw error;
  }
  return { take: () => (isOpen ? readNames(queue) : new Set()), close };
}

function readNames(queue: number): ReadonlySet<string> {
  const names = new Set<string>();
  const buffer = Buffer.alloc(BUFFER_BYTES);
  try {
    for (let reads = 0; reads < MAX_READS; reads++) {
      const length = readSync(queue, buffer, 0, buffer.length, null);
      for (const name of parseNames(buffer.subarray(0, length))) names.add(name);
    }
  } catch (error) {
    if (codeOf(error) !== "EAGAIN") throw error;
  }
  return names;
}

function* parseNames(events: Buffer): Generator<string> {
  for (let at = 0; at + HEAD_BYTES <= events.length; ) {
    const [mask, length] = [4, LENGTH_OFFSET].map((offset) => readUint32(events, at + offset));
    const name = events.subarray(at + HEAD_BYTES, at + HEAD_BYTES + (length ?? 0));
    // The kernel fills the name up with zeros.
    const end = name.indexOf(0);
    if (((mask ?? 0) & (IN_DELETE | IN_MOVED_FROM)) !== 0) yield name.toString("utf8", 0, end < 0 ? undefined : end);
    at += HEAD_BYTES + (length ?? 0);
  }
}

/** The kernel writes numbers in the machine's own order. */
function readUint32(events: Buffer, offset: number): number {
  return endianness() === "LE" ? events.readUInt32LE(offset) : events.readUInt32BE(offset);
}
