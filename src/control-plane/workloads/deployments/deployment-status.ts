import type { DeploymentCondition, DeploymentStatus } from "../../../api/gen/types.ts";
import { formatTime, parseTime, SECOND } from "../../../base/clock.ts";
import {
  allSets,
  availableReplicas,
  type SetsOfDeployment,
  type StoredDeployment,
  type StoredSet,
  sumOf,
  wantedReplicas,
} from "./replica-sets.ts";
import { computeRollingLimits } from "./rolling-limits.ts";

/** The value of a limit that means none. */
const NO_LIMIT = 2 ** 31 - 1;

/** What a condition says; its times are added where it is set. */
interface ConditionNews {
  readonly type: "Available" | "Progressing" | "ReplicaFailure";
  readonly status: "True" | "False" | "Unknown";
  readonly reason: string;
  readonly message: string;
}

type Conditions = readonly DeploymentCondition[];

/** True for a deployment that is to say when it makes no progress for too long. */
export function hasProgressDeadline({ spec }: StoredDeployment): boolean {
  return spec?.progressDeadlineSeconds !== undefined && spec.progressDeadlineSeconds !== NO_LIMIT;
}

/** How many old replica sets the deployment keeps; undefined when it keeps all. */
export function historyLimitOf({ spec }: StoredDeployment): number | undefined {
  return spec?.revisionHistoryLimit === NO_LIMIT ? undefined : spec?.revisionHistoryLimit;
}

/** The condition of the type. */
export function conditionOf(conditions: Conditions, type: ConditionNews["type"]): DeploymentCondition | undefined {
  return conditions.find((condition) => condition.type === type);
}

/**
 * The conditions with the news. A condition of the same status and reason stays as it is; one of the same status keeps
 * the time since when it has it (`SetDeploymentCondition`).
 */
export function withCondition(conditions: Conditions, news: ConditionNews, now: number): Conditions {
  const before = conditionOf(conditions, news.type);
  const isKnown = before?.status === news.status && before.reason === news.reason;
  return isKnown ? conditions : withRenewed(conditions, news, now);
}

/** The conditions with the news, which is told again even if it is known. */
function withRenewed(conditions: Conditions, news: ConditionNews, now: number): Conditions {
  const before = conditionOf(conditions, news.type);
  const time = formatTime(now);
  const { lastTransitionTime = time } = before?.status === news.status ? before : {};
  return [...withoutCondition(conditions, news.type), { ...news, lastUpdateTime: time, lastTransitionTime }];
}

function withoutCondition(conditions: Conditions, type: ConditionNews["type"]): Conditions {
  return conditions.filter((condition) => condition.type !== type);
}

/** The conditions of a deployment that was paused or resumed, so that the time of a pause does not count as no progress. */
export function withPause(deployment: StoredDeployment, conditions: Conditions, now: number): Conditions {
  const reason = conditionOf(conditions, "Progressing")?.reason;
  if (!hasProgressDeadline(deployment) || reason === "ProgressDeadlineExceeded") return conditions;
  const news = (state: "Paused" | "Resumed"): ConditionNews => ({
    type: "Progressing",
    status: "Unknown",
    reason: `Deployment${state}`,
    message: `Deployment is ${state.toLowerCase()}`,
  });
  const isPaused = deployment.spec?.paused === true;
  if (isPaused) return withCondition(conditions, news("Paused"), now);
  return reason === "DeploymentPaused" ? withCondition(conditions, news("Resumed"), now) : conditions;
}

interface StatusInput {
  readonly sets: SetsOfDeployment;
  /** The conditions as they are now, with what happened in this reconciliation. */
  readonly conditions: Conditions;
  readonly collisionCount: number | undefined;
  /** True when the deployment rolls out, and its progress is judged; false while it is paused or scaled. */
  readonly isRollout: boolean;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/** The status of the deployment by what its sets tell (`calculateStatus`, `syncRolloutStatus`). */
export function computeDeploymentStatus(deployment: StoredDeployment, input: StatusInput): DeploymentStatus {
  const { sets, collisionCount, isRollout, now } = input;
  const counts = countReplicas(deployment, sets);
  const available = withCondition(input.conditions, availability(deployment, counts.availableReplicas), now);
  const conditions = isRollout ? judgeRollout(deployment, { ...input, conditions: available, counts }) : available;
  const terminating = countTerminating(allSets(sets));
  return {
    // A number that is zero is left out, as Go programs write it.
    ...Object.fromEntries(Object.entries(counts).filter(([, value]) => value > 0)),
    ...(terminating !== undefined && { terminatingReplicas: terminating }),
    ...(collisionCount !== undefined && { collisionCount }),
    conditions: [...conditions],
  };
}

interface ReplicaCounts {
  readonly observedGeneration: number;
  readonly replicas: number;
  readonly updatedReplicas: number;
  readonly readyReplicas: number;
  readonly availableReplicas: number;
  readonly unavailableReplicas: number;
}

function countReplicas({ metadata }: StoredDeployment, sets: SetsOfDeployment): ReplicaCounts {
  const all = allSets(sets);
  const available = sumOf(all, availableReplicas);
  return {
    observedGeneration: metadata.generation ?? 0,
    replicas: sumOf(all, ({ status }) => status?.replicas ?? 0),
    updatedReplicas: sets.newSet?.status?.replicas ?? 0,
    readyReplicas: sumOf(all, ({ status }) => status?.readyReplicas ?? 0),
    availableReplicas: available,
    unavailableReplicas: Math.max(0, sumOf(all, wantedReplicas) - available),
  };
}

/** The number of pods that are being deleted; undefined when a set that was counted does not tell it. */
function countTerminating(sets: readonly StoredSet[]): number | undefined {
  const counted = sets.filter(({ status }) => (status?.observedGeneration ?? 0) > 0);
  if (counted.some(({ status }) => status?.terminatingReplicas === undefined)) return undefined;
  return sumOf(sets, ({ status }) => status?.terminatingReplicas ?? 0);
}

function availability(deployment: StoredDeployment, available: number): ConditionNews {
  const isEnough = available >= wantedReplicas(deployment) - computeRollingLimits(deployment).maxUnavailable;
  return {
    type: "Available",
    status: isEnough ? "True" : "False",
    reason: isEnough ? "MinimumReplicasAvailable" : "MinimumReplicasUnavailable",
    message: isEnough ? "Deployment has minimum availability." : "Deployment does not have minimum availability.",
  };
}

type Judged = StatusInput & { readonly counts: ReplicaCounts };

function judgeRollout(deployment: StoredDeployment, judged: Judged): Conditions {
  const progress = judgeProgress(deployment, judged);
  const failure = failureOf(judged.sets);
  const others = withoutCondition(progress, "ReplicaFailure");
  if (failure === undefined) return others;
  const told = conditionOf(progress, "ReplicaFailure");
  return told?.status === failure.status && told.reason === failure.reason ? progress : [...others, failure];
}

function judgeProgress(deployment: StoredDeployment, { sets, conditions, counts, now }: Judged): Conditions {
  if (!hasProgressDeadline(deployment)) return withoutCondition(conditions, "Progressing");
  const isOver =
    counts.replicas === counts.updatedReplicas &&
    conditionOf(conditions, "Progressing")?.reason === "NewReplicaSetAvailable";
  if (isOver) return conditions;
  const subject =
    sets.newSet === undefined
      ? `Deployment "${deployment.metadata.name ?? ""}"`
      : `ReplicaSet "${sets.newSet.metadata.name ?? ""}"`;
  const news = (status: "True" | "False", reason: string, verb: string): ConditionNews => {
    return { type: "Progressing", status, reason, message: `${subject} ${verb}.` };
  };
  if (isComplete(deployment, counts)) {
    return withCondition(conditions, news("True", "NewReplicaSetAvailable", "has successfully progressed"), now);
  }
  if (isProgressing(deployment, counts)) {
    return withRenewed(conditions, news("True", "ReplicaSetUpdated", "is progressing"), now);
  }
  if (isTimedOut(deployment, conditions, now)) {
    return withCondition(conditions, news("False", "ProgressDeadlineExceeded", "has timed out progressing"), now);
  }
  return conditions;
}

/** True when all replicas are of the new template and available, and no others are left (`DeploymentComplete`). */
export function isComplete(deployment: StoredDeployment, status: DeploymentStatus): boolean {
  const wanted = wantedReplicas(deployment);
  return (
    (status.updatedReplicas ?? 0) === wanted &&
    (status.replicas ?? 0) === wanted &&
    (status.availableReplicas ?? 0) === wanted &&
    (status.observedGeneration ?? 0) >= (deployment.metadata.generation ?? 0)
  );
}

/** True when there is more of what is new, or less of what is old, than the stored status tells. */
function isProgressing({ status = {} }: StoredDeployment, next: ReplicaCounts): boolean {
  const { replicas = 0, updatedReplicas = 0, readyReplicas: ready = 0, availableReplicas: available = 0 } = status;
  return (
    next.updatedReplicas > updatedReplicas ||
    next.replicas - next.updatedReplicas < replicas - updatedReplicas ||
    next.readyReplicas > ready ||
    next.availableReplicas > available
  );
}

function isTimedOut({ spec }: StoredDeployment, conditions: Conditions, now: number): boolean {
  const condition = conditionOf(conditions, "Progressing");
  // A rollout that was complete makes no progress, and need not.
  if (condition === undefined || condition.reason === "NewReplicaSetAvailable") return false;
  if (condition.reason === "ProgressDeadlineExceeded") return true;
  const since = parseTime(condition.lastUpdateTime) ?? now;
  return since + (spec?.progressDeadlineSeconds ?? 0) * SECOND < now;
}

/** The failure that a set tells, the new one's first. */
function failureOf({ newSet, oldSets }: SetsOfDeployment): DeploymentCondition | undefined {
  const told = [...(newSet === undefined ? [] : [newSet]), ...oldSets].flatMap(({ status }) => {
    return (status?.conditions ?? []).filter(({ type }) => type === "ReplicaFailure");
  });
  const [first] = told;
  const { lastTransitionTime } = first ?? {};
  return first && { ...first, ...(lastTransitionTime !== undefined && { lastUpdateTime: lastTransitionTime }) };
}

const JUDGED_REASONS: readonly unknown[] = ["NewReplicaSetAvailable", "ProgressDeadlineExceeded"];

/**
 * After how many milliseconds a rollout that makes no progress has to be looked at again; undefined when it is complete,
 * has timed out or has no deadline.
 */
export function computeProgressCheckMs(
  deployment: StoredDeployment,
  status: DeploymentStatus,
  now: number,
): number | undefined {
  const condition = conditionOf(status.conditions ?? [], "Progressing");
  if (!hasProgressDeadline(deployment) || condition === undefined) return undefined;
  if (isComplete(deployment, status) || JUDGED_REASONS.includes(condition.reason)) return undefined;
  const since = parseTime(condition.lastUpdateTime) ?? now;
  // The times of conditions are whole seconds. One second more, and the deadline is over for certain.
  return Math.max(0, since + (deployment.spec?.progressDeadlineSeconds ?? 0) * SECOND - now) + SECOND;
}
