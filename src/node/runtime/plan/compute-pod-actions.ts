import { isTerminalPhase } from "../../../api/pods.ts";
import { findContainer, type PodRuntimeStatus } from "../reading/pod-runtime-status.ts";
import { planInitContainers } from "./init-containers.ts";
import { planMainContainers } from "./main-containers.ts";
import { addStart, type PlanInput } from "./plan-input.ts";
import type { KillReason, PodActions } from "./pod-actions.ts";
import { isStartDue, restartsAfter } from "./restart-policy.ts";
import { computeSandboxChange, type SandboxChange } from "./sandbox-change.ts";

/**
 * What one sync must do, from what the pod asks for and what the runtime holds; upstream's `computePodActions`
 * (pkg/kubelet/kuberuntime/kuberuntime_manager.go, 1.33). Pure, and settled after one execution: a plan that was
 * carried out in full is followed by an empty one, or by one that only waits (for a back-off, an init container).
 */
export function computePodActions(input: PlanInput): PodActions {
  const { pod, status } = input;
  if (isTerminalPhase(pod.status?.phase)) return planStop(status, "nothing-left-to-run");
  if (pod.metadata?.deletionTimestamp !== undefined) return planDeletion(input);
  const change = computeSandboxChange(pod, status);
  if (change !== undefined) return planNewSandbox(input, change);
  return planContainers(input, status.sandboxes[0]?.id ?? "");
}

/** Everything of the pod stops and begins anew, init containers included; unless nothing would be started in it. */
function planNewSandbox(input: PlanInput, change: SandboxChange): PodActions {
  const { pod, status } = input;
  // A container that never ran is no reason to give a pod up: its first start was only interrupted.
  const hasRun = status.containers.some((container) => container.state !== "created");
  if (hasRun && !restartsAfter(pod, true)) return planStop(status, change.reason);

  const mains = (pod.spec?.containers ?? []).filter((container) => {
    const last = findContainer(status, container.name);
    return last?.state === "running" || isStartDue({ pod, container, kind: "main", last });
  });
  if (mains.length === 0) return planStop(status, change.reason);

  const actions = noActions(undefined);
  // Also a sandbox that is not ready is stopped: that gives its network back.
  if (status.sandboxes.length > 0 || isAlive(status)) actions.killPod = change.reason;
  actions.createSandbox = { attempt: change.attempt };
  addEphemeralStarts(actions, input);
  const firstInit = pod.spec?.initContainers?.[0];
  if (firstInit !== undefined) addStart(actions, input, firstInit, "init");
  else for (const container of mains) addStart(actions, input, container, "main");
  return actions;
}

function planContainers(input: PlanInput, sandboxId: string): PodActions {
  const init = planInitContainers(input, sandboxId);
  if (init.progress === "failed") return planStop(input.status, "initialization-failed");
  const actions = noActions(sandboxId);
  // Ephemeral containers do not wait: they are how one looks into a pod whose initialisation hangs.
  addEphemeralStarts(actions, input);
  actions.containersToKill.push(...init.kill);
  for (const container of init.start) addStart(actions, input, container, "init");
  if (init.progress === "running") return actions;

  const main = planMainContainers(input);
  // Sidecars and ephemeral containers do not keep a pod alive.
  if (main.kept === 0 && main.start.length === 0) return planStop(input.status, "nothing-left-to-run");
  actions.containersToKill.push(...main.kill);
  for (const container of main.start) addStart(actions, input, container, "main");
  return actions;
}

/** Stopping what runs is the matter of termination, with its grace period; a sync only starts nothing any more. */
function planDeletion({ pod, status }: PlanInput): PodActions {
  const mains = pod.spec?.containers ?? [];
  const runs = mains.some((container) => findContainer(status, container.name)?.state === "running");
  return runs ? noActions(undefined) : planStop(status, "nothing-left-to-run");
}

/** Nothing is started any more; a pod that has already stopped needs nothing. */
function planStop(status: PodRuntimeStatus, reason: KillReason): PodActions {
  const actions = noActions(undefined);
  if (isAlive(status)) actions.killPod = reason;
  return actions;
}

function addEphemeralStarts(actions: PodActions, input: PlanInput): void {
  for (const container of input.pod.spec?.ephemeralContainers ?? []) {
    const last = findContainer(input.status, container.name);
    if (isStartDue({ pod: input.pod, container, kind: "ephemeral", last })) {
      addStart(actions, input, container, "ephemeral");
    }
  }
}

function isAlive(status: PodRuntimeStatus): boolean {
  return (
    status.sandboxes.some((sandbox) => sandbox.state === "ready") ||
    status.containers.some((container) => container.state === "running" || container.state === "unknown")
  );
}

function noActions(sandboxId: string | undefined): PodActions {
  return {
    killPod: undefined,
    createSandbox: undefined,
    sandboxId,
    containersToKill: [],
    containersToStart: [],
    backingOff: [],
  };
}
