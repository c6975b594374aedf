import type { Endpoint, EndpointAddress, EndpointSubset, Endpoints } from "../../../api/gen/types.ts";
import { typed } from "../../../api/object.ts";
import { type Controller, type ControllerDeps, runFollowing } from "../../control-loop/controller.ts";
import { namespacedKeyOf, splitNamespacedKey } from "../../control-loop/namespaced-key.ts";
import { createWorkQueue } from "../../control-loop/work-queue.ts";
import { ENDPOINTS_WRITER, ENDPOINTS_WRITER_LABEL } from "./endpoints-controller.ts";
import { type EndpointGroup, planSlices, type SliceFrame } from "./plan-slices.ts";
import { createOwnSlices, HEADLESS_LABEL, SERVICE_NAME_LABEL, SLICE_WRITER_LABEL } from "./write-slices.ts";

/** The name that upstream's controller writes as well. */
const WRITER = "endpointslicemirroring-controller.k8s.io";
const SKIP_LABEL = "endpointslice.kubernetes.io/skip-mirror";
/** Objects with it were locks of elections, not endpoints. */
const ELECTION_ANNOTATION = "control-plane.alpha.kubernetes.io/leader";
const APPLIED_ANNOTATION = "kubectl.kubernetes.io/last-applied-configuration";
/** The default of upstream's `--mirroring-max-endpoints-per-subset`. */
const MAX_ADDRESSES_A_SUBSET = 1_000;

/**
 * Writes what users write into Endpoints as endpoint slices, which proxies read (`pkg/controller/endpointslicemirroring`).
 */
export function createEndpointSliceMirroring(deps: ControllerDeps): Controller {
  const { reader, feed } = deps;
  const slices = createOwnSlices(deps, WRITER);
  const queue = createWorkQueue(deps, {
    name: "endpoint_slice_mirroring",
    async reconcile(key) {
      const name = splitNamespacedKey(key);
      const found = reader.get({ resource: "endpoints", ...name });
      const service = reader.get({ resource: "services", ...name });
      const endpoints = found === undefined ? undefined : typed("Endpoints", found);
      const isMirrored =
        endpoints !== undefined &&
        service !== undefined &&
        typed("Service", service).spec?.selector === undefined &&
        isForMirroring(endpoints);
      const existing = slices.of(key);
      if (isMirrored) await slices.write(planSlices(existing, computeGroups(endpoints), frameOf(endpoints)));
      else await slices.write({ create: [], update: [], remove: existing });
      return undefined;
    },
  });
  const add = ({ object }: { object: { metadata: { namespace?: string; name?: string } } }) =>
    queue.add(namespacedKeyOf(object.metadata));
  const follow = () => [feed.follow("endpoints", add), feed.follow("services", add), slices.follow(queue.add)];
  return { run: (signal) => runFollowing(queue, follow, signal) };
}

function isForMirroring({ metadata = {} }: Endpoints): boolean {
  const { labels = {}, annotations = {}, deletionTimestamp } = metadata;
  return (
    labels[SKIP_LABEL] !== "true" &&
    labels[ENDPOINTS_WRITER_LABEL] !== ENDPOINTS_WRITER &&
    annotations[ELECTION_ANNOTATION] === undefined &&
    deletionTimestamp === undefined
  );
}

function frameOf({ metadata = {} }: Endpoints): SliceFrame {
  const { namespace = "", name = "", uid = "" } = metadata;
  const { [HEADLESS_LABEL]: _, ...labels } = metadata.labels ?? {};
  const { [APPLIED_ANNOTATION]: _applied, ...annotations } = metadata.annotations ?? {};
  return {
    namespace,
    generateName: `${name}-`,
    labels: { ...labels, [SERVICE_NAME_LABEL]: name, [SLICE_WRITER_LABEL]: WRITER },
    owner: { apiVersion: "v1", kind: "Endpoints", name, uid, controller: true, blockOwnerDeletion: true },
    annotations,
  };
}

/** A subset is a group for each kind of address that it has. Several subsets may have the same ports. */
function computeGroups({ subsets = [] }: Endpoints): EndpointGroup[] {
  const groups = new Map<string, EndpointGroup & { endpoints: Endpoint[] }>();
  for (const subset of subsets) {
    for (const { endpoint, addressType } of endpointsOf(subset)) {
      const ports = (subset.ports ?? []).map(({ name = "", protocol = "TCP", port, appProtocol }) => {
        return { name, protocol, port, ...(appProtocol !== undefined && { appProtocol }) };
      });
      const key = `${addressType} ${JSON.stringify(ports)}`;
      const group = groups.get(key) ?? { addressType, ports, endpoints: [] };
      group.endpoints.push(endpoint);
      groups.set(key, group);
    }
  }
  return [...groups.values()];
}

function endpointsOf({ addresses = [], notReadyAddresses = [] }: EndpointSubset) {
  const ready = addresses.map((address) => mirrorAddress(address, true));
  const notReady = notReadyAddresses.map((address) => mirrorAddress(address, false));
  return [...ready, ...notReady].slice(0, MAX_ADDRESSES_A_SUBSET);
}

function mirrorAddress({ ip, hostname, nodeName, targetRef }: EndpointAddress, ready: boolean) {
  const endpoint: Endpoint = {
    addresses: [ip],
    conditions: { ready },
    ...(hostname !== undefined && { hostname }),
    ...(nodeName !== undefined && { nodeName }),
    ...(targetRef !== undefined && { targetRef }),
  };
  const addressType: EndpointGroup["addressType"] = ip.includes(":") ? "IPv6" : "IPv4";
  return { endpoint, addressType };
}
