import { describe, expect, it } from "vitest";
import { CodedError, codeOf, messageOf, runAll, throwJoined } from "./errors.ts";

it.each([
  [new CodedError("not-found", "gone"), "not-found", "gone"],
  [Object.assign(new Error("no file"), { code: "ENOENT" }), "ENOENT", "no file"],
  [Object.assign(new Error("odd"), { code: 7 }), undefined, "odd"],
  [new Error("plain"), undefined, "plain"],
  ["text", undefined, "text"],
  [undefined, undefined, "undefined"],
  [null, undefined, "null"],
])("the code and message of %s", (thrown, code, message) => {
  expect(codeOf(thrown)).toBe(code);
  expect(messageOf(thrown)).toBe(message);
});

describe("runAll", () => {
  it("runs every step and joins what went wrong", async () => {
    const ran: number[] = [];
    const step = (number: number, fails: boolean) => async () => {
      ran.push(number);
      if (fails) throw new Error(`step ${number}`);
    };
    const joined = runAll([step(1, true), step(2, false), step(3, true)], "tearing down");
    await expect(joined).rejects.toThrow("tearing down: step 1; step 3");
    expect(ran).toEqual([1, 2, 3]);
  });

  it("throws the one failure as it is", async () => {
    const error = new CodedError("unavailable", "down");
    await expect(runAll([() => Promise.reject(error)], "x")).rejects.toBe(error);
    await runAll([() => undefined], "x");
  });
});

it("throwJoined keeps the failures", () => {
  const failures = [new Error("a"), new Error("b")];
  expect(() => throwJoined([], "x")).not.toThrow();
  try {
    throwJoined(failures, "x");
    expect.unreachable();
  } catch (error) {
    expect(error).toBeInstanceOf(AggregateError);
    expect(error).toMatchObject({ errors: failures });
  }
});
