import { expect, it } from "vitest";
import { composeConfiguration } from "../../../config/compose-configuration.ts";
import { createNodeAgentConfig } from "../../../config/node-agent-config.ts";
import { createFakeHost } from "../../../host/fake/create-fake-host.ts";
import { readNodeFacts } from "./read-node-facts.ts";

async function read(flags: Record<string, unknown> = {}, files: Record<string, string> = {}) {
  const given = new Map(Object.entries(flags));
  const composed = composeConfiguration({ dropIns: [], flags: given });
  const { config } = createNodeAgentConfig({ ...composed, flags: given, hostname: "n", workingDirectory: "/" });
  const host = createFakeHost();
  for (const [path, text] of Object.entries(files)) host.files.put(path, text);
  return await readNodeFacts(host, config);
}

it("takes the machine as it is", async () => {
  expect(await read()).toMatchObject({
    nodeName: "n",
    hostIps: ["192.0.2.10"],
    memoryCapacityBytes: 8n * 1024n ** 3n,
    allocatable: { cpu: "2", memory: "8092Mi" },
    cgroupVersion: 1,
    singleProcessOomKill: true,
    hostResolvConf: undefined,
    hugepageSizes: [],
    cpuCfsQuotaPeriodMicroseconds: 100_000n,
  });
});

it("sees cgroup v2, huge pages and the node's resolver", async () => {
  const facts = await read(
    {},
    {
      "/sys/fs/cgroup/cgroup.controllers": "cpu memory",
      "/sys/kernel/mm/hugepages/hugepages-1048576kB/nr_hugepages": "0",
      "/sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages": "0",
      "/sys/kernel/mm/hugepages/hugepages-64kB/nr_hugepages": "0",
      "/etc/resolv.conf": "nameserver 192.0.2.53\n",
    },
  );
  expect(facts).toMatchObject({
    cgroupVersion: 2,
    singleProcessOomKill: false,
    hostResolvConf: { nameservers: ["192.0.2.53"] },
    hugepageSizes: ["64KB", "2MB", "1GB"],
  });
});

it.each([
  [true, {}],
  [true, { "/proc/cgroups": "#subsys_name\thierarchy\tnum_cgroups\tenabled\nmemory\t9\t40\t1\n" }],
  [false, { "/proc/cgroups": "#subsys_name\thierarchy\tnum_cgroups\tenabled\nmemory\t0\t40\t0\n" }],
  [true, { "/sys/fs/cgroup/cgroup.controllers": "cpuset cpu io memory hugetlb pids\n" }],
  [false, { "/sys/fs/cgroup/cgroup.controllers": "cpuset cpu io hugetlb pids\n" }],
])("sees whether the kernel limits memory: %s with %j", async (hasMemoryController, files) => {
  expect((await read({}, files)).hasMemoryController).toBe(hasMemoryController);
});

it("sees the swap that containers may have", async () => {
  const files = { "/sys/fs/cgroup/memory/memory.memsw.limit_in_bytes": "0" };
  expect((await read({}, files)).swap).toMatchObject({ controllerAvailable: true, behavior: "NoSwap" });
  expect((await read()).swap.controllerAvailable).toBe(false);
});

it.each([
  [{}, ["192.0.2.10"]],
  [{ "node-ip": "0.0.0.0" }, ["192.0.2.10"]],
  [{ "node-ip": "198.51.100.1" }, ["198.51.100.1"]],
])("has the addresses that the node's object shows, with %j", async (flags, hostIps) => {
  expect((await read(flags)).hostIps).toEqual(hostIps);
});

it("does not start on a resolver file that cannot be read", async () => {
  await expect(read({}, { "/etc/resolv.conf/not-a-file": "" })).rejects.toMatchObject({ code: "EISDIR" });
});
