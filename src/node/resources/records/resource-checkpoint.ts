import type { ResourceRequirements } from "../../../api/gen/types.ts";
import { isRecord } from "../../../api/object.ts";
import { parseQuantity } from "../../../api/quantity.ts";
import { computeGoChecksum, goText } from "../checkpoints/go-dump.ts";
import type { PodResourceInfo } from "./pod-resource-info.ts";

/** The resources of pods by their UIDs. */
type PodResourceInfos = ReadonlyMap<string, PodResourceInfo>;

/**
 * The text of a checkpoint of resources, as a Go kubelet writes and reads it (pkg/kubelet/allocation/state): the data are
 * JSON in a string, with a checksum of that string.
 */
export function encodeResourceCheckpoint(infos: PodResourceInfos): string {
  const entries = [...infos]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([uid, { containers, pod = null }]) => [uid, { ContainerResources: containers, PodLevelResources: pod }]);
  const data = JSON.stringify(entries.length === 0 ? {} : { entries: Object.fromEntries(entries) });
  return JSON.stringify({ data, checksum: checksumOf(data) });
}

/** Reads a checkpoint; undefined where it is none, or does not have the checksum that it names. */
export function decodeResourceCheckpoint(text: string): Map<string, PodResourceInfo> | undefined {
  const file = parseObject(text);
  const data = file?.["data"];
  if (typeof data !== "string" || file?.["checksum"] !== checksumOf(data)) return undefined;
  const entries = parseObject(data)?.["entries"] ?? {};
  if (!isRecord(entries)) return undefined;
  const infos = new Map<string, PodResourceInfo>();
  for (const [uid, entry] of Object.entries(entries)) {
    if (!isRecord(entry)) return undefined;
    const { ContainerResources: named, PodLevelResources: own } = entry;
    const containers = Object.entries(isRecord(named) ? named : {}).map(([name, each]) => [name, toRequirements(each)]);
    infos.set(uid, { containers: Object.fromEntries(containers), ...(isRecord(own) && { pod: toRequirements(own) }) });
  }
  return infos;
}

function parseObject(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isRecord(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function toRequirements(value: unknown): ResourceRequirements {
  if (!isRecord(value)) return {};
  const { requests, limits } = value;
  return {
    ...(isRecord(limits) && { limits: toQuantities(limits) }),
    ...(isRecord(requests) && { requests: toQuantities(requests) }),
  };
}

function toQuantities(list: Record<string, unknown>): Record<string, string> {
  const known = Object.entries(list).flatMap(([name, value]) =>
    typeof value === "string" && parseQuantity(value) !== undefined ? [[name, value] as const] : [],
  );
  return Object.fromEntries(known);
}

const checksumOf = (data: string): number => computeGoChecksum({ type: "string", value: goText(data) });
