import { beforeEach, expect, it } from "vitest";
import { silentLog } from "../../../base/log.ts";
import type { EvictionThreshold } from "../../../config/eviction-thresholds.ts";
import { createFakeCgroups, type FakeCgroups } from "../../../host/fake/fake-cgroups.ts";
import { createFakeClock, type FakeClock } from "../../../host/fake/fake-clock.ts";
import { createMemoryAlarm } from "./memory-alarm.ts";
import type { SignalObservations } from "./signals.ts";

const THRESHOLDS: EvictionThreshold[] = (["memory.available", "allocatableMemory.available"] as const).map((signal) => {
  return { signal, value: { kind: "quantity", quantity: "100" }, gracePeriodMs: 0, minReclaim: undefined };
});
const seen = (reclaimable: number): SignalObservations =>
  new Map(THRESHOLDS.map(({ signal }) => [signal, { available: 500, capacity: 1_000, reclaimable, at: 0 }]));

let clock: FakeClock;
let cgroups: FakeCgroups;
let said: string[];
beforeEach(() => {
  clock = createFakeClock();
  cgroups = createFakeCgroups();
  cgroups.set("/kubepods", {});
  said = [];
});

const begin = async () => {
  const say = (message: string) => void said.push(message);
  const log = { ...silentLog, warn: say, info: say };
  const alarm = createMemoryAlarm({ clock, log, cgroups, pathOfAllPods: () => "/kubepods" }, THRESHOLDS);
  const stopping = new AbortController();
  let alarms = 0;
  alarm.subscribe(() => alarms++);
  const run = alarm.run(stopping.signal);
  await clock.settle();
  return { alarm, run, stop: () => stopping.abort(), alarms: () => alarms };
};

it("tells when pods take so much that a threshold is crossed, and nothing before it was adjusted", async () => {
  const { alarm, alarms, run, stop } = await begin();
  cgroups.set("/kubepods", { memory: { usage: 950 } });
  cgroups.set("/kubepods", { memory: { usage: 500 } });
  alarm.adjust(seen(0));
  cgroups.set("/kubepods", { memory: { usage: 899 } });
  expect(alarms()).toBe(0);
  cgroups.set("/kubepods", { memory: { usage: 900 } });
  expect(alarms()).toBe(1);
  cgroups.set("/", { memory: { usage: 999 } });
  expect(alarms()).toBe(2);
  stop();
  await run;
  expect([cgroups.memoryMarks, said]).toEqual([[], []]);
});

it("is adjusted each ten seconds, however often the node is looked at", async () => {
  const { alarm, stop } = await begin();
  alarm.adjust(seen(0));
  alarm.adjust(seen(20));
  expect(cgroups.memoryMarks.map(({ bytes }) => bytes)).toEqual([900n, 900n]);
  await clock.advance(10_000);
  alarm.adjust(seen(20));
  expect(cgroups.memoryMarks.map(({ bytes }) => bytes)).toEqual([920n, 920n]);
  stop();
});

it("says once that a cgroup cannot be watched, and tries again", async () => {
  const { alarm, stop } = await begin();
  cgroups.delete("/kubepods");
  for (let times = 0; times < 3; times++) {
    alarm.adjust(seen(0));
    await clock.advance(10_000);
  }
  expect(said).toEqual(["Eviction manager: the kernel does not tell when memory runs short; it is looked at only"]);
  cgroups.set("/kubepods", {});
  alarm.adjust(seen(0));
  expect(cgroups.memoryMarks).toHaveLength(2);
  stop();
});

it("ends with a word, and harms nothing, where the kernel has no notifications or no descriptor is left", async () => {
  cgroups.version = 2;
  const first = await begin();
  await first.run;
  first.alarm.adjust(seen(0));
  cgroups.openMemoryMarks = () => {
    throw new Error("EMFILE: eventfd");
  };
  await (await begin()).run;
  expect(said.map((message) => message.slice(0, 60))).toEqual([
    "Eviction manager: kernelMemcgNotification has no effect: ver",
    "Eviction manager: the kernel does not tell when memory runs ",
  ]);
});
