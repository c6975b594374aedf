import { isDeepStrictEqual } from "node:util";
import type { DiscoveryEndpointPort, Endpoint, EndpointSlice, ObjectMeta } from "../../../api/gen/types.ts";

/** Endpoints that may share a slice. */
export interface EndpointGroup {
  readonly addressType: "IPv4" | "IPv6";
  readonly ports: readonly DiscoveryEndpointPort[];
  readonly endpoints: readonly Endpoint[];
}

/** What all slices of a service have in common. */
export interface SliceFrame {
  readonly namespace: string;
  /** The beginning of the names of new slices. */
  readonly generateName: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly owner: NonNullable<ObjectMeta["ownerReferences"]>[number];
  /** The annotations of slices that are written. */
  readonly annotations: Readonly<Record<string, string>>;
}

/** The writes that bring slices in line. They are done in this order, so that no endpoint is missing meanwhile. */
export interface SlicePlan {
  readonly create: readonly EndpointSlice[];
  readonly update: readonly EndpointSlice[];
  readonly remove: readonly EndpointSlice[];
}

/** The default of upstream's `--max-endpoints-per-slice`. */
const MAX_ENDPOINTS = 100;

/**
 * Plans slices of at most a hundred endpoints with as few writes as possible: an endpoint stays in its slice, and a new
 * one goes where there is room. There is a slice without endpoints for a kind of address that has none.
 */
export function planSlices(
  existing: readonly EndpointSlice[],
  groups: readonly EndpointGroup[],
  frame: SliceFrame,
): SlicePlan {
  const left = new Set(existing);
  const plans = groups.map((group) => {
    const own = existing.filter((slice) => isOfGroup(slice, group));
    for (const slice of own) left.delete(slice);
    return planGroup(own, group, frame);
  });
  return {
    create: plans.flatMap(({ create }) => create),
    update: plans.flatMap(({ update }) => update),
    remove: [...plans.flatMap(({ remove }) => remove), ...left],
  };
}

function isOfGroup({ addressType, ports = [] }: EndpointSlice, group: EndpointGroup): boolean {
  return addressType === group.addressType && isDeepStrictEqual(ports.map(plainPort), group.ports.map(plainPort));
}

function plainPort({ name = "", protocol = "TCP", port, appProtocol }: DiscoveryEndpointPort) {
  return { name, protocol, port, appProtocol };
}

function planGroup(own: readonly EndpointSlice[], group: EndpointGroup, frame: SliceFrame): SlicePlan {
  const wanted = new Map(group.endpoints.map((endpoint) => [identityOf(endpoint), endpoint]));
  const kept = own.map((slice) => {
    const endpoints = (slice.endpoints ?? []).flatMap((endpoint) => {
      const next = wanted.get(identityOf(endpoint));
      wanted.delete(identityOf(endpoint));
      return next === undefined ? [] : [next];
    });
    return { slice, endpoints };
  });
  const rest = [...wanted.values()];
  for (const { endpoints } of kept) endpoints.push(...rest.splice(0, Math.max(0, MAX_ENDPOINTS - endpoints.length)));
  const full = kept.filter(({ endpoints }) => endpoints.length > 0);
  // One slice is there in any case, so that its readers know that there is no endpoint.
  const remaining = full.length > 0 || rest.length > 0 ? full : kept.slice(0, 1);
  const create: EndpointSlice[] = [];
  while (rest.length > 0 || (remaining.length === 0 && create.length === 0)) {
    create.push(makeSlice(group, rest.splice(0, MAX_ENDPOINTS), frame));
  }
  return {
    create,
    update: remaining.flatMap(({ slice, endpoints }) => reviseSlice(slice, endpoints, frame)),
    remove: kept.filter((one) => !remaining.includes(one)).map(({ slice }) => slice),
  };
}

/** An endpoint is known by what it is of, else by its address. */
function identityOf({ addresses, targetRef }: Endpoint): string {
  return `${targetRef?.uid ?? ""} ${addresses.join()}`;
}

function makeSlice({ addressType, ports }: EndpointGroup, endpoints: Endpoint[], frame: SliceFrame): EndpointSlice {
  const { namespace, generateName, labels, owner, annotations } = frame;
  return {
    apiVersion: "discovery.k8s.io/v1",
    kind: "EndpointSlice",
    metadata: {
      generateName,
      namespace,
      labels: { ...labels },
      ...(Object.keys(annotations).length > 0 && { annotations: { ...annotations } }),
      ownerReferences: [owner],
    },
    addressType,
    ports: [...ports],
    endpoints,
  };
}

/** The slice as it is to be; nothing where it is so already. */
function reviseSlice(slice: EndpointSlice, endpoints: Endpoint[], { labels, owner, annotations }: SliceFrame) {
  const { metadata = {} } = slice;
  const isSame =
    isDeepStrictEqual(slice.endpoints ?? [], endpoints) &&
    isDeepStrictEqual(metadata.labels ?? {}, labels) &&
    (metadata.ownerReferences ?? []).some(({ uid }) => uid === owner.uid);
  if (isSame) return [];
  const others = Object.entries(metadata.annotations ?? {}).filter(([key]) => key !== TRIGGER_TIME_ANNOTATION);
  const next = { ...Object.fromEntries(others), ...annotations };
  return [
    {
      ...slice,
      metadata: { ...metadata, labels: { ...labels }, annotations: next, ownerReferences: [owner] },
      endpoints,
    },
  ];
}

/** The time of the change by which a slice or an Endpoints object was last written, for latency metrics. */
export const TRIGGER_TIME_ANNOTATION = "endpoints.kubernetes.io/last-change-trigger-time";

/** The annotation for a time in milliseconds since the epoch; none for no time. */
export function triggerTimeAnnotations(at: number | undefined): Record<string, string> {
  return at === undefined ? {} : { [TRIGGER_TIME_ANNOTATION]: new Date(at).toISOString().replace(/\.?0*Z$/, "Z") };
}
