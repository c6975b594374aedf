import type { FieldError } from "../../../api/field-error.ts";
import type {
  AllocatedDeviceStatus,
  AllocationResult,
  DeviceAllocationConfiguration,
  DeviceRequestAllocationResult,
  NetworkDeviceData,
  ResourceClaimConsumerReference,
  ResourceClaimStatus,
} from "../../../api/gen/types.ts";
import { type KubeObject, type ObjectOf, typed } from "../../../api/object.ts";
import { checkInterfaceAddress } from "../../../api/validation/ip-address.ts";
import { validateNodeSelector } from "../../../api/validation/node-selector.ts";
import {
  forbidden,
  invalid,
  invalidEach,
  oneOf,
  required,
  tooLong,
  tooMany,
} from "../../../api/validation/problems.ts";
import { immutable } from "../rules/immutable.ts";
import { validateConditionList } from "../rules/workload-status.ts";
import { validateList, validateSet } from "./bounded-list.ts";
import { MAX_DEVICES, requestNamesOf, validateRequestReference, validateRequestReferences } from "./device-claim.ts";
import { validateDriverName, validateLabelName, validatePoolName } from "./device-names.ts";
import { validateConfiguration, validateRawObject } from "./device-selectors.ts";

const MAX_CONSUMERS = 256;
const MAX_CONDITIONS = 8;
const MAX_ADDRESSES = 16;
const MAX_INTERFACE_NAME = 256;
const MAX_HARDWARE_ADDRESS = 128;

type Claim = ObjectOf<"ResourceClaim">;
type DeviceIdentity = Pick<DeviceRequestAllocationResult, "driver" | "pool" | "device">;

const identityOf = ({ driver, pool, device }: DeviceIdentity) => `${driver}/${pool}/${device}`;
const resultsOf = (allocation: AllocationResult | undefined) => allocation?.devices?.results ?? [];

/** The current claim with the new status, without what is told of devices that it does not have any more. */
export function takeClaimStatus(next: KubeObject, current: KubeObject): KubeObject {
  const { status = {} } = typed("ResourceClaim", next);
  const { status: before } = typed("ResourceClaim", current);
  const kept = new Set(resultsOf(status.allocation).map(identityOf));
  const gone = new Set(
    resultsOf(before?.allocation)
      .map(identityOf)
      .filter((device) => !kept.has(device)),
  );
  const { devices: told = [], ...rest } = status;
  const devices = told.filter((device) => !gone.has(identityOf(device)));
  const { managedFields } = next.metadata;
  const metadata = { ...current.metadata, ...(managedFields && { managedFields }) };
  return { ...current, metadata, status: { ...rest, ...(devices.length > 0 && { devices }) } };
}

/** The problems of a new status of a claim. An allocation is made or taken back as a whole, and never changed. */
export function validateClaimStatus(
  { metadata, spec, status = {} }: Claim,
  { status: before = {} }: Claim,
): FieldError[] {
  const { allocation, devices, reservedFor } = status;
  const allocated = new Set(resultsOf(allocation).map(identityOf));
  return [
    ...validateSet("status.reservedFor", reservedFor, {
      max: MAX_CONSUMERS,
      check: validateConsumer,
      keyOf: ({ uid }) => uid,
    }),
    ...validateSet("status.devices", devices, {
      max: Number.POSITIVE_INFINITY,
      check: (device, at) => validateDeviceStatus(at, device, allocated),
      keyOf: identityOf,
    }),
    ...validateReservations(status, before, metadata.deletionTimestamp !== undefined),
    ...(allocation === undefined
      ? []
      : before.allocation === undefined
        ? validateAllocation("status.allocation", allocation, requestNamesOf(spec.devices))
        : immutable("status.allocation", allocation, before.allocation)),
  ];
}

function validateConsumer({ resource, name, uid }: ResourceClaimConsumerReference, path: string): FieldError[] {
  return Object.entries({ resource, name, uid }).flatMap(([field, value]) => {
    return value === "" ? [required(`${path}.${field}`)] : [];
  });
}

function validateReservations(
  status: ResourceClaimStatus,
  before: ResourceClaimStatus,
  isGoing: boolean,
): FieldError[] {
  const { reservedFor = [], allocation } = status;
  if (reservedFor.length === 0) return [];
  const path = "status.reservedFor";
  if (allocation === undefined) return [forbidden(path, "may not be specified when `allocated` is not set")];
  const known = new Set((before.reservedFor ?? []).map(({ uid }) => uid));
  if (!isGoing || reservedFor.every(({ uid }) => known.has(uid))) return [];
  const rule = "new entries may not be added while `deallocationRequested` or `deletionTimestamp` are set";
  return [forbidden(path, rule)];
}

function validateAllocation(path: string, allocation: AllocationResult, names: ReadonlySet<string>): FieldError[] {
  const { devices: { results, config } = {}, nodeSelector } = allocation;
  return [
    ...validateList(`${path}.devices.results`, results, {
      max: MAX_DEVICES,
      check: (result, at) => validateResult(at, result, names),
    }),
    ...validateList(`${path}.devices.config`, config, {
      // Those of the classes and those of the claim.
      max: 2 * MAX_DEVICES,
      check: (item, at) => validateAllocationConfig(at, item, names),
    }),
    ...(nodeSelector === undefined
      ? []
      : validateNodeSelector(`${path}.nodeSelector`, nodeSelector, { allowsAnyValue: false })),
  ];
}

function validateResult(path: string, result: DeviceRequestAllocationResult, names: ReadonlySet<string>): FieldError[] {
  const unknown = (["shareID", "consumedCapacity", "bindingConditions", "bindingFailureConditions"] as const).filter(
    (field) => result[field] !== undefined,
  );
  return [
    ...validateRequestReference(`${path}.request`, result.request, names),
    ...validateIdentity(path, result),
    ...unknown.map((field) =>
      forbidden(`${path}.${field}`, "nodelet gives whole devices that are ready: leave it out"),
    ),
  ];
}

function validateIdentity(path: string, { driver, pool, device }: DeviceIdentity): FieldError[] {
  return [
    ...validateDriverName(`${path}.driver`, driver),
    ...validatePoolName(`${path}.pool`, pool),
    ...validateLabelName(`${path}.device`, device),
  ];
}

function validateAllocationConfig(
  path: string,
  config: DeviceAllocationConfiguration,
  names: ReadonlySet<string>,
): FieldError[] {
  return [
    ...oneOf(`${path}.source`, config.source, ["FromClaim", "FromClass"]),
    ...validateRequestReferences(`${path}.requests`, config.requests, names),
    ...validateConfiguration(path, config),
  ];
}

function validateDeviceStatus(
  path: string,
  device: AllocatedDeviceStatus,
  allocated: ReadonlySet<string>,
): FieldError[] {
  const { conditions = [], data, networkData, shareID } = device;
  const rule = "must be an allocated device in the claim";
  return [
    ...validateIdentity(path, device),
    ...(shareID === undefined ? [] : [forbidden(`${path}.shareID`, "nodelet gives whole devices: leave it out")]),
    ...(allocated.has(identityOf(device)) ? [] : [invalid(path, identityOf(device), rule)]),
    ...(conditions.length > MAX_CONDITIONS ? [tooMany(`${path}.conditions`, conditions.length, MAX_CONDITIONS)] : []),
    ...validateConditionList(`${path}.conditions`, conditions),
    ...(data === undefined ? [] : validateRawObject(`${path}.data`, data)),
    ...(networkData === undefined ? [] : validateNetworkData(`${path}.networkData`, networkData)),
  ];
}

function validateNetworkData(path: string, data: NetworkDeviceData): FieldError[] {
  const { interfaceName = "", hardwareAddress = "", ips } = data;
  return [
    ...(Buffer.byteLength(interfaceName) > MAX_INTERFACE_NAME
      ? [tooLong(`${path}.interfaceName`, MAX_INTERFACE_NAME)]
      : []),
    ...(Buffer.byteLength(hardwareAddress) > MAX_HARDWARE_ADDRESS
      ? [tooLong(`${path}.hardwareAddress`, MAX_HARDWARE_ADDRESS)]
      : []),
    ...validateSet(`${path}.ips`, ips, {
      max: MAX_ADDRESSES,
      check: (address, at) => invalidEach(at, address, checkInterfaceAddress(address)),
      keyOf: (address) => address,
    }),
  ];
}
