import type { NodeAgentConfig } from "../../../config/node-agent-config.ts";
import { computeSharedCgroup } from "../sizes/cgroup-size.ts";
import type { ReservedCgroup } from "./node-allocatable.ts";

type ReservedSettings = Pick<
  NodeAgentConfig["kubelet"],
  "enforceNodeAllocatable" | "systemReserved" | "systemReservedCgroup" | "kubeReserved" | "kubeReservedCgroup"
>;

/**
 * Lists the cgroups that are limited to what is set aside for them, in upstream's order. The validation of the
 * configuration has made sure that each of them is named. With `protectsMemory`, which is MemoryQoS on cgroup v2, the
 * kernel takes none of their memory back (upstream: `enforceExistingCgroup`, cm/node_container_manager_linux.go).
 */
export function listReservedCgroups(
  kubelet: ReservedSettings,
  { protectsMemory }: { readonly protectsMemory: boolean },
): readonly ReservedCgroup[] {
  const enforced = kubelet.enforceNodeAllocatable ?? [];
  const groups = [
    { of: "System", option: "system-reserved", path: kubelet.systemReservedCgroup, has: kubelet.systemReserved },
    { of: "Kube", option: "kube-reserved", path: kubelet.kubeReservedCgroup, has: kubelet.kubeReserved },
  ] as const;
  return [false, true].flatMap((compressibleOnly) =>
    groups
      .filter(({ option }) => enforced.includes(compressibleOnly ? `${option}-compressible` : option))
      .map(({ of, path, has }) => {
        const limits = computeSharedCgroup(has ?? {}, { compressibleOnly });
        const isProtected = protectsMemory && limits.memoryBytes !== undefined;
        return {
          of,
          path,
          compressibleOnly,
          limits: isProtected ? { ...limits, memoryMin: limits.memoryBytes } : limits,
        };
      }),
  );
}
