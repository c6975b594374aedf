import type { Pod } from "../../../api/gen/types.ts";
import { type IDMapping, NamespaceMode, NamespaceOption, type UserNamespace } from "../../../cri/gen/cri-v1.ts";

/** The range of the host's IDs that belongs to a pod with `hostUsers: false`. */
export interface UserNamespaceMapping {
  uids: IDMapping[];
  gids: IDMapping[];
}

/** The namespaces of a pod's sandbox, and of a container without a target. */
export function buildNamespaceOptions(pod: Pod, mapping: UserNamespaceMapping | undefined): NamespaceOption {
  const { hostNetwork, hostIPC } = pod.spec ?? {};
  return NamespaceOption.fromPartial({
    network: hostNetwork === true ? NamespaceMode.NODE : NamespaceMode.POD,
    ipc: hostIPC === true ? NamespaceMode.NODE : NamespaceMode.POD,
    pid: pidMode(pod),
    usernsOptions: userNamespace(mapping),
  });
}

/** Lets an ephemeral container see its target's processes, unless the pod's containers share their processes anyway. */
export function withProcessTarget(options: NamespaceOption, targetContainerId: string | undefined): NamespaceOption {
  if (targetContainerId === undefined || options.pid !== NamespaceMode.CONTAINER) return options;
  return { ...options, pid: NamespaceMode.TARGET, targetId: targetContainerId };
}

function pidMode(pod: Pod): NamespaceMode {
  if (pod.spec?.hostPID === true) return NamespaceMode.NODE;
  return pod.spec?.shareProcessNamespace === true ? NamespaceMode.POD : NamespaceMode.CONTAINER;
}

function userNamespace(mapping: UserNamespaceMapping | undefined): UserNamespace | undefined {
  return mapping && { mode: NamespaceMode.POD, uids: mapping.uids, gids: mapping.gids };
}
