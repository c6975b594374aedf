import { describe, expect, it } from "vitest";
import { createFakeClock } from "../host/fake/fake-clock.ts";
import { createTimeline, type Decision } from "./timeline.ts";

const pod = (uid: string) => ({ uid, name: "web", namespace: "default" });
const decision = (message: string, more: Partial<Decision> = {}): Decision => ({
  type: "Normal",
  reason: "Started",
  message,
  ...more,
});

describe("the timeline", () => {
  it("keeps what was decided about each pod, oldest first", () => {
    const timeline = createTimeline(createFakeClock());
    timeline.record(pod("a"), decision("one"));
    timeline.record(pod("b"), decision("other"));
    timeline.record(pod("a"), decision("two"));
    expect(timeline.read("a").map(({ message }) => message)).toEqual(["one", "two"]);
    expect(timeline.read("nobody")).toEqual([]);
  });

  it("counts what is decided again in a row", async () => {
    const clock = createFakeClock({ now: 1_000 });
    const timeline = createTimeline(clock);
    for (let count = 0; count < 3; count++) {
      timeline.record(pod("a"), decision("again"));
      await clock.advance(10);
    }
    expect(timeline.read("a")).toMatchObject([{ count: 3, firstAt: 1_000, at: 1_020 }]);
  });

  it("keeps the newest of what tells how far something is, once for each container", async () => {
    const clock = createFakeClock({ now: 1_000 });
    const timeline = createTimeline(clock);
    for (const message of ["1 of 9", "5 of 9", "9 of 9"]) {
      timeline.record(pod("a"), decision(message, { isProgress: true, reason: "PullProgress", container: "main" }));
      timeline.record(pod("a"), decision(message, { isProgress: true, reason: "PullProgress", container: "other" }));
      await clock.advance(10);
    }
    expect(timeline.read("a")).toMatchObject([
      { container: "main", message: "9 of 9", count: 3, firstAt: 1_000, at: 1_020 },
      { container: "other", message: "9 of 9", count: 3 },
    ]);
  });

  it.each<Partial<Decision>>([{ type: "Warning" }, { reason: "Other" }, { message: "other" }, { container: "main" }])(
    "does not take another %o for the same",
    (more) => {
      const timeline = createTimeline(createFakeClock());
      timeline.record(pod("a"), decision("one"));
      timeline.record(pod("a"), decision("one", more));
      timeline.record(pod("a"), decision("one"));
      expect(timeline.read("a").map(({ count }) => count)).toEqual([1, 1, 1]);
    },
  );

  it("drops the oldest of a pod that has too many", () => {
    const timeline = createTimeline(createFakeClock());
    for (let count = 0; count <= 64; count++) timeline.record(pod("a"), decision(`${count}`));
    const records = timeline.read("a");
    expect(records).toHaveLength(64);
    expect(records[0]?.message).toBe("1");
  });

  it("drops the pod that was quiet longest when there are too many", () => {
    const timeline = createTimeline(createFakeClock());
    for (let count = 0; count < 1_000; count++) timeline.record(pod(`${count}`), decision("one"));
    timeline.record(pod("0"), decision("two"));
    timeline.record(pod("new"), decision("one"));
    expect(timeline.read("0")).toHaveLength(2);
    expect(timeline.read("1")).toEqual([]);
    expect(timeline.read("new")).toHaveLength(1);
  });

  it("tells its listeners of each record, until they stop", () => {
    const timeline = createTimeline(createFakeClock());
    const told: string[] = [];
    const stop = timeline.subscribe(({ message, count }) => told.push(`${message} ${count}`));
    timeline.record(pod("a"), decision("one"));
    timeline.record(pod("a"), decision("one"));
    stop();
    timeline.record(pod("a"), decision("two"));
    expect(told).toEqual(["one 1", "one 2"]);
  });
});
