import type { NodeAgentConfig } from "../../../config/node-agent-config.ts";
import { computeSharedCgroup } from "../sizes/cgroup-size.ts";
import type { ReservedCgroup } from "./node-allocatable.ts";

type ReservedSettings = Pick<
  NodeAgentConfig["kubelet"],
  "enforceNodeAllocatable" | "systemReserved" | "systemReservedCgroup" | "kubeReserved" | "kubeReservedCgroup"
>;

/**
 * Lists the cgroups that are limited to what is set aside for them, in upstream's order. The validation of the
 * configuration has made sure that each of them is named.
 */
export function listReservedCgroups(kubelet: ReservedSettings): readonly ReservedCgroup[] {
  const enforced = kubelet.enforceNodeAllocatable ?? [];
  const groups = [
    { of: "System", option: "system-reserved", path: kubelet.systemReservedCgroup, has: kubelet.systemReserved },
    { of: "Kube", option: "kube-reserved", path: kubelet.kubeReservedCgroup, has: kubelet.kubeReserved },
  ] as const;
  return [false, true].flatMap((compressibleOnly) =>
    groups
      .filter(({ option }) => enforced.includes(compressibleOnly ? `${option}-compressible` : option))
      .map(({ of, path, has }) => {
        return { of, path, compressibleOnly, limits: computeSharedCgroup(has ?? {}, { compressibleOnly }) };
      }),
  );
}
