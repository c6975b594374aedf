import type { PodStatus } from "../../../api/gen/types.ts";
import { isHostNetworkPod } from "../../../api/pods.ts";
import type { PodStatusInput } from "./pod-status-input.ts";

type Addresses = Pick<PodStatus, "hostIP" | "hostIPs" | "podIP" | "podIPs">;

/** The node's addresses and the pod's, the pod's in the order of the node's address families, one of each. */
export function computePodAddresses(input: PodStatusInput, published: PodStatus): Addresses {
  const podIps = choosePodIps(input, published);
  const hostIps = input.hostIps.slice(0, 2);
  const [hostIP] = hostIps;
  const [podIP] = podIps;
  return {
    ...(hostIP === undefined ? {} : { hostIP, hostIPs: hostIps.map((ip) => ({ ip })) }),
    ...(podIP === undefined ? {} : { podIP, podIPs: podIps.map((ip) => ({ ip })) }),
  };
}

function choosePodIps(input: PodStatusInput, published: PodStatus): string[] {
  const before = published.podIPs?.map(({ ip }) => ip) ?? [];
  if (isHostNetworkPod(input.pod)) return input.hostIps.length > 0 ? input.hostIps.slice(0, 2) : before;
  const { ips, sandboxes } = input.runtime;
  // A pod that ended keeps its address: its network is gone, but clients still ask for it.
  if (ips.length === 0) return sandboxes.some((sandbox) => sandbox.state === "ready") ? [] : before;
  const isPrimaryV6 = isV6(input.hostIps[0] ?? "");
  const primary = ips.find((ip) => isV6(ip) === isPrimaryV6);
  const secondary = ips.find((ip) => isV6(ip) !== isPrimaryV6);
  return [primary, secondary].filter((ip) => ip !== undefined);
}

function isV6(ip: string): boolean {
  return ip.includes(":");
}
