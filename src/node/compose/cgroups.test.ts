import { describe, expect, it } from "vitest";
import { silentLog } from "../../base/log.ts";
import { createMetrics } from "../../base/metrics.ts";
import type { Decision } from "../../base/timeline.ts";
import { composeConfiguration } from "../../config/compose-configuration.ts";
import { createNodeAgentConfig } from "../../config/node-agent-config.ts";
import { createRuntimeEvents } from "../../cri/create-runtime-events.ts";
import { createFakeCri } from "../../cri/fake/create-fake-cri.ts";
import { CgroupDriver, RuntimeConfigResponse } from "../../cri/gen/cri-v1.ts";
import { createFakeHost, type FakeHost } from "../../host/fake/create-fake-host.ts";
import { readNodeFacts } from "../runtime/config/read-node-facts.ts";
import { composeCgroups } from "./cgroups.ts";

const GIB = 1024n ** 3n;
const RESERVED = {
  systemReserved: { cpu: "250m", memory: "1Gi", pid: "1000" },
  kubeReserved: { cpu: "250m", memory: "1Gi" },
  evictionHard: { "memory.available": "1Gi" },
};

const noPlugin = (): never => {
  throw new Error("there are no plugins on this machine");
};

/** A machine of 2 processors and 8 GiB, on which the cgroups that the fields name are there. */
async function run(fields: object, driver: CgroupDriver = CgroupDriver.CGROUPFS, prepare?: (host: FakeHost) => void) {
  const host = createFakeHost();
  prepare?.(host);
  const { clock, cgroups, proc } = host;
  proc.taskCounts = { current: 1, max: 32_768 };
  for (const path of ["/system", "/kube"]) await cgroups.make(path);
  const fake = createFakeCri({ clock, files: host.files }).connect();
  const told = RuntimeConfigResponse.fromPartial({ linux: { cgroupDriver: driver } });
  const cri = { ...fake, runtime: { ...fake.runtime, runtimeConfig: async () => told } };
  const text = JSON.stringify({ apiVersion: "kubelet.config.k8s.io/v1beta1", kind: "KubeletConfiguration", ...fields });
  const flags = new Map();
  const { configuration, featureGates } = composeConfiguration({ dropIns: [{ path: "/f", text }], flags });
  const common = { configuration, featureGates, flags, hostname: "n", workingDirectory: "/" };
  const { config } = createNodeAgentConfig(common);
  const runtimeEvents = createRuntimeEvents({ runtime: cri.runtime, clock, log: silentLog });
  const plugins = {
    connectRegistration: noPlugin,
    connectCsi: noPlugin,
    connectDevicePlugin: noPlugin,
    connectDraPlugin: noPlugin,
    serve: noPlugin,
  };
  const ports = {
    host,
    cri,
    events: runtimeEvents,
    plugins,
    kube: undefined,
    log: silentLog,
    metrics: createMetrics(),
  };
  const parts = composeCgroups({ ports, config, facts: await readNodeFacts(host, config) }, undefined);
  const events: Decision[] = [];
  const stopping = new AbortController();
  const running = parts.parts({ recordNodeEvent: (decision) => void events.push(decision) });
  const ends = running.map(async (part) => await part.run(stopping.signal));
  await clock.settle();
  stopping.abort();
  await Promise.all(ends);
  return { host, parts, limits: cgroups.tree.limits, told: events.map(({ message }) => message), ports };
}

describe("cgroups of a node", () => {
  it("leave pods what is not set aside, thresholds of evictions included", async () => {
    const { limits, parts, told, ports } = await run(RESERVED);
    expect(parts.pathOfAllPods()).toBe("/kubepods");
    expect(limits.get("/kubepods")).toMatchObject({ cpuShares: 1_536n, memoryBytes: 6n * GIB, maxTasks: 31_768n });
    expect(told).toEqual(["Updated Node Allocatable limit across pods"]);
    expect(await ports.metrics.render()).toMatch(
      /kubelet_cgroup_manager_duration_seconds_count\{operation_type="create"\} 3\n/,
    );
  });

  it("leave pods all of the machine where nothing is to be enforced", async () => {
    const { limits } = await run({ ...RESERVED, enforceNodeAllocatable: ["none"] });
    expect(limits.get("/kubepods")).toMatchObject({ cpuShares: 2_048n, memoryBytes: 8n * GIB, maxTasks: 32_768n });
  });

  it("hold others to what is set aside for them", async () => {
    const { limits, told } = await run({
      ...RESERVED,
      enforceNodeAllocatable: ["pods", "system-reserved", "kube-reserved-compressible"],
      systemReservedCgroup: "/system",
      kubeReservedCgroup: "/kube",
    });
    expect(limits.get("/system")).toEqual({ cpuShares: 256n, memoryBytes: GIB, maxTasks: 1_000n });
    expect(limits.get("/kube")).toEqual({ cpuShares: 256n });
    expect(told).toHaveLength(3);
  });

  it("are not made where pods are to have none", async () => {
    const { limits, parts } = await run({ cgroupsPerQOS: false, enforceNodeAllocatable: [] });
    expect(parts.pods).toBeUndefined();
    expect([...limits.keys()]).toEqual(["/system", "/kube"]);
  });

  it("are slices where the runtime has systemd make its own", async () => {
    const { host, parts, limits, told } = await run(
      {
        ...RESERVED,
        cgroupDriver: "systemd",
        enforceNodeAllocatable: ["pods", "kube-reserved"],
        kubeReservedCgroup: "/kube",
      },
      CgroupDriver.SYSTEMD,
      ({ systemd, cgroups }) => {
        systemd.fault = undefined;
        systemd.onStart = (unit) =>
          void cgroups.make(unit === "kubepods.slice" ? `/${unit}` : `/kubepods.slice/${unit}`);
        void cgroups.make("/kube.slice");
      },
    );
    expect(parts.pathOfAllPods()).toBe("/kubepods.slice");
    expect(limits.get("/kubepods.slice")).toMatchObject({ cpuShares: 1_536n, memoryBytes: 6n * GIB });
    expect(host.systemd.units.get("kube.slice")).toEqual(
      new Map([
        ["MemoryLimit", GIB],
        ["CPUShares", 256n],
      ]),
    );
    expect([...host.systemd.units.keys()].toSorted()).toEqual([
      "kube.slice",
      "kubepods-besteffort.slice",
      "kubepods-burstable.slice",
      "kubepods.slice",
    ]);
    expect(told).toHaveLength(2);
  });

  it("need the root that the configuration names", async () => {
    await expect(run({ cgroupRoot: "/none" })).rejects.toThrow(/^invalid configuration: cgroup \["none"\] has some/);
    expect((await run({ cgroupRoot: "/system" })).parts.pathOfAllPods()).toBe("/system/kubepods");
  });
});
