import { constants } from "node:fs";
import { release } from "node:os";
import { canForbidSwap } from "../../forbids-swap.ts";
import { type HeldPlace, named, openPlace, withPlace } from "./held-place.ts";
import { type MountCalls, mountError } from "./mount-calls.ts";
import { readMountId } from "./mount-id.ts";
import { readMountTable } from "./mount-table.ts";

const { O_DIRECTORY } = constants;

/** A file system without a device. It is mounted over a directory unless one of its type is there already. */
interface EmptyFileSystem {
  readonly type: "tmpfs" | "hugetlbfs";
  readonly options: readonly string[];
}

/**
 * See `Mounts.mountMemory`; kubelet also makes it readable for all. `sizeBytes` undefined means half of the memory. Where the kernel can, it
 * keeps secrets of a pod from ever reaching a disk.
 */
export function memoryFileSystem(sizeBytes: bigint | undefined): EmptyFileSystem {
  const size = sizeBytes === undefined ? [] : [`size=${sizeBytes}`];
  return { type: "tmpfs", options: [...size, ...(canForbidSwap(release()) ? ["noswap"] : []), "mode=1777"] };
}

/** See `Mounts.mountHugepages`. */
export function hugepagesFileSystem(size: { pageSizeBytes: bigint; sizeBytes: bigint | undefined }): EmptyFileSystem {
  const limit = size.sizeBytes === undefined ? [] : [`size=${size.sizeBytes}`];
  return { type: "hugetlbfs", options: [`pagesize=${size.pageSizeBytes}`, ...limit, "mode=1777"] };
}

/** Mounts it over an existing directory, which is no link. The mount's source is its own type, as kubelet names it. */
export async function mountEmpty(calls: MountCalls, path: string, { type, options }: EmptyFileSystem): Promise<void> {
  const operation = `mount a ${type} at`;
  await withPlace(path, operation, async (place) => {
    const target = await openDirectory(place, operation);
    try {
      const [own, above] = [readMountId(target), readMountId(place.parent)];
      if (own !== above && (await readTypeOf(own)) === type) return;
      const source = type === "tmpfs" ? "tmpfs" : "nodev";
      await calls.mount({ operation, path, source, target, type, flags: 0, data: options.join(",") });
    } finally {
      await target.close();
    }
  });
}

async function openDirectory(place: HeldPlace, operation: string) {
  const { path } = place;
  return await named({ operation, path }, async () => {
    const directory = await openPlace(place, O_DIRECTORY);
    if (directory) return directory;
    const other = await openPlace(place);
    const isLink = await other?.stat().then((status) => status.isSymbolicLink());
    await other?.close();
    throw mountError(other === undefined ? "ENOENT" : isLink ? "ELOOP" : "ENOTDIR", { operation, path });
  });
}

/** The type is read from the table, because the file system itself could take forever to answer. */
async function readTypeOf(mountId: string): Promise<string | undefined> {
  return (await readMountTable()).find(({ id }) => id === Number(mountId))?.type;
}
