import type { Container, Pod, ResourceHealth, ResourceStatus } from "../../../api/gen/types.ts";
import { throwIfAborted } from "../../../base/abort.ts";
import { type Clock, SECOND } from "../../../base/clock.ts";
import { messageOf } from "../../../base/errors.ts";
import type { Log } from "../../../base/log.ts";
import { createPace } from "../../../base/pace.ts";
import type { ClaimDevice, DeviceHealth, DraPlugin } from "../../../dra/port.ts";
import { isGrpcError } from "../../../grpc/port.ts";
import type { ClaimAccount } from "./claim-account.ts";
import { type ClaimedDevice, listUsedClaims } from "./claim-uses.ts";

/** What drivers tell of the devices of claims. */
interface ClaimHealth {
  /**
   * Follows a driver until its stream ends; what it told is forgotten then. False where the driver tells nothing of its
   * devices. Rejects with AbortedError only.
   */
  follow(driver: string, plugin: Pick<DraPlugin, "watchHealth">, signal: AbortSignal): Promise<boolean>;
  /** What the status of a container tells of the devices that it has by claims. */
  ofContainer(pod: Pod, container: Container): ResourceStatus[];
}

interface ClaimHealthDeps {
  readonly clock: Clock;
  readonly log: Log;
  readonly account: Pick<ClaimAccount, "get" | "list">;
  onPodChanged(podUid: string): void;
}

/** Upstream's `DefaultHealthTimeout`. */
const DEFAULT_TIMEOUT_MS = 30 * SECOND;
/** Upstream's `ResourceHealthMessageMaxLength`. */
const MAX_MESSAGE_LENGTH = 1_024;
/** A bound on what is kept of one driver; devices beyond it are unknown. */
const MAX_DEVICES = 10_000;
/** How many devices a driver may tell of: a thousand of them two hundred times at once, and then twenty times a second. */
const TOLD_DEVICES = { credit: 200_000, perSecond: 20_000 };
const LEAST_COST = 100;

interface Told {
  readonly device: DeviceHealth;
  /** On the monotonic clock. */
  readonly at: number;
}

type Devices = ReadonlyMap<string, Told>;

/** `tellsMessages`: the gate ResourceHealthStatusMessage. */
export function createClaimHealth(
  deps: ClaimHealthDeps,
  { tellsMessages }: { readonly tellsMessages: boolean },
): ClaimHealth {
  const { clock, log, account } = deps;
  const drivers = new Map<string, Devices>();

  /** A device that the driver has left out stays as it was told, for as long as that holds. */
  const take = (driver: string, list: readonly DeviceHealth[]) => {
    const before = drivers.get(driver);
    const at = clock.monotonic();
    const kept = [...(before ?? [])].filter(([, told]) => isFresh(told, at));
    const told = list.map((device) => [deviceKey(device), { device, at }] as const);
    drivers.set(driver, new Map([...kept, ...told].slice(-MAX_DEVICES)));
    tellPods(driver, (key) => !isSame(before?.get(key)?.device, drivers.get(driver)?.get(key)?.device));
  };
  const forget = (driver: string) => {
    const before = drivers.get(driver);
    if (!drivers.delete(driver)) return;
    tellPods(driver, (key) => before?.has(key) === true);
  };
  const tellPods = (driver: string, hasChanged: (key: string) => boolean) => {
    const claims = account
      .list()
      .filter((claim) => claim.drivers.get(driver)?.some((one) => hasChanged(deviceKey(one))));
    for (const uid of new Set(claims.flatMap(({ podUids }) => [...podUids]))) deps.onPodChanged(uid);
  };

  const healthOf = (device: ClaimedDevice): ResourceHealth => {
    const [first = `${device.driver}/${deviceKey(device)}`] = device.cdiDeviceIds;
    const told = drivers.get(device.driver)?.get(deviceKey(device));
    if (told === undefined || !isFresh(told, clock.monotonic())) return { resourceID: first, health: "Unknown" };
    const { health, message } = told.device;
    return { resourceID: first, health, ...(tellsMessages && message !== "" && { message: shorten(message) }) };
  };

  return {
    async follow(driver, plugin, signal) {
      const pace = createPace(clock, TOLD_DEVICES);
      try {
        for await (const list of plugin.watchHealth({ signal })) {
          take(driver, list);
          await pace.rest(Math.max(LEAST_COST, list.length), signal);
        }
        throwIfAborted(signal);
        return true;
      } catch (error) {
        throwIfAborted(signal);
        if (isGrpcError(error, "unimplemented")) return false;
        log.debug("The stream of device health ended, will retry", { driver, error: messageOf(error) });
        return true;
      } finally {
        forget(driver);
      }
    },
    ofContainer: (pod, container) =>
      listUsedClaims(account, pod, container).flatMap(({ use: { resourceName }, devices }) => {
        if (resourceName === undefined || devices.length === 0) return [];
        // Devices may have the same first CDI name.
        const byId = new Map(devices.map(healthOf).map((health) => [health.resourceID, health]));
        return [{ name: resourceName, resources: [...byId.values()] }];
      }),
  };
}

function deviceKey({ poolName, deviceName }: Pick<ClaimDevice, "poolName" | "deviceName">): string {
  return `${poolName}/${deviceName}`;
}

function isFresh({ device, at }: Told, now: number): boolean {
  return now - at <= (device.timeoutMs ?? DEFAULT_TIMEOUT_MS);
}

function isSame(a: DeviceHealth | undefined, b: DeviceHealth | undefined): boolean {
  return a?.health === b?.health && a?.message === b?.message && a?.timeoutMs === b?.timeoutMs;
}

function shorten(message: string): string {
  return message.length <= MAX_MESSAGE_LENGTH ? message : `${message.slice(0, MAX_MESSAGE_LENGTH - 3)}...`;
}
