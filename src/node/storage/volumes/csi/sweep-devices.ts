import type { KeyedLock } from "../../../../base/keyed-lock.ts";
import { sweepUnused } from "../sweep-unused.ts";
import type { Attachments } from "./attachments.ts";
import type { CsiPluginDeps } from "./csi-ports.ts";
import { type Device, type Devices, volumeKey } from "./devices.ts";
import type { DeviceStaging } from "./stage-device.ts";

interface SweepDeps extends Pick<CsiPluginDeps, "clock" | "log"> {
  readonly devices: Devices;
  readonly lock: KeyedLock;
  readonly staging: Pick<DeviceStaging, "unstage">;
  readonly attachments: Pick<Attachments, "end">;
}

/** Unstages each device as soon as no pod uses it. Returns once the signal has fired and no work is under way. */
export async function sweepDevices(deps: SweepDeps, signal: AbortSignal): Promise<void> {
  const { devices, lock } = deps;
  const sweep = {
    ...deps,
    load: devices.load,
    all: devices.all,
    subscribe: devices.subscribe,
    describe: (device: Device) => `volume ${volumeKey(device)} cannot be unstaged`,
    takeAway: async (device: Device) =>
      await lock.run(volumeKey(device), async () => await unstage(deps, device, signal), signal),
  };
  await sweepUnused(sweep, signal);
}

async function unstage(
  { devices, staging, attachments }: SweepDeps,
  device: Device,
  signal: AbortSignal,
): Promise<void> {
  if (device.users.size > 0) return;
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
}
