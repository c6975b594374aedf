import type { EndpointSlice, Service } from "../../api/gen/types.ts";

/** A service, and where it leads. */
interface ServiceRow {
  readonly key: string;
  readonly namespace: string;
  readonly name: string;
  readonly type: string;
  readonly addresses: readonly string[];
  readonly ports: readonly string[];
  readonly endpoints: readonly EndpointRow[];
  /** True: it selects pods, and none of them is ready. */
  readonly isDry: boolean;
}

/** One address behind a service. */
interface EndpointRow {
  readonly address: string;
  readonly isReady: boolean;
  readonly isEnding: boolean;
  /** The name of its pod; "" for an address that is no pod's. */
  readonly pod: string;
}

const SERVICE_LABEL = "kubernetes.io/service-name";

/** Puts services and their endpoints together, by namespace and name. */
export function computeServices(services: readonly Service[], slices: readonly EndpointSlice[]): ServiceRow[] {
  const behind = new Map<string, EndpointSlice[]>();
  for (const slice of slices) {
    const key = `${slice.metadata?.namespace}/${slice.metadata?.labels?.[SERVICE_LABEL]}`;
    behind.set(key, [...(behind.get(key) ?? []), slice]);
  }
  const rows = services.map(({ metadata = {}, spec = {} }): ServiceRow => {
    const { namespace = "", name = "" } = metadata;
    const key = `${namespace}/${name}`;
    const endpoints = (behind.get(key) ?? []).flatMap(describeSlice);
    const external = spec.type === "ExternalName" ? [spec.externalName ?? ""] : [];
    return {
      ...{ key, namespace, name, endpoints },
      type: spec.type ?? "ClusterIP",
      addresses: [...(spec.clusterIPs ?? []), ...external],
      ports: (spec.ports ?? []).map(({ port, protocol = "TCP", nodePort }) => {
        return `${port}${nodePort ? `:${nodePort}` : ""}/${protocol}`;
      }),
      isDry: spec.selector !== undefined && !endpoints.some(({ isReady }) => isReady),
    };
  });
  return rows.toSorted((a, b) => (a.key < b.key ? -1 : 1));
}

function describeSlice({ endpoints }: EndpointSlice): EndpointRow[] {
  return (endpoints ?? []).flatMap(({ addresses, conditions = {}, targetRef }) =>
    addresses.map((address) => ({
      address,
      isReady: conditions.ready !== false,
      isEnding: conditions.terminating === true,
      pod: targetRef?.kind === "Pod" ? (targetRef.name ?? "") : "",
    })),
  );
}
