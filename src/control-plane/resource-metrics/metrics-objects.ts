import type { Node, ObjectMeta, Pod } from "../../api/gen/types.ts";
import type { KubeObject } from "../../api/object.ts";
import { formatQuantity } from "../../api/quantity.ts";
import { CONFIG_MIRROR_ANNOTATION } from "../../api/well-known.ts";
import { formatTime } from "../../base/clock.ts";
import { podKey, type ToldNodeUsage, type ToldUsage } from "./node-usage.ts";

const API_VERSION = "metrics.k8s.io/v1beta1";
/** The time over which processor use is a mean: nodes do not tell, and this is how often they are asked. */
const WINDOW = "15s";
const NANOS_PER_UNIT = 10n ** 9n;

/** The NodeMetrics of the node; undefined while they are not known. `now` in milliseconds since the epoch. */
export function nodeMetricsOf(
  { metadata }: Node,
  told: ToldNodeUsage | undefined,
  now: number,
): KubeObject | undefined {
  const usage = told?.node;
  if (usage === undefined) return undefined;
  return {
    kind: "NodeMetrics",
    apiVersion: API_VERSION,
    metadata: metadataOf(metadata, now),
    timestamp: formatTime(usage.at),
    window: WINDOW,
    usage: amountsOf(usage),
  };
}

/**
 * The PodMetrics of a pod by what its node tells; undefined while they are not known, and for a pod that does not run.
 * What a node tells of a pod of the same name that was there before is not believed.
 */
export function podMetricsOf(pod: Pod, told: ToldNodeUsage | undefined, now: number): KubeObject | undefined {
  const { metadata = {}, status } = pod;
  const usage = told?.pods.get(podKey(metadata.namespace ?? "", metadata.name ?? ""));
  if (usage === undefined || status?.phase !== "Running") return undefined;
  const uids = [metadata.uid, metadata.annotations?.[CONFIG_MIRROR_ANNOTATION]];
  if (!uids.includes(usage.uid)) return undefined;
  return {
    kind: "PodMetrics",
    apiVersion: API_VERSION,
    metadata: metadataOf(metadata, now),
    timestamp: formatTime(Math.min(...usage.containers.map(({ at }) => at))),
    window: WINDOW,
    containers: usage.containers.map((container) => ({ name: container.name, usage: amountsOf(container) })),
  };
}

/** Metrics carry the labels of what they are of, by which clients select them. */
function metadataOf({ name, namespace, labels }: ObjectMeta = {}, now: number): KubeObject["metadata"] {
  return {
    ...(name !== undefined && { name }),
    ...(namespace !== undefined && { namespace }),
    creationTimestamp: formatTime(now),
    ...(labels && { labels }),
  };
}

function amountsOf({ nanoCores, workingSetBytes }: ToldUsage): Record<string, string> {
  return {
    cpu: formatQuantity({ nanos: BigInt(nanoCores), format: "DecimalSI" }),
    memory: formatQuantity({ nanos: BigInt(workingSetBytes) * NANOS_PER_UNIT, format: "BinarySI" }),
  };
}
