import { expect, test } from "vitest";
import type { Pod, ResourceRequirements } from "../../../api/gen/types.ts";
import { silentLog } from "../../../base/log.ts";
import { createMetrics } from "../../../base/metrics.ts";
import { createTasks } from "../../../base/tasks.ts";
import * as cri from "../../../cri/gen/cri-v1.ts";
import { CriError } from "../../../cri/port.ts";
import type { CgroupLimits } from "../../../host/cgroup-tree-port.ts";
import { createFakeHost } from "../../../host/fake/create-fake-host.ts";
import { openResourceRecords } from "../../resources/records/resource-records.ts";
import { TEST_NODE } from "../config/__fixtures__/node.ts";
import { planContainerResize } from "../plan/container-resize.ts";
import { createPodResizer } from "./pod-resizer.ts";

const MIB = 1024 * 1024;
const NEVER = new AbortController().signal;
const sized = (cpu: string, memory: string): ResourceRequirements => ({
  requests: { cpu, memory },
  limits: { cpu, memory },
});

function makePod(resources: ResourceRequirements): Pod {
  return { metadata: { uid: "u", name: "p", namespace: "n" }, spec: { containers: [{ name: "main", resources }] } };
}

async function createRig({ usedBytes = 1, failing = false } = {}) {
  const { files, clock } = createFakeHost();
  const metrics = createMetrics();
  await files.makeDirectory("/r", 0o755);
  const tasks = createTasks((_name, error) => {
    throw error;
  });
  const actuated = await openResourceRecords({ files, log: silentLog, tasks }, "/r/actuated_pods_state");
  const calls: string[] = [];
  const refused = (rpc: string, code: "unknown" | "unimplemented") =>
    new CriError(code, { rpc, endpoint: "unix:///x", detail: "refused" });
  const resizer = createPodResizer({
    runtime: {
      async updateContainerResources({ linux }) {
        if (failing) throw refused("UpdateContainerResources", "unknown");
        calls.push(`container ${linux?.cpuQuota} ${Number(linux?.memoryLimitInBytes) / MIB}`);
        return {};
      },
      async updatePodSandboxResources() {
        throw refused("UpdatePodSandboxResources", "unimplemented");
      },
      async containerStats() {
        const memory = cri.MemoryUsage.fromPartial({ usageBytes: { value: BigInt(usedBytes) } });
        return cri.ContainerStatsResponse.fromPartial({ stats: { memory } });
      },
    },
    cgroups: {
      sizes: async (pod) => {
        const { cpu = "0" } = pod.spec?.containers[0]?.resources?.limits ?? {};
        return { now: undefined, wanted: { cpuQuotaMicroseconds: BigInt(cpu) * 100_000n } };
      },
      async limit(_pod, limits: CgroupLimits) {
        calls.push(`pod ${limits.cpuQuotaMicroseconds}`);
      },
    },
    factsOf: () => TEST_NODE,
    actuated,
    clock,
    metrics,
  });
  const resize = async (pod: Pod) => {
    const [container] = pod.spec?.containers ?? [];
    const planned = container && planContainerResize({ pod, container, id: "c", actuated: actuated.get("u") });
    const containers = planned === undefined || planned === "restart" ? [] : [planned];
    return await resizer.resize({ pod, sandboxId: "s", resize: { containers } }, NEVER);
  };
  const start = (resources: ResourceRequirements) => {
    const pod = makePod(resources);
    const [container] = pod.spec?.containers ?? [];
    if (container !== undefined) resizer.starts(pod, container);
  };
  return { resizer, resize, start, calls, metrics };
}

test("memory is changed first, then the pod's quota and the container's, and what was done is recorded", async () => {
  const { resizer, resize, start, calls, metrics } = await createRig();
  start(sized("1", "8Mi"));
  expect(await resize(makePod(sized("2", "16Mi")))).toBeUndefined();
  expect(await metrics.render()).toContain('kubelet_pod_resize_duration_milliseconds_count{success="true"} 1');
  expect(calls).toEqual(["container 100000 16", "pod 200000", "container 200000 16"]);
  expect(resizer.actuatedOf("u")?.containers["main"]).toEqual(sized("2", "16Mi"));
});

test("a container that its pod bounds gets the pod's CPU only when the pod has it", async () => {
  const { resizer, resize, calls } = await createRig();
  const podOf = (resources: ResourceRequirements): Pod => {
    const { metadata, spec = { containers: [] } } = makePod({});
    return { ...(metadata && { metadata }), spec: { ...spec, resources } };
  };
  const before = podOf(sized("1", "8Mi"));
  resizer.starts(before, { name: "main", image: "i" });
  expect(await resize(podOf(sized("2", "16Mi")))).toBeUndefined();
  expect(calls.filter((call) => call.startsWith("container"))).toEqual(["container 100000 16", "container 200000 16"]);
  expect(resizer.actuatedOf("u")?.pod).toEqual(sized("2", "16Mi"));
});

test("memory does not fall below what is used, and nothing else is changed then", async () => {
  const { resize, start, calls } = await createRig({ usedBytes: 6 * MIB });
  start(sized("1", "8Mi"));
  expect(await resize(makePod(sized("2", "4Mi")))).toBe(
    `cannot decrease memory limits: attempting to set container "main" memory limit (${4 * MIB}) below current usage (${6 * MIB})`,
  );
  expect(calls).toEqual([]);
});

test("what the runtime refuses stays as it was, to be tried again", async () => {
  const { resizer, resize, start, metrics } = await createRig({ failing: true });
  start(sized("1", "8Mi"));
  expect(await resize(makePod(sized("2", "8Mi")))).toContain("refused");
  expect(resizer.actuatedOf("u")?.containers["main"]).toEqual(sized("1", "8Mi"));
  expect(await metrics.render()).toContain('kubelet_pod_resize_duration_milliseconds_count{success="false"} 1');
});
