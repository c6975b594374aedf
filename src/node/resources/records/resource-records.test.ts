import { expect, test } from "vitest";
import { silentLog } from "../../../base/log.ts";
import { createTasks } from "../../../base/tasks.ts";
import { createFakeHost } from "../../../host/fake/create-fake-host.ts";
import { openResourceRecords } from "./resource-records.ts";

const PATH = "/var/lib/kubelet/allocated_pods_state";

function createRig() {
  const { files } = createFakeHost();
  const errors: string[] = [];
  const log = { ...silentLog, error: (message: string) => void errors.push(message) };
  const tasks = createTasks((_name, error) => {
    throw error;
  });
  return { files, tasks, errors, open: async () => await openResourceRecords({ files, log, tasks }, PATH) };
}

test("what was set is there for the next agent, and what was forgotten is not", async () => {
  const { files, tasks, open } = createRig();
  await files.makeDirectory("/var/lib/kubelet", 0o755);
  const records = await open();
  records.set("a", { containers: { main: { requests: { cpu: "1" } } } });
  records.setContainer("b", "main", { requests: { cpu: "2" } });
  records.setContainer("b", "side", {});
  records.forget("a");
  records.setContainer("b", "main", { requests: { cpu: "3" } });
  await tasks.settled();
  const next = await open();
  expect(next.get("a")).toBeUndefined();
  expect(next.get("b")).toEqual({ containers: { main: { requests: { cpu: "3" } }, side: {} } });
});

test("a write that fails is made up for by the next change", async () => {
  const { files, tasks, errors, open } = createRig();
  const records = await open();
  records.set("a", { containers: {} });
  await tasks.settled();
  expect(errors).toEqual(["Failed to save pod resource information checkpoint"]);
  await files.makeDirectory("/var/lib/kubelet", 0o755);
  records.set("b", { containers: {} });
  await tasks.settled();
  const next = await open();
  expect(["a", "b", "c"].map((uid) => next.get(uid) !== undefined)).toEqual([true, true, false]);
  next.keepOnly((uid) => uid === "b");
  expect(next.get("a")).toBeUndefined();
});

test("a broken checkpoint counts for nothing, and is told", async () => {
  const { files, errors, open } = createRig();
  await files.makeDirectory("/var/lib/kubelet", 0o755);
  await files.writeAtomically(PATH, "{", 0o600);
  expect((await open()).get("a")).toBeUndefined();
  expect(errors).toEqual(["A checkpoint of the resources of pods is broken and counts for nothing"]);
});
