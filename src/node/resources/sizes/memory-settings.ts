import { quantityValue } from "../../../api/quantity.ts";
import type { ResourceList } from "../../../api/resources.ts";
import type { Log } from "../../../base/log.ts";
import type { NodeAgentConfig } from "../../../config/node-agent-config.ts";
import { parsePercentage } from "../../../config/percentage.ts";
import { MEMORY_CONTROLLER_MEND } from "../../../host/memory-controller.ts";
import type { SizingFacts } from "./sizing-facts.ts";

type MemoryConfig = Pick<NodeAgentConfig, "kubelet" | "featureGates">;
type MachineMemory = Pick<SizingFacts, "cgroupVersion" | "hasMemoryController">;

const WITHOUT_CONTROLLER = `The kernel's memory controller is off: the memory of pods is neither limited nor counted, and containers with a limit of memory do not start. To have it, ${MEMORY_CONTROLLER_MEND}`;

/** Reads from the configuration how memory is protected, throttled and kept back. */
export function readMemorySettings(
  { kubelet, featureGates }: MemoryConfig,
  { cgroupVersion, hasMemoryController, allocatable }: MachineMemory & { readonly allocatable: Readonly<ResourceList> },
): Pick<SizingFacts, "memoryQos" | "memoryKeptBack"> {
  const allocatableBytes = quantityValue(allocatable["memory"] ?? "0");
  const hasQos = featureGates.MemoryQoS && cgroupVersion === 2 && hasMemoryController;
  const percent = parsePercentage(kubelet.qosReserved?.["memory"]);
  const keepsBack = featureGates.QOSReserved && hasMemoryController;
  return {
    memoryQos: hasQos
      ? {
          isReserving: kubelet.memoryReservationPolicy === "TieredReservation",
          throttlingFactor: kubelet.memoryThrottlingFactor,
          allocatableBytes,
        }
      : undefined,
    memoryKeptBack: keepsBack && percent !== undefined ? { percent: BigInt(percent), allocatableBytes } : undefined,
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
 * Lists what is configured and has no effect, or one that the operator must know of. Those of MemoryQoS are in upstream's words
 * (`run` of cmd/kubelet/app/server.go).
 */
function listMemoryWarnings(
  { kubelet, featureGates }: MemoryConfig,
  { cgroupVersion, hasMemoryController, kernelRelease }: MachineMemory & { readonly kernelRelease: string },
): readonly string[] {
  const warnings: string[] = [];
  if (!hasMemoryController) warnings.push(WITHOUT_CONTROLLER);
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
