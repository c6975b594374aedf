import type { PodStatus } from "../../../api/gen/types.ts";
import { isTerminalPhase } from "../../../api/pods.ts";
import { computeQosClass } from "../../../api/qos.ts";
import { formatTime } from "../../../base/clock.ts";
import { findRestartTriggers, mayRestartAll } from "../../runtime/plan/restart-all-containers.ts";
import { computeSandboxChange } from "../../runtime/plan/sandbox-change.ts";
import { computeContainerStatuses } from "./container-statuses.ts";
import { computePodAddresses } from "./pod-addresses.ts";
import { computePodConditions, findNodeDisruption } from "./pod-conditions.ts";
import { computePodPhase } from "./pod-phase.ts";
import type { PodStatusInput } from "./pod-status-input.ts";
import { computePodResourceStatus } from "./resource-status.ts";

/**
 * The status to publish for a pod, computed from its spec, its state in the runtime, and the status that was published
 * before; upstream's `generateAPIPodStatus` (pkg/kubelet/kubelet_pods.go). Pure: the same input gives the same status,
 * and feeding a status back as `previous` changes nothing.
 */
export function computePodStatus(input: PodStatusInput): PodStatus {
  const { pod, runtime, now } = input;
  const published = input.previous ?? pod.status ?? {};
  const statuses = computeContainerStatuses(input, published);
  const hasTerminated = input.workerPhase === "terminated";
  const computed = computePodPhase({ pod, runtime, statuses, hasTerminated });
  const verdict = settlePhase(input, published, computed);
  const status: PodStatus = {
    ...verdict,
    ...computePodAddresses(input, published),
    startTime: published.startTime ?? pod.status?.startTime ?? formatTime(now),
    qosClass: computeQosClass(pod),
    ...computePodResourceStatus(pod, { phase: verdict.phase, actuated: input.actuatedResources }),
    containerStatuses: statuses.main,
    ...(statuses.init.length > 0 ? { initContainerStatuses: statuses.init } : {}),
    ...(statuses.ephemeral.length > 0 ? { ephemeralContainerStatuses: statuses.ephemeral } : {}),
  };
  const readyToStartContainers = input.sandboxIsReady === true || computeSandboxChange(pod, runtime) === undefined;
  const disruption = input.override?.disruption;
  const allRestarting = mayRestartAll(pod) ? findRestartTriggers(pod, runtime).length > 0 : undefined;
  const told = {
    pod,
    status,
    published,
    readyToStartContainers,
    allRestarting,
    resize: input.resizeConditions,
    disruption,
    now,
  };
  const conditions = computePodConditions(told);
  return { ...status, conditions };
}

type Verdict = Pick<PodStatus, "phase" | "reason" | "message">;

/**
 * A terminal phase stays, with its reason; an override takes precedence over what the containers say. A reason goes with
 * its phase, but for that of a pod that the node disrupts: it says why the pod ended, whatever its containers say.
 */
function settlePhase(input: PodStatusInput, published: PodStatus, computed: string): Verdict {
  const { override } = input;
  const final = [published, input.pod.status].find((status) => isTerminalPhase(status?.phase));
  if (final !== undefined && (override?.phase ?? final.phase) !== final.phase) return verdictOf(final);
  const phase = override?.phase ?? final?.phase ?? computed;
  if (override !== undefined) return verdictOf({ ...override, phase });
  if (final !== undefined) return verdictOf(final);
  if (phase !== published.phase && findNodeDisruption(published) === undefined) return { phase };
  const { reason = input.pod.status?.reason, message = input.pod.status?.message } = published;
  return verdictOf({ phase, reason, message });
}

function verdictOf(status: { [K in keyof Verdict]?: Verdict[K] | undefined }): Verdict {
  const { phase, reason, message } = status;
  return {
    ...(phase === undefined ? {} : { phase }),
    ...(reason === undefined || reason === "" ? {} : { reason }),
    ...(message === undefined || message === "" ? {} : { message }),
  };
}
