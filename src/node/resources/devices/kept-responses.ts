import { encodeDeviceResponse } from "../../../device-plugin/messages.ts";
import type { DeviceResponse } from "../../../device-plugin/port.ts";
import type { DeviceAssignment } from "./device-assignments.ts";

/** Real answers have some hundred bytes. */
const MAX_RESPONSE_BYTES = 64 * 1024;
/** The checkpoint holds all of them, and is written and summed as a whole at each change. */
const MAX_KEPT_BYTES = 2 * 1024 * 1024;

const sizes = new WeakMap<DeviceResponse, number>();

/** Tells why a plugin's answer is not kept beside those that are: it, or all of them together, are too large. */
export function findExcess(
  resource: string,
  response: DeviceResponse,
  kept: readonly DeviceAssignment[],
): string | undefined {
  const bytes = sizeOf(response);
  if (bytes > MAX_RESPONSE_BYTES) {
    return `the answer of ${resource} to Allocate has ${bytes} bytes, more than ${MAX_RESPONSE_BYTES}`;
  }
  const all = kept.reduce((sum, { devices }) => sum + sizeOf(devices.response), bytes);
  if (all <= MAX_KEPT_BYTES) return undefined;
  return `the answers of device plugins to Allocate would have ${all} bytes, more than ${MAX_KEPT_BYTES}`;
}

function sizeOf(response: DeviceResponse): number {
  const known = sizes.get(response) ?? encodeDeviceResponse(response).length;
  sizes.set(response, known);
  return known;
}
