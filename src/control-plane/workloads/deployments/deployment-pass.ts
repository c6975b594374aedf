import { isDeepStrictEqual } from "node:util";
import type { DeploymentCondition, DeploymentStatus } from "../../../api/gen/types.ts";
import { typed } from "../../../api/object.ts";
import { type ControllerDeps, unlessOvertaken } from "../../control-loop/controller.ts";
import type { EventRecorder } from "../../control-loop/record-events.ts";
import { isControlledBy } from "../pod-control/controller-ref.ts";
import { REVISION_ANNOTATION, revisionOf, withSize } from "./annotations.ts";
import { computeDeploymentStatus } from "./deployment-status.ts";
import type { ScaleStep } from "./plan-rollout.ts";
import { type SetsOfDeployment, type StoredDeployment, splitSets, wantedReplicas } from "./replica-sets.ts";
import { computeRollingLimits } from "./rolling-limits.ts";

export const SETS = "replicasets.apps";
const DEPLOYMENTS = "deployments.apps";

/** One reconciliation of a deployment: what it began with, and what its status will say of it. */
export interface DeploymentPass extends ControllerDeps {
  readonly events: EventRecorder;
  readonly deployment: StoredDeployment;
  /** The conditions with what this reconciliation did so far. */
  conditions: readonly DeploymentCondition[];
  collisionCount: number | undefined;
}

/** The sets that the deployment controls at this moment, those included that it has just made. */
export function readSets({ reader, deployment }: DeploymentPass): SetsOfDeployment {
  const sets = reader.list(SETS, deployment.metadata.namespace ?? "");
  const own = sets.filter((set) => isControlledBy(set, deployment));
  return splitSets(
    deployment,
    own.map((set) => typed("ReplicaSet", set)),
  );
}

/**
 * Gives the sets their sizes, one after the other, and lets them remember the deployment's. Rejects with an ApiError:
 * Conflict when a set has changed since it was read.
 */
export async function scaleSets(pass: DeploymentPass, steps: readonly ScaleStep[]): Promise<void> {
  const { writer, events, deployment } = pass;
  const desired = wantedReplicas(deployment);
  const size = { desired, max: desired + computeRollingLimits(deployment).maxSurge };
  for (const { set, replicas } of steps) {
    const { metadata, spec } = set;
    const before = wantedReplicas(set);
    const annotations = withSize(metadata.annotations, size);
    if (before === replicas && isDeepStrictEqual(annotations, metadata.annotations)) continue;
    const next = { ...set, metadata: { ...metadata, annotations }, spec: { ...spec, replicas } };
    if (!(await unlessOvertaken(writer.update(SETS, next))) || before === replicas) continue;
    const direction = before < replicas ? "up" : "down";
    const message = `Scaled ${direction} replica set ${metadata.name ?? ""} from ${before} to ${replicas}`;
    events.record({ about: deployment, type: "Normal", reason: "ScalingReplicaSet", message });
  }
}

/** Writes the status and the revision. Returns the status. Rejects with Conflict as `writeStatusOf` does. */
export async function writeStatus(
  pass: DeploymentPass,
  { isRollout }: { isRollout: boolean },
): Promise<DeploymentStatus> {
  const { deployment, conditions, collisionCount, clock } = pass;
  const sets = readSets(pass);
  const now = clock.now();
  const status = computeDeploymentStatus(deployment, { sets, conditions, collisionCount, isRollout, now });
  await writeStatusOf(pass, status, sets.newSet && revisionOf(sets.newSet));
  return status;
}

/** Writes the conditions and the count of collisions alone, where there is nothing to count yet. */
export async function writeConditions(pass: DeploymentPass): Promise<void> {
  const { deployment, conditions, collisionCount } = pass;
  const status = { ...deployment.status, ...(collisionCount !== undefined && { collisionCount }) };
  await writeStatusOf(pass, { ...status, conditions: [...conditions] }, undefined);
}

/**
 * Writes into the version that this reconciliation began with. When somebody has changed the deployment meanwhile, it
 * is a Conflict, and all is decided again: conditions of others are not lost.
 */
async function writeStatusOf(
  { writer, deployment }: DeploymentPass,
  status: DeploymentStatus,
  revision: bigint | undefined,
): Promise<void> {
  const { metadata } = deployment;
  const annotations = { ...metadata.annotations, ...(revision && { [REVISION_ANNOTATION]: String(revision) }) };
  const isTold = isDeepStrictEqual(annotations, metadata.annotations ?? {});
  if (isTold && isDeepStrictEqual(deployment.status, status)) return;
  const next = { ...deployment, metadata: isTold ? metadata : { ...metadata, annotations }, status };
  await unlessOvertaken(writer.update(DEPLOYMENTS, next, "status"));
}
