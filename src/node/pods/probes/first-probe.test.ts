import { describe, expect, it } from "vitest";
import { firstProbeDelay } from "./first-probe.ts";
import type { ProbeType } from "./probe-type.ts";

const NOW = 1_000_000;
const random = { next: () => 0.5 };

describe("the first probe of a container", () => {
  it.each<[ProbeType, { initial?: number; startedAgo?: number; isKnown?: boolean }, number]>([
    ["readiness", {}, 0],
    ["startup", {}, 0],
    ["liveness", {}, 10_000],
    ["readiness", { initial: 5 }, 5_000],
    ["liveness", { initial: 5 }, 5_000],
    ["startup", { initial: 5, startedAgo: 2_000 }, 3_000],
    // Over while the startup probe ran.
    ["readiness", { initial: 5, startedAgo: 7_000 }, 0],
    ["liveness", { initial: 5, startedAgo: 7_000 }, 10_000],
    // The container ran before the node agent did.
    ["readiness", { startedAgo: 60_000, isKnown: true }, 5_000],
    ["liveness", { startedAgo: 60_000, isKnown: true }, 5_000],
    ["liveness", { initial: 90, startedAgo: 60_000, isKnown: true }, 30_000],
    // A clock that was set back does not hold the probe up for longer than its delay.
    ["readiness", { initial: 5, startedAgo: -3_600_000 }, 5_000],
  ])("%s %j waits %s ms", (kind, { initial, startedAgo = 0, isKnown = false }, expected) => {
    const probe = { periodSeconds: 10, ...(initial !== undefined && { initialDelaySeconds: initial }) };
    expect(firstProbeDelay({ kind, probe, now: NOW, startedAt: NOW - startedAgo, isKnown, random })).toBe(expected);
  });

  it("waits its whole delay where the runtime gives no time of the start", () => {
    const probe = { initialDelaySeconds: 5 };
    expect(firstProbeDelay({ kind: "readiness", probe, now: NOW, startedAt: 0, isKnown: false, random })).toBe(5_000);
  });
});
