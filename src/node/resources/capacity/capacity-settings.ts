import type { NodeAgentConfig } from "../../../config/node-agent-config.ts";
import type { NodeReservations } from "./node-reservations.ts";

/** What the configuration says about the node's capacity, and about the part of it that is not for pods. */
export interface CapacitySettings {
  readonly maxPods: number;
  /** The value 0 means no such limit. */
  readonly podsPerCore: number;
  /** When this is false, ephemeral storage is not counted, and a node without that capacity is as ready as others. */
  readonly localStorageCapacityIsolation: boolean;
  readonly reservations: NodeReservations;
}

/** What the capacity needs of the configuration. */
export type CapacityConfig = Pick<NodeAgentConfig, "kubelet"> &
  Partial<Pick<NodeAgentConfig, "ignoresEvictionThresholds">>;

/** Returns the configuration as the capacity needs it. */
export function createCapacitySettings({
  kubelet,
  ignoresEvictionThresholds = false,
}: CapacityConfig): CapacitySettings {
  return {
    maxPods: kubelet.maxPods,
    podsPerCore: kubelet.podsPerCore,
    localStorageCapacityIsolation: kubelet.localStorageCapacityIsolation ?? true,
    reservations: {
      kubeReserved: kubelet.kubeReserved ?? {},
      systemReserved: kubelet.systemReserved ?? {},
      reservedSystemCpus: kubelet.reservedSystemCPUs,
      evictionHard: ignoresEvictionThresholds ? {} : (kubelet.evictionHard ?? {}),
    },
  };
}
