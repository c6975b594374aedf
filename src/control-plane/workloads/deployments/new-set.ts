import { isDeepStrictEqual } from "node:util";
import { isApiError } from "../../../api/api-error.ts";
import type { PodTemplateSpec } from "../../../api/gen/types.ts";
import { type KubeObject, typed } from "../../../api/object.ts";
import { messageOf } from "../../../base/errors.ts";
import { controllerRefTo, isControlledBy } from "../pod-control/controller-ref.ts";
import { isNamespaceTerminating } from "../pod-control/pod-control.ts";
import { newSetAnnotations, revisionOf, withSize } from "./annotations.ts";
import { type DeploymentPass, SETS, writeConditions } from "./deployment-pass.ts";
import { conditionOf, hasProgressDeadline, withCondition } from "./deployment-status.ts";
import { computeNewReplicas } from "./plan-rollout.ts";
import {
  isSameTemplate,
  type SetsOfDeployment,
  type StoredDeployment,
  type StoredSet,
  wantedReplicas,
} from "./replica-sets.ts";
import { computeRollingLimits } from "./rolling-limits.ts";
import { computeTemplateHash, HASH_LABEL } from "./template-hash.ts";

/** The longest name of an object. */
const MAX_NAME = 253;

/** The revision of a set that is newer than all the others. */
function nextRevision({ oldSets }: SetsOfDeployment): bigint {
  let newest = 0n;
  for (const revision of oldSets.map(revisionOf)) if (revision > newest) newest = revision;
  return newest + 1n;
}

/**
 * Brings the annotations of the new set, if there is one, up to date: it has the highest revision, also when the
 * deployment was rolled back to it, and shows what the deployment's own annotations say.
 */
export async function refreshNewSet(pass: DeploymentPass, sets: SetsOfDeployment): Promise<void> {
  const { writer, deployment, clock } = pass;
  const { newSet } = sets;
  if (newSet === undefined) return;
  const { metadata, spec } = newSet;
  const annotations = newSetAnnotations(metadata.annotations, deployment, nextRevision(sets));
  const minReadySeconds = deployment.spec?.minReadySeconds ?? 0;
  const isCurrent =
    isDeepStrictEqual(annotations, metadata.annotations ?? {}) && (spec?.minReadySeconds ?? 0) === minReadySeconds;
  if (!isCurrent) {
    await writer.update(SETS, {
      ...newSet,
      metadata: { ...metadata, annotations },
      spec: { ...spec, minReadySeconds },
    });
  }
  if (!hasProgressDeadline(deployment) || conditionOf(pass.conditions, "Progressing") !== undefined) return;
  const message = `Found new replica set "${metadata.name ?? ""}"`;
  const news = { type: "Progressing", status: "True", reason: "FoundNewReplicaSet", message } as const;
  pass.conditions = withCondition(pass.conditions, news, clock.now());
}

/**
 * Makes the set of the present template. Its name follows from the template, so that it is never made twice. Returns
 * false when its namespace is being deleted. Rejects with an ApiError, after the deployment has told of it.
 */
export async function createNewSet(pass: DeploymentPass, sets: SetsOfDeployment): Promise<boolean> {
  const { writer, events, deployment } = pass;
  const set = buildNewSet(pass, sets);
  const { name = "" } = set.metadata;
  try {
    await writer.create(SETS, set);
  } catch (error) {
    if (isNamespaceTerminating(error)) return false;
    if (!isApiError(error)) throw error;
    if (error.reason === "AlreadyExists") {
      if (isOurs(pass, name)) return true;
      // Another object has the name. The next attempt has another one.
      pass.collisionCount = (pass.collisionCount ?? 0) + 1;
      await writeConditions(pass);
      throw error;
    }
    const message = `Failed to create new replica set "${name}": ${messageOf(error)}`;
    tellProgress(pass, { status: "False", reason: "ReplicaSetCreateError", message });
    events.record({ about: deployment, type: "Warning", reason: "ReplicaSetCreateError", message });
    await writeConditions(pass);
    throw error;
  }
  const replicas = wantedReplicas(set);
  if (replicas > 0) {
    const message = `Scaled up replica set ${name} from 0 to ${replicas}`;
    events.record({ about: deployment, type: "Normal", reason: "ScalingReplicaSet", message });
  }
  tellProgress(pass, { status: "True", reason: "NewReplicaSetCreated", message: `Created new replica set "${name}"` });
  return true;
}

type ProgressNews = { readonly status: "True" | "False"; readonly reason: string; readonly message: string };

function tellProgress(pass: DeploymentPass, news: ProgressNews): void {
  if (!hasProgressDeadline(pass.deployment)) return;
  pass.conditions = withCondition(pass.conditions, { type: "Progressing", ...news }, pass.clock.now());
}

/** True when the set of this name is the deployment's and of its template, and no other that has the same hash. */
function isOurs({ reader, deployment }: DeploymentPass, name: string): boolean {
  const found = reader.get({ resource: SETS, namespace: deployment.metadata.namespace ?? "", name });
  if (found === undefined || !isControlledBy(found, deployment)) return false;
  return isSameTemplate(typed("ReplicaSet", found).spec?.template, deployment.spec?.template);
}

function buildNewSet({ deployment, collisionCount }: DeploymentPass, sets: SetsOfDeployment): KubeObject & StoredSet {
  const { metadata, spec } = deployment;
  const { selector = {}, template = {}, minReadySeconds = 0 } = spec ?? {};
  const hash = computeTemplateHash(template, collisionCount);
  const labels = { ...template.metadata?.labels, [HASH_LABEL]: hash };
  const labelled: PodTemplateSpec = { ...template, metadata: { ...template.metadata, labels } };
  const desired = wantedReplicas(deployment);
  const size = { desired, max: desired + computeRollingLimits(deployment).maxSurge };
  return {
    apiVersion: "apps/v1",
    kind: "ReplicaSet",
    metadata: {
      name: nameOf(deployment, hash),
      namespace: metadata.namespace ?? "",
      labels,
      annotations: withSize(newSetAnnotations({}, deployment, nextRevision(sets)), size),
      ownerReferences: [controllerRefTo(deployment)],
    },
    spec: {
      replicas: computeNewReplicas(deployment, { newSet: undefined, oldSets: sets.oldSets }),
      ...(minReadySeconds > 0 && { minReadySeconds }),
      selector: { ...selector, matchLabels: { ...selector.matchLabels, [HASH_LABEL]: hash } },
      template: labelled,
    },
  };
}

function nameOf({ metadata }: StoredDeployment, hash: string): string {
  const { name = "" } = metadata;
  return `${name.slice(0, MAX_NAME - 1 - hash.length)}-${hash}`;
}
