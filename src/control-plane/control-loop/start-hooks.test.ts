import { expect, test } from "vitest";
import { createStartHooks, type StartHooks } from "./start-hooks.ts";

const problemsOf = (hooks: StartHooks) => Object.fromEntries(hooks.checks().map(({ name, check }) => [name, check()]));

test("a step is well once it is done, and nobody does one that is none", () => {
  const hooks = createStartHooks(["first", "second"]);
  hooks.done("first");
  expect(problemsOf(hooks)).toEqual({ first: undefined, second: "not finished" });
  expect(() => hooks.done("third")).toThrow("third is a step of the start");
});

test("a controller is well while it runs", async () => {
  const hooks = createStartHooks([]);
  let end = () => {};
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });
  const controller = hooks.whileRunning({ run: async () => await ended }, "one", "other");
  expect(problemsOf(hooks)).toEqual({ one: "not started", other: "not started" });
  const run = controller.run(new AbortController().signal);
  expect(problemsOf(hooks)).toEqual({ one: undefined, other: undefined });
  end();
  await run;
  expect(problemsOf(hooks)).toEqual({ one: "has ended", other: "has ended" });
});

test("a controller that fails is not well, and fails as before", async () => {
  const hooks = createStartHooks([]);
  const controller = hooks.whileRunning({ run: async () => await Promise.reject(new Error("broken")) }, "one");
  await expect(controller.run(new AbortController().signal)).rejects.toThrow("broken");
  expect(problemsOf(hooks)).toEqual({ one: "has ended" });
});
