import { describe, expect, it } from "vitest";
import type { PriorityLevel } from "./flow-objects.ts";
import { computeSeatLimits, createSeats } from "./seats.ts";

function levelOf(name: string, fields: Partial<PriorityLevel>): PriorityLevel {
  const rest = { uid: name, isExempt: false, lendablePercent: 0, borrowingLimitPercent: undefined, queuing: undefined };
  return { name, shares: 30, ...rest, ...fields };
}

/** The shares and the lendable parts of the levels that a cluster begins with. */
const DEFAULTS: ReadonlyArray<readonly [name: string, shares: number, lendablePercent: number]> = [
  ["catch-all", 5, 0],
  ["exempt", 0, 0],
  ["global-default", 20, 50],
  ["leader-election", 10, 0],
  ["node-high", 40, 25],
  ["system", 30, 33],
  ["workload-high", 40, 50],
  ["workload-low", 100, 90],
];

/** `apiserver_flowcontrol_{nominal,lower,upper}_limit_seats` of a kube-apiserver with its defaults. */
it.each([
  ["catch-all", 13, 13, 613],
  ["exempt", 0, 0, 600],
  ["global-default", 49, 24, 649],
  ["leader-election", 25, 25, 625],
  ["node-high", 98, 73, 698],
  ["system", 74, 50, 674],
  ["workload-high", 98, 49, 698],
  ["workload-low", 245, 24, 845],
])("divides the seats as kube-apiserver does: %s has %i", (name, nominal, lower, upper) => {
  const levels = DEFAULTS.map(([level, shares, lendablePercent]) => levelOf(level, { shares, lendablePercent }));
  expect(computeSeatLimits(levels, 600).get(name)).toEqual({ nominal, lower, upper });
});

describe("a level", () => {
  const levels = [levelOf("a", { lendablePercent: 50 }), levelOf("b", {}), levelOf("c", { borrowingLimitPercent: 0 })];
  const limits = computeSeatLimits(levels, 30);

  it("borrows what others lend, and leaves what they are sure of", () => {
    const seats = createSeats(() => limits, 30);
    expect(seats.tryTake("b", 10)).toBe(true);
    expect(seats.tryTake("b", 5)).toBe(true);
    expect(seats.tryTake("b", 1)).toBe(false);
    expect(seats.tryTake("a", 5)).toBe(true);
    expect(seats.tryTake("a", 1)).toBe(false);
    seats.give("b", 5);
    expect(seats.tryTake("a", 5)).toBe(true);
  });

  it("borrows no more than it may", () => {
    const seats = createSeats(() => limits, 30);
    expect(seats.tryTake("c", 10)).toBe(true);
    expect(seats.hasRoom("c", 1)).toBe(false);
  });
});
