import { isTerminalPhase } from "../../../api/pods.ts";
import { findContainer, type PodRuntimeStatus } from "../reading/pod-runtime-status.ts";
import { planInitContainers } from "./init-containers.ts";
import { planMainContainers } from "./main-containers.ts";
import { addStart, type PlanInput } from "./plan-input.ts";
import { planResize } from "./planned-resizes.ts";
import type { KillReason, PodActions } from "./pod-actions.ts";
import { findRestartTriggers, planReset } from "./restart-all-containers.ts";
import { isStartDue, mayRunAgain, restartsAfterFailure } from "./restart-policy.ts";
import { computeSandboxChange, type SandboxChange } from "./sandbox-change.ts";

/**
 * Plans one sync, from what the pod asks for and what the runtime holds, as upstream's `computePodActions`
 * (pkg/kubelet/kuberuntime/kuberuntime_manager.go, 1.33). It is pure. After a plan was carried out in full, the next
 * plan is empty, or only waits (for a back-off or an init container).
 */
export function computePodActions(input: PlanInput): PodActions {
  const { pod, status } = input;
  if (isTerminalPhase(pod.status?.phase)) return planStop(status, "nothing-left-to-run");
  if (pod.metadata?.deletionTimestamp !== undefined) return planDeletion(input);
  const change = computeSandboxChange(pod, status);
  if (change !== undefined) return planNewSandbox(input, change);
  return planRestartOfAll(input) ?? planContainers(input, status.sandboxes[0]?.id ?? "");
}

/**
 * Plans the removal of every container where one has exited by a rule that restarts them all; undefined where none has. The
 * plan after it begins the pod anew in the same sandbox. Where that happens again and again, the container that exited waits
 * for its back-off first, while the others run on; upstream's pods do not wait.
 */
function planRestartOfAll(input: PlanInput): PodActions | undefined {
  const { pod, status, now } = input;
  const triggers = findRestartTriggers(pod, status);
  const waits = triggers.some(({ container, endedAt }) => (input.waitUntil(container, endedAt) ?? now) > now);
  if (triggers.length === 0 || waits) return undefined;
  const restartOfAll = { triggers, containers: planReset(pod, status) };
  return { ...noActions(status.sandboxes[0]?.id), restartOfAll };
}

/**
 * Plans a new sandbox, in which the pod begins anew, init containers included. Where nothing would start, the pod is
 * stopped.
 */
function planNewSandbox(input: PlanInput, change: SandboxChange): PodActions {
  const { pod, status } = input;
  // A container that never ran is no reason to give the pod up, because its first start was only interrupted.
  const hasRun = status.containers.some((container) => container.state !== "created");
  if (hasRun && !mayRunAgain(pod)) return planStop(status, change.reason);

  const mains = (pod.spec?.containers ?? []).filter((container) => {
    const last = findContainer(status, container.name);
    const isCutOff = last?.state === "running" || last?.state === "unknown";
    return isCutOff ? restartsAfterFailure(pod, container) : isStartDue({ pod, container, kind: "main", last });
  });
  if (mains.length === 0) return planStop(status, change.reason);

  const actions = noActions(undefined);
  // Even a sandbox that is not ready is stopped, which frees its network.
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
  // Ephemeral containers do not wait for init containers: they serve to debug a pod whose initialisation hangs.
  addEphemeralStarts(actions, input);
  actions.containersToKill.push(...init.kill);
  for (const container of init.start) addStart(actions, input, container, "init");
  actions.resize = planResize(input, [init]);
  if (init.progress === "running") return actions;

  const main = planMainContainers(input);
  // Sidecars and ephemeral containers do not keep a pod alive.
  if (main.kept === 0 && main.start.length === 0) return planStop(input.status, "nothing-left-to-run");
  actions.containersToKill.push(...main.kill);
  for (const container of main.start) addStart(actions, input, container, "main");
  actions.resize = planResize(input, [init, main]);
  return actions;
}

/** A pod that is being deleted starts nothing. Its running containers are stopped by its termination, not by a sync. */
function planDeletion({ pod, status }: PlanInput): PodActions {
  const mains = pod.spec?.containers ?? [];
  const runs = mains.some((container) => findContainer(status, container.name)?.state === "running");
  return runs ? noActions(undefined) : planStop(status, "nothing-left-to-run");
}

/** Plans the stop of a pod that starts nothing any more; a pod that has stopped already needs nothing. */
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
    restartOfAll: undefined,
    containersToKill: [],
    resize: undefined,
    containersToStart: [],
    backingOff: [],
  };
}
