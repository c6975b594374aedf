import { codeOf } from "../../base/errors.ts";
import type { NodeAgentConfig } from "../../config/node-agent-config.ts";
import type { Files, Host } from "../../host/port.ts";
import { parseResolvConf, type ResolvConf } from "../identity/resolv-conf.ts";
import type { NodeFacts } from "./config/node-facts.ts";

const MAX_FILE_BYTES = 1024 * 1024;

/** Reads from the machine and the configuration what pods' configs depend on. Rejects when the machine cannot be read. */
export async function readNodeFacts(host: Host, config: NodeAgentConfig): Promise<NodeFacts> {
  const { kubelet } = config;
  const memoryCapacityBytes = await host.machine.memoryCapacityBytes();
  const cgroupVersion = (await host.files.stat("/sys/fs/cgroup/cgroup.controllers")) === undefined ? 1 : 2;
  return {
    nodeName: config.nodeName,
    hostIps: config.nodeIps.length > 0 ? config.nodeIps : await host.machine.nodeAddresses(),
    clusterDns: kubelet.clusterDNS ?? [],
    clusterDomain: kubelet.clusterDomain,
    hostResolvConf: await readResolvConf(host.files, kubelet.resolvConf ?? ""),
    rootDirectory: config.rootDirectory,
    podLogsDirectory: config.podLogsDirectory,
    seccompDefault: kubelet.seccompDefault ?? false,
    memoryCapacityBytes,
    allocatable: { cpu: String(host.machine.cpuCount()), memory: String(memoryCapacityBytes) },
    cpuCfsQuota: kubelet.cpuCFSQuota ?? true,
    cpuCfsQuotaPeriodMicroseconds: BigInt(Math.round((kubelet.cpuCFSQuotaPeriod ?? 100) * 1000)),
    cgroupVersion,
    singleProcessOomKill: kubelet.singleProcessOOMKill ?? cgroupVersion === 1,
    swap: {
      // Swap of pods is a later version's; until then containers get what the runtime gives them.
      controllerAvailable: false,
      behavior: "NoSwap",
      capacityBytes: 0n,
    },
    hugepageSizes: await readHugepageSizes(host.files),
  };
}

async function readResolvConf(files: Files, path: string): Promise<ResolvConf | undefined> {
  if (path === "") return undefined;
  try {
    return parseResolvConf((await files.read(path, MAX_FILE_BYTES)).toString("utf8"));
  } catch (error) {
    if (codeOf(error) === "ENOENT") return undefined;
    throw error;
  }
}

/** The kernel lists them as directories named `hugepages-2048kB`. */
async function readHugepageSizes(files: Files): Promise<string[]> {
  const directory = "/sys/kernel/mm/hugepages";
  if ((await files.stat(directory)) === undefined) return [];
  const kibibytes = (await files.list(directory)).map(({ name }) => Number(/^hugepages-(\d+)kB$/.exec(name)?.[1]));
  return kibibytes
    .filter((size) => Number.isInteger(size))
    .toSorted((a, b) => a - b)
    .map(cgroupSizeName);
}

/** As the files of the hugetlb cgroup controller name page sizes: `2MB`, `1GB`. */
function cgroupSizeName(kibibytes: number): string {
  if (kibibytes >= 1024 * 1024) return `${kibibytes / 1024 / 1024}GB`;
  return kibibytes >= 1024 ? `${kibibytes / 1024}MB` : `${kibibytes}KB`;
}
