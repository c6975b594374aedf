import type { BigIntStats } from "node:fs";
import { type FileHandle, mkdir, open, rmdir, unlink } from "node:fs/promises";
import type { FileType } from "../../file-type.ts";
import type { BindBeneath } from "../../mounts-port.ts";
import { typeOf } from "../files/file-type.ts";
import { type HeldPlace, named, O_PATH, openPlace, withPlace } from "./held-place.ts";
import { MOUNT_FLAGS, type MountCalls, MS_BIND, MS_RDONLY, MS_REC, MS_REMOUNT, mountError } from "./mount-calls.ts";
import { readMountId } from "./mount-id.ts";
import { readMountTable } from "./mount-table.ts";
import { openBeneath } from "./open-beneath.ts";
import { unmountPlace } from "./unmount-tree.ts";

const DIRECTORY_MODE = 0o750;
const FILE_MODE = 0o640;
const UNMOUNT_TIMEOUT_MS = 30_000;

/** See `Mounts.bind`. */
export async function bindMount(
  calls: MountCalls,
  { source, target, readOnly }: { source: string; target: string; readOnly: boolean },
): Promise<void> {
  const from = await named({ operation: "bind", path: source }, async () => await open(source, O_PATH));
  try {
    await withPlace(target, "mount", async (place) => {
      await mountOpened(calls, { from, place, operation: `bind '${source}' at` });
      if (readOnly) await undoOnFailure(calls, place, async () => await makeReadOnly(calls, place));
    });
  } finally {
    await from.close();
  }
}

/** See `Mounts.bindBeneath`. */
export async function bindBeneath(calls: MountCalls, request: BindBeneath): Promise<{ type: FileType }> {
  const from = await openBeneath(request);
  try {
    const status = await from.stat({ bigint: true });
    await withPlace(request.target, "mount", async (place) => {
      await unmountPlace(calls, place, { timeoutMs: UNMOUNT_TIMEOUT_MS });
      await makeTarget(place, status.isDirectory());
      await mountOpened(calls, { from, place, operation: `bind '${request.path}' beneath '${request.root}' at` });
      await undoOnFailure(calls, place, async () => await refuseUnlessShown(place, status));
    });
    return { type: typeOf(status) };
  } finally {
    await from.close();
  }
}

/**
 * Mounts the source with all that is mounted below it. Both ends are open files: no name is looked up between the check
 * and the mount.
 */
async function mountOpened(
  calls: MountCalls,
  { from, place, operation }: { from: FileHandle; place: HeldPlace; operation: string },
): Promise<void> {
  const { path } = place;
  const over = await openPlace(place);
  if (over === undefined) throw mountError("ENOENT", { operation, path });
  try {
    if ((await over.stat()).isSymbolicLink()) throw mountError("ELOOP", { operation, path });
    await calls.mount({ operation, path, source: from, target: over, type: "", flags: MS_BIND | MS_REC, data: "" });
  } finally {
    await over.close();
  }
}

/**
 * A bind mount takes its flags from the mount that it shows. The remount that makes it read-only takes away the flags
 * that it does not name, so it names them all: a volume that was `nosuid` must not lose that.
 */
async function makeReadOnly(calls: MountCalls, place: HeldPlace): Promise<void> {
  const what = { operation: "make read-only", path: place.path };
  const shown = await openPlace(place);
  if (shown === undefined) throw mountError("ENOENT", what);
  try {
    const id = Number(readMountId(shown));
    const entry = (await readMountTable()).find((candidate) => candidate.id === id);
    if (entry === undefined) throw mountError("EINVAL", { ...what, why: "it is not in the mount table" });
    const kept = entry.options.reduce((flags, option) => flags | (MOUNT_FLAGS.get(option) ?? 0), 0);
    const flags = MS_REMOUNT | MS_BIND | MS_RDONLY | kept;
    await calls.mount({ ...what, source: "", target: shown, type: "", flags, data: "" });
  } finally {
    await shown.close();
  }
}

/**
 * Makes a directory or an empty file. An existing one of the other kind goes if it is empty. It never goes through a
 * link.
 */
async function makeTarget(place: HeldPlace, isDirectory: boolean): Promise<void> {
  const what = { operation: "make the mount point", path: place.path };
  const there = await openPlace(place);
  if (there !== undefined) {
    try {
      const status = await there.stat();
      if (status.isSymbolicLink()) throw mountError("ELOOP", what);
      if (status.isDirectory() === isDirectory) return;
      if (!status.isDirectory() && status.size > 0) throw mountError("EEXIST", { ...what, why: "it holds data" });
    } finally {
      await there.close();
    }
    await named(what, async () => {
      if (isDirectory) await unlink(place.through);
      else await rmdir(place.through);
    });
  }
  await named(what, async () => {
    if (isDirectory) await mkdir(place.through, DIRECTORY_MODE);
    else await (await open(place.through, "wx", FILE_MODE)).close();
  });
}

/** The last check, should ever one of those before it be wrong: the file that is seen is the file that was opened. */
async function refuseUnlessShown(place: HeldPlace, expected: BigIntStats): Promise<void> {
  const shown = await openPlace(place);
  if (shown === undefined) throw mountError("ENOENT", { operation: "bind at", path: place.path });
  try {
    const status = await shown.stat({ bigint: true });
    if (status.dev === expected.dev && status.ino === expected.ino) return;
  } finally {
    await shown.close();
  }
  throw mountError("EXDEV", { operation: "bind at", path: place.path, why: "something else is shown" });
}

async function undoOnFailure(calls: MountCalls, place: HeldPlace, step: () => Promise<void>): Promise<void> {
  try {
    await step();
  } catch (error) {
    await unmountPlace(calls, place, { timeoutMs: UNMOUNT_TIMEOUT_MS });
    throw error;
  }
}
