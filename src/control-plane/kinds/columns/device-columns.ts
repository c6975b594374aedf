import type { ResourceResourceClaim } from "../../../api/gen/types.ts";
import { AGE, columnsOf, NAME } from "./column.ts";

export const DEVICE_CLASS_COLUMNS = columnsOf("DeviceClass", [NAME, AGE]);
export const RESOURCE_CLAIM_TEMPLATE_COLUMNS = columnsOf("ResourceClaimTemplate", [NAME, AGE]);

export const RESOURCE_CLAIM_COLUMNS = columnsOf("ResourceClaim", [
  NAME,
  { name: "State", description: "Whether devices are allocated, and reserved for somebody.", cell: stateOf },
  AGE,
]);

export const RESOURCE_SLICE_COLUMNS = columnsOf("ResourceSlice", [
  NAME,
  { name: "Node", description: "The node that has the devices.", cell: ({ spec }) => spec.nodeName ?? "" },
  { name: "Driver", description: "The driver that lists them.", cell: ({ spec }) => spec.driver },
  { name: "Pool", description: "The driver's pool to which they belong.", cell: ({ spec }) => spec.pool.name },
  AGE,
]);

function stateOf({ metadata, status }: ResourceResourceClaim): string {
  const { allocation, reservedFor = [] } = status ?? {};
  const isGoing = metadata?.deletionTimestamp !== undefined;
  return [
    ...(isGoing ? ["deleted"] : []),
    ...(allocation === undefined ? (isGoing ? [] : ["pending"]) : ["allocated"]),
    ...(allocation !== undefined && reservedFor.length > 0 ? ["reserved"] : []),
  ].join(",");
}
