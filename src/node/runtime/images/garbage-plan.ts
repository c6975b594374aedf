/** An image as the runtime lists it. */
export interface ListedImage {
  readonly id: string;
  /** Tags and digests. */
  readonly names: readonly string[];
  readonly sizeBytes: bigint;
  /** The runtime wants to keep it. */
  readonly isPinned: boolean;
  readonly runtimeHandler: string;
}

/** Times of `Clock.monotonic`. Both begin anew with the process: nothing is removed because of what nobody saw. */
export interface ImageRecord {
  readonly firstDetectedAt: number;
  /** Undefined: never, as far as we know. */
  readonly lastUsedAt: number | undefined;
}

/** When images are removed. */
export interface ImageGarbagePolicy {
  /** Of the disk, used by whatever: from here on images are removed; 100 for never. */
  readonly highThresholdPercent: number;
  /** Down to which they are. */
  readonly lowThresholdPercent: number;
  /** An image that is known for less is left alone, whatever the disk. */
  readonly minAgeMs: number;
  /** An image that is unused for more goes, whatever the disk; 0: never. */
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

/** What is known after another look; what is gone is forgotten. */
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

/** Which to remove first: what was not used for longest, what was never used before all; then what came first. */
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

/** Undefined while the disk has room enough. A capacity of 0 is for the caller to refuse. */
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

/** `12.5 GiB`, as upstream's messages have it. */
export function formatSize(bytes: bigint): string {
  let size = Number(bytes);
  if (size < 1024) return `${bytes} B`;
  for (const unit of UNITS) {
    size /= 1024;
    if (size < 1024 || unit === "TiB") return `${size.toFixed(1)} ${unit}`;
  }
  return `${bytes} B`;
}
