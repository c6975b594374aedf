import type { Container } from "../../../api/gen/types.ts";
import { isRestartableInitContainer } from "../../../api/pods.ts";
import type { ContainerRuntimeStatus } from "../reading/pod-runtime-status.ts";
import { killFailed, killUnknown, type PlanInput } from "./plan-input.ts";
import { type PlannedResizes, resizeContainer } from "./planned-resizes.ts";
import type { ContainerToKill } from "./pod-actions.ts";
import { hasInitContainerFailed, restartsFailedInit } from "./restart-policy.ts";

interface InitPlan extends PlannedResizes {
  /** `failed`: an init container has failed for good, and the pod with it. Main containers run only when `initialized`. */
  progress: "running" | "failed" | "initialized";
  kill: ContainerToKill[];
  /** The containers to start, in the pod's order. */
  start: Container[];
}

/** What one init container needs, and whether those after it may go on. */
interface Step {
  passed: boolean;
  failed?: boolean;
  start?: boolean;
  kill?: ContainerToKill;
}

/**
 * Init containers run one after the other; a sidecar counts as passed once it has started, and is kept running from
 * then on. Found from the end backwards, as upstream does (`computeInitContainerActions`,
 * pkg/kubelet/kuberuntime/kuberuntime_container.go), because the runtime may have dropped those that completed:
 * the last one that left a trace is the one to look at.
 *
 * Only containers of the current sandbox count. Upstream deletes the others when it makes a sandbox, to the same end.
 */
export function planInitContainers(input: PlanInput, sandboxId: string): InitPlan {
  const inits = input.pod.spec?.initContainers ?? [];
  if (inits.length === 0) return { progress: "initialized", ...emptyPlan() };
  const lasts = inits.map((container) => findInSandbox(input, sandboxId, container.name));
  // A main container that was created here proves that all init containers were passed, even where no trace is left.
  const mains = input.pod.spec?.containers ?? [];
  const mainCreated = mains.some((main) => findInSandbox(input, sandboxId, main.name) !== undefined);
  const frontier = mainCreated ? inits.length : lasts.findLastIndex((last) => last !== undefined);
  const plan: InitPlan = { progress: frontier >= inits.length ? "initialized" : "running", ...emptyPlan() };

  for (const [index, container] of inits.slice(0, Math.max(frontier, 0)).entries()) {
    if (!isRestartableInitContainer(container)) continue;
    const last = lasts[index];
    const passing = stepSidecar(input, container, last);
    addStep(plan, container, passing);
    if (keepsRunning(passing)) resizeContainer(plan, input, container, last);
  }
  const current = inits[frontier];
  const next = inits[frontier + 1];
  if (current === undefined) {
    if (frontier < 0 && next !== undefined) plan.start.push(next);
    return plan;
  }
  const step = stepFrontier(input, current, lasts[frontier]);
  if (step.failed) return { progress: "failed", ...emptyPlan() };
  addStep(plan, current, step);
  if (keepsRunning(step)) resizeContainer(plan, input, current, lasts[frontier]);
  if (step.passed && next !== undefined) plan.start.push(next);
  if (step.passed && next === undefined) plan.progress = "initialized";
  return plan;
}

function emptyPlan(): Omit<InitPlan, "progress"> {
  return { kill: [], start: [], resizes: [], restartsToResize: false };
}

/** Nothing was decided of the container, which may run. */
function keepsRunning(step: Step): boolean {
  return step.start !== true && step.kill === undefined;
}

function findInSandbox(input: PlanInput, sandboxId: string, name: string): ContainerRuntimeStatus | undefined {
  return input.status.containers.find((container) => container.name === name && container.sandboxId === sandboxId);
}

function addStep(plan: InitPlan, container: Container, step: Step): void {
  if (step.kill !== undefined) plan.kill.push(step.kill);
  if (step.start) plan.start.push(container);
}

function stepFrontier(input: PlanInput, container: Container, last: ContainerRuntimeStatus | undefined): Step {
  if (isRestartableInitContainer(container)) return stepSidecar(input, container, last);
  if (last === undefined || last.state === "created") return { passed: false, start: true };
  if (last.state === "running") return { passed: false };
  if (!hasInitContainerFailed(last)) return { passed: true };
  const exitCode = last.state === "exited" ? last.exitCode : undefined;
  if (!restartsFailedInit(input.pod, container, exitCode)) return { passed: false, failed: true };
  if (last.state === "unknown") return { passed: false, start: true, kill: killUnknown(last, "Init container") };
  return { passed: false, start: true };
}

/**
 * A sidecar is restarted whatever the pod's policy says. What comes after it waits for its startup probe, and not for what
 * the liveness probe finds.
 */
function stepSidecar(input: PlanInput, container: Container, last: ContainerRuntimeStatus | undefined): Step {
  if (last?.state === "unknown") return { passed: false, start: true, kill: killUnknown(last, "Init container") };
  if (last?.state !== "running") return { passed: false, start: true };
  const { started, failed } = input.verdictOf(container, last.id);
  const message = `Init container ${container.name} failed ${failed} probe`;
  if (failed === "startup")
    return { passed: false, start: true, kill: killFailed(container, last, { failed, message }) };
  if (!started) return { passed: false };
  if (input.isSameContainer(container, last.hash)) {
    if (failed === undefined) return { passed: true };
    return { passed: true, start: true, kill: killFailed(container, last, { failed, message }) };
  }
  const kill = { id: last.id, name: last.name, message: `Init container ${container.name} definition changed` };
  return { passed: true, start: true, kill };
}
