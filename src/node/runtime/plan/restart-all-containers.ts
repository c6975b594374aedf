import type { Container, Pod } from "../../../api/gen/types.ts";
import { type ContainerRuntimeStatus, findContainer, type PodRuntimeStatus } from "../reading/pod-runtime-status.ts";
import { findRestartRule } from "./restart-policy.ts";

/** One container of the runtime that is removed so that the pod begins anew. */
export interface ContainerToReset {
  container: ContainerRuntimeStatus;
  /** It may still run and is stopped first, without a grace period. */
  stop: boolean;
}

/** The exit of a container that restarts all containers of its pod. */
export interface RestartTrigger {
  container: Container;
  /** Milliseconds since the epoch. */
  endedAt: number;
}

/** Whether the exit of one container can restart all of the pod, by the rule RestartAllContainers of any of them. */
export function mayRestartAll(pod: Pod): boolean {
  return resettable(pod).some(({ restartPolicyRules = [] }) =>
    restartPolicyRules.some(({ action }) => action === "RestartAllContainers"),
  );
}

/**
 * The containers of the newest sandbox whose exits restart all of the pod. What the runtime holds is all that counts: the
 * containers that ended so are removed last, so that an agent that comes after a crash goes on with the removal.
 */
export function findRestartTriggers(pod: Pod, status: PodRuntimeStatus): RestartTrigger[] {
  return resettable(pod).flatMap((container) => {
    const last = findContainer(status, container.name);
    if (last === undefined || last.sandboxId !== status.sandboxes[0]?.id || !triggers(container, last)) return [];
    return [{ container, endedAt: last.finishedAt > 0 ? last.finishedAt : last.createdAt }];
  });
}

/**
 * All containers of the pod in the order in which they are removed: those of main containers, those of init containers, and
 * last the ones that ended by the rule (upstream: `getContainersToReset`, pkg/kubelet/kuberuntime). Ephemeral ones stay.
 */
export function planReset(pod: Pod, status: PodRuntimeStatus): ContainerToReset[] {
  const ofNames = (names: readonly Container[]) =>
    names.flatMap((spec) =>
      status.containers
        .filter(({ name }) => name === spec.name)
        .map((container) => ({ spec, container, stop: container.state !== "exited" })),
    );
  const all = [...ofNames(pod.spec?.containers ?? []), ...ofNames(pod.spec?.initContainers ?? [])];
  const isSource = ({ spec, container }: (typeof all)[number]) => triggers(spec, container);
  const ordered = [...all.filter((each) => !isSource(each)), ...all.filter(isSource)];
  return ordered.map(({ container, stop }) => ({ container, stop }));
}

function triggers(container: Container, last: ContainerRuntimeStatus): boolean {
  return last.state === "exited" && findRestartRule(container, last.exitCode)?.action === "RestartAllContainers";
}

function resettable({ spec }: Pod): Container[] {
  return [...(spec?.initContainers ?? []), ...(spec?.containers ?? [])];
}
