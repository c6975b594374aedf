import { LRUCache } from "lru-cache";
import type { AllocationResult, DeviceClass, ResourceSlice } from "../../../api/gen/types.ts";
import { type ObjectOf, typed } from "../../../api/object.ts";
import {
  compileDeviceSelector,
  type DeviceSelectorProgram,
  selectableDevice,
} from "../../cel/devices/device-selector.ts";
import type { MapValue } from "../../cel/values.ts";
import { DEVICE_CLAIMS, readDeviceClaim } from "../../claims/device-claims.ts";
import type { ResourceReader } from "../../ports/resources.ts";
import { deviceIdOf, type PooledDevice } from "./device-pools.ts";

const GROUP = "resource.k8s.io";
/** Selectors come from classes and claims, most of which have the same few. */
const MAX_SELECTORS = 256;

/** The devices, classes and claims that decide where a pod can run. */
export interface DeviceView {
  claim(namespace: string, name: string): ObjectOf<"ResourceClaim"> | undefined;
  deviceClass(name: string): DeviceClass | undefined;
  /** The slices in order of their names. */
  slices(): readonly ResourceSlice[];
  /** The devices that claims have, or will have as soon as their status is written. */
  taken(): ReadonlySet<string>;
  /** True while an allocation of the claim is being written. */
  isPending(uid: string): boolean;
  /** The selector, ready to evaluate, or why it is none. */
  selector(text: string): DeviceSelectorProgram | { readonly problem: string };
  /** The device as selectors see it. */
  selectable(device: PooledDevice): MapValue;
}

/** The same with the allocations that the scheduler has decided on, and has not written yet. */
export interface PendingDevices extends DeviceView {
  assume(uid: string, allocation: AllocationResult): void;
  forget(uid: string): void;
}

/** Reads slices, classes and claims in their stored state. */
export function createDeviceView(reader: ResourceReader): PendingDevices {
  const pending = new Map<string, AllocationResult>();
  const programs = new LRUCache<string, DeviceSelectorProgram | { readonly problem: string }>({ max: MAX_SELECTORS });
  return {
    claim: (namespace, name) => readDeviceClaim(reader, namespace, name),
    deviceClass(name) {
      const found = reader.get({ resource: `deviceclasses.${GROUP}`, namespace: "", name });
      return found && typed("DeviceClass", found);
    },
    slices: () => reader.list(`resourceslices.${GROUP}`).map((object) => typed("ResourceSlice", object)),
    taken() {
      const stored = reader.list(DEVICE_CLAIMS).map((object) => typed("ResourceClaim", object).status?.allocation);
      return new Set([...stored, ...pending.values()].flatMap(exclusiveDevicesOf));
    },
    isPending: (uid) => pending.has(uid),
    selector(text) {
      const known = programs.get(text) ?? compileDeviceSelector(text);
      programs.set(text, known);
      return known;
    },
    selectable: ({ driver, device }) => selectableDevice(driver, device),
    assume: (uid, allocation) => pending.set(uid, allocation),
    forget: (uid) => pending.delete(uid),
  };
}

/** The devices that nobody else can have. Whoever only watches over a device does not take it. */
function exclusiveDevicesOf(allocation: AllocationResult | undefined): string[] {
  return (allocation?.devices?.results ?? []).flatMap(({ adminAccess, driver, pool, device }) => {
    return adminAccess === true ? [] : [deviceIdOf(driver, pool, device)];
  });
}
