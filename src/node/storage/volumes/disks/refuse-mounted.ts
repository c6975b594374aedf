import type { Mounts } from "../../../../host/mounts-port.ts";
import type { ScsiDevices } from "./scsi-devices.ts";

/**
 * Rejects where one of the devices (`sdb`, `dm-0`) is mounted anywhere: whoever mounted it would lose what he writes. The
 * accounts of pods and directories can be wrong, after somebody has unmounted by hand; the mount table is not.
 */
export async function refuseMounted(
  { mounts, devices }: { readonly mounts: Pick<Mounts, "list">; readonly devices: Pick<ScsiDevices, "numberOf"> },
  names: readonly string[],
): Promise<void> {
  const numbers = new Set<string>();
  for (const name of names) {
    const number = await devices.numberOf(name);
    if (number !== undefined) numbers.add(number);
  }
  const sources = new Set(names.map((name) => `/dev/${name}`));
  const mounted = (await mounts.list()).find(({ device, source }) => numbers.has(device) || sources.has(source));
  if (mounted !== undefined) throw new Error(`${mounted.source} is still mounted at ${mounted.path}`);
}
