import type { Namespace, Pod } from "../../api/gen/types.ts";
import type { AddressFamily } from "../rules/fragment.ts";

/** A pod with addresses of its own, as far as policies look at it. */
export interface PolicyPod {
  readonly namespace: string;
  readonly nodeName: string;
  readonly labels: Readonly<Record<string, string>>;
  /** None while the pod starts: it has one before its status says so. */
  readonly addresses: Readonly<Record<AddressFamily, readonly string[]>>;
  readonly namedPorts: readonly NamedContainerPort[];
}

interface NamedContainerPort {
  readonly name: string;
  /** `tcp`, `udp`, `sctp`. */
  readonly protocol: string;
  readonly port: number;
}

/** The labels of each namespace, by its name. */
export type LabelsOfNamespaces = ReadonlyMap<string, Readonly<Record<string, string>>>;

/**
 * Reads a pod. Undefined for one of the host network, whose packets are the node's, for one that has ended, whose address
 * may be another's, and for one without an address that is on no node yet.
 */
export function readPolicyPod({ metadata, spec, status }: Pod): PolicyPod | undefined {
  if (spec?.hostNetwork === true || status?.phase === "Succeeded" || status?.phase === "Failed") return undefined;
  const ips = [...new Set([...(status?.podIPs ?? []).map(({ ip }) => ip), status?.podIP ?? ""])];
  const addresses = {
    ip: ips.filter((ip) => ip.includes(".")),
    ip6: ips.filter((ip) => ip.includes(":")),
  };
  const nodeName = spec?.nodeName ?? "";
  if (addresses.ip.length + addresses.ip6.length === 0 && nodeName === "") return undefined;
  const sidecars = (spec?.initContainers ?? []).filter(({ restartPolicy }) => restartPolicy === "Always");
  const ports = [...(spec?.containers ?? []), ...sidecars].flatMap((container) => container.ports ?? []);
  return {
    namespace: metadata?.namespace ?? "",
    nodeName,
    labels: metadata?.labels ?? {},
    addresses,
    namedPorts: ports.flatMap(({ name, protocol, containerPort }) => {
      return name === undefined || name === ""
        ? []
        : [{ name, protocol: (protocol ?? "TCP").toLowerCase(), port: containerPort }];
    }),
  };
}

/** True for a pod that may have an address which nobody has told of. */
export function isAddressUnknown({ addresses }: PolicyPod): boolean {
  return addresses.ip.length + addresses.ip6.length === 0;
}

/** The labels of a namespace by which policies select it. */
export function readNamespaceLabels({ metadata }: Namespace): Readonly<Record<string, string>> {
  return metadata?.labels ?? {};
}
