import { expect, it } from "vitest";
import { pinMountNamespace } from "./mount-namespace.ts";

/** Pins on the given processors only; without a choice on number 0, where the scheduler put us. */
function createMachine(works: readonly string[]) {
  const runs: string[] = [];
  const run = async (program: string, args: readonly string[]) => {
    runs.push([program, ...args].join(" "));
    const cpu = program === "taskset" ? args[1] : "0";
    if (!works.includes(`${cpu}`)) return await Promise.reject(new Error(`unshare: Invalid argument (${runs.length})`));
  };
  return { runs, deps: { run, readCpus: async () => new Set([0, 1, 3]) } };
}

const PIN = "unshare --mount=/pin --propagation shared true";

it("makes the namespace and pins it", async () => {
  const { runs, deps } = createMachine(["0"]);
  await pinMountNamespace("/pin", deps);
  expect(runs).toEqual([PIN]);
});

it("tries each processor where the kernel refuses the pin", async () => {
  const { runs, deps } = createMachine(["1", "3"]);
  await pinMountNamespace("/pin", deps);
  expect(runs).toEqual([PIN, `taskset --cpu-list 0 ${PIN}`, `taskset --cpu-list 1 ${PIN}`]);
});

it("fails with the first reason where none can", async () => {
  const { deps } = createMachine([]);
  await expect(pinMountNamespace("/pin", deps)).rejects.toThrow("unshare: Invalid argument (1)");
});
