import { describe, expect, it } from "vitest";
import { createSeededRandom } from "../../../base/random.ts";
import { createFakeClock } from "../../../host/fake/fake-clock.ts";
import { createEventCorrelator } from "./correlate-events.ts";
import { createEventMaker, referToPod } from "./make-event.ts";

const MINUTE = 60_000;

/**
 * Creates a function that takes `pod container reason message` and returns what would be written, as `create ×count
 * message`.
 */
function createRig() {
  const clock = createFakeClock();
  const make = createEventMaker({ clock, random: createSeededRandom(1) }, "node-1");
  const correlator = createEventCorrelator();
  const names = new Map<string, string>();
  const tell = (message: string, { pod = "web", container = "main", reason = "Failed" } = {}) => {
    const reference = referToPod({ uid: `uid-${pod}`, name: pod, namespace: "shop" }, undefined, container);
    const made = make(reference, { type: "Warning", reason, message });
    const correlated = correlator.correlate(made, clock.monotonic());
    if (correlated === undefined) return "left out";
    const { event, isRepeated } = correlated;
    const verb = isRepeated ? "patch" : "create";
    if (isRepeated) expect([...names.keys()]).toContain(event.metadata.name);
    names.set(event.metadata.name, event.message);
    return `${verb} ×${event.count} ${event.message}`;
  };
  return { clock, tell, make };
}

const tellMany = (rig: ReturnType<typeof createRig>, count: number, from = 1) =>
  Array.from({ length: count }, (_, index) => rig.tell(`error ${from + index}`));

describe("repeated events", () => {
  it("are counted, each under the name of its first", () => {
    const { tell } = createRig();
    expect([tell("a"), tell("b"), tell("a"), tell("a")]).toEqual([
      "create ×1 a",
      "create ×1 b",
      "patch ×2 a",
      "patch ×3 a",
    ]);
  });

  it.each([
    ["of another pod", { pod: "db" }],
    ["of another container", { container: "sidecar" }],
    ["with another reason", { reason: "BackOff" }],
  ])("%s are others", (_what, other) => {
    const { tell } = createRig();
    tell("a");
    expect(tell("a", other)).toBe("create ×1 a");
  });

  it("that tell of progress are one, also where they are many and others are left out", () => {
    const rig = createRig();
    const { make } = rig;
    const correlator = createEventCorrelator();
    const events = Array.from({ length: 100 }, (_, index) => {
      const made = make({ name: "web" }, { type: "Normal", reason: "PullProgress", message: `${index} of 100` });
      return correlator.correlate(made, 0, { isProgress: true });
    });
    expect(new Set(events.map((one) => one?.event.metadata.name)).size).toBe(1);
    expect(events.at(-1)).toMatchObject({ isRepeated: true, event: { count: 100, message: "99 of 100" } });
    const other = make({ name: "web" }, { type: "Normal", reason: "Pulled", message: "done" });
    expect(correlator.correlate(other, 0)).toMatchObject({ isRepeated: false });
  });

  it("keep when they began", async () => {
    const clock = createFakeClock({ now: Date.parse("2026-03-01T12:00:00Z") });
    const make = createEventMaker({ clock, random: createSeededRandom(1) }, "node-1");
    const correlator = createEventCorrelator();
    const tell = () => correlator.correlate(make({ name: "web" }, { type: "Normal", reason: "A", message: "a" }), 0);
    tell();
    await clock.advance(90_000);
    expect(tell()?.event).toMatchObject({
      count: 2,
      firstTimestamp: "2026-03-01T12:00:00Z",
      lastTimestamp: "2026-03-01T12:01:30Z",
    });
  });
});

describe("similar events", () => {
  it("are combined from the tenth message on, and counted as one", () => {
    const rig = createRig();
    expect(tellMany(rig, 9)).toEqual(Array.from({ length: 9 }, (_, index) => `create ×1 error ${index + 1}`));
    expect(tellMany(rig, 3, 10)).toEqual([
      "create ×1 (combined from similar events): error 10",
      "patch ×2 (combined from similar events): error 11",
      "patch ×3 (combined from similar events): error 12",
    ]);
  });

  it("of different containers are similar too", () => {
    const rig = createRig();
    tellMany(rig, 9);
    expect(rig.tell("error 10", { container: "sidecar" })).toContain("(combined from similar events)");
  });

  it("with another reason are not", () => {
    const rig = createRig();
    tellMany(rig, 9);
    expect(rig.tell("error 10", { reason: "BackOff" })).toBe("create ×1 error 10");
  });

  it("are told one by one again after ten quiet minutes, not before", async () => {
    const rig = createRig();
    tellMany(rig, 9);
    await rig.clock.advance(10 * MINUTE);
    expect(rig.tell("error 10")).toContain("(combined");
    await rig.clock.advance(10 * MINUTE + 1);
    expect(rig.tell("error 11")).toBe("create ×1 error 11");
  });
});

describe("an object about which too much is said", () => {
  it("is heard 25 times, then once in five minutes; the count goes on meanwhile", async () => {
    const { clock, tell } = createRig();
    const told = Array.from({ length: 30 }, () => tell("again"));
    expect(told.slice(24)).toEqual(["patch ×25 again", ...Array.from({ length: 5 }, () => "left out")]);
    expect(tell("again", { pod: "db" })).toBe("create ×1 again");
    await clock.advance(5 * MINUTE);
    expect([tell("again"), tell("again")]).toEqual(["patch ×31 again", "left out"]);
  });
});
