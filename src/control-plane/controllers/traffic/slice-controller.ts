import type { DiscoveryEndpointPort, Endpoint, EndpointSlice, Pod, Service } from "../../../api/gen/types.ts";
import { NODE_LABELS } from "../../../api/node-names.ts";
import { typed } from "../../../api/object.ts";
import { isPodReady } from "../../../api/pods.ts";
import { type Controller, type ControllerDeps, runFollowing } from "../../control-loop/controller.ts";
import { splitNamespacedKey } from "../../control-loop/namespaced-key.ts";
import { createWorkQueue } from "../../control-loop/work-queue.ts";
import type { ResourceReader } from "../../ports/resources.ts";
import { type EndpointGroup, planSlices, type SliceFrame, triggerTimeAnnotations } from "./plan-slices.ts";
import {
  createServicePods,
  findPort,
  hasEndpoint,
  hasOwnPods,
  hostNameOf,
  lacksClusterIp,
  podAddress,
} from "./service-pods.ts";
import { createSliceMetrics } from "./slice-metrics.ts";
import { createOwnSlices, HEADLESS_LABEL, SERVICE_NAME_LABEL, SLICE_WRITER_LABEL } from "./write-slices.ts";

/** The name that upstream's controller writes as well, so that one can take the other's place. */
const WRITER = "endpointslice-controller.k8s.io";
const ADDRESS_TYPES = ["IPv4", "IPv6"] as const;
const NEAR_DISTRIBUTIONS: ReadonlySet<string> = new Set(["PreferClose", "PreferSameZone", "PreferSameNode"]);

/** Keeps the endpoint slices of every service with a selector (`pkg/controller/endpointslice`). */
export function createEndpointSliceController(deps: ControllerDeps): Controller {
  const { reader } = deps;
  const servicePods = createServicePods(deps);
  const slices = createOwnSlices(deps, WRITER);
  const counted = createSliceMetrics(deps.metrics);
  const queue = createWorkQueue(deps, {
    name: "endpoint_slice",
    async reconcile(key) {
      const found = reader.get({ resource: "services", ...splitNamespacedKey(key) });
      // The garbage collector removes the slices of a service that is gone.
      if (found === undefined || found.metadata.deletionTimestamp !== undefined) return undefined;
      const service = typed("Service", found);
      if (!hasOwnPods(service)) return undefined;
      const annotations = triggerTimeAnnotations(servicePods.takeTriggerTime(key));
      const groups = computeGroups(service, servicePods.podsOf(service), zoneReader(reader));
      const plan = planSlices(slices.of(key), groups, frameOf(service, annotations));
      await counted.sync(async () => {
        await slices.write(plan);
        counted.changed(plan);
      });
      return undefined;
    },
  });
  const follow = () => [...servicePods.follow(queue.add), slices.follow(queue.add)];
  return { run: (signal) => runFollowing(queue, follow, signal) };
}

function zoneReader(reader: ResourceReader): (nodeName: string) => string | undefined {
  return (name) => reader.get({ resource: "nodes", namespace: "", name })?.metadata.labels?.[NODE_LABELS.zone];
}

function frameOf(service: Service, annotations: Record<string, string>): SliceFrame {
  const { namespace = "", name = "", uid = "", labels = {} } = service.metadata ?? {};
  const own = Object.entries(labels).filter(([key]) => ![SERVICE_NAME_LABEL, SLICE_WRITER_LABEL].includes(key));
  const { [HEADLESS_LABEL]: _, ...copied } = Object.fromEntries(own);
  return {
    namespace,
    generateName: `${name}-`,
    labels: {
      ...copied,
      [SERVICE_NAME_LABEL]: name,
      [SLICE_WRITER_LABEL]: WRITER,
      ...(lacksClusterIp(service) && { [HEADLESS_LABEL]: "" }),
    },
    owner: { apiVersion: "v1", kind: "Service", name, uid, controller: true, blockOwnerDeletion: true },
    annotations,
  };
}

/** Groups the endpoints by the kind of their address and by their ports, which pods with named ports may differ in. */
function computeGroups(
  service: Service,
  pods: readonly Pod[],
  zoneOf: (nodeName: string) => string | undefined,
): EndpointGroup[] {
  const { ipFamilies = ["IPv4"] } = service.spec ?? {};
  return ADDRESS_TYPES.filter((type) => ipFamilies.includes(type)).flatMap((addressType) => {
    const groups = new Map<string, EndpointGroup & { endpoints: Endpoint[] }>();
    for (const pod of pods) {
      const address = podAddress(pod, addressType);
      if (address === undefined || !hasEndpoint(pod, { includesTerminating: true })) continue;
      const ports = portsOf(service, pod);
      const key = JSON.stringify(ports);
      const group = groups.get(key) ?? { addressType, ports, endpoints: [] };
      group.endpoints.push(endpointOf(service, pod, { address, zoneOf }));
      groups.set(key, group);
    }
    const none: EndpointGroup = { addressType, ports: [], endpoints: [] };
    return groups.size === 0 ? [none] : [...groups.values()];
  });
}

function portsOf(service: Service, pod: Pod): DiscoveryEndpointPort[] {
  return (service.spec?.ports ?? []).flatMap((port) => {
    const number = findPort(pod, port);
    if (number === undefined) return [];
    const { name = "", protocol = "TCP", appProtocol } = port;
    return [{ name, protocol, port: number, ...(appProtocol !== undefined && { appProtocol }) }];
  });
}

function endpointOf(
  service: Service,
  pod: Pod,
  { address, zoneOf }: { address: string; zoneOf: (nodeName: string) => string | undefined },
): NonNullable<EndpointSlice["endpoints"]>[number] {
  const { namespace = "", name = "", uid = "", deletionTimestamp } = pod.metadata ?? {};
  const nodeName = pod.spec?.nodeName;
  const zone = nodeName === undefined ? undefined : zoneOf(nodeName);
  const hostname = hostNameOf(pod, service);
  const serving = isPodReady(pod);
  const terminating = deletionTimestamp !== undefined;
  const ready = service.spec?.publishNotReadyAddresses === true || (serving && !terminating);
  return {
    addresses: [address],
    conditions: { ready, serving, terminating },
    ...(hostname !== undefined && { hostname }),
    ...(nodeName !== undefined && { nodeName }),
    targetRef: { kind: "Pod", namespace, name, uid },
    ...(zone !== undefined && { zone }),
    ...(ready && hintsFor(service, { nodeName, zone })),
  };
}

/** The clients that an endpoint is for, where the service prefers endpoints near them (`endpointslice/trafficdist`). */
function hintsFor(
  { spec = {} }: Service,
  { nodeName, zone }: { nodeName: string | undefined; zone: string | undefined },
): Pick<Endpoint, "hints"> {
  const { trafficDistribution = "" } = spec;
  if (!NEAR_DISTRIBUTIONS.has(trafficDistribution)) return {};
  const forNodes = trafficDistribution === "PreferSameNode" && nodeName !== undefined ? [{ name: nodeName }] : [];
  const forZones = zone === undefined ? [] : [{ name: zone }];
  if (forNodes.length + forZones.length === 0) return {};
  return { hints: { ...(forZones.length > 0 && { forZones }), ...(forNodes.length > 0 && { forNodes }) } };
}
