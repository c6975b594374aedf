import { expect, test } from "vitest";
import { aborted } from "../../base/abort.ts";
import { runTogether } from "./run-together.ts";

test("controllers run until they are stopped", async () => {
  const stop = new AbortController();
  const controller = { run: async (signal: AbortSignal) => await aborted(signal) };
  const ended = runTogether([controller, controller], stop);
  stop.abort();
  await ended;
});

test("one that fails stops the others, and its error is thrown when they have ended", async () => {
  const stop = new AbortController();
  let hasEnded = false;
  const healthy = {
    async run(signal: AbortSignal) {
      await aborted(signal);
      hasEnded = true;
      throw signal.reason;
    },
  };
  const broken = {
    async run() {
      throw new Error("contradiction");
    },
  };
  await expect(runTogether([healthy, broken], stop)).rejects.toThrow("contradiction");
  expect(hasEnded).toBe(true);
});
