import { quantityValue } from "../../../api/quantity.ts";
import type { ResourceList } from "../../../api/resources.ts";
import type { Log } from "../../../base/log.ts";
import type { NodeAgentConfig } from "../../../config/node-agent-config.ts";
import { parsePercentage } from "../../../config/percentage.ts";
import type { SizingFacts } from "./sizing-facts.ts";

type MemoryConfig = Pick<NodeAgentConfig, "kubelet" | "featureGates">;

/** Reads from the configuration how memory is protected, throttled and kept back. */
export function readMemorySettings(
  { kubelet, featureGates }: MemoryConfig,
  { cgroupVersion, allocatable }: { readonly cgroupVersion: 1 | 2; readonly allocatable: Readonly<ResourceList> },
): Pick<SizingFacts, "memoryQos" | "memoryKeptBack"> {
  const allocatableBytes = quantityValue(allocatable["memory"] ?? "0");
  const hasQos = featureGates.MemoryQoS && cgroupVersion === 2;
  const percent = parsePercentage(kubelet.qosReserved?.["memory"]);
  return {
    memoryQos: hasQos
      ? {
          isReserving: kubelet.memoryReservationPolicy === "TieredReservation",
          throttlingFactor: kubelet.memoryThrottlingFactor,
          allocatableBytes,
        }
      : undefined,
    memoryKeptBack:
      featureGates.QOSReserved && percent !== undefined ? { percent: BigInt(percent), allocatableBytes } : undefined,
  };
}

/** Logs a warning for each setting of memory that does not do what its name says on this machine. */
export function warnOfMemorySettings(
  log: Pick<Log, "warn">,
  config: MemoryConfig,
  machine: Parameters<typeof listMemoryWarnings>[1],
): void {
  for (const warning of listMemoryWarnings(config, machine)) log.warn(warning);
}

/**
 * Lists what is configured and has no effect, or one that the operator must know of. The first two are upstream's words
 * (`run` of cmd/kubelet/app/server.go).
 */
function listMemoryWarnings(
  { kubelet, featureGates }: MemoryConfig,
  { cgroupVersion, kernelRelease }: { readonly cgroupVersion: 1 | 2; readonly kernelRelease: string },
): readonly string[] {
  const warnings: string[] = [];
  if (featureGates.MemoryQoS && cgroupVersion === 1) {
    warnings.push("Warning: MemoryQoS feature only works with cgroups v2 on Linux, but enabled with cgroups v1");
  } else if (featureGates.MemoryQoS && isBefore59(kernelRelease)) {
    const words = "Warning: MemoryQoS memory.high throttling may cause process livelock on older kernels";
    warnings.push(`${words}: this is ${kernelRelease}, and 5.9 is the first without`);
  }
  if (Object.keys(kubelet.qosReserved ?? {}).length > 0 && !featureGates.QOSReserved) {
    warnings.push("qosReserved (--qos-reserved) has no effect without the feature gate QOSReserved=true");
  }
  return warnings;
}

function isBefore59(kernelRelease: string): boolean {
  const [major = 0, minor = 0] = kernelRelease.split(".").map(Number);
  return major < 5 || (major === 5 && minor < 9);
}
