import { codeOf } from "../../../base/errors.ts";
import { silentLog } from "../../../base/log.ts";
import type { NodeAgentConfig } from "../../../config/node-agent-config.ts";
import { readHasMemoryController } from "../../../host/memory-controller.ts";
import type { Files, Host } from "../../../host/port.ts";
import { computeNodeAddresses } from "../../cluster/node-status/node-addresses.ts";
import { readCgroupVersion } from "../../resources/capacity/cgroup-version.ts";
import { readHasSwapController } from "../../resources/capacity/machine-swap.ts";
import { readNodeCapacity } from "../../resources/capacity/read-node-capacity.ts";
import { readMemorySettings } from "../../resources/sizes/memory-settings.ts";
import { parseResolvConf, type ResolvConf } from "../identity/resolv-conf.ts";
import type { NodeFacts } from "./node-facts.ts";

const MAX_FILE_BYTES = 1024 * 1024;

/** Reads from the machine and the configuration what pods' configs depend on. Rejects when the machine cannot be read. */
export async function readNodeFacts(host: Host, config: NodeAgentConfig): Promise<NodeFacts> {
  const { kubelet } = config;
  // The node's status logs again and again what cannot be read of the machine, so this reading logs nothing.
  const { machine, allocatable } = await readNodeCapacity({ machine: host.machine, log: silentLog }, config);
  const cgroupVersion = await readCgroupVersion(host.files);
  const hasMemoryController = await readHasMemoryController(host.files, cgroupVersion);
  return {
    nodeName: config.nodeName,
    hostIps: await readHostIps(host, config),
    clusterDns: kubelet.clusterDNS ?? [],
    clusterDomain: kubelet.clusterDomain,
    hostResolvConf: await readResolvConf(host.files, kubelet.resolvConf ?? ""),
    rootDirectory: config.rootDirectory,
    podLogsDirectory: config.podLogsDirectory,
    seccompDefault: kubelet.seccompDefault ?? false,
    memoryCapacityBytes: machine.memoryBytes,
    allocatable,
    cpuCfsQuota: kubelet.cpuCFSQuota ?? true,
    cpuCfsQuotaPeriodMicroseconds: BigInt(Math.round((kubelet.cpuCFSQuotaPeriod ?? 100) * 1000)),
    cgroupVersion,
    hasMemoryController,
    singleProcessOomKill: kubelet.singleProcessOOMKill ?? cgroupVersion === 1,
    swap: {
      controllerAvailable: await readHasSwapController(host.files, cgroupVersion),
      behavior: kubelet.memorySwap.swapBehavior === "LimitedSwap" ? "LimitedSwap" : "NoSwap",
      capacityBytes: machine.swapBytes,
    },
    seLinuxEnabled: (await host.files.stat("/sys/fs/selinux/enforce")) !== undefined,
    appArmorEnabled: await readHasAppArmor(host.files),
    hugepageSizes: await readHugepageSizes(host.files),
    ...readMemorySettings(config, { cgroupVersion, hasMemoryController, allocatable }),
  };
}

/**
 * Returns the node's own addresses as its object shows them, or the addresses asked for where the machine has none of
 * them.
 */
async function readHostIps({ machine }: Host, config: NodeAgentConfig): Promise<readonly string[]> {
  const { nodeName, nodeIps, fallbackNodeIp: fallbackIp } = config;
  const { addresses } = computeNodeAddresses({
    ...{ nodeName, nodeIps, fallbackIp },
    isCloudExternal: false,
    machineAddresses: await machine.nodeAddresses(),
    interfaceAddresses: machine.interfaceAddresses(),
    previous: [],
  });
  const own = addresses.filter(({ type }) => type === "InternalIP").map(({ address }) => address);
  return own.length > 0 ? own : nodeIps;
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

/** AppArmor may be built in and mounted, and still be turned off (`IsEnabled` of libcontainer/apparmor). */
async function readHasAppArmor(files: Files): Promise<boolean> {
  if ((await files.stat("/sys/kernel/security/apparmor")) === undefined) return false;
  const enabled = await files.read("/sys/module/apparmor/parameters/enabled", MAX_FILE_BYTES).catch(() => undefined);
  return enabled?.toString("utf8").startsWith("Y") === true;
}

/** The kernel lists the sizes as directories named `hugepages-2048kB`. */
async function readHugepageSizes(files: Files): Promise<string[]> {
  const directory = "/sys/kernel/mm/hugepages";
  if ((await files.stat(directory)) === undefined) return [];
  const kibibytes = (await files.list(directory)).map(({ name }) => Number(/^hugepages-(\d+)kB$/.exec(name)?.[1]));
  return kibibytes
    .filter((size) => Number.isInteger(size))
    .toSorted((a, b) => a - b)
    .map(cgroupSizeName);
}

/** Names a page size as the files of the hugetlb cgroup controller do: `2MB`, `1GB`. */
function cgroupSizeName(kibibytes: number): string {
  if (kibibytes >= 1024 * 1024) return `${kibibytes / 1024 / 1024}GB`;
  return kibibytes >= 1024 ? `${kibibytes / 1024}MB` : `${kibibytes}KB`;
}
