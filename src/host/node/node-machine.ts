import { cpus, hostname, networkInterfaces, totalmem } from "node:os";
import type { Files, Machine } from "../port.ts";
import { findDefaultInterface, findDefaultInterface6 } from "./default-route.ts";

const MAX_ROUTES_BYTES = 4 * 1024 * 1024;

/** The real machine, from procfs and what Node.js knows. */
export function createNodeMachine(files: Pick<Files, "read">): Machine {
  /** Empty where the kernel was built without that protocol. */
  const readRoutes = async (path: string): Promise<string> => {
    return files.read(path, MAX_ROUTES_BYTES).then(
      (data) => data.toString("latin1"),
      () => "",
    );
  };
  return {
    hostname: () => hostname().trim().toLowerCase(),
    async nodeAddresses() {
      const name =
        findDefaultInterface(await readRoutes("/proc/net/route")) ??
        findDefaultInterface6(await readRoutes("/proc/net/ipv6_route"));
      return name === undefined ? [] : addressesOf(name);
    },
    memoryCapacityBytes: async () => BigInt(totalmem()),
    cpuCount: () => cpus().length,
  };
}

/** IPv4 first; no link-local IPv6 addresses, which mean nothing without their interface. */
function addressesOf(name: string): string[] {
  const addresses = (networkInterfaces()[name] ?? []).filter(({ internal }) => !internal);
  const ipv4 = addresses.filter(({ family }) => family === "IPv4");
  const ipv6 = addresses.filter(({ family, address }) => family === "IPv6" && !/^fe[89ab]/i.test(address));
  return [...ipv4, ...ipv6].map(({ address }) => address);
}
