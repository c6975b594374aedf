import type { ResourceResourceClaim } from "../../../api/gen/types.ts";
import type { ClaimDevice } from "../../../dra/port.ts";
import { ClaimError } from "./claim-error.ts";

/** Four times the devices that one claim can have: those of the longest answer that is believed. */
const MAX_DEVICES = 128;
const MAX_CDI_NAMES = 64;
/** The longest path that Linux takes: a CDI name is never near it. */
const MAX_NAME_LENGTH = 1_024;

/** vendor/class=device, as the specification of the Container Device Interface has it. */
const CDI_NAME = /^[A-Za-z]([\w.-]*[A-Za-z0-9])?\/[A-Za-z]([\w-]*[A-Za-z0-9])?=[A-Za-z0-9]([\w.:-]*[A-Za-z0-9])?$/;

/**
 * Throws a ClaimError where what a driver has prepared cannot belong to the claim: it would be given to containers by the
 * names that the driver says.
 */
export function checkDevices(claim: ResourceResourceClaim, driver: string, devices: readonly ClaimDevice[]): void {
  const refuse = (why: string): never => {
    const place = `DRA driver ${driver} for ResourceClaim ${claim.metadata?.name}`;
    throw new ClaimError(`NodePrepareResources of ${place}: ${why}`);
  };
  const requests = requestsOf(claim);
  if (devices.length > MAX_DEVICES) refuse(`${devices.length} devices are more than ${MAX_DEVICES}`);
  for (const { poolName, deviceName, shareId = "", requestNames, cdiDeviceIds } of devices) {
    const device = `device ${JSON.stringify(`${poolName}/${deviceName}`.slice(0, MAX_NAME_LENGTH))}`;
    const names = [poolName, deviceName, shareId, ...cdiDeviceIds];
    if (names.some(({ length }) => length > MAX_NAME_LENGTH)) refuse(`${device} has a name that is too long`);
    if (cdiDeviceIds.length > MAX_CDI_NAMES) refuse(`${device} has more than ${MAX_CDI_NAMES} CDI device IDs`);
    const unknown = requestNames.find((name) => !requests.has(baseRequest(name)));
    if (unknown !== undefined) refuse(`${device} is for ${quoted(unknown)}, which is no request of the claim`);
    const invalid = cdiDeviceIds.find((id) => !CDI_NAME.test(id));
    if (invalid !== undefined) refuse(`${device} has the invalid CDI device ID ${quoted(invalid)}`);
  }
}

/** The request of a request's alternative: `gpu` of `gpu/large`. */
export function baseRequest(request: string): string {
  return request.split("/", 1)[0] ?? request;
}

function requestsOf({ spec, status }: ResourceResourceClaim): ReadonlySet<string> {
  const wanted = (spec.devices?.requests ?? []).map(({ name }) => name);
  const given = (status?.allocation?.devices?.results ?? []).map(({ request }) => baseRequest(request));
  return new Set([...wanted, ...given]);
}

function quoted(text: string): string {
  return JSON.stringify(text.slice(0, MAX_NAME_LENGTH));
}
