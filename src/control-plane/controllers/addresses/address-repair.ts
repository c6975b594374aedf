import type { IPAddress, Service } from "../../../api/gen/types.ts";
import { type KubeObject, typed, untyped } from "../../../api/object.ts";
import {
  clusterIpsOf,
  hasAllocatorLabels,
  IP_ADDRESSES,
  ipAddressFor,
  isAddressOf,
  isAllocated,
  rangeHas,
  SERVICE_RANGES,
} from "../../../api/service-addresses.ts";
import { familyOf } from "../../../api/validation/ip-address.ts";
import {
  type Controller,
  type ControllerDeps,
  runFollowingWithEvents,
  unlessOvertaken,
} from "../../control-loop/controller.ts";
import { namespacedKeyOf, splitNamespacedKey } from "../../control-loop/namespaced-key.ts";
import { createEventRecorder, type EventRecorder } from "../../control-loop/record-events.ts";
import { createWorkQueue } from "../../control-loop/work-queue.ts";

const COMPONENT = "ipallocator-repair-controller";

/**
 * Sees to it that every cluster IP has its object and every object of the allocator its service, whatever somebody does
 * to them by hand, and after a start with objects of a version that had none
 * (`pkg/registry/core/service/ipallocator/controller`). A service and its addresses are written as one, so that nothing
 * has to be waited for: what does not fit together was not made by the allocator.
 */
export function createAddressRepair(deps: ControllerDeps): Controller {
  const { feed } = deps;
  const events = createEventRecorder(deps, COMPONENT);
  const repair = { ...deps, events };
  const queue = createWorkQueue(deps, {
    name: COMPONENT,
    async reconcile(key) {
      if (key.includes("/")) await repairService(repair, key);
      else await repairAddress(repair, key);
      return undefined;
    },
  });
  const follow = () => [
    feed.follow("services", ({ type, object }) => {
      if (type !== "DELETED") queue.add(namespacedKeyOf(object.metadata));
    }),
    feed.follow(IP_ADDRESSES, ({ object, previous }) => {
      queue.add(object.metadata.name ?? "");
      for (const one of [object, ...(previous === undefined ? [] : [previous])]) {
        const service = serviceKeyOf(typed("IPAddress", one));
        if (service !== undefined) queue.add(service);
      }
    }),
  ];
  return { run: (signal) => runFollowingWithEvents(queue, follow, events, signal) };
}

interface RepairDeps extends ControllerDeps {
  readonly events: EventRecorder;
}

function serviceKeyOf({ spec }: IPAddress): string | undefined {
  const { group = "", resource, namespace = "", name } = spec?.parentRef ?? {};
  return group === "" && resource === "services" ? `${namespace}/${name}` : undefined;
}

async function repairService(deps: RepairDeps, key: string): Promise<void> {
  const object = deps.reader.get({ resource: "services", ...splitNamespacedKey(key) });
  if (object === undefined) return;
  for (const address of clusterIpsOf(typed("Service", object))) await repairClusterIp(deps, object, address);
}

async function repairClusterIp(deps: RepairDeps, service: KubeObject, address: string): Promise<void> {
  const { reader, writer, events } = deps;
  const which = `Cluster IP [${familyOf(address)}]: ${address}`;
  const warn = (reason: string, message: string) => events.record({ about: service, type: "Warning", reason, message });
  if (!reader.list(SERVICE_RANGES).some((range) => rangeHas(typed("ServiceCIDR", range), address))) {
    warn("ClusterIPOutOfRange", `${which} is not within any configured Service CIDR; please recreate service`);
    return;
  }
  const object = reader.get({ resource: IP_ADDRESSES, namespace: "", name: address });
  const owner = typed("Service", service);
  if (object === undefined) {
    warn("ClusterIPNotAllocated", `${which} is not allocated; repairing`);
  } else {
    const found = typed("IPAddress", object);
    if (isAddressOf(found, owner) && hasAllocatorLabels(found)) return;
    if (isOfAnother(deps, found, owner)) {
      warn("ClusterIPAlreadyAllocated", `${which} was assigned to multiple services; please recreate service`);
      return;
    }
    warn("ClusterIPNotAllocated", `${which} has a wrong reference; repairing`);
    await unlessOvertaken(writer.remove({ resource: IP_ADDRESSES, namespace: "", name: address }));
  }
  await unlessOvertaken(writer.create(IP_ADDRESSES, untyped(ipAddressFor(owner, address))));
}

/** True where the object's service is there, is not this one and has the address, too: one of the two must go. */
function isOfAnother({ reader }: RepairDeps, address: IPAddress, owner: Service): boolean {
  if (isAddressOf(address, owner)) return false;
  const key = serviceKeyOf(address);
  const other = key === undefined ? undefined : reader.get({ resource: "services", ...splitNamespacedKey(key) });
  return other !== undefined && clusterIpsOf(typed("Service", other)).includes(address.metadata?.name ?? "");
}

/** Removes an object of the allocator that no service has any more. Those of others are their own affair. */
async function repairAddress({ reader, writer, events }: RepairDeps, name: string): Promise<void> {
  const named = { resource: IP_ADDRESSES, namespace: "", name };
  const object = reader.get(named);
  if (object === undefined) return;
  const address = typed("IPAddress", object);
  if (!isAllocated(address)) return;
  const key = serviceKeyOf(address);
  const found = key === undefined ? undefined : reader.get({ resource: "services", ...splitNamespacedKey(key) });
  const [reason, message] = faultOf(address, found && typed("Service", found));
  if (reason === undefined) return;
  events.record({ about: object, type: "Warning", reason, message });
  const { uid } = object.metadata;
  await unlessOvertaken(writer.remove(named, { preconditions: { ...(uid !== undefined && { uid }) } }));
}

/** Reason and message of what is wrong with the object, given the service that it names. */
function faultOf(address: IPAddress, service: Service | undefined): [string, string] | [undefined, ""] {
  const { name = "" } = address.metadata ?? {};
  const parent = address.spec?.parentRef;
  if (serviceKeyOf(address) === undefined) {
    const message = `IPAddress ${name} appears to have been modified, not referencing a Service: cleaning up`;
    return ["IPAddressNotAllocated", message];
  }
  const which = `IPAddress: ${name} for Service ${parent?.namespace}/${parent?.name}`;
  if (service === undefined) return ["IPAddressNotAllocated", `${which} appears to have leaked: cleaning up`];
  if (clusterIpsOf(service).includes(name)) return [undefined, ""];
  return ["IPAddressWrongReference", `${which} has a wrong reference; cleaning up`];
}
