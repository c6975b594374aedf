import { describe, expect, it } from "vitest";
import { type EvictionSettings, parseEvictionThresholds } from "./eviction-thresholds.ts";

const NONE: EvictionSettings = {
  evictionHard: {},
  evictionSoft: undefined,
  evictionSoftGracePeriod: undefined,
  evictionMinimumReclaim: undefined,
  enforceNodeAllocatable: undefined,
};
const parse = (settings: Partial<EvictionSettings>) => parseEvictionThresholds({ ...NONE, ...settings });
const quantity = (text: string) => ({ kind: "quantity", quantity: text });
const share = (part: number) => ({ kind: "share", share: Math.fround(part) });

describe("thresholds of eviction", () => {
  it("are amounts or shares, hard ones without and soft ones with a grace period, each with what it wants back", () => {
    const { thresholds, problems } = parse({
      evictionHard: { "memory.available": "0.5Gi", "nodefs.inodesFree": "5%" },
      evictionSoft: { "memory.available": "1Gi" },
      evictionSoftGracePeriod: { "memory.available": "1m30s" },
      evictionMinimumReclaim: { "memory.available": "64Mi", "nodefs.inodesFree": "1%" },
    });
    expect(problems).toEqual([]);
    const minReclaim = quantity("64Mi");
    expect(thresholds).toEqual([
      { signal: "memory.available", value: quantity("512Mi"), gracePeriodMs: 0, minReclaim },
      { signal: "nodefs.inodesFree", value: share(0.05), gracePeriodMs: 0, minReclaim: share(0.01) },
      { signal: "memory.available", value: quantity("1Gi"), gracePeriodMs: 90_000, minReclaim },
    ]);
  });

  it.each(["0%", "100%"])("are off at %s", (off) => {
    expect(parse({ evictionHard: { "nodefs.available": off } }).thresholds).toEqual([]);
  });

  it("hold for what pods may use together, too, where that is enforced: the hard one of memory", () => {
    const settings = {
      evictionHard: { "memory.available": "100Mi", "pid.available": "10%" },
      evictionSoft: { "memory.available": "1Gi" },
      evictionSoftGracePeriod: { "memory.available": "1m" },
    };
    const { thresholds } = parse({ ...settings, enforceNodeAllocatable: ["pods"] });
    const allocatable = thresholds.filter(({ signal }) => signal === "allocatableMemory.available");
    expect(allocatable).toEqual([{ ...thresholds[0], signal: "allocatableMemory.available" }]);
    expect(parse({ ...settings, enforceNodeAllocatable: ["none"] }).thresholds).toHaveLength(3);
  });

  it.each<[Partial<EvictionSettings>, string, string]>([
    [
      { evictionHard: { "mem.available": "1Gi" } },
      "evictionHard[mem.available]",
      "unsupported eviction signal mem.available",
    ],
    [
      { evictionHard: { "memory.available": "101%" } },
      "evictionHard[memory.available]",
      "eviction percentage threshold memory.available must be <= 100%: 101%",
    ],
    [
      { evictionHard: { "memory.available": "-5%" } },
      "evictionHard[memory.available]",
      "eviction percentage threshold memory.available must be >= 0%: -5%",
    ],
    [
      { evictionHard: { "memory.available": "0" } },
      "evictionHard[memory.available]",
      "eviction threshold memory.available must be positive: 0",
    ],
    [
      { evictionHard: { "memory.available": "-1Mi" } },
      "evictionHard[memory.available]",
      "eviction threshold memory.available must be positive: -1Mi",
    ],
    [
      { evictionHard: { "nodefs.available": "much" } },
      "evictionHard[nodefs.available]",
      'evictionHard[nodefs.available] "much" must be a quantity like 100Mi or a percentage like 10%',
    ],
    [
      { evictionSoft: { "imagefs.available": "1Gi" } },
      "evictionSoft[imagefs.available]",
      "grace period must be specified for the soft eviction threshold imagefs.available (evictionSoftGracePeriod)",
    ],
    [
      { evictionSoftGracePeriod: { "memory.available": "-1s" } },
      "evictionSoftGracePeriod[memory.available]",
      "invalid eviction grace period specified: -1s, must be a positive value",
    ],
    [
      { evictionSoftGracePeriod: { memory: "1s" } },
      "evictionSoftGracePeriod[memory]",
      "unsupported eviction signal memory",
    ],
    [
      { evictionMinimumReclaim: { "memory.available": "0%" } },
      "evictionMinimumReclaim[memory.available]",
      "eviction percentage minimum reclaim memory.available must be positive: 0%",
    ],
    [
      { evictionMinimumReclaim: { "memory.available": "-1" } },
      "evictionMinimumReclaim[memory.available]",
      "negative eviction minimum reclaim specified for memory.available",
    ],
  ])("are refused: %j", (settings, path, message) => {
    expect(parse(settings).problems).toEqual([{ path, message }]);
  });
});
