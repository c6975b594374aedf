import type { Container, Pod } from "../../../api/gen/types.ts";
import { type ContainerKind, isRestartableInitContainer } from "../../../api/pods.ts";

import type { ContainerRuntimeStatus } from "../reading/pod-runtime-status.ts";

interface ContainerHistory {
  pod: Pod;
  container: Container;
  kind: ContainerKind;
  /** The newest container of that name; undefined where there is none. */
  last: ContainerRuntimeStatus | undefined;
}

/**
 * Whether the container must be started, for the first time or again. A running container must not be. A container that was
 * created and never started, or whose state the runtime does not know, must be, whatever the policy says (upstream:
 * `ShouldContainerBeRestarted`, pkg/kubelet/container/helpers.go). A pod that is being deleted starts nothing.
 */
export function isStartDue({ pod, container, kind, last }: ContainerHistory): boolean {
  if (pod.metadata?.deletionTimestamp !== undefined) return false;
  if (last === undefined) return true;
  if (kind === "ephemeral" || last.state === "running") return false;
  if (last.state !== "exited") return true;
  if (kind === "main") return restartsAfter(pod, last.exitCode !== 0);
  if (isRestartableInitContainer(container)) return true;
  return hasInitContainerFailed(last) && restartsAfter(pod, true);
}

/** Whether the pod's policy restarts a container that exited. `Always` is the default. */
export function restartsAfter(pod: Pod, failed: boolean): boolean {
  const policy = pod.spec?.restartPolicy ?? "Always";
  return policy === "Always" || (policy === "OnFailure" && failed);
}

/** Whether the init container has failed. An OOM-killed one has failed even if it exited with code 0. */
export function hasInitContainerFailed(last: ContainerRuntimeStatus): boolean {
  return last.reason === "OOMKilled" || last.state === "unknown" || (last.state === "exited" && last.exitCode !== 0);
}
