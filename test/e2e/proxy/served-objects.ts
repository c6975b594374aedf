import type { EndpointSlice, Namespace, NetworkPolicy, Pod, Service, ServiceSpec } from "../../../src/api/gen/types.ts";
import type { KubeResource } from "../../../src/api/kube-resource.ts";
import { aborted } from "../../../src/base/abort.ts";
import type { KubeClient, WatchEvent } from "../../../src/kube/port.ts";

/** What such an API may have. No two objects of a kind have the same name. */
type ServedObject = Service | EndpointSlice | NetworkPolicy | Namespace | Pod;

/** The API of a cluster that has only what a test puts there. */
interface ServedObjects {
  readonly client: Pick<KubeClient, "list" | "watch">;
  put(...objects: ServedObject[]): void;
  remove(object: ServedObject): void;
}

/** Creates an empty API. */
export function createServedObjects(): ServedObjects {
  const objects = new Map<string, ServedObject>();
  const watchers = new Set<(type: "ADDED" | "MODIFIED" | "DELETED", object: ServedObject) => void>();
  let revision = 1;
  const keyOf = ({ kind, metadata }: ServedObject) => `${kind} ${metadata?.name}`;
  const tell = (type: "ADDED" | "MODIFIED" | "DELETED", object: ServedObject) => {
    for (const watcher of watchers) watcher(type, object);
  };
  return {
    client: {
      async list<T>(resource: KubeResource<T>) {
        const items = [...objects.values()].filter(({ kind }) => kind === resource.kind).map(resource.read);
        return { items, resourceVersion: `${revision}` };
      },
      async watch<T>(
        resource: KubeResource<T>,
        { signal }: { signal?: AbortSignal | undefined },
        onEvent: (event: WatchEvent<T>) => void,
      ) {
        const watcher = (type: "ADDED" | "MODIFIED" | "DELETED", object: ServedObject) => {
          if (object.kind !== resource.kind) return;
          onEvent({ type, object: resource.read(object), resourceVersion: object.metadata?.resourceVersion ?? "" });
        };
        watchers.add(watcher);
        if (signal !== undefined) await aborted(signal);
        watchers.delete(watcher);
      },
    },
    put(...put) {
      for (const object of put) {
        revision += 1;
        const stamped = {
          ...object,
          metadata: { uid: keyOf(object), ...object.metadata, resourceVersion: `${revision}` },
        };
        const isNew = !objects.has(keyOf(object));
        objects.set(keyOf(object), stamped);
        tell(isNew ? "ADDED" : "MODIFIED", stamped);
      }
    },
    remove(object) {
      const held = objects.get(keyOf(object));
      if (held === undefined) return;
      revision += 1;
      objects.delete(keyOf(object));
      tell("DELETED", { ...held, metadata: { ...held.metadata, resourceVersion: `${revision}` } });
    },
  };
}

/** A service in `default` with one TCP and one UDP port. */
export function serviceOf(name: string, clusterIp: string, spec: ServiceSpec = {}): Service {
  return {
    apiVersion: "v1",
    kind: "Service",
    metadata: { name, namespace: "default" },
    spec: {
      clusterIP: clusterIp,
      clusterIPs: [clusterIp],
      ports: [
        { name: "tcp", port: 80, protocol: "TCP" },
        { name: "udp", port: 80, protocol: "UDP" },
      ],
      ...spec,
    },
  };
}

/** One endpoint by its address, and whatever differs from a ready one on `node1`. */
type EndpointFields = [ip: string, fields?: Partial<NonNullable<EndpointSlice["endpoints"]>[number]>];

/** The endpoint slice of that service. */
export function sliceOf(service: string, port: number, ...endpoints: EndpointFields[]): EndpointSlice {
  const isIpv6 = endpoints.some(([ip]) => ip.includes(":"));
  return {
    apiVersion: "discovery.k8s.io/v1",
    kind: "EndpointSlice",
    metadata: {
      name: `${service}-1`,
      namespace: "default",
      labels: { "kubernetes.io/service-name": service },
    },
    addressType: isIpv6 ? "IPv6" : "IPv4",
    ports: ["TCP", "UDP"].map((protocol) => ({ name: protocol.toLowerCase(), protocol, port })),
    endpoints: endpoints.map(([ip, fields]) => ({
      addresses: [ip],
      conditions: { ready: true, serving: true, terminating: false },
      nodeName: "node1",
      ...fields,
    })),
  };
}
