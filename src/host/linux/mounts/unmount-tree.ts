import { constants } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { basename, posix } from "node:path";
import type { Timer } from "../../../base/clock.ts";
import { CodedError, codeOf } from "../../../base/errors.ts";
import type { MountEntry } from "../../mounts-port.ts";
import { systemClock } from "../system/system-clock.ts";
import { descriptorPath, type HeldPlace, O_PATH, openPlace, readMountIdAt, withPlace } from "./held-place.ts";
import { type MountCalls, MS_REC, MS_SLAVE, mountError } from "./mount-calls.ts";
import { readMountId } from "./mount-id.ts";
import { readMountTable } from "./mount-table.ts";
import { planUnmount, type UnmountPlan } from "./plan-unmount.ts";

const { O_DIRECTORY, O_NOFOLLOW } = constants;
/** File systems of this machine alone: no other machine or process has to answer when one is unmounted. */
const LOCAL_TYPES: ReadonlySet<string> = new Set(
  (
    "bpf btrfs cgroup cgroup2 configfs debugfs devpts devtmpfs erofs exfat ext2 ext3 ext4 f2fs hugetlbfs iso9660 mqueue " +
    "overlay proc pstore ramfs rootfs securityfs squashfs sysfs tmpfs tracefs vfat xfs zfs"
  ).split(" "),
);
/** The bound for mounts over one path. No sensible stack has more. */
const MAX_ROUNDS = 1_000;

interface UnmountOptions {
  readonly timeoutMs: number;
  /** See `Mounts.unmount`. Default false. */
  readonly isLocal?: boolean;
}

/** See `Mounts.unmount`. */
export async function unmountTree(calls: MountCalls, path: string, options: UnmountOptions): Promise<void> {
  try {
    await withPlace(path, "unmount", async (place) => await unmountPlace(calls, place, options));
  } catch (error) {
    // Nothing is mounted below a directory that is not there.
    if (codeOf(error) !== "ENOENT" && codeOf(error) !== "ENOTDIR") throw error;
  }
}

/** Unmounts all that is mounted over the place, and below it. */
export async function unmountPlace(
  calls: MountCalls,
  place: HeldPlace,
  { timeoutMs, isLocal = false }: UnmountOptions,
): Promise<void> {
  const first = await readMountIdAt(place);
  if (first === undefined) return;
  let isOver = false;
  let timer: Timer | undefined;
  const tooLate = new Promise<never>((_resolve, reject) => {
    timer = systemClock.setTimer(timeoutMs, () => {
      isOver = true;
      const why = `it did not end within ${timeoutMs} ms`;
      reject(mountError("ETIMEDOUT", { operation: "unmount", path: place.path, why }));
    });
  });
  try {
    await Promise.race([unmountRounds({ calls, place, timeoutMs, isLocal, isOver: () => isOver }, first), tooLate]);
  } finally {
    timer?.cancel();
  }
}

interface Unmount {
  calls: MountCalls;
  place: HeldPlace;
  timeoutMs: number;
  isLocal: boolean;
  isOver: () => boolean;
}

/** Each round takes away the top of the stack, with the mounts below it; `first` is the mount that it is at the beginning. */
async function unmountRounds(unmount: Unmount, first: string): Promise<void> {
  const { place, isOver } = unmount;
  let id: string | undefined = first;
  for (let round = 0; round < MAX_ROUNDS; round++) {
    if (id === undefined || isOver()) return;
    if (!unmount.isLocal || !(await goesAtOnce(unmount))) {
      await unmountTop(unmount, planUnmount(await readMountTable(), Number(id)));
    }
    id = await readMountIdAt(place);
  }
  throw mountError("EBUSY", { operation: "unmount", path: place.path, why: "something is mounted again and again" });
}

/** Returns false where the mount is in use, or holds other mounts. */
async function goesAtOnce({ calls, place, timeoutMs }: Unmount): Promise<boolean> {
  const { parent, name, path } = place;
  try {
    await calls.unmount({ parent, name, path, timeoutMs, isLocal: true });
    return true;
  } catch (error) {
    if (codeOf(error) === "EBUSY") return false;
    throw error;
  }
}

async function unmountTop({ calls, place, timeoutMs, isOver }: Unmount, plan: UnmountPlan): Promise<void> {
  const { path } = place;
  if (plan.below.length > 0) {
    const top = await openPlace(place, O_DIRECTORY);
    if (top === undefined) return;
    try {
      if (plan.isShownElsewhere) {
        const what = { operation: "detach from its peers", path };
        await calls.mount({ ...what, source: "", target: top, type: "", flags: MS_SLAVE | MS_REC, data: "" });
      }
      for (const entry of plan.below) {
        if (isOver()) return;
        await unmountBelow({ calls, top, timeoutMs }, entry, posix.relative(plan.path, entry.path));
      }
    } finally {
      await top.close();
    }
  }
  if (isOver()) return;
  const { parent, name } = place;
  await calls.unmount({ parent, name, path, timeoutMs, isLocal: LOCAL_TYPES.has(plan.type) });
}

/**
 * A container may exchange directories for links there. So each name is opened in the directory before it without
 * following a link, and it is unmounted only if it is still the mount that the table named. Otherwise the next round
 * looks again.
 */
async function unmountBelow(
  { calls, top, timeoutMs }: { calls: MountCalls; top: FileHandle; timeoutMs: number },
  entry: MountEntry,
  relative: string,
): Promise<void> {
  const parent = await openStrictly(top, posix.dirname(relative), entry.path);
  try {
    const name = basename(relative);
    const shown = await openPlace({ through: `${descriptorPath(parent)}/${name}` });
    if (shown === undefined) return;
    try {
      if (Number(readMountId(shown)) !== entry.id) return;
    } finally {
      await shown.close();
    }
    await calls.unmount({ parent, name, path: entry.path, timeoutMs, isLocal: LOCAL_TYPES.has(entry.type) });
  } finally {
    await parent.close();
  }
}

async function openStrictly(top: FileHandle, relative: string, path: string): Promise<FileHandle> {
  let at = await open(`${descriptorPath(top)}/.`, O_PATH | O_DIRECTORY);
  for (const name of relative.split("/").filter((part) => part !== "" && part !== ".")) {
    const above = at;
    try {
      at = await open(`${descriptorPath(above)}/${name}`, O_PATH | O_DIRECTORY | O_NOFOLLOW);
    } catch (error) {
      const code = codeOf(error) ?? "EIO";
      throw new CodedError(code, `${code}: cannot unmount '${path}': cannot open '${name}'`, { cause: error });
    } finally {
      await above.close();
    }
  }
  return at;
}
