import { describe, expect, it } from "vitest";
import type { EvictionSignal } from "../../../config/eviction-thresholds.ts";
import { candidateOf, type Sort } from "./__fixtures__/candidates.ts";
import { rankPods } from "./rank-pods.ts";

const MIB = 1024 ** 2;
const ONE_DISK = { isDedicated: false, isSplit: false };
const IMAGE_DISK = { isDedicated: true, isSplit: false };
const SPLIT_DISKS = { isDedicated: true, isSplit: true };

/** The pods in the order in which they are to be evicted. The test passes them in another order. */
type Ranking = ReadonlyArray<readonly [name: string, sort: Sort]>;

const isRanked = (signal: EvictionSignal, layout: typeof ONE_DISK, ranking: Ranking) => {
  const expected = ranking.map(([name]) => name);
  const candidates = ranking.map(([name, sort]) => candidateOf(name, sort));
  for (const handedIn of [
    candidates.toReversed(),
    candidates,
    candidates.toSorted((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1)),
  ]) {
    expect(rankPods(signal, layout, handedIn).map(nameOf)).toEqual(expected);
  }
};
const nameOf = ({ pod }: ReturnType<typeof candidateOf>) => pod.metadata?.name ?? "";

describe("the order in which pods go", () => {
  it.each<[string, Ranking]>([
    [
      "for memory: over the request first, whatever their priority, then by priority, then by how much over",
      [
        ["over, low, much", { priority: 1, memory: 900 * MIB, memoryRequest: "100Mi" }],
        ["over, low, less", { priority: 1, memory: 800 * MIB, memoryRequest: "100Mi" }],
        ["over, high", { priority: 10, memory: 300 * MIB, memoryRequest: "100Mi" }],
        ["within, low", { priority: 1, memory: 90 * MIB, memoryRequest: "100Mi" }],
        ["within, high", { priority: 10, memory: 900 * MIB, memoryRequest: "1Gi" }],
      ],
    ],
    [
      "for memory: without a request everything is over it",
      [
        ["best effort, much", { memory: 500 * MIB }],
        ["best effort, little", { memory: MIB }],
        ["large within", { memory: 4_000 * MIB, memoryRequest: "8Gi" }],
      ],
    ],
    [
      "what nobody could measure goes before all others",
      [
        ["unmeasured, low", { isUnmeasured: true, priority: -1 }],
        ["unmeasured, high", { isUnmeasured: true, priority: 5 }],
        ["measured", { memory: 900 * MIB }],
      ],
    ],
    [
      "of equals the youngest",
      [
        ["young", { memory: MIB, createdAt: "2026-01-01T00:00:02Z" }],
        ["old", { memory: MIB, createdAt: "2026-01-01T00:00:01Z" }],
      ],
    ],
  ])("%s", (_what, ranking) => {
    isRanked("memory.available", ONE_DISK, ranking);
    isRanked("allocatableMemory.available", ONE_DISK, ranking);
  });

  it("for processes: by priority, then by their number; nobody asked for any", () => {
    isRanked("pid.available", ONE_DISK, [
      ["low, many", { priority: 0, processes: 90 }],
      ["low, few", { priority: 0, processes: 2 }],
      ["high", { priority: 1, processes: 900 }],
    ]);
  });

  it("for inodes: all that use some, by their number, and bytes that were asked for count for nothing", () => {
    isRanked("nodefs.inodesFree", ONE_DISK, [
      ["many", { inodes: 300, volume: 0, storageRequest: "1Gi" }],
      ["few", { inodes: 2, volume: 1 }],
      ["none", { inodes: 0, volume: 900 * MIB }],
    ]);
  });

  const writers: ReadonlyArray<readonly [string, Sort]> = [
    ["layer", { layer: 10 * MIB, logs: 0, volume: 0 }],
    ["logs", { layer: 0, logs: 7 * MIB, volume: 0 }],
    ["volume", { layer: 0, logs: 0, volume: 5 * MIB }],
  ];
  it.each<[EvictionSignal, typeof ONE_DISK, readonly string[]]>([
    ["nodefs.available", ONE_DISK, ["layer", "logs", "volume"]],
    ["imagefs.available", ONE_DISK, ["layer", "logs", "volume"]],
    ["containerfs.available", ONE_DISK, ["layer", "logs", "volume"]],
    ["nodefs.available", IMAGE_DISK, ["logs", "volume"]],
    ["imagefs.available", IMAGE_DISK, ["layer"]],
    ["containerfs.available", IMAGE_DISK, ["layer"]],
    ["nodefs.available", SPLIT_DISKS, ["layer", "logs", "volume"]],
    ["containerfs.available", SPLIT_DISKS, ["layer", "logs", "volume"]],
    ["imagefs.available", SPLIT_DISKS, []],
  ])("for %s, what is on that disk counts (%j)", (signal, layout, counted) => {
    const ranked = rankPods(
      signal,
      layout,
      writers.map(([name, sort]) => candidateOf(name, sort)),
    );
    expect(ranked.filter(({ used = 0 }) => used > 0).map(nameOf)).toEqual(counted);
  });

  it("for a disk: more than was asked for first", () => {
    isRanked("nodefs.available", ONE_DISK, [
      ["over", { priority: 9, volume: 3 * MIB, storageRequest: "2Mi" }],
      ["within", { priority: 0, volume: 900 * MIB, storageRequest: "1Gi" }],
    ]);
  });
});
