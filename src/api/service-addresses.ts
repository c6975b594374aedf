import type { IPAddress, Service, ServiceCIDR } from "./gen/types.ts";
import { canonicalIp, familyOf, isUsableIn, parseIpAddress } from "./validation/ip-address.ts";

/** The resource of the objects that say whose an address is. */
export const IP_ADDRESSES = "ipaddresses.networking.k8s.io";
/** The resource of the ranges from which services get addresses. */
export const SERVICE_RANGES = "servicecidrs.networking.k8s.io";
/** The range that the control plane is started with. */
export const DEFAULT_SERVICE_RANGE = "kubernetes";
/** Keeps a range until no service depends on it. */
export const SERVICE_RANGE_FINALIZER = "networking.k8s.io/service-cidr-finalizer";

const READY = "Ready";
const FAMILY_LABEL = "ipaddress.kubernetes.io/ip-family";
const MANAGED_BY_LABEL = "ipaddress.kubernetes.io/managed-by";
const ALLOCATOR = "ipallocator.k8s.io";

/** The ranges of `--service-cidr`, that of the default family first: `10.96.0.0/16,fd00::/112` has two. */
export function splitServiceRanges(serviceCidr: string): readonly string[] {
  return serviceCidr.split(",");
}

/** The cluster IPs of a service in their one spelling; none for a headless service and for one that is only a name. */
export function clusterIpsOf({ spec = {} }: Service): readonly string[] {
  if (spec.type === "ExternalName") return [];
  const given = spec.clusterIPs ?? (spec.clusterIP === undefined ? [] : [spec.clusterIP]);
  return given.filter((address) => parseIpAddress(address) !== undefined).map(canonicalIp);
}

/** The object that says that the address is the service's. */
export function ipAddressFor({ metadata = {} }: Service, address: string): IPAddress {
  const { namespace = "", name = "" } = metadata;
  return {
    apiVersion: "networking.k8s.io/v1",
    kind: "IPAddress",
    metadata: { name: address, labels: { [FAMILY_LABEL]: familyOf(address), [MANAGED_BY_LABEL]: ALLOCATOR } },
    spec: { parentRef: { resource: "services", namespace, name } },
  };
}

/** True for the address of a service, and false for those that others keep for purposes of their own. */
export function isAllocated({ metadata }: IPAddress): boolean {
  return metadata?.labels?.[MANAGED_BY_LABEL] === ALLOCATOR;
}

/** True when the object has the labels of its family and of the allocator. */
export function hasAllocatorLabels(address: IPAddress): boolean {
  const { name = "", labels = {} } = address.metadata ?? {};
  return isAllocated(address) && labels[FAMILY_LABEL] === familyOf(name);
}

/** True when the address is said to be the service's. */
export function isAddressOf({ spec }: IPAddress, { metadata }: Service): boolean {
  const { group = "", resource, namespace = "", name } = spec?.parentRef ?? {};
  if (group !== "" || resource !== "services") return false;
  return namespace === (metadata?.namespace ?? "") && name === metadata?.name;
}

/** True for a range from which services may get addresses. One that nobody has judged yet is ready. */
export function isReadyRange({ metadata, status }: ServiceCIDR): boolean {
  if (metadata?.deletionTimestamp !== undefined) return false;
  const ready = (status?.conditions ?? []).find(({ type }) => type === READY);
  return ready === undefined || ready.status === "True";
}

/** True when a service may have the address by this range, which need not be ready. */
export function rangeHas({ spec }: ServiceCIDR, address: string): boolean {
  return (spec?.cidrs ?? []).some((cidr) => isUsableIn(cidr, address));
}

/** The status with the condition; undefined where it says so already. */
export function withReadiness(
  { status = {} }: ServiceCIDR,
  wanted: { readonly isReady: boolean; readonly reason: string; readonly message: string; readonly at: string },
): ServiceCIDR["status"] | undefined {
  const { isReady, reason, message, at } = wanted;
  const value = isReady ? "True" : "False";
  const { conditions = [] } = status;
  const current = conditions.find(({ type }) => type === READY);
  if (current?.status === value && current.reason === reason && current.message === message) return undefined;
  const lastTransitionTime = current?.status === value ? current.lastTransitionTime : at;
  const others = conditions.filter(({ type }) => type !== READY);
  return { ...status, conditions: [...others, { type: READY, status: value, reason, message, lastTransitionTime }] };
}
