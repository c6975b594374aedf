import type { Container, ContainerRestartRule, Pod } from "../../../api/gen/types.ts";
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
  if (kind === "main") return restartsAfterExit(pod, container, last.exitCode);
  if (isRestartableInitContainer(container)) return true;
  return hasInitContainerFailed(last) && restartsFailedInit(pod, container, last.exitCode);
}

/**
 * Whether the container starts again after it exited: its rules decide in their order, then its own policy, then that of the
 * pod (upstream: `ContainerShouldRestart`, pkg/api/v1/pod/util.go).
 */
export function restartsAfterExit(pod: Pod, container: Container, exitCode: number): boolean {
  return findRestartRule(container, exitCode) !== undefined || restartsBy(policyOf(pod, container), exitCode !== 0);
}

/**
 * Whether the container starts again after a failure that has no exit code: a probe has found it dead, or the runtime has
 * lost sight of it. Rules ask for an exit code, so that policies alone decide.
 */
export function restartsAfterFailure(pod: Pod, container: Container): boolean {
  return restartsBy(policyOf(pod, container), true);
}

/**
 * Whether the init container, which has failed, starts again; without an exit code where it is not known to have exited.
 * One that was killed for its memory may have exited with code 0.
 */
export function restartsFailedInit(pod: Pod, container: Container, exitCode: number | undefined): boolean {
  const rule = exitCode === undefined ? undefined : findRestartRule(container, exitCode);
  return rule !== undefined || restartsAfterFailure(pod, container);
}

/**
 * Whether anything of the pod may run a second time, by the policy of the pod or of one of its main containers (upstream:
 * `IsContainerRestartable`).
 */
export function mayRunAgain(pod: Pod): boolean {
  return (pod.spec?.containers ?? []).some(
    (container) => (container.restartPolicyRules ?? []).length > 0 || policyOf(pod, container) !== "Never",
  );
}

/** The first rule of the container that the exit code meets; undefined: none. */
export function findRestartRule(
  { restartPolicyRules = [] }: Container,
  exitCode: number,
): ContainerRestartRule | undefined {
  return restartPolicyRules.find(({ exitCodes }) => {
    if (exitCodes === undefined) return false;
    const isListed = (exitCodes.values ?? []).includes(exitCode);
    return exitCodes.operator === "NotIn" ? !isListed : isListed;
  });
}

function policyOf(pod: Pod, container: Container): string {
  return container.restartPolicy ?? pod.spec?.restartPolicy ?? "Always";
}

function restartsBy(policy: string, failed: boolean): boolean {
  return policy === "Always" || (policy === "OnFailure" && failed);
}

/** Whether the init container has failed. An OOM-killed one has failed even if it exited with code 0. */
export function hasInitContainerFailed(last: ContainerRuntimeStatus): boolean {
  return last.reason === "OOMKilled" || last.state === "unknown" || (last.state === "exited" && last.exitCode !== 0);
}
