import { expect, it } from "vitest";
import { silentLog } from "../../base/log.ts";
import { createFakeClock } from "../../host/fake/fake-clock.ts";
import { type SupervisedProcess, superviseService } from "./supervise.ts";

/** Creates a service whose processes end when the test says so. */
function createService() {
  const processes: Array<{ end: () => void; stopped: boolean }> = [];
  let failures = 0;
  const launch = (): SupervisedProcess => {
    const entry: { end: () => void; stopped: boolean } = { end: () => {}, stopped: false };
    const exited = new Promise<{ code: number; signal: null }>((resolve) => {
      entry.end = () => resolve({ code: 1, signal: null });
    });
    processes.push(entry);
    const stop = async () => {
      entry.stopped = true;
      entry.end();
    };
    return { pid: processes.length, exited, stop };
  };
  return {
    processes,
    failNext: (times: number) => {
      failures = times;
    },
    launch,
    service: {
      name: "test",
      async start() {
        if (failures > 0) {
          failures -= 1;
          throw new Error("does not start");
        }
        return launch();
      },
    },
  };
}

function supervise() {
  const clock = createFakeClock();
  const controller = new AbortController();
  const fixture = createService();
  const done = superviseService(fixture.service, fixture.launch(), {
    clock,
    log: silentLog,
    signal: controller.signal,
  });
  const endLast = async () => {
    fixture.processes.at(-1)?.end();
    await clock.advance(0);
  };
  return { ...fixture, clock, controller, done, endLast };
}

it("starts a process again 200 ms after it ended", async () => {
  const { clock, processes, endLast, controller, done } = supervise();
  await endLast();
  await clock.advance(199);
  expect(processes.length).toBe(1);
  await clock.advance(1);
  expect(processes.length).toBe(2);
  controller.abort();
  await done;
});

it("waits longer the more often it ends, and starts over after it lived for a minute", async () => {
  const { clock, processes, endLast, controller, done } = supervise();
  for (const delayMs of [200, 400, 800]) {
    const before = processes.length;
    await endLast();
    await clock.advance(delayMs - 1);
    expect(processes.length).toBe(before);
    await clock.advance(1);
    expect(processes.length).toBe(before + 1);
  }
  await clock.advance(61_000);
  await endLast();
  await clock.advance(200);
  expect(processes.length).toBe(5);
  controller.abort();
  await done;
});

it("counts a start that fails as an end", async () => {
  const { clock, processes, endLast, failNext, controller, done } = supervise();
  failNext(1);
  await endLast();
  await clock.advance(200);
  expect(processes.length).toBe(1);
  await clock.advance(400);
  expect(processes.length).toBe(2);
  controller.abort();
  await done;
});

it("stops the process that runs when it is asked to stop, and starts no other", async () => {
  const { clock, processes, controller, done } = supervise();
  controller.abort();
  await done;
  await clock.advance(60_000);
  expect(processes.map(({ stopped }) => stopped)).toEqual([true]);
});

it("stops during a wait without starting anything", async () => {
  const { processes, endLast, controller, done } = supervise();
  await endLast();
  controller.abort();
  await done;
  expect(processes.length).toBe(1);
});
