import { isRecord } from "../../api/object.ts";
import { parseTime } from "../../base/clock.ts";
import { CodedError } from "../../base/errors.ts";

/** What something uses. */
export interface ToldUsage {
  /** When that was, in milliseconds since the epoch. */
  readonly at: number;
  /** Billionths of a processor. */
  readonly nanoCores: number;
  readonly workingSetBytes: number;
}

/** A pod as its node tells of it. */
interface ToldPodUsage {
  readonly uid: string;
  readonly containers: ReadonlyArray<ToldUsage & { readonly name: string }>;
}

/** A node and its pods as the node tells of them. */
export interface ToldNodeUsage {
  /** Undefined while the node does not know. */
  readonly node: ToldUsage | undefined;
  /** By `podKey`; a pod of which something is not known yet is not among them. */
  readonly pods: ReadonlyMap<string, ToldPodUsage>;
}

/** The key of a pod in `ToldNodeUsage.pods`. */
export const podKey = (namespace: string, name: string): string => `${namespace}/${name}`;

/**
 * Reads a node's answer to `/stats/summary`. Fields that are missing or make no sense count as not known. Throws a
 * CodedError `no-summary` for what is no summary at all.
 */
export function decodeNodeUsage(text: string): ToldNodeUsage {
  const summary = parseSummary(text);
  const pods = listOf(summary["pods"]).flatMap((pod): Array<[string, ToldPodUsage]> => {
    const { namespace, name, uid } = recordOf(pod["podRef"]);
    const containers = decodeContainers(pod["containers"]);
    if (typeof namespace !== "string" || typeof name !== "string" || typeof uid !== "string") return [];
    return containers === undefined ? [] : [[podKey(namespace, name), { uid, containers }]];
  });
  return { node: decodeUsage(recordOf(summary["node"])), pods: new Map(pods) };
}

function parseSummary(text: string): Record<string, unknown> {
  let summary: unknown;
  try {
    summary = JSON.parse(text);
  } catch (cause) {
    throw new CodedError("no-summary", "the node's summary is no JSON", { cause });
  }
  if (!isRecord(summary)) throw new CodedError("no-summary", "the node's summary is no JSON object");
  return summary;
}

/** Undefined unless the usage of each container is known: a sum without one of them would be too small. */
function decodeContainers(value: unknown): ToldPodUsage["containers"] | undefined {
  const containers = listOf(value).map((container) => {
    const usage = decodeUsage(container);
    return usage && typeof container["name"] === "string" ? { name: container["name"], ...usage } : undefined;
  });
  const known = containers.filter((container) => container !== undefined);
  return known.length > 0 && known.length === containers.length ? known : undefined;
}

function decodeUsage(told: Record<string, unknown>): ToldUsage | undefined {
  const { time, usageNanoCores: nanoCores } = recordOf(told["cpu"]);
  const { workingSetBytes } = recordOf(told["memory"]);
  const at = typeof time === "string" ? parseTime(time) : undefined;
  return at !== undefined && isAmount(nanoCores) && isAmount(workingSetBytes)
    ? { at, nanoCores, workingSetBytes }
    : undefined;
}

const isAmount = (value: unknown): value is number =>
  typeof value === "number" && Number.isSafeInteger(value) && value >= 0;

const recordOf = (value: unknown): Record<string, unknown> => (isRecord(value) ? value : {});

const listOf = (value: unknown): Array<Record<string, unknown>> => (Array.isArray(value) ? value.map(recordOf) : []);
