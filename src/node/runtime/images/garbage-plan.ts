/** An image as the runtime lists it. */
export interface ListedImage {
  readonly id: string;
  /** Tags and digests. */
  readonly names: readonly string[];
  readonly sizeBytes: bigint;
  /** The runtime, or who set up the node, wants to keep it. */
  readonly isPinned: boolean;
  readonly runtimeHandler: string;
}

/** When an image was seen, by `Clock.monotonic`. A restart forgets it, so that times without an agent do not count. */
export interface ImageRecord {
  readonly firstDetectedAt: number;
  /** Undefined: never, as far as we know. */
  readonly lastUsedAt: number | undefined;
}

/** When images are removed. */
export interface ImageGarbagePolicy {
  /** The disk's usage, by anything, from which on images are removed; 100 for never. */
  readonly highThresholdPercent: number;
  /** The disk's usage down to which images are removed. */
  readonly lowThresholdPercent: number;
  /** An image that is known for less than this is not removed for space, whatever the disk's usage. */
  readonly minAgeMs: number;
  /** An image that is unused for longer than this is removed, whatever the disk's usage; 0: never. */
  readonly maxAgeMs: number;
}

/** Bytes of a disk. `available`: to users other than root. */
export interface ImageDiskUsage {
  readonly capacity: bigint;
  readonly available: bigint;
}

/** The disk is fuller than it may be. */
interface DiskExcess {
  readonly usedPercent: number;
  readonly bytesToFree: bigint;
}

/** Updates the records after a look at the images; images that are gone are forgotten. */
export function updateRecords(
  records: ReadonlyMap<string, ImageRecord>,
  images: readonly ListedImage[],
  { now, usedAt }: { readonly now: number; usedAt(image: ListedImage): number | undefined },
): Map<string, ImageRecord> {
  return new Map(
    images.map((image) => {
      const before = records.get(image.id);
      const lastUsedAt = usedAt(image) ?? before?.lastUsedAt;
      return [image.id, { firstDetectedAt: before?.firstDetectedAt ?? now, lastUsedAt }];
    }),
  );
}

/** Orders images for removal: never used ones first, then those unused for longest; among equals, the oldest first. */
export function rankImages(images: readonly ListedImage[], records: ReadonlyMap<string, ImageRecord>): ListedImage[] {
  const keyOf = ({ id }: ListedImage) => {
    const { firstDetectedAt = 0, lastUsedAt = Number.NEGATIVE_INFINITY } = records.get(id) ?? {};
    return { firstDetectedAt, lastUsedAt };
  };
  return images
    .filter(({ isPinned }) => !isPinned)
    .toSorted((a, b) => {
      const [left, right] = [keyOf(a), keyOf(b)];
      if (left.lastUsedAt !== right.lastUsedAt) return left.lastUsedAt < right.lastUsedAt ? -1 : 1;
      return left.firstDetectedAt - right.firstDetectedAt;
    });
}

/** Since when nobody has used it, as far as we know. */
export function unusedSince({ firstDetectedAt, lastUsedAt }: ImageRecord): number {
  return Math.max(firstDetectedAt, lastUsedAt ?? firstDetectedAt);
}

/** How much the disk is too full; undefined where it is not. The caller has refused a capacity of 0. */
export function computeExcess(
  { capacity, available }: ImageDiskUsage,
  { highThresholdPercent, lowThresholdPercent }: ImageGarbagePolicy,
): DiskExcess | undefined {
  const free = available > capacity ? capacity : available;
  const usedPercent = 100 - Number((free * 100n) / capacity);
  if (usedPercent < highThresholdPercent) return undefined;
  return { usedPercent, bytesToFree: (capacity * BigInt(100 - lowThresholdPercent)) / 100n - free };
}

const UNITS = ["KiB", "MiB", "GiB", "TiB"] as const;

/** Formats a size as upstream's messages do: `12.5 GiB`. */
export function formatSize(bytes: bigint): string {
  let size = Number(bytes);
  if (size < 1024) return `${bytes} B`;
  for (const unit of UNITS) {
    size /= 1024;
    if (size < 1024 || unit === "TiB") return `${size.toFixed(1)} ${unit}`;
  }
  return `${bytes} B`;
}
