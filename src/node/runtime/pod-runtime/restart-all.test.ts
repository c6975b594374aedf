import { expect, it } from "vitest";
import { createRuntimeRig, makePod } from "./__fixtures__/runtime-rig.ts";

const RULE = { action: "RestartAllContainers", exitCodes: { operator: "In", values: [88] } };
const pod = makePod({
  init: [{ name: "init", command: ["true"] }],
  main: [{}, { name: "watcher", restartPolicy: "Never", restartPolicyRules: [RULE] }],
  spec: { restartPolicy: "Never" },
});

async function createRunning() {
  const rig = createRuntimeRig();
  const exitWatcher = async () => {
    const watcher = rig.cri.containers().find(({ config }) => config.metadata?.name === "watcher");
    rig.cri.exitContainer(watcher?.id ?? "", 88);
    await rig.clock.settle();
  };
  for (let round = 0; round < 2; round++) await rig.sync(pod);
  expect(rig.containers()).toEqual(["init#0 exited", "main#0 running", "watcher#0 running"]);
  return { ...rig, exitWatcher };
}

it("an exit by the rule begins the pod anew in its sandbox, and no log is overwritten", async () => {
  const { sync, containers, cri, exitWatcher, host, logDirectory } = await createRunning();
  await exitWatcher();
  await sync(pod);
  expect(containers()).toEqual(["init#1 exited"]);
  await sync(pod);
  expect(containers()).toEqual(["init#1 exited", "main#1 running", "watcher#1 running"]);
  expect(cri.sandboxes()).toHaveLength(1);
  const logs = await host.files.list(`${logDirectory(pod)}/main`);
  expect(logs.map(({ name }) => name).sort()).toEqual(["0.log", "1.log"]);
});

it("the second time waits for the back-off, and the oldest logs go", async () => {
  const { sync, containers, clock, exitWatcher, host, logDirectory } = await createRunning();
  await exitWatcher();
  for (let round = 0; round < 2; round++) await sync(pod);
  await exitWatcher();
  expect((await sync(pod)).told).toEqual(["watcher CrashLoopBackOff"]);
  expect(containers()).toContain("main#1 running");
  await clock.advance(10_000);
  for (let round = 0; round < 2; round++) await sync(pod);
  expect(containers()).toEqual(["init#2 exited", "main#2 running", "watcher#2 running"]);
  const logs = await host.files.list(`${logDirectory(pod)}/main`);
  expect(logs.map(({ name }) => name).sort()).toEqual(["1.log", "2.log"]);
});

it("a removal that was cut off goes on with the next sync", async () => {
  const { sync, containers, failing, exitWatcher } = await createRunning();
  await exitWatcher();
  failing.set("removeContainer", "unknown");
  await expect(sync(pod)).rejects.toThrow();
  expect(containers()).toContain("watcher#0 exited");
  failing.clear();
  for (let round = 0; round < 2; round++) await sync(pod);
  expect(containers()).toEqual(["init#1 exited", "main#1 running", "watcher#1 running"]);
});
