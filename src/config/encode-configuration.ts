import { isRecord } from "../api/object.ts";
import type { FieldTable } from "./codec.ts";
import { formatDuration } from "./duration.ts";
import { KUBELET_CONFIGURATION_FIELDS, type KubeletConfiguration } from "./kubelet-configuration.ts";

/**
 * Encodes the configuration as a KubeletConfiguration of `kubelet.config.k8s.io/v1beta1`, without what Go leaves out as
 * empty.
 */
export function encodeKubeletConfiguration(configuration: KubeletConfiguration): Record<string, unknown> {
  return encodeFields(KUBELET_CONFIGURATION_FIELDS, configuration);
}

function encodeFields(table: FieldTable, values: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const entries = Object.entries(table).flatMap(([name, { codec, zeroIsUnset }]) => {
    const value = values[name];
    // Durations and objects are structures in Go, which are never empty.
    const isEmpty = value === "" || value === false || (value === 0 && codec.typeName !== "duration");
    if (value === undefined || value === null || (zeroIsUnset && isEmpty) || isEmptyCollection(codec.fields, value)) {
      return [];
    }
    return [[name, encodeValue(codec, value)] as const];
  });
  return Object.fromEntries(entries);
}

function isEmptyCollection(fields: FieldTable | undefined, value: unknown): boolean {
  if (Array.isArray(value)) return value.length === 0;
  return fields === undefined && isRecord(value) && Object.keys(value).length === 0;
}

function encodeValue({ typeName, fields }: { typeName: string; fields?: FieldTable }, value: unknown): unknown {
  if (fields !== undefined && isRecord(value)) return encodeFields(fields, value);
  return typeName === "duration" && typeof value === "number" ? formatDuration(value) : value;
}
