import type { Container, Pod } from "../../../api/gen/types.ts";
import { podReference } from "../../../api/pods.ts";
import type { ClaimDevice } from "../../../dra/port.ts";
import { baseRequest } from "./check-answer.ts";
import type { ClaimAccount, ClaimInfo } from "./claim-account.ts";
import { type ClaimUse, listClaimUses } from "./pod-claims.ts";

/** A device of a claim, and its driver. */
export interface ClaimedDevice extends ClaimDevice {
  readonly driver: string;
}

/** What a container uses of one claim. */
interface UsedClaim {
  readonly use: ClaimUse;
  /** Undefined: the claim is not prepared. */
  readonly info: ClaimInfo | undefined;
  /** The devices of the requests that the container names. */
  readonly devices: readonly ClaimedDevice[];
}

/** What the container uses of the pod's claims, in the order in which it names them. */
export function listUsedClaims(account: Pick<ClaimAccount, "get">, pod: Pod, container: Container): UsedClaim[] {
  const { namespace } = podReference(pod);
  return listClaimUses(pod, container).map((use) => {
    const info = account.get({ namespace, name: use.claimName });
    const devices = info === undefined ? [] : listClaimedDevices(info);
    return { use, info, devices: devices.filter((device) => isFor(device, use.request)) };
  });
}

/** All devices of the claim. */
export function listClaimedDevices({ drivers }: Pick<ClaimInfo, "drivers">): ClaimedDevice[] {
  return [...drivers].flatMap(([driver, devices]) => devices.map((device) => ({ ...device, driver })));
}

function isFor({ requestNames }: ClaimDevice, request: string | undefined): boolean {
  if (request === undefined || request === "" || requestNames.length === 0) return true;
  return requestNames.some((name) => baseRequest(name) === baseRequest(request));
}
