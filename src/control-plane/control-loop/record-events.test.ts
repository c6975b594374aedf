import { expect, test } from "vitest";
import { ApiError } from "../../api/api-error.ts";
import { configMap, createControllerBench } from "./__fixtures__/run-controllers.ts";
import { createEventRecorder } from "./record-events.ts";

const ABOUT = configMap("a", { uid: "u1" });
const NEWS = { about: ABOUT, type: "Warning", reason: "Odd", message: "it is odd" } as const;

function setUp() {
  const bench = createControllerBench();
  const recorder = createEventRecorder(bench.deps, "tester");
  const events = () => bench.reader.list("events");
  return Object.assign(bench, { recorder, events });
}

test("an event names its object, its source and its time", async () => {
  const { recorder, events } = setUp();
  recorder.record(NEWS);
  await recorder.settled();
  expect(events()).toMatchObject([
    {
      metadata: { namespace: "a" },
      involvedObject: { kind: "ConfigMap", namespace: "a", name: "a", uid: "u1" },
      type: "Warning",
      reason: "Odd",
      message: "it is odd",
      source: { component: "tester" },
      firstTimestamp: "2026-01-01T00:00:00Z",
      count: 1,
    },
  ]);
});

test("of what has no namespace it lies in default", async () => {
  const { recorder, events } = setUp();
  recorder.record({ ...NEWS, about: { apiVersion: "v1", kind: "Node", metadata: { name: "n1" } } });
  await recorder.settled();
  expect(events()[0]).toMatchObject({
    metadata: { namespace: "default" },
    involvedObject: { kind: "Node", name: "n1" },
  });
});

test("what is said again is counted, and written every ten seconds at most", async () => {
  const { recorder, events, clock, writes } = setUp();
  for (let second = 0; second <= 25; second++) {
    recorder.record(NEWS);
    await clock.advance(1_000);
  }
  await recorder.settled();
  expect(events()).toMatchObject([{ count: 21, lastTimestamp: "2026-01-01T00:00:20Z" }]);
  expect(writes).toHaveLength(3);
});

test("an event that cannot be written is lost, and the next of its kind is new", async () => {
  const bench = setUp();
  bench.refuse = () => new ApiError("Forbidden", "no");
  bench.recorder.record(NEWS);
  await bench.clock.advance(10_000);
  expect(bench.events()).toEqual([]);
  bench.refuse = () => undefined;
  bench.recorder.record(NEWS);
  await bench.recorder.settled();
  expect(bench.events()).toHaveLength(1);
});
