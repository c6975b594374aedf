import { ContainerAllocateResponse, type Device } from "./gen/device-plugin-v1beta1.ts";
import type { DeviceResponse, PluginDevice } from "./port.ts";

/** The devices as the plugin lists them; the last of two with one ID counts. */
export function readDevices(devices: readonly Device[]): PluginDevice[] {
  const byId = new Map<string, PluginDevice>();
  for (const { ID: id, health, topology } of devices) {
    const numaNodes = (topology?.nodes ?? []).map((node) => Number(node.ID));
    byId.set(id, { id, isHealthy: health === "Healthy", numaNodes });
  }
  return [...byId.values()];
}

/** The answer without its wire's own names. */
export function readDeviceResponse({ cdiDevices, ...response }: ContainerAllocateResponse): DeviceResponse {
  return { ...response, cdiDevices: cdiDevices.map(({ name }) => name) };
}

/** The bytes in which checkpoints keep a plugin's answer, as upstream's do. */
export function encodeDeviceResponse(response: DeviceResponse): Uint8Array {
  const { envs, mounts, devices, annotations, cdiDevices } = response;
  const names = cdiDevices.map((name) => ({ name }));
  const message = { envs, mounts: [...mounts], devices: [...devices], annotations, cdiDevices: names };
  return ContainerAllocateResponse.encode(ContainerAllocateResponse.fromPartial(message)).finish();
}

/** Throws for bytes that are no such message. */
export function decodeDeviceResponse(bytes: Uint8Array): DeviceResponse {
  return readDeviceResponse(ContainerAllocateResponse.decode(bytes));
}
