import type { Node } from "../../api/gen/types.ts";
import { typed, untyped } from "../../api/object.ts";
import { type AddressRange, containsRange, formatIpAddress, parseCidr } from "../../api/validation/ip-address.ts";
import {
  type Controller,
  type ControllerDeps,
  runFollowingWithEvents,
  unlessOvertaken,
} from "../control-loop/controller.ts";
import { createEventRecorder } from "../control-loop/record-events.ts";
import { createWorkQueue } from "../control-loop/work-queue.ts";

/** The range of pod addresses, as the flags of kube-controller-manager with these names. */
export interface PodRangeOptions {
  /** `10.64.0.0/16`, valid; two of different families with a comma. */
  readonly clusterCidr: string;
  /** The prefix length of each node's network of IPv4. Default 24, or the whole cluster range where that is smaller. */
  readonly nodeMaskSize?: number | undefined;
  /** The same of IPv6. Default 64. */
  readonly nodeMaskSizeIpv6?: number | undefined;
}

const DEFAULT_MASK_SIZES = { IPv4: 24, IPv6: 64 } as const;
const COMPONENT = "cidrAllocator";
/** A node without a range looks again when another node is deleted, which frees a range, or after this time. */
const RETRY_MS = 60_000;

/**
 * Gives each node a range of the cluster's pod addresses, once and for the node's lifetime: `spec.podCIDR`, which the
 * node hands to its runtime (`pkg/controller/nodeipam/ipam/range_allocator.go`).
 */
export function createPodRangeAllocator(deps: ControllerDeps, options: PodRangeOptions): Controller {
  const { reader, writer, feed, log } = deps;
  const events = createEventRecorder(deps, COMPONENT);
  const clusterCidrs = options.clusterCidr.split(",");
  const listRanges = () => reader.list("nodes").flatMap((object) => rangesOf(typed("Node", object)));
  const queue = createWorkQueue(deps, {
    name: "pod-ranges",
    // Nodes are handled one after the other, because two at a time would find the same free range.
    workers: 1,
    async reconcile(name) {
      const object = reader.get({ resource: "nodes", namespace: "", name });
      if (object === undefined) return undefined;
      const node = typed("Node", object);
      if (rangesOf(node).length > 0) return undefined;
      const taken = listRanges();
      const podCIDRs = clusterCidrs.flatMap((clusterCidr) => findFreeRange({ ...options, clusterCidr }, taken) ?? []);
      const [podCIDR] = podCIDRs;
      if (podCIDR === undefined || podCIDRs.length < clusterCidrs.length) {
        log.warn("no range of pod addresses is left", { node: name, clusterCidr: options.clusterCidr });
        const message = `Node ${name} status is now: CIDRNotAvailable`;
        events.record({ about: object, type: "Normal", reason: "CIDRNotAvailable", message });
        return RETRY_MS;
      }
      const spec = { ...node.spec, podCIDR, podCIDRs };
      await unlessOvertaken(writer.update("nodes", untyped({ ...node, spec })));
      return undefined;
    },
  });
  const follow = () => [
    feed.follow("nodes", ({ type, object }) => {
      const ranges = rangesOf(typed("Node", object));
      const { name = "" } = object.metadata;
      if (type !== "DELETED" && ranges.length === 0) queue.add(name);
      if (type === "ADDED" && ranges.some((range) => !clusterCidrs.some((cidr) => containsRange(cidr, range)))) {
        log.warn("a node's pod addresses are not of the cluster's range; they stay until its object is deleted", {
          node: name,
          podCIDR: ranges.join(","),
          clusterCidr: options.clusterCidr,
        });
      }
    }),
  ];
  return {
    run: (signal) => runFollowingWithEvents(queue, follow, events, signal),
  };
}

/** Returns the first range of one cluster range that overlaps none of the taken ranges; undefined when there is none. */
export function findFreeRange(options: PodRangeOptions, taken: readonly string[]): string | undefined {
  const cluster = parseCidr(options.clusterCidr);
  if (cluster === undefined) return undefined;
  const { family } = cluster;
  const size = sizeOfNode(cluster, options);
  const bits = prefixOf(family, size);
  const occupied = taken.flatMap((text) => parseCidr(text) ?? []).filter((range) => range.family === family);
  const end = cluster.first + cluster.size;
  for (let { first } = cluster; first < end; ) {
    const clash = occupied.find((range) => range.first < first + size && range.first + range.size > first);
    if (clash === undefined) return `${formatIpAddress(first, family)}/${bits}`;
    // The search continues behind the range that is in the way, however large that is.
    const behind = clash.first + clash.size - cluster.first;
    first = cluster.first + ((behind + size - 1n) / size) * size;
  }
  return undefined;
}

/** The number of a node's addresses: no more than the cluster has. */
function sizeOfNode({ family, size }: AddressRange, { nodeMaskSize, nodeMaskSizeIpv6 }: PodRangeOptions): bigint {
  const mask = (family === "IPv4" ? nodeMaskSize : nodeMaskSizeIpv6) ?? DEFAULT_MASK_SIZES[family];
  const wanted = 1n << BigInt((family === "IPv4" ? 32 : 128) - mask);
  return wanted < size ? wanted : size;
}

/** The prefix length of a range of so many addresses. */
function prefixOf(family: AddressRange["family"], size: bigint): number {
  return (family === "IPv4" ? 32 : 128) - (size.toString(2).length - 1);
}

function rangesOf({ spec = {} }: Node): readonly string[] {
  return spec.podCIDRs ?? (spec.podCIDR ? [spec.podCIDR] : []);
}
