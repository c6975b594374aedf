import type { NodeFacts } from "../node-facts.ts";

/** A small cgroup v2 node for tests. */
export const TEST_NODE: NodeFacts = {
  nodeName: "rig",
  hostIps: ["192.0.2.2"],
  clusterDns: ["10.96.0.10"],
  clusterDomain: "cluster.local",
  hostResolvConf: { nameservers: ["192.0.2.53"], searches: [], options: [] },
  allocatable: { cpu: "2", memory: "4Gi" },
  rootDirectory: "/var/lib/kubelet",
  podLogsDirectory: "/var/log/pods",
  seccompDefault: false,
  memoryCapacityBytes: 4n * 1024n ** 3n,
  cpuCfsQuota: true,
  cpuCfsQuotaPeriodMicroseconds: 100_000n,
  cgroupVersion: 2,
  hasMemoryController: true,
  singleProcessOomKill: false,
  swap: { controllerAvailable: true, behavior: "NoSwap", capacityBytes: 0n },
  seLinuxEnabled: false,
  appArmorEnabled: true,
  hugepageSizes: [],
};
