import { isDeepStrictEqual } from "node:util";
import type { EndpointAddress, EndpointPort, EndpointSubset, Endpoints, Pod, Service } from "../../../api/gen/types.ts";
import { typed, untyped } from "../../../api/object.ts";
import { isPodReady } from "../../../api/pods.ts";
import { type Controller, type ControllerDeps, runFollowing, unlessOvertaken } from "../../control-loop/controller.ts";
import { namespacedKeyOf, splitNamespacedKey } from "../../control-loop/namespaced-key.ts";
import { createWorkQueue } from "../../control-loop/work-queue.ts";
import { createUnlessGoing } from "../active-namespaces.ts";
import { TRIGGER_TIME_ANNOTATION, triggerTimeAnnotations } from "./plan-slices.ts";
import {
  createServicePods,
  findPort,
  hasEndpoint,
  hasOwnPods,
  hostNameOf,
  lacksClusterIp,
  podAddress,
} from "./service-pods.ts";
import { HEADLESS_LABEL } from "./write-slices.ts";

export const ENDPOINTS_WRITER_LABEL = "endpoints.kubernetes.io/managed-by";
export const ENDPOINTS_WRITER = "endpoint-controller";
const OVER_CAPACITY_ANNOTATION = "endpoints.kubernetes.io/over-capacity";
const RESOURCE = "endpoints";
/** Readers of this old kind get no more; slices have all. */
const MAX_ADDRESSES = 1_000;

/** Keeps the Endpoints object of every service with a selector (`pkg/controller/endpoint`). */
export function createEndpointsController(deps: ControllerDeps): Controller {
  const { reader, writer, feed } = deps;
  const servicePods = createServicePods(deps);
  const queue = createWorkQueue(deps, {
    name: "endpoint",
    async reconcile(key) {
      const name = splitNamespacedKey(key);
      const current = reader.get({ resource: RESOURCE, ...name });
      const before = current === undefined ? undefined : typed("Endpoints", current);
      const found = reader.get({ resource: "services", ...name });
      if (found === undefined) {
        if (before !== undefined && isOurs(before))
          await unlessOvertaken(writer.remove({ resource: RESOURCE, ...name }));
        return undefined;
      }
      const service = typed("Service", found);
      if (!hasOwnPods(service)) return undefined;
      const at = servicePods.takeTriggerTime(key);
      const wanted = computeEndpoints(service, servicePods.podsOf(service));
      const next = reviseEndpoints(before, wanted, triggerTimeAnnotations(at));
      if (next === undefined) return undefined;
      if (before === undefined) await createUnlessGoing(writer.create(RESOURCE, untyped(next)));
      else await writer.update(RESOURCE, untyped(next));
      return undefined;
    },
  });
  const follow = () => [
    ...servicePods.follow(queue.add),
    feed.follow(RESOURCE, ({ object }) => {
      // Others' objects have no service of ours, and ours are put back when somebody changes them.
      if (isOurs(typed("Endpoints", object))) queue.add(namespacedKeyOf(object.metadata));
    }),
  ];
  return { run: (signal) => runFollowing(queue, follow, signal) };
}

function isOurs({ metadata }: Endpoints): boolean {
  return metadata?.labels?.[ENDPOINTS_WRITER_LABEL] === ENDPOINTS_WRITER;
}

function computeEndpoints(service: Service, pods: readonly Pod[]): Endpoints {
  const { namespace = "", name = "", labels = {} } = service.metadata ?? {};
  const { [HEADLESS_LABEL]: _, ...copied } = labels;
  const { subsets, isTruncated } = limitAddresses(computeSubsets(service, pods));
  return {
    apiVersion: "v1",
    kind: "Endpoints",
    metadata: {
      name,
      namespace,
      labels: {
        ...copied,
        [ENDPOINTS_WRITER_LABEL]: ENDPOINTS_WRITER,
        ...(lacksClusterIp(service) && { [HEADLESS_LABEL]: "" }),
      },
      ...(isTruncated && { annotations: { [OVER_CAPACITY_ANNOTATION]: "truncated" } }),
    },
    subsets,
  };
}

/** Addresses with the same ports share a subset. */
function computeSubsets(service: Service, pods: readonly Pod[]): EndpointSubset[] {
  const { publishNotReadyAddresses: includesTerminating = false, ports = [], ipFamilies } = service.spec ?? {};
  const family = ipFamilies?.[0] === "IPv6" ? "IPv6" : "IPv4";
  const groups = new Map<string, { ready: EndpointAddress[]; notReady: EndpointAddress[]; ports: EndpointPort[] }>();
  for (const pod of pods) {
    const ip = podAddress(pod, family);
    if (ip === undefined || !hasEndpoint(pod, { includesTerminating })) continue;
    const podPorts = ports.flatMap((port) => {
      const number = findPort(pod, port);
      const { name, protocol = "TCP", appProtocol } = port;
      if (number === undefined) return [];
      return [{ ...(name && { name }), port: number, protocol, ...(appProtocol && { appProtocol }) }];
    });
    if (podPorts.length === 0 && (ports.length > 0 || !lacksClusterIp(service))) continue;
    const key = JSON.stringify(podPorts);
    const group = groups.get(key) ?? { ready: [], notReady: [], ports: podPorts };
    groups.set(key, group);
    (includesTerminating || isPodReady(pod) ? group.ready : group.notReady).push(addressOf(service, pod, ip));
  }
  return [...groups]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([, { ready, notReady, ports: shared }]) => ({
      ...(ready.length > 0 && { addresses: ready.sort(byAddress) }),
      ...(notReady.length > 0 && { notReadyAddresses: notReady.sort(byAddress) }),
      ...(shared.length > 0 && { ports: shared }),
    }));
}

function addressOf(service: Service, pod: Pod, ip: string): EndpointAddress {
  const { namespace = "", name = "", uid = "" } = pod.metadata ?? {};
  const hostname = hostNameOf(pod, service);
  const nodeName = pod.spec?.nodeName;
  return {
    ip,
    ...(hostname !== undefined && { hostname }),
    ...(nodeName !== undefined && { nodeName }),
    targetRef: { kind: "Pod", namespace, name, uid },
  };
}

function byAddress(a: EndpointAddress, b: EndpointAddress): number {
  return a.ip < b.ip ? -1 : a.ip > b.ip ? 1 : 0;
}

/** Keeps ready addresses before others. */
function limitAddresses(subsets: readonly EndpointSubset[]): { subsets: EndpointSubset[]; isTruncated: boolean } {
  const total = subsets.reduce((sum, { addresses = [], notReadyAddresses = [] }) => {
    return sum + addresses.length + notReadyAddresses.length;
  }, 0);
  if (total <= MAX_ADDRESSES) return { subsets: [...subsets], isTruncated: false };
  let room = MAX_ADDRESSES;
  const take = (addresses: readonly EndpointAddress[] = []) => {
    const taken = addresses.slice(0, room);
    room -= taken.length;
    return taken;
  };
  const ready = subsets.map(({ addresses }) => take(addresses));
  const limited = subsets.flatMap(({ notReadyAddresses, ports }, index): EndpointSubset[] => {
    const addresses = ready[index] ?? [];
    const notReady = take(notReadyAddresses);
    if (addresses.length + notReady.length === 0) return [];
    return [
      {
        ...(addresses.length > 0 && { addresses }),
        ...(notReady.length > 0 && { notReadyAddresses: notReady }),
        ...(ports !== undefined && { ports }),
      },
    ];
  });
  return { subsets: limited, isTruncated: true };
}

/** The object as it is to be written; undefined where it is so already. */
function reviseEndpoints(
  before: Endpoints | undefined,
  wanted: Endpoints,
  trigger: Readonly<Record<string, string>>,
): Endpoints | undefined {
  const {
    [TRIGGER_TIME_ANNOTATION]: _,
    [OVER_CAPACITY_ANNOTATION]: capacity,
    ...others
  } = before?.metadata?.annotations ?? {};
  const isSame =
    before !== undefined &&
    isDeepStrictEqual(before.subsets ?? [], wanted.subsets) &&
    isDeepStrictEqual(before.metadata?.labels ?? {}, wanted.metadata?.labels) &&
    capacity === wanted.metadata?.annotations?.[OVER_CAPACITY_ANNOTATION];
  if (isSame) return undefined;
  const annotations = { ...others, ...wanted.metadata?.annotations, ...trigger };
  return { ...wanted, metadata: { ...before?.metadata, ...wanted.metadata, annotations } };
}
