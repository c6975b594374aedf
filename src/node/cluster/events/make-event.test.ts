import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Pod } from "../../../api/gen/types.ts";
import { createSeededRandom } from "../../../base/random.ts";
import { createFakeClock } from "../../../host/fake/fake-clock.ts";
import { createEventMaker, referToNode, referToPod } from "./make-event.ts";

const NOW = Date.parse("2026-03-01T12:00:00.250Z");
const REFERENCE = { uid: "u1", name: "web", namespace: "shop" };
const FACTS = { type: "Normal", reason: "Pulled", message: "done" } as const;

const pod = (metadata: Pod["metadata"] = {}): Pod => ({
  metadata: { uid: "u1", name: "web", namespace: "shop", resourceVersion: "77", ...metadata },
  spec: {
    containers: [{ name: "main" }],
    initContainers: [{ name: "setup" }],
    ephemeralContainers: [{ name: "debug" }],
  },
});

function createMaker() {
  const clock = createFakeClock({ now: NOW });
  const make = createEventMaker({ clock, random: createSeededRandom(1) }, "node-1");
  return { clock, make, name: (object: string) => make({ name: object }, FACTS).metadata.name };
}

describe("an event of a pod", () => {
  it("is what kubelet sends", () => {
    const { make } = createMaker();
    const { metadata, ...event } = make(referToPod(REFERENCE, pod(), "main"), FACTS);
    expect(metadata).toEqual({ namespace: "shop", name: expect.stringMatching(/^web\.[0-9a-f]{16}$/) });
    expect(event).toEqual({
      apiVersion: "v1",
      kind: "Event",
      involvedObject: {
        apiVersion: "v1",
        kind: "Pod",
        namespace: "shop",
        name: "web",
        uid: "u1",
        resourceVersion: "77",
        fieldPath: "spec.containers{main}",
      },
      type: "Normal",
      reason: "Pulled",
      message: "done",
      count: 1,
      firstTimestamp: "2026-03-01T12:00:00Z",
      lastTimestamp: "2026-03-01T12:00:00Z",
      source: { component: "kubelet", host: "node-1" },
      reportingComponent: "kubelet",
      reportingInstance: "node-1",
    });
  });

  it.each([
    ["main", "spec.containers{main}"],
    ["setup", "spec.initContainers{setup}"],
    ["debug", "spec.ephemeralContainers{debug}"],
    ["unknown", "spec.containers{unknown}"],
  ])("of its container %s names the field %s", (container, fieldPath) => {
    expect(referToPod(REFERENCE, pod(), container).fieldPath).toBe(fieldPath);
  });

  it("of the pod as a whole names no field", () => {
    expect(referToPod(REFERENCE, pod(), undefined)).not.toHaveProperty("fieldPath");
  });

  it.each([
    ["of a pod that is gone", undefined],
    ["of a static pod", pod({ annotations: { "kubernetes.io/config.source": "file" } })],
    ["of a static pod by its mirror", pod({ uid: "mirror", annotations: { "kubernetes.io/config.mirror": "u1" } })],
  ])("%s has the UID that the node knows, where kubectl looks, and no version", (_what, known) => {
    const reference = referToPod(REFERENCE, known, undefined);
    expect(reference).toEqual({ apiVersion: "v1", kind: "Pod", namespace: "shop", name: "web", uid: "u1" });
  });

  it("carries what a decision says beside its message", () => {
    const { make } = createMaker();
    const annotations = { starved_resource: "memory" };
    const made = make(referToPod(REFERENCE, pod(), undefined), { ...FACTS, annotations });
    expect(made.metadata.annotations).toEqual(annotations);
  });

  it("has no message without end", () => {
    const { make } = createMaker();
    expect(make({ name: "web" }, { ...FACTS, message: "x".repeat(100_000) }).message).toHaveLength(8_192);
  });
});

it("an event of the node is in the default namespace and has the node's name for a UID", () => {
  const { make } = createMaker();
  const event = make(referToNode("node-1"), { type: "Normal", reason: "Starting", message: "Starting kubelet." });
  expect(event.involvedObject).toEqual({ kind: "Node", name: "node-1", uid: "node-1" });
  expect(event.metadata.namespace).toBe("default");
});

describe("names", () => {
  it("begin with the time in nanoseconds, as far as the clock knows it", () => {
    const { name } = createMaker();
    const nanos = BigInt(`0x${name("web").slice("web.".length)}`);
    expect(nanos / 1_000_000n).toBe(BigInt(NOW));
  });

  it("are UUIDs for objects whose names are too long or no names of events", () => {
    const { name } = createMaker();
    const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
    for (const object of ["a".repeat(240), "Upper", "under_score", ""]) expect(name(object)).toMatch(uuid);
    expect(name("a".repeat(236))).toHaveLength(253);
  });

  it("never repeat, however the wall clock jumps", async () => {
    const jumps = fc.array(fc.integer({ min: -3, max: 3 }), { maxLength: 300 });
    await fc.assert(
      fc.asyncProperty(jumps, async (steps) => {
        const { clock, name } = createMaker();
        const names = steps.map((step) => {
          clock.jumpWallClock(step);
          return name("web");
        });
        expect(new Set(names).size).toBe(names.length);
      }),
      { numRuns: 50 },
    );
  });
});
