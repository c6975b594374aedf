import { expect, it } from "vitest";
import type { Pod } from "../../../api/gen/types.ts";
import { fileError } from "../../../host/file-error.ts";
import { createFakeNode, NEVER } from "../reading/__fixtures__/fake-node.ts";
import { removeContainerAndLog, removePod } from "./remove-pod.ts";

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
  const remove = async (keepLogs = false) => await removePod(deps, await node.read(pod), { keepLogs, signal: NEVER });
  return { ...node, deps, remove };
}

it("removes containers, sandboxes, links and logs", async () => {
  const { cri, host, calls, remove } = await createRig();
  await remove();
  expect(cri.containers()).toEqual([]);
  expect(cri.sandboxes()).toEqual([]);
  expect(await host.files.list("/var/log/containers")).toEqual([]);
  expect(await host.files.stat(LOGS)).toBeUndefined();
  // It takes its containers along.
  expect(calls).toEqual(["0s removePodSandbox"]);
});

it("removes a container by itself whose sandbox is not known to be there", async () => {
  const { cri, deps, read } = await createRig();
  const status = await read(pod);
  await removePod(deps, { ...status, sandboxes: [] }, { keepLogs: false, signal: NEVER });
  expect(cri.containers()).toEqual([]);
  expect(cri.sandboxes()).toHaveLength(1);
});

it("leaves the logs of a pod that begins anew, so that its restart counts go on", async () => {
  const { cri, host, remove } = await createRig();
  const logs = await host.files.list(`${LOGS}/a`);
  await remove(true);
  expect([...cri.containers(), ...cri.sandboxes()]).toEqual([]);
  expect(logs).toHaveLength(1);
  expect(await host.files.list(`${LOGS}/a`)).toEqual(logs);
});

it("keeps the logs while the runtime holds something, and comes to an end when it is tried again", async () => {
  const { cri, host, calls, failing, remove } = await createRig();
  failing.set("removePodSandbox", "unavailable");
  await expect(remove()).rejects.toThrow("removePodSandbox fails");
  expect(calls).toHaveLength(1);
  expect(await host.files.stat(LOGS)).toBeDefined();
  failing.clear();
  await remove();
  expect(cri.containers()).toEqual([]);
  expect(await host.files.stat(LOGS)).toBeUndefined();
});

it("what is gone already is no failure", async () => {
  const { deps, failing, host, read } = await createRig();
  const status = await read(pod);
  for (const rpc of ["removeContainer", "removePodSandbox"]) failing.set(rpc, "not-found");
  const [sandbox] = status.sandboxes.map((each) => ({ ...each, id: "another" }));
  for (const sandboxes of [status.sandboxes, sandbox === undefined ? [] : [sandbox]]) {
    await removePod(deps, { ...status, sandboxes }, { keepLogs: false, signal: NEVER });
  }
  expect(await host.files.stat(LOGS)).toBeUndefined();
});

it("takes a dead container's log along, with its rotated files, and no other one's", async () => {
  const { cri, host, deps, read } = await createRig();
  for (const name of ["0.log.20260102-030405.gz", "0.log.20260102-030406", "1.log", "10.log"]) {
    host.files.put(`${LOGS}/a/${name}`, "");
  }
  const status = await read(pod);
  const container = status.containers.find(({ name }) => name === "a");
  if (container === undefined) throw new Error("no container");
  await removeContainerAndLog(deps, status, container, NEVER);
  expect((await host.files.list(`${LOGS}/a`)).map(({ name }) => name)).toEqual(["1.log", "10.log"]);
  expect((await host.files.list(`${LOGS}/b`)).map(({ name }) => name)).toEqual(["0.log"]);
  expect(cri.containers().map(({ config }) => config.metadata?.name)).toEqual(["b"]);
});

it("removes a container whose logs are gone, and none whose logs cannot be listed", async () => {
  const { cri, host, deps, read } = await createRig();
  const status = await read(pod);
  const [first, second] = status.containers;
  if (first === undefined || second === undefined) throw new Error("no containers");
  await host.files.remove(`${LOGS}/${first.name}`);
  await removeContainerAndLog(deps, status, first, NEVER);
  expect(cri.containers().map(({ id }) => id)).toEqual([second.id]);
  const openDirectoryBeneath = async () => await Promise.reject(fileError("EACCES", "open", LOGS));
  const files = { ...host.files, openDirectoryBeneath };
  await expect(removeContainerAndLog({ ...deps, files }, status, second, NEVER)).rejects.toThrow("EACCES");
  expect(cri.containers().map(({ id }) => id)).toEqual([second.id]);
});

it.each(["before it looks", "after it looked"])(
  "removes nothing where a link leads that took the place of the logs %s",
  async (when) => {
    const { cri, host, deps, read } = await createRig();
    host.files.put("/etc/0.log", "of the host");
    const status = await read(pod);
    const [container] = status.containers;
    if (container === undefined) throw new Error("no container");
    const exchange = () => {
      host.files.move(`${LOGS}/${container.name}`, `${LOGS}/moved`);
      host.files.putLink("/etc", `${LOGS}/${container.name}`);
    };
    if (when === "before it looks") exchange();
    else {
      const end = host.files.intercept(({ operation, phase }) => {
        if (operation !== "list" || phase !== "after") return;
        end();
        exchange();
      });
    }
    await removeContainerAndLog(deps, status, container, NEVER);
    expect(host.files.text("/etc/0.log")).toBe("of the host");
    expect(cri.containers().map(({ id }) => id)).not.toContain(container.id);
  },
);

it("removes no log that is not where the node keeps them", async () => {
  const { host, deps, read } = await createRig();
  host.files.put("/etc/passwd", "");
  const status = await read(pod);
  for (const container of status.containers) {
    await removeContainerAndLog(deps, status, { ...container, logPath: "/etc/passwd" }, NEVER);
  }
  expect(host.files.text("/etc/passwd")).toBe("");
});
