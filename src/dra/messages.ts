import { HealthStatus, type DeviceHealth as WireHealth } from "./gen/dra-health-v1alpha1.ts";
import type { Device } from "./gen/dra-v1.ts";
import type { ClaimDevice, DeviceHealth } from "./port.ts";

/** The device without its wire's own names. */
export function readDevice({ poolName, deviceName, shareId, requestNames, cdiDeviceIds }: Device): ClaimDevice {
  return { poolName, deviceName, shareId, requestNames, cdiDeviceIds };
}

/** A state that the protocol does not know yet is unknown. */
export function readHealth({ device, health, healthCheckTimeoutSeconds, message }: WireHealth): DeviceHealth {
  const seconds = Number(healthCheckTimeoutSeconds);
  return {
    poolName: device?.poolName ?? "",
    deviceName: device?.deviceName ?? "",
    health: wordOf(health),
    message,
    timeoutMs: seconds > 0 ? seconds * 1000 : undefined,
  };
}

function wordOf(health: number): DeviceHealth["health"] {
  if (health === HealthStatus.HEALTHY) return "Healthy";
  return health === HealthStatus.UNHEALTHY ? "Unhealthy" : "Unknown";
}
