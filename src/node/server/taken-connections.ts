import { contains, unmappedIp } from "../../api/validation/ip-address.ts";

/**
 * Says whether the node's API takes a connection: one of this machine's own, or from one of the ranges. What the machine
 * sends to itself comes from loopback, or from the very address that it goes to.
 */
export function takesFrom(ranges: readonly string[]): (remoteAddress: string, localAddress: string) => boolean {
  const near = ["127.0.0.0/8", "::1/128", ...ranges];
  return (remote, local) => {
    const [from, to] = [unmappedIp(remote), unmappedIp(local)];
    return from === to || near.some((range) => contains(range, from));
  };
}
