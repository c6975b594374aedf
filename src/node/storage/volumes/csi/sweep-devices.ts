import { isAbort, sleep } from "../../../../base/abort.ts";
import { createBackOff } from "../../../../base/back-off.ts";
import { messageOf } from "../../../../base/errors.ts";
import type { KeyedLock } from "../../../../base/keyed-lock.ts";
import type { Attachments } from "./attachments.ts";
import type { CsiPluginDeps } from "./csi-ports.ts";
import { type Device, type Devices, volumeKey } from "./devices.ts";
import type { DeviceStaging } from "./stage-device.ts";

/** The wait between two attempts at one volume, as upstream. */
const RETRY_INITIAL_MS = 500;
const RETRY_MAX_MS = 122_000;

interface SweepDeps extends Pick<CsiPluginDeps, "clock" | "log"> {
  readonly devices: Devices;
  readonly lock: KeyedLock;
  readonly staging: Pick<DeviceStaging, "unstage">;
  readonly attachments: Pick<Attachments, "end">;
}

/** Unstages each device as soon as no pod uses it. Returns once the signal has fired and no work is under way. */
export async function sweepDevices(deps: SweepDeps, signal: AbortSignal): Promise<void> {
  const { devices } = deps;
  const underWay = new Map<Device, Promise<void>>();
  const sweep = () => {
    if (signal.aborted) return;
    for (const device of devices.all()) {
      if (device.users.size > 0 || underWay.has(device)) continue;
      const work = unstageUntilDone(deps, device, signal).finally(() => {
        underWay.delete(device);
        // Between the last attempt and now a pod may have used and left the device again.
        if (device.users.size === 0 && devices.all().includes(device)) sweep();
      });
      underWay.set(device, work);
    }
  };
  const unsubscribe = devices.subscribe(sweep);
  try {
    await retry(deps, "the directories of volumes cannot be read", signal, async () => {
      await devices.load();
      return true;
    });
    sweep();
    await new Promise<void>((resolve) => {
      if (signal.aborted) resolve();
      signal.addEventListener("abort", () => resolve(), { once: true });
    });
  } finally {
    unsubscribe();
    while (underWay.size > 0) await Promise.all(underWay.values());
  }
}

async function unstageUntilDone(deps: SweepDeps, device: Device, signal: AbortSignal): Promise<void> {
  const { devices, lock, staging, attachments } = deps;
  const isDone = async () => {
    if (device.users.size > 0) return true;
    // A pod that starts to use the device during the unstage waits for the lock, and then stages it again.
    await staging.unstage(device, {
      end: async () => {
        if (device.users.size > 0) return;
        await attachments.end(device, signal);
        device.isAttached = false;
      },
      signal,
    });
    devices.settle(device);
    return true;
  };
  await retry(
    deps,
    `volume ${volumeKey(device)} cannot be unstaged`,
    signal,
    async () => await lock.run(volumeKey(device), isDone, signal),
  );
}

async function retry(
  { clock, log }: Pick<SweepDeps, "clock" | "log">,
  what: string,
  signal: AbortSignal,
  attempt: () => Promise<boolean>,
): Promise<void> {
  const backOff = createBackOff({
    initialMs: RETRY_INITIAL_MS,
    maxMs: RETRY_MAX_MS,
    resetMs: Number.POSITIVE_INFINITY,
  });
  while (!signal.aborted) {
    try {
      await attempt();
      return;
    } catch (error) {
      if (isAbort(error)) return;
      log.warn(`${what}; it is tried again`, { error: messageOf(error) });
      const now = clock.monotonic();
      await sleep(clock, backOff.next("", now, now), signal).catch(() => undefined);
    }
  }
}
