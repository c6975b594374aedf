import { ACCESS_TYPES } from "./descriptions/access.ts";
import { ADMISSION_TYPES } from "./descriptions/admission.ts";
import { APP_TYPES } from "./descriptions/apps.ts";
import { AUTOSCALING_TYPES } from "./descriptions/autoscaling.ts";
import { BATCH_TYPES } from "./descriptions/batch.ts";
import { CLUSTER_TYPES } from "./descriptions/cluster.ts";
import { CONTAINER_TYPES } from "./descriptions/containers.ts";
import { CORE_TYPES } from "./descriptions/core.ts";
import { CUSTOM_RESOURCE_TYPES } from "./descriptions/custom-resources.ts";
import { DEVICE_TYPES } from "./descriptions/devices.ts";
import { FLOW_CONTROL_TYPES } from "./descriptions/flow-control.ts";
import { META_TYPES } from "./descriptions/meta.ts";
import { NETWORK_TYPES } from "./descriptions/network.ts";
import { NODE_TYPES } from "./descriptions/nodes.ts";
import { POD_TYPES } from "./descriptions/pods.ts";
import { STORAGE_TYPES } from "./descriptions/storage.ts";
import { VOLUME_TYPES } from "./descriptions/volumes.ts";
import type { TypeDescriptions } from "./type-description.ts";

/** What `kubectl explain` prints. */
export const DESCRIPTIONS: TypeDescriptions = {
  ...ACCESS_TYPES,
  ...ADMISSION_TYPES,
  ...APP_TYPES,
  ...AUTOSCALING_TYPES,
  ...BATCH_TYPES,
  ...CLUSTER_TYPES,
  ...CONTAINER_TYPES,
  ...CORE_TYPES,
  ...CUSTOM_RESOURCE_TYPES,
  ...DEVICE_TYPES,
  ...FLOW_CONTROL_TYPES,
  ...META_TYPES,
  ...NETWORK_TYPES,
  ...NODE_TYPES,
  ...POD_TYPES,
  ...STORAGE_TYPES,
  ...VOLUME_TYPES,
};

/** Sentences about fields that every kind has. Upstream's conformance suite looks for the first words of some. */
const COMMON_FIELDS: Readonly<Record<string, string>> = {
  apiVersion: "APIVersion defines in which group and version the object is written, `apps/v1`.",
  items: "The objects of the list.",
  kind: "What the object is, in CamelCase.",
  metadata: "Standard object's metadata: name, labels and what the server keeps about the object.",
  spec: "What is wanted.",
  status: "What was last seen.",
};

/** The sentence about a type, by its name in the field tables. */
export function describeType(type: string): string | undefined {
  return DESCRIPTIONS[type]?.is;
}

/** The sentence about a field of a type. */
export function describeField(type: string, field: string): string | undefined {
  const fields = DESCRIPTIONS[type]?.fields;
  if (fields !== undefined && Object.hasOwn(fields, field)) return fields[field];
  return Object.hasOwn(COMMON_FIELDS, field) ? COMMON_FIELDS[field] : undefined;
}
