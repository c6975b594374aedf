import { readdirSync, readFileSync } from "node:fs";
import type { Pod } from "../../../src/api/gen/types.ts";
import type { NodeFacts } from "../../../src/node/runtime/config/node-facts.ts";

export interface Recording {
  name: string;
  pod: Pod;
  podIPs: string[];
  sandbox: WireObject & { annotations: Record<string, string>; linux: { cgroup_parent: string } };
  containers: RecordedContainer[];
}

export interface RecordedContainer {
  services: "all" | "kubernetes";
  config: WireObject & {
    metadata: { name: string; attempt?: number };
    image: { image: string };
    mounts: Array<{ container_path: string; host_path: string; readonly?: boolean }>;
    annotations: Record<string, string>;
    linux: { security_context: { namespace_options: { target_id?: string }; masked_paths: string[] } };
  };
}

type WireObject = Record<string, unknown>;

/** The node of the recordings. */
export const RECORDED_NODE: NodeFacts = {
  nodeName: "rig",
  hostIps: ["192.0.2.2"],
  clusterDns: ["10.96.0.10"],
  clusterDomain: "cluster.local",
  hostResolvConf: { nameservers: ["10.255.255.53"], searches: [], options: [] },
  allocatable: { cpu: "2", memory: "24581696Ki" },
  rootDirectory: "/var/lib/kubelet",
  podLogsDirectory: "/var/log/pods",
  seccompDefault: false,
  memoryCapacityBytes: 24_684_096n * 1024n,
  cpuCfsQuota: true,
  cpuCfsQuotaPeriodMicroseconds: 100_000n,
  cgroupVersion: 1,
  hasMemoryController: true,
  singleProcessOomKill: true,
  swap: { controllerAvailable: true, behavior: "NoSwap", capacityBytes: 0n },
  seLinuxEnabled: false,
  appArmorEnabled: true,
  hugepageSizes: ["2MB", "1GB"],
};

const DIRECTORY = new URL("./pods/", import.meta.url);

export function readRecordings(): Recording[] {
  return readdirSync(DIRECTORY).map((file) => {
    const recording = JSON.parse(readFileSync(new URL(file, DIRECTORY), "utf8"));
    // What a source notes on the pod that it brings is not in the API server's copy.
    const { pod, sandbox } = recording;
    pod.metadata.annotations = { ...pod.metadata.annotations, ...noted(sandbox.annotations) };
    return { ...recording, name: file.replace(".json", "") };
  });
}

function noted(annotations: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(annotations).filter(([name]) => name.startsWith("kubernetes.io/config.")));
}

/** The services' variables that a recorded container saw. */
export function readServiceVariables(which: "all" | "kubernetes"): Array<{ name: string; value: string }> {
  const variables: Record<string, string> = JSON.parse(
    readFileSync(new URL("./services.json", import.meta.url), "utf8"),
  );
  return Object.entries(variables)
    .map(([name, value]) => ({ name, value }))
    .filter(({ name }) => which === "all" || name.startsWith("KUBERNETES_"));
}
