import { expect, it } from "vitest";
import { AbortedError, aborted } from "./abort.ts";
import { crash, createTasks, runInBackground, runWithTasks } from "./tasks.ts";

function createRig() {
  const crashes: Array<[string, unknown]> = [];
  return { crashes, tasks: createTasks((name, error) => crashes.push([name, error])) };
}

it("settles when the last has ended, those included that were spawned meanwhile", async () => {
  const { tasks, crashes } = createRig();
  const ended: string[] = [];
  tasks.spawn("first", async () => {
    await Promise.resolve();
    tasks.spawn("second", async () => {
      await Promise.resolve();
      ended.push("second");
    });
    ended.push("first");
  });
  expect(tasks.running).toBe(1);
  await tasks.settled();
  expect(ended).toEqual(["first", "second"]);
  expect(tasks.running).toBe(0);
  expect(crashes).toEqual([]);
});

it("tells of a crash with the name of the task, also when it throws at once", async () => {
  const { tasks, crashes } = createRig();
  const error = new Error("no");
  tasks.spawn("later", async () => await Promise.reject(error));
  tasks.spawn("at once", () => {
    throw error;
  });
  await tasks.settled();
  expect(new Set(crashes.map(([name]) => name))).toEqual(new Set(["later", "at once"]));
});

it("an abort is no crash", async () => {
  const { tasks, crashes } = createRig();
  tasks.spawn("stopped", async () => await Promise.reject(new AbortedError()));
  await tasks.settled();
  expect(crashes).toEqual([]);
});

it("a run ends with its signal, when all that it spawned has ended", async () => {
  const controller = new AbortController();
  const ended: string[] = [];
  const run = runWithTasks(controller.signal, async (tasks, signal) => {
    tasks.spawn("task", async () => {
      await aborted(signal);
      await Promise.resolve();
      ended.push("task");
    });
    await aborted(signal);
    ended.push("work");
    throw new AbortedError();
  });
  controller.abort();
  await run;
  expect(ended).toEqual(["work", "task"]);
});

it("a task that crashes ends its run, which rejects with that", async () => {
  const error = new Error("no");
  const run = runWithTasks(new AbortController().signal, async (tasks, signal) => {
    tasks.spawn("task", async () => await Promise.reject(error));
    await aborted(signal);
  });
  await expect(run).rejects.toBe(error);
});

it("gives each failure of work in the background to its last catch, also when it throws at once", async () => {
  const error = new Error("no");
  const fail = (): never => {
    throw error;
  };
  for (const work of [fail, async () => fail(), async () => await Promise.reject(error)]) {
    expect(await new Promise((resolve) => runInBackground(work, resolve))).toBe(error);
  }
});

it("ends the process with the error that only a bug can cause", async () => {
  const error = new Error("no");
  const ended = new Promise((resolve) => {
    const others = process.listeners("uncaughtException");
    process.removeAllListeners("uncaughtException");
    process.once("uncaughtException", (thrown) => {
      for (const listener of others) process.on("uncaughtException", listener);
      resolve(thrown);
    });
  });
  runInBackground(async () => await Promise.reject(error), crash);
  expect(await ended).toBe(error);
});
