/** A flag of the kernel's routes: the route is usable. */
const RTF_UP = 0x1;
const RTF_REJECT = 0x200;

/**
 * The interface that packets to strangers leave by; undefined without a network. `read` gives the text of a file, and
 * an empty one where the kernel was built without that protocol.
 */
export async function readDefaultInterface(read: (path: string) => Promise<string>): Promise<string | undefined> {
  return (
    findDefaultInterface(await read("/proc/net/route")) ?? findDefaultInterface6(await read("/proc/net/ipv6_route"))
  );
}

/** The interface of the IPv4 default route with the lowest metric, from the text of `/proc/net/route`. */
export function findDefaultInterface(routes: string): string | undefined {
  const candidates = routes
    .split("\n")
    .slice(1)
    .map((line) => line.trim().split(/\s+/))
    .map(([name, destination, , flags, , , metric, mask]) => ({ name, destination, flags, metric, mask }))
    .filter(({ destination, mask, flags }) => isZero(destination) && isZero(mask) && isUsable(flags))
    .sort((a, b) => Number(a.metric) - Number(b.metric));
  return candidates[0]?.name;
}

/** The same for IPv6, from the text of `/proc/net/ipv6_route`. */
export function findDefaultInterface6(routes: string): string | undefined {
  const candidates = routes
    .split("\n")
    .map((line) => line.trim().split(/\s+/))
    .map((fields) => ({
      destination: fields[0],
      prefixLength: fields[1],
      metric: fields[5],
      flags: fields[8],
      name: fields[9],
    }))
    .filter(({ destination, prefixLength, flags, name }) => {
      return isZero(destination) && isZero(prefixLength) && isUsable(flags) && name !== "lo";
    })
    .sort((a, b) => Number.parseInt(a.metric ?? "0", 16) - Number.parseInt(b.metric ?? "0", 16));
  return candidates[0]?.name;
}

function isZero(hexadecimal: string | undefined): boolean {
  return hexadecimal !== undefined && /^0+$/.test(hexadecimal);
}

function isUsable(flags: string | undefined): boolean {
  const bits = Number.parseInt(flags ?? "", 16);
  return (bits & RTF_UP) !== 0 && (bits & RTF_REJECT) === 0;
}
