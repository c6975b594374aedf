import { expect, it } from "vitest";
import type { Pod } from "../../api/gen/types.ts";
import { createFakeNode, NEVER } from "./__fixtures__/fake-node.ts";
import { removePod } from "./remove-pod.ts";

const pod: Pod = { metadata: { uid: "uid-1", name: "web", namespace: "default" } };
const LOGS = "/var/log/pods/default_web_uid-1";

async function createRig() {
  const node = createFakeNode();
  const { ids } = await node.makePod(pod, { a: { command: ["true"] }, b: { command: ["true"] } });
  for (const [name, id] of Object.entries(ids)) {
    node.host.files.put(`/var/log/containers/web_default_${name}-${id}.log`, "");
  }
  await node.clock.settle();
  const directories = { podLogsDirectory: "/var/log/pods", containerLogsDirectory: "/var/log/containers" };
  const deps = { runtime: node.cri.runtime, files: node.host.files, ...directories };
  const remove = async () => await removePod(deps, await node.read(pod), NEVER);
  return { ...node, remove };
}

it("removes containers, sandboxes, links and logs", async () => {
  const { cri, host, calls, remove } = await createRig();
  await remove();
  expect(cri.containers()).toEqual([]);
  expect(cri.sandboxes()).toEqual([]);
  expect(await host.files.list("/var/log/containers")).toEqual([]);
  expect(await host.files.stat(LOGS)).toBeUndefined();
  expect(calls).toEqual(["0s removeContainer", "0s removeContainer", "0s removePodSandbox"]);
});

it("keeps the logs while the runtime holds something, and comes to an end when it is tried again", async () => {
  const { cri, host, calls, failing, remove } = await createRig();
  failing.set("removeContainer", "unavailable");
  await expect(remove()).rejects.toThrow(/^removing the pod from the runtime: .*; /);
  expect(calls).toHaveLength(3);
  expect(await host.files.stat(LOGS)).toBeDefined();
  failing.clear();
  await remove();
  expect(cri.containers()).toEqual([]);
  expect(await host.files.stat(LOGS)).toBeUndefined();
});

it("what is gone already is no failure", async () => {
  const { failing, host, remove } = await createRig();
  for (const rpc of ["removeContainer", "removePodSandbox"]) failing.set(rpc, "not-found");
  await remove();
  expect(await host.files.stat(LOGS)).toBeUndefined();
});
