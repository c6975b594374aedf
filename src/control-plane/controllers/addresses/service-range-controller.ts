import type { ServiceCIDR } from "../../../api/gen/types.ts";
import { type KubeObject, typed, untyped } from "../../../api/object.ts";
import {
  IP_ADDRESSES,
  isAllocated,
  rangeHas,
  SERVICE_RANGE_FINALIZER,
  SERVICE_RANGES,
  withReadiness,
} from "../../../api/service-addresses.ts";
import { containsRange, familyOf, overlap } from "../../../api/validation/ip-address.ts";
import { formatTime } from "../../../base/clock.ts";
import { type Controller, type ControllerDeps, runFollowing, unlessOvertaken } from "../../control-loop/controller.ts";
import { createWorkQueue } from "../../control-loop/work-queue.ts";
import type { ResourceReader } from "../../ports/resources.ts";

const READY = { isReady: true, reason: "", message: "Kubernetes Service CIDR is ready" };
const TERMINATING = {
  isReady: false,
  reason: "Terminating",
  message: "There are still IPAddresses referencing the ServiceCIDR, please remove them or create a new ServiceCIDR",
};

/**
 * Makes ranges of service addresses ready, and keeps a deleted one until every address of it that a service has is in
 * another range too (`pkg/controller/servicecidrs`). Upstream waits ten seconds more, because its allocators may not have
 * heard of the deletion; here the allocator reads the range itself with every decision.
 */
export function createServiceRangeController(deps: ControllerDeps): Controller {
  const { reader, writer, feed, clock } = deps;
  const listRanges = () => reader.list(SERVICE_RANGES).map((object) => typed("ServiceCIDR", object));
  const writeReadiness = async (range: ServiceCIDR, readiness: typeof READY) => {
    const status = withReadiness(range, { ...readiness, at: formatTime(clock.now()) });
    if (status === undefined) return;
    await unlessOvertaken(writer.update(SERVICE_RANGES, untyped({ ...range, status }), "status"));
  };
  const queue = createWorkQueue(deps, {
    name: "ipaddresses",
    async reconcile(name) {
      const object = reader.get({ resource: SERVICE_RANGES, namespace: "", name });
      if (object === undefined) return undefined;
      const range = typed("ServiceCIDR", object);
      if (object.metadata.deletionTimestamp === undefined) {
        const protectedRange = await protect(deps, object);
        if (protectedRange !== undefined) await writeReadiness(protectedRange, READY);
        return undefined;
      }
      if (isNeeded(range, listRanges(), reader)) await writeReadiness(range, TERMINATING);
      else await release(deps, object);
      return undefined;
    },
  });
  /** A range that comes or goes decides about those that it overlaps with, and an address about those that have it. */
  const addDeleted = (concerns: (range: ServiceCIDR) => boolean) => {
    for (const range of listRanges()) {
      const { name = "", deletionTimestamp } = range.metadata ?? {};
      if (deletionTimestamp !== undefined && concerns(range)) queue.add(name);
    }
  };
  const follow = () => [
    feed.follow(SERVICE_RANGES, ({ object }) => {
      queue.add(object.metadata.name ?? "");
      addDeleted((other) => overlaps(other, typed("ServiceCIDR", object)));
    }),
    feed.follow(IP_ADDRESSES, ({ type, object }) => {
      const { name = "" } = object.metadata;
      if (type !== "MODIFIED" && isAllocated(typed("IPAddress", object))) addDeleted((range) => rangeHas(range, name));
    }),
  ];
  return { run: (signal) => runFollowing(queue, follow, signal) };
}

const cidrsOf = ({ spec }: ServiceCIDR) => spec?.cidrs ?? [];

function overlaps(a: ServiceCIDR, b: ServiceCIDR): boolean {
  return cidrsOf(a).some((one) => cidrsOf(b).some((other) => overlap(one, other)));
}

/** True while an address of a service is in no range but this one. */
function isNeeded(range: ServiceCIDR, ranges: readonly ServiceCIDR[], reader: ResourceReader): boolean {
  const others = ranges.filter(({ metadata }) => metadata?.name !== range.metadata?.name);
  const uncovered = cidrsOf(range).filter((cidr) => {
    return !others.some((other) => cidrsOf(other).some((one) => containsRange(one, cidr)));
  });
  // Upstream looks at all ranges as soon as one of them is not covered as a whole.
  if (uncovered.length === 0) return false;
  const families = new Set(cidrsOf(range).map(familyOf));
  return reader.list(IP_ADDRESSES).some((object) => {
    const { name = "" } = object.metadata;
    if (!isAllocated(typed("IPAddress", object)) || !families.has(familyOf(name))) return false;
    return rangeHas(range, name) && !others.some((other) => rangeHas(other, name));
  });
}

async function protect({ writer }: ControllerDeps, range: KubeObject): Promise<ServiceCIDR | undefined> {
  const { finalizers = [] } = range.metadata;
  if (finalizers.includes(SERVICE_RANGE_FINALIZER)) return typed("ServiceCIDR", range);
  const metadata = { ...range.metadata, finalizers: [...finalizers, SERVICE_RANGE_FINALIZER] };
  let written: KubeObject | undefined;
  await unlessOvertaken(
    writer.update(SERVICE_RANGES, { ...range, metadata }).then((object) => {
      written = object;
    }),
  );
  return written === undefined ? undefined : typed("ServiceCIDR", written);
}

async function release({ writer }: ControllerDeps, range: KubeObject): Promise<void> {
  const { finalizers = [] } = range.metadata;
  if (!finalizers.includes(SERVICE_RANGE_FINALIZER)) return;
  const metadata = { ...range.metadata, finalizers: finalizers.filter((one) => one !== SERVICE_RANGE_FINALIZER) };
  await unlessOvertaken(writer.update(SERVICE_RANGES, { ...range, metadata }));
}
