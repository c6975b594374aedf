import type { Pod } from "../../../api/gen/types.ts";
import { podContainers } from "../../../api/pods.ts";
import { APPARMOR_ANNOTATION_PREFIX } from "../../../api/well-known.ts";
import type { AdmitHandler } from "./pod-rejection.ts";

/**
 * Refuses pods that ask for an AppArmor profile where the kernel has no AppArmor: runtimes would run them without it. A
 * pod that runs already is left alone (pkg/kubelet/lifecycle/handlers.go, pkg/security/apparmor).
 */
export function createAppArmorHandler(isEnabled: boolean): AdmitHandler {
  return (pod) => {
    if (isEnabled || (pod.status?.phase ?? "Pending") !== "Pending" || !wantsProfile(pod)) return undefined;
    return { reason: "AppArmor", message: "Cannot enforce AppArmor: AppArmor is not enabled on the host" };
  };
}

function wantsProfile(pod: Pod): boolean {
  const contexts = [pod.spec?.securityContext, ...podContainers(pod).map(({ container }) => container.securityContext)];
  const types = contexts.map((context) => context?.appArmorProfile?.type);
  if (types.some((type) => type !== undefined && type !== "Unconfined")) return true;
  const annotations = Object.entries(pod.metadata?.annotations ?? {});
  return annotations.some(([name, value]) => name.startsWith(APPARMOR_ANNOTATION_PREFIX) && value !== "unconfined");
}
