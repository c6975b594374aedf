import { beforeEach, describe, expect, it } from "vitest";
import type { Lease, Node } from "../../api/gen/types.ts";
import { createFakeClock, type FakeClock } from "../../host/fake/fake-clock.ts";
import { createHeartbeats, type Heartbeats } from "./heartbeats.ts";

const GRACE_MS = 40_000;

let clock: FakeClock;
let heartbeats: Heartbeats;

beforeEach(() => {
  clock = createFakeClock();
  heartbeats = createHeartbeats(clock);
});

const nodeOf = (
  heartbeat: string | undefined,
  { uid = "uid-1", name = "node-1", reason = "KubeletReady" } = {},
): Node => ({
  metadata: { uid, name },
  status: {
    conditions: [
      { type: "MemoryPressure", status: "False", lastHeartbeatTime: "never looked at" },
      {
        type: "Ready",
        status: "True",
        reason,
        ...(heartbeat === undefined ? {} : { lastHeartbeatTime: heartbeat }),
      },
    ],
  },
});
const leaseOf = (renewTime: string | undefined, { uid = "uid-2", name = "node-1" } = {}): Lease => ({
  metadata: { uid, name },
  spec: renewTime === undefined ? {} : { renewTime },
});
const left = (name = "node-1") => heartbeats.remainingMs(name, GRACE_MS);

describe("a sign of life", () => {
  it.each([
    [
      "a node that is seen for the first time",
      () => heartbeats.observeNode(nodeOf(undefined, { name: "node-2" })),
      "node-2",
    ],
    [
      "a lease that is seen for the first time",
      () => heartbeats.observeLease(leaseOf(undefined, { name: "node-2" })),
      "node-2",
    ],
    ["a new heartbeat", () => heartbeats.observeNode(nodeOf("2026-01-01T00:00:10Z")), "node-1"],
    ["a heartbeat of a clock that went back", () => heartbeats.observeNode(nodeOf("2020-01-01T00:00:00Z")), "node-1"],
    [
      "a new node of the same name",
      () => heartbeats.observeNode(nodeOf("2026-01-01T00:00:00Z", { uid: "uid-9" })),
      "node-1",
    ],
    ["a renewed lease", () => heartbeats.observeLease(leaseOf("2026-01-01T00:00:10.000000Z")), "node-1"],
    [
      "a new lease of the same name",
      () => heartbeats.observeLease(leaseOf("2026-01-01T00:00:00Z", { uid: "uid-9" })),
      "node-1",
    ],
  ])("is %s", async (_, observe, name) => {
    heartbeats.observeNode(nodeOf("2026-01-01T00:00:00Z"));
    heartbeats.observeLease(leaseOf("2026-01-01T00:00:00Z"));
    await clock.advance(15_000);
    observe();
    await clock.advance(5_000);
    expect(left(name)).toBe(GRACE_MS - 5_000);
  });

  it.each([
    ["the same heartbeat again", () => heartbeats.observeNode(nodeOf("2026-01-01T00:00:00Z"))],
    [
      "what others write into the node",
      () => heartbeats.observeNode(nodeOf("2026-01-01T00:00:00Z", { reason: "Other" })),
    ],
    ["the same lease again", () => heartbeats.observeLease(leaseOf("2026-01-01T00:00:00Z"))],
    ["another node", () => heartbeats.observeNode(nodeOf("2026-01-01T00:00:10Z", { name: "node-2" }))],
  ])("is not %s", async (_, observe) => {
    heartbeats.observeNode(nodeOf("2026-01-01T00:00:00Z"));
    heartbeats.observeLease(leaseOf("2026-01-01T00:00:00Z"));
    await clock.advance(15_000);
    observe();
    expect(left()).toBe(GRACE_MS - 15_000);
  });
});

describe("the rest of the grace period", () => {
  it("is all of it for a node of which nothing was ever heard", () => {
    expect(left("stranger")).toBe(GRACE_MS);
  });

  it("is negative when it is over", async () => {
    heartbeats.observeNode(nodeOf("2026-01-01T00:00:00Z"));
    await clock.advance(GRACE_MS + 1);
    expect(left()).toBe(-1);
  });

  it("begins anew for all nodes, or for one", async () => {
    for (const name of ["node-1", "node-2"]) heartbeats.observeNode(nodeOf("2026-01-01T00:00:00Z", { name }));
    await clock.advance(10_000);
    heartbeats.restart("node-2");
    expect([left("node-1"), left("node-2")]).toEqual([GRACE_MS - 10_000, GRACE_MS]);
    await clock.advance(10_000);
    heartbeats.restart();
    expect([left("node-1"), left("node-2")]).toEqual([GRACE_MS, GRACE_MS]);
  });

  it("is whole again for a node that was forgotten", async () => {
    heartbeats.observeNode(nodeOf("2026-01-01T00:00:00Z"));
    await clock.advance(10_000);
    heartbeats.forget("node-1");
    expect(left()).toBe(GRACE_MS);
    heartbeats.observeNode(nodeOf("2026-01-01T00:00:00Z"));
    await clock.advance(1_000);
    expect(left()).toBe(GRACE_MS - 1_000);
  });
});
