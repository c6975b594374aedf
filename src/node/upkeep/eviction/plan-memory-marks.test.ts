import { expect, it } from "vitest";
import type { EvictionThreshold } from "../../../config/eviction-thresholds.ts";
import { planMemoryMarks } from "./plan-memory-marks.ts";
import type { SignalObservation, SignalObservations } from "./signals.ts";

const quantity = (signal: EvictionThreshold["signal"], text: string): EvictionThreshold => {
  return { signal, value: { kind: "quantity", quantity: text }, gracePeriodMs: 0, minReclaim: undefined };
};
const share: EvictionThreshold = {
  ...quantity("memory.available", ""),
  value: { kind: "share", share: 0.1 },
  gracePeriodMs: 1,
};
const seen = (signal: EvictionThreshold["signal"], amounts: Partial<SignalObservation>): SignalObservations =>
  new Map([[signal, { available: 0, capacity: 1_000, at: 0, ...amounts }]]);
const HARD = quantity("memory.available", "100");
const OF_PODS = quantity("allocatableMemory.available", "300");
const POD_MEMORY = seen("allocatableMemory.available", { reclaimable: 50 });

it.each<
  [string, EvictionThreshold[], SignalObservations, string | undefined, ReadonlyArray<readonly [string, bigint]>]
>([
  [
    "of the node, with what the kernel would give back",
    [HARD],
    seen("memory.available", { reclaimable: 7 }),
    "/k",
    [["/", 907n]],
  ],
  [
    "soft and hard",
    [HARD, share],
    seen("memory.available", {}),
    "/k",
    [
      ["/", 900n],
      ["/", 900n],
    ],
  ],
  ["of all pods", [OF_PODS], POD_MEMORY, "/k", [["/k", 750n]]],
  ["of all pods, which have no cgroup", [OF_PODS], POD_MEMORY, undefined, []],
  ["of what could not be read", [HARD, OF_PODS], new Map(), "/k", []],
  ["of more than there is", [quantity("memory.available", "1000")], seen("memory.available", {}), "/k", []],
  ["of a disk", [quantity("nodefs.available", "1")], seen("nodefs.available", {}), "/k", []],
])("thresholds %s", (_, thresholds, observations, path, expected) => {
  const marks = planMemoryMarks(thresholds, observations, path);
  expect(marks.map((mark) => [mark.path, mark.bytes])).toEqual(expected);
});
