import type {
  DeviceClass,
  DeviceRequest,
  DeviceSelector,
  DeviceSubRequest,
  DeviceToleration,
  ExactDeviceRequest,
} from "../../../api/gen/types.ts";

/** What a request, or one of its alternatives, asks for. */
export interface WantedDevices {
  /** The request's name. */
  readonly request: string;
  /** With the name of the alternative: `gpu/large`. */
  readonly name: string;
  readonly deviceClass: DeviceClass;
  /** Those of the class first. */
  readonly selectors: readonly DeviceSelector[];
  readonly tolerations: readonly DeviceToleration[];
  readonly isForAll: boolean;
  readonly count: number;
  readonly isAdmin: boolean;
}

/** The classes that a request names, with the names by which messages tell its alternatives apart. */
export function namedClassesOf({
  name,
  exactly,
  firstAvailable = [],
}: DeviceRequest): Array<readonly [string, string]> {
  if (exactly !== undefined) return [[name, exactly.deviceClassName]];
  return firstAvailable.map((alternative) => [`${name}/${alternative.name}`, alternative.deviceClassName] as const);
}

/** The alternatives of a request in their order; one, unless it has several. Throws for a class that does not exist. */
export function alternativesOf(request: DeviceRequest, classOf: (name: string) => DeviceClass): WantedDevices[] {
  const { name, exactly, firstAvailable = [] } = request;
  if (exactly !== undefined) {
    return [{ ...wantedBy(exactly, classOf), request: name, name, isAdmin: exactly.adminAccess === true }];
  }
  return firstAvailable.map((alternative) => {
    const own = `${name}/${alternative.name}`;
    return { ...wantedBy(alternative, classOf), request: name, name: own, isAdmin: false };
  });
}

function wantedBy(
  {
    deviceClassName,
    selectors = [],
    tolerations = [],
    allocationMode,
    count = 1,
  }: ExactDeviceRequest | DeviceSubRequest,
  classOf: (name: string) => DeviceClass,
) {
  const deviceClass = classOf(deviceClassName);
  return {
    deviceClass,
    selectors: [...(deviceClass.spec.selectors ?? []), ...selectors],
    tolerations,
    isForAll: allocationMode === "All",
    count,
  };
}

/** A claim that no choice of devices could satisfy as things are. */
export class AllocationError extends Error {}
