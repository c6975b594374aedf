import type { Node } from "../../api/gen/types.ts";
import { typed, untyped } from "../../api/object.ts";
import {
  type Controller,
  type ControllerDeps,
  runFollowingWithEvents,
  unlessOvertaken,
} from "../control-loop/controller.ts";
import { createEventRecorder } from "../control-loop/record-events.ts";
import { createWorkQueue } from "../control-loop/work-queue.ts";

/**
 * The range of pod addresses, as `--cluster-cidr` and `--node-cidr-mask-size` of kube-controller-manager. IPv4 only.
 */
export interface PodRangeOptions {
  /** `10.64.0.0/16`, valid. */
  readonly clusterCidr: string;
  /** The prefix length of each node's network. Default 24, or the whole cluster range where that is smaller. */
  readonly nodeMaskSize?: number | undefined;
}

const DEFAULT_MASK_SIZE = 24;
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
      const podCIDR = findFreeRange(options, listRanges());
      if (podCIDR === undefined) {
        log.warn("no range of pod addresses is left", { node: name, clusterCidr: options.clusterCidr });
        const message = `Node ${name} status is now: CIDRNotAvailable`;
        events.record({ about: object, type: "Normal", reason: "CIDRNotAvailable", message });
        return RETRY_MS;
      }
      const spec = { ...node.spec, podCIDR, podCIDRs: [podCIDR] };
      await unlessOvertaken(writer.update("nodes", untyped({ ...node, spec })));
      return undefined;
    },
  });
  const follow = () => [
    feed.follow("nodes", ({ type, object }) => {
      const ranges = rangesOf(typed("Node", object));
      const { name = "" } = object.metadata;
      if (type !== "DELETED" && ranges.length === 0) queue.add(name);
      if (type === "ADDED" && ranges.some((range) => !isWithin(options.clusterCidr, range))) {
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

/** Returns the first range that overlaps none of the taken ranges; undefined when there is none. */
export function findFreeRange(
  { clusterCidr, nodeMaskSize = DEFAULT_MASK_SIZE }: PodRangeOptions,
  taken: readonly string[],
): string | undefined {
  const cluster = parseRange(clusterCidr);
  if (cluster === undefined) return undefined;
  const size = 2 ** (32 - Math.max(cluster.bits, nodeMaskSize));
  const occupied = taken.flatMap((text) => parseRange(text) ?? []);
  for (let first = cluster.first; first <= cluster.last; ) {
    const last = first + size - 1;
    const clash = occupied.find((range) => range.first <= last && range.last >= first);
    if (clash === undefined) return `${formatAddress(first)}/${Math.max(cluster.bits, nodeMaskSize)}`;
    // The search continues behind the range that is in the way, however large that is.
    first = cluster.first + Math.ceil((clash.last + 1 - cluster.first) / size) * size;
  }
  return undefined;
}

function rangesOf({ spec = {} }: Node): readonly string[] {
  return spec.podCIDRs ?? (spec.podCIDR ? [spec.podCIDR] : []);
}

function isWithin(outer: string, inner: string): boolean {
  const [around, within] = [parseRange(outer), parseRange(inner)];
  return around !== undefined && within !== undefined && around.first <= within.first && within.last <= around.last;
}

interface Range {
  readonly first: number;
  readonly last: number;
  readonly bits: number;
}

/** Undefined for a text that is no IPv4 range. Ranges of IPv6 cannot overlap with ours. */
function parseRange(cidr: string): Range | undefined {
  const [, address = "", mask = ""] = /^(\d+\.\d+\.\d+\.\d+)\/(\d+)$/.exec(cidr) ?? [];
  if (address === "") return undefined;
  const bits = Number(mask);
  const size = 2 ** (32 - bits);
  const number = address.split(".").reduce((sum, part) => sum * 256 + Number(part), 0);
  const first = Math.floor(number / size) * size;
  return { first, last: first + size - 1, bits };
}

function formatAddress(number: number): string {
  return [24, 16, 8, 0].map((shift) => Math.floor(number / 2 ** shift) % 256).join(".");
}
