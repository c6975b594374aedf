import type { DeviceResponse } from "../../../device-plugin/port.ts";

/** What the devices of a container add to it. */
export interface DeviceOptions {
  readonly envs: ReadonlyArray<{ readonly name: string; readonly value: string }>;
  readonly mounts: DeviceResponse["mounts"];
  readonly devices: DeviceResponse["devices"];
  readonly annotations: Readonly<Record<string, string>>;
  readonly cdiDevices: readonly string[];
}

export const NO_DEVICE_OPTIONS: DeviceOptions = { envs: [], mounts: [], devices: [], annotations: {}, cdiDevices: [] };

/**
 * Joins the answers of a container's plugins, in the order of their resources' names. What an earlier one has set, a
 * later one does not change, as upstream (`deviceRunContainerOptions` in pkg/kubelet/cm/devicemanager/pod_devices.go).
 */
export function joinDeviceResponses(responses: ReadonlyMap<string, DeviceResponse>): DeviceOptions {
  const sorted = [...responses].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, response]) => response);
  const envs = firstByKey(
    sorted.flatMap((one) => Object.entries(one.envs)),
    ([name]) => name,
  );
  const annotations = firstByKey(
    sorted.flatMap((one) => Object.entries(one.annotations)),
    ([name]) => name,
  );
  const byPath = ({ containerPath }: { containerPath: string }) => containerPath;
  return {
    envs: envs.map(([name, value]) => ({ name, value })),
    mounts: firstByKey(
      sorted.flatMap(({ mounts }) => mounts),
      byPath,
    ),
    devices: firstByKey(
      sorted.flatMap(({ devices }) => devices),
      byPath,
    ),
    annotations: Object.fromEntries(annotations),
    cdiDevices: [...new Set(sorted.flatMap(({ cdiDevices }) => cdiDevices))],
  };
}

function firstByKey<T>(items: readonly T[], keyOf: (item: T) => string): T[] {
  const first = new Map<string, T>();
  for (const item of items) if (!first.has(keyOf(item))) first.set(keyOf(item), item);
  return [...first.values()];
}
