import { expect, it } from "vitest";
import { silentLog } from "../../../base/log.ts";
import { createTasks } from "../../../base/tasks.ts";
import { createFakeClock } from "../../../host/fake/fake-clock.ts";
import { createOrphanDirectories, type OrphanDirectoriesDeps } from "./orphan-directories.ts";

function createRig(directories: string[], more: Partial<OrphanDirectoriesDeps> = {}) {
  const clock = createFakeClock();
  const done: string[] = [];
  const hooks = { tearDown: async (_uid: string) => {} };
  const crashes: unknown[] = [];
  const collect = createOrphanDirectories({
    clock,
    log: silentLog,
    tasks: createTasks((_name, error) => crashes.push(error)),
    directories: {
      async listDirectories() {
        done.push("list");
        return directories;
      },
      removeDirectories: async (uid) => void done.push(`remove ${uid}`),
    },
    async tearDownVolumes(uid) {
      await hooks.tearDown(uid);
      done.push(`volumes ${uid}`);
    },
    removeLogs: async (uid) => void done.push(`logs ${uid}`),
    ...more,
  });
  return { clock, hooks, crashes, collect, done: () => done.splice(0) };
}

it("removes what nobody knows: volumes and logs first, and the directory by which they are found again last", async () => {
  const { clock, collect, done } = createRig(["known", "orphan"]);
  collect((uid) => uid === "known");
  await clock.settle();
  expect(done()).toEqual(["list", "volumes orphan", "logs orphan", "remove orphan"]);
});

it("then collects the cgroups of pods that nobody knows and that have no directory any more", async () => {
  const collected: string[] = [];
  const collectCgroups = async (isKnown: (uid: string) => boolean) => {
    collected.push(...["known", "stuck", "gone"].filter((uid) => !isKnown(uid)));
  };
  const { clock, hooks, collect } = createRig(["known", "stuck"], { collectCgroups });
  hooks.tearDown = async () => {
    throw new Error("busy");
  };
  collect((uid) => uid === "known");
  await clock.settle();
  expect(collected).toEqual(["gone"]);
});

it("looks once a minute, however often it is asked, and never twice at a time", async () => {
  const { clock, hooks, collect, done } = createRig(["orphan"]);
  let resume = () => {};
  hooks.tearDown = async () => await new Promise<void>((resolve) => (resume = resolve));
  for (let count = 0; count < 3; count++) collect(() => false);
  await clock.advance(59_999);
  collect(() => false);
  await clock.advance(60_000);
  collect(() => false);
  await clock.settle();
  expect(done()).toEqual(["list"]);
  resume();
  await clock.settle();
  collect(() => true);
  await clock.settle();
  expect(done()).toEqual(["volumes orphan", "logs orphan", "remove orphan", "list"]);
});

it("goes on with the others when one cannot be removed", async () => {
  const { clock, hooks, crashes, collect, done } = createRig(["busy", "orphan"]);
  hooks.tearDown = async (uid) => {
    if (uid === "busy") throw new Error("EBUSY");
  };
  collect(() => false);
  await clock.settle();
  expect(done()).toEqual(["list", "volumes orphan", "logs orphan", "remove orphan"]);
  expect(crashes).toEqual([]);
});

it("leaves the directory of a pod that came back meanwhile", async () => {
  const { clock, hooks, collect, done } = createRig(["static"]);
  let isBack = false;
  hooks.tearDown = async () => {
    isBack = true;
  };
  collect(() => isBack);
  await clock.settle();
  expect(done()).toEqual(["list", "volumes static"]);
});
