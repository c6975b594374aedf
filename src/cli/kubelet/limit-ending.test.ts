import { expect, it } from "vitest";
import { type Log, silentLog } from "../../base/log.ts";
import { limitEnding } from "./limit-ending.ts";

it("says the exit code and what has no answer after two seconds, and then ends the process", () => {
  const told: unknown[] = [];
  const timers: Array<{ delayMs: number; fire: () => void }> = [];
  const log: Log = { ...silentLog, warn: (message, fields) => told.push([message, fields]) };
  limitEnding(1, log, {
    setTimer: (delayMs, fire) => timers.push({ delayMs, fire }),
    activeResources: () => ["FSReqPromise", "FSReqPromise", "GetAddrInfoReqWrap"],
    end: (code) => told.push(code),
  });
  for (let passed = 500; passed <= 2_000; passed += 500) {
    expect(told).toEqual([]);
    const [timer, ...more] = timers.splice(0);
    expect([timer?.delayMs, more]).toEqual([500, []]);
    timer?.fire();
  }
  const fields = { exitCode: 1, calls: "FSReqPromise, GetAddrInfoReqWrap" };
  expect(told).toEqual([["Exiting while calls of the machine have no answer", fields], 1]);
  expect(timers).toEqual([]);
});
