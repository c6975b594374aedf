import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  computeExcess,
  formatSize,
  type ImageGarbagePolicy,
  type ListedImage,
  rankImages,
  updateRecords,
} from "./garbage-plan.ts";

const POLICY: ImageGarbagePolicy = { highThresholdPercent: 85, lowThresholdPercent: 80, minAgeMs: 0, maxAgeMs: 0 };
const image = (id: string, isPinned = false): ListedImage => ({
  id,
  names: [],
  sizeBytes: 1n,
  isPinned,
  runtimeHandler: "",
});

describe("the disk of images", () => {
  it.each<[string, bigint, bigint, ReturnType<typeof computeExcess>]>([
    ["is empty", 1000n, 1000n, undefined],
    ["is just below the threshold", 1000n, 160n, undefined],
    ["is at the threshold, in whole percents", 1000n, 159n, { usedPercent: 85, bytesToFree: 41n }],
    ["is full", 1000n, 0n, { usedPercent: 100, bytesToFree: 200n }],
    ["has more free than there is", 1000n, 2000n, undefined],
  ])("%s", (_what, capacity, available, expected) => {
    expect(computeExcess({ capacity, available }, POLICY)).toEqual(expected);
  });

  it("is at the lower threshold once what is to be freed is free", () => {
    const percents = fc.tuple(fc.integer({ min: 0, max: 100 }), fc.integer({ min: 0, max: 100 }));
    const disks = fc.tuple(fc.bigInt({ min: 1n, max: 1n << 50n }), fc.integer({ min: 0, max: 1000 }));
    fc.assert(
      fc.property(percents, disks, ([a, b], [capacity, permille]) => {
        const policy = { ...POLICY, lowThresholdPercent: Math.min(a, b), highThresholdPercent: Math.max(a, b) };
        const available = (capacity * BigInt(permille)) / 1000n;
        const excess = computeExcess({ capacity, available }, policy);
        if (excess === undefined) return;
        const freeAfter = available + excess.bytesToFree;
        expect((freeAfter * 100n) / capacity).toBeLessThanOrEqual(BigInt(100 - policy.lowThresholdPercent));
        expect(((freeAfter + 1n) * 100n) / capacity).toBeGreaterThanOrEqual(
          BigInt(100 - policy.lowThresholdPercent) - 1n,
        );
      }),
    );
  });

  it.each([
    [0n, "0 B"],
    [1023n, "1023 B"],
    [1024n, "1.0 KiB"],
    [1_600_000n, "1.5 MiB"],
    [53_687_091_200n, "50.0 GiB"],
    [5_497_558_138_880n, "5.0 TiB"],
    [1n << 60n, "1048576.0 TiB"],
  ])("of %s bytes is told as %s", (bytes, expected) => expect(formatSize(bytes)).toBe(expected));
});

describe("images go", () => {
  it("in the order of their last use, what was never used first, and among those what came first", () => {
    const images = ["new", "used lately", "old", "used once", "older", "pinned"].map((id) =>
      image(id, id === "pinned"),
    );
    const at: Record<string, [number, number | undefined]> = {
      new: [50, undefined],
      old: [20, undefined],
      older: [10, undefined],
      "used lately": [1, 40],
      "used once": [2, 30],
    };
    const records = new Map(
      Object.entries(at).map(([id, [firstDetectedAt, lastUsedAt]]) => [id, { firstDetectedAt, lastUsedAt }]),
    );
    expect(rankImages(images, records).map(({ id }) => id)).toEqual([
      "older",
      "old",
      "new",
      "used once",
      "used lately",
    ]);
  });

  it("and are forgotten then; what stays keeps its times", () => {
    const before = new Map([
      ["gone", { firstDetectedAt: 1, lastUsedAt: 2 }],
      ["idle", { firstDetectedAt: 1, lastUsedAt: 2 }],
      ["used", { firstDetectedAt: 1, lastUsedAt: undefined }],
    ]);
    const usedAt = ({ id }: ListedImage) => (id === "used" ? 9 : undefined);
    expect([...updateRecords(before, [image("idle"), image("used"), image("new")], { now: 9, usedAt })]).toEqual([
      ["idle", { firstDetectedAt: 1, lastUsedAt: 2 }],
      ["used", { firstDetectedAt: 1, lastUsedAt: 9 }],
      ["new", { firstDetectedAt: 9, lastUsedAt: undefined }],
    ]);
  });
});
