import { beforeEach, expect, it } from "vitest";
import { createFakeClock, type FakeClock } from "../../../host/fake/fake-clock.ts";
import { type Alarms, createAlarms } from "./alarms.ts";

let clock: FakeClock;
let alarms: Alarms;
let due: string[];
let controller: AbortController;
const start = () => alarms.run(controller.signal, (key) => void due.push(key));

beforeEach(() => {
  clock = createFakeClock();
  alarms = createAlarms(clock);
  due = [];
  controller = new AbortController();
});

it("says of each key once that its time has come", async () => {
  alarms.set("late", 2_000);
  const running = start();
  await clock.settle();
  alarms.set("early", 1_000);
  await clock.advance(999);
  expect(due).toEqual([]);
  await clock.advance(1);
  expect(due).toEqual(["early"]);
  await clock.advance(10_000);
  expect(due).toEqual(["early", "late"]);
  controller.abort();
  await running;
  expect(clock.pendingTimers).toBe(0);
});

it("forgets a time that was cleared, and one that was replaced", async () => {
  const running = start();
  for (const key of ["a", "b"]) alarms.set(key, 1_000);
  alarms.clear("a");
  alarms.set("b", 5_000);
  await clock.advance(4_999);
  expect(due).toEqual([]);
  await clock.advance(1);
  expect(due).toEqual(["b"]);
  controller.abort();
  await running;
});

it("says at once what became due before it ran", async () => {
  alarms.set("a", 1_000);
  await clock.advance(2_000);
  const running = start();
  await clock.settle();
  expect(due).toEqual(["a"]);
  controller.abort();
  await running;
});
