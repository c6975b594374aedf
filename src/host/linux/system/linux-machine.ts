import { statfs } from "node:fs/promises";
import { cpus, hostname, networkInterfaces, release, totalmem } from "node:os";
import type { Files, Hugepages, Machine } from "../../port.ts";
import { readDefaultInterface } from "../network/default-route.ts";
import { readMachineIdentity } from "./machine-identity.ts";
import { readMachineParts } from "./machine-parts.ts";

const MAX_ROUTES_BYTES = 4 * 1024 * 1024;
const MAX_FACT_BYTES = 64 * 1024;
/** The size that Node.js uses, unless its environment says otherwise when it starts. */
const DEFAULT_THREAD_POOL_SIZE = 4;
const HUGEPAGES_DIRECTORY = "/sys/kernel/mm/hugepages";

/** The real machine, from procfs, sysfs and what Node.js knows. */
export function createLinuxMachine(files: Pick<Files, "read" | "list">): Machine {
  const readRoutes = async (path: string): Promise<string> => {
    return files.read(path, MAX_ROUTES_BYTES).then(
      (data) => data.toString("latin1"),
      () => "",
    );
  };
  return {
    hostname: () => hostname().trim().toLowerCase(),
    async nodeAddresses() {
      const name = await readDefaultInterface(readRoutes);
      return name === undefined ? [] : addressesOf(name);
    },
    interfaceAddresses: () =>
      Object.values(networkInterfaces()).flatMap((addresses = []) => addresses.map(({ address }) => address)),
    memoryCapacityBytes: async () => BigInt(totalmem()),
    async swapCapacityBytes() {
      const memory = (await files.read("/proc/meminfo", MAX_FACT_BYTES)).toString("latin1");
      return BigInt(/^SwapTotal:\s*(\d+) kB$/m.exec(memory)?.[1] ?? "0") * 1024n;
    },
    cpuCount: () => cpus().length,
    fileAccessPlaces: () => Number(process.env["UV_THREADPOOL_SIZE"]) || DEFAULT_THREAD_POOL_SIZE,
    hugepages: async () => readHugepages(files),
    async fileSystemCapacity(path) {
      const { blocks, bsize, files: inodes } = await statfs(path, { bigint: true });
      return { sizeBytes: blocks * bsize, inodes };
    },
    async fileSystemUsage(path) {
      const { bsize, blocks, bfree, bavail, files: inodes, ffree } = await statfs(path, { bigint: true });
      return {
        bytes: { total: blocks * bsize, available: bavail * bsize, used: (blocks - bfree) * bsize },
        inodes: { total: inodes, available: ffree, used: inodes - ffree },
      };
    },
    identity: async () => readMachineIdentity(files, release()),
    parts: async () => readMachineParts(files),
  };
}

/**
 * The addresses, IPv4 first. Link-local IPv6 addresses are left out, because they mean nothing without their interface.
 */
function addressesOf(name: string): string[] {
  const addresses = (networkInterfaces()[name] ?? []).filter(({ internal }) => !internal);
  const ipv4 = addresses.filter(({ family }) => family === "IPv4");
  const ipv6 = addresses.filter(({ family, address }) => family === "IPv6" && !/^fe[89ab]/i.test(address));
  return [...ipv4, ...ipv6].map(({ address }) => address);
}

/** A kernel without huge pages, or a container that does not show them, has none. */
async function readHugepages(files: Pick<Files, "read" | "list">): Promise<Hugepages[]> {
  const directories = await files.list(HUGEPAGES_DIRECTORY).catch(() => []);
  const sizes = directories.map(async ({ name }) => {
    const kibibytes = /^hugepages-(\d+)kB$/.exec(name)?.[1];
    if (kibibytes === undefined) return [];
    const pages = await files
      .read(`${HUGEPAGES_DIRECTORY}/${name}/nr_hugepages`, MAX_FACT_BYTES)
      .then((data) => /^\d+/.exec(data.toString("latin1"))?.[0] ?? "0");
    return [{ pageSizeBytes: BigInt(kibibytes) * 1024n, pages: BigInt(pages) }];
  });
  return (await Promise.all(sizes)).flat().sort((a, b) => (a.pageSizeBytes < b.pageSizeBytes ? -1 : 1));
}
