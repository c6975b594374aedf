import { EventEmitter } from "node:events";
import { expect, it } from "vitest";
import { type Log, silentLog } from "../../base/log.ts";
import { watchProcess } from "./watch-process.ts";

function fakeProcess() {
  const exits: number[] = [];
  const fake = Object.assign(new EventEmitter(), {
    stderr: new EventEmitter(),
    exit: (code: number) => void exits.push(code),
  });
  return { fake, exits };
}

it("asks for an orderly end at the first signal and exits at the second", () => {
  const { fake, exits } = fakeProcess();
  const { signal } = watchProcess(fake, silentLog);
  fake.emit("SIGTERM");
  expect([signal.aborted, exits]).toEqual([true, []]);
  fake.emit("SIGINT");
  expect(exits).toEqual([130]);
});

it("ends the process with the error's stack when nobody handled it", () => {
  const { fake, exits } = fakeProcess();
  const errors: unknown[] = [];
  const log: Log = { ...silentLog, error: (message, fields) => errors.push([message, fields?.["error"]]) };
  watchProcess(fake, log);
  const error = new Error("boom");
  fake.emit("unhandledRejection", error);
  expect(exits).toEqual([1]);
  expect(errors).toEqual([[expect.stringContaining("Crash"), error]]);
});

it("ends the process in the way that it is told", () => {
  const { fake, exits } = fakeProcess();
  const ends: number[] = [];
  watchProcess(fake, silentLog, (code) => ends.push(code));
  for (const signal of ["SIGTERM", "SIGTERM"]) fake.emit(signal);
  fake.emit("uncaughtException", new Error("boom"));
  expect([ends, exits]).toEqual([[143, 1], []]);
});

it("survives a closed stderr, and leaves no listener behind", () => {
  const { fake } = fakeProcess();
  const watch = watchProcess(fake, silentLog);
  expect(() => fake.stderr.emit("error", new Error("EPIPE"))).not.toThrow();
  watch.release();
  expect([fake.eventNames(), fake.stderr.eventNames()]).toEqual([[], []]);
});
