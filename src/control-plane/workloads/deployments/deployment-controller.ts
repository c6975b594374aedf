import { type KubeObject, typed } from "../../../api/object.ts";
import { isTerminalPhase } from "../../../api/pods.ts";
import {
  type Controller,
  type ControllerDeps,
  runFollowingWithEvents,
  unlessOvertaken,
} from "../../control-loop/controller.ts";
import { lenientSelectorOf } from "../../control-loop/lenient-selector.ts";
import { namespacedKeyOf, splitNamespacedKey } from "../../control-loop/namespaced-key.ts";
import { createEventRecorder } from "../../control-loop/record-events.ts";
import { createWorkQueue, type WorkQueue } from "../../control-loop/work-queue.ts";
import { claimDependents } from "../pod-control/claim-dependents.ts";
import { isControlledBy } from "../pod-control/controller-ref.ts";
import { followDependents } from "../pod-control/follow-dependents.ts";
import { type DeploymentPass, readSets, SETS, scaleSets, writeStatus } from "./deployment-pass.ts";
import { computeProgressCheckMs, historyLimitOf, isComplete, withPause } from "./deployment-status.ts";
import { createNewSet, refreshNewSet } from "./new-set.ts";
import { planEndingOld, planRollingUpdate } from "./plan-rollout.ts";
import { isBeingScaled, planScaling } from "./plan-scaling.ts";
import { compareRevision, type SetsOfDeployment, sumOf, wantedReplicas } from "./replica-sets.ts";
import { isRolling } from "./rolling-limits.ts";

const DEPLOYMENTS = "deployments.apps";

/**
 * Rolls out deployments by their replica sets (`pkg/controller/deployment`). A reconciliation takes the next step and
 * tells of it in the status; the change of a set, and what the set tells of its pods, lead to the one after it. Pods are
 * not followed: a set tells in its status when its last pod is gone.
 */
export function createDeployments(deps: ControllerDeps): Controller {
  const events = createEventRecorder(deps, "deployment-controller");
  const queue: WorkQueue = createWorkQueue(deps, {
    name: "deployment",
    async reconcile(key) {
      const object = deps.reader.get({ resource: DEPLOYMENTS, ...splitNamespacedKey(key) });
      if (object === undefined) return undefined;
      const deployment = typed("Deployment", object);
      const { conditions = [], collisionCount } = deployment.status ?? {};
      return await reconcile({ ...deps, events, deployment, conditions, collisionCount });
    },
  });
  const dependents = { resource: SETS, ownerKind: "Deployment", ownerResource: DEPLOYMENTS, selects };
  const follow = () => [
    deps.feed.follow(DEPLOYMENTS, ({ object }) => queue.add(namespacedKeyOf(object.metadata))),
    followDependents(deps, dependents, queue.add),
  ];
  return { run: (signal) => runFollowingWithEvents(queue, follow, events, signal) };
}

function selects(deployment: KubeObject, { metadata }: KubeObject): boolean {
  return lenientSelectorOf(typed("Deployment", deployment).spec?.selector).matches(metadata.labels);
}

async function reconcile(pass: DeploymentPass): Promise<number | undefined> {
  const { deployment, clock, reader } = pass;
  const { namespace = "", deletionTimestamp } = deployment.metadata;
  await claimDependents(pass, {
    owner: deployment,
    ownerResource: DEPLOYMENTS,
    resource: SETS,
    candidates: reader.list(SETS, namespace),
    selects: (set) => selects(deployment, set),
  });
  if (deletionTimestamp !== undefined) {
    await writeStatus(pass, { isRollout: false });
    return undefined;
  }
  pass.conditions = withPause(deployment, pass.conditions, clock.now());
  await refreshNewSet(pass, readSets(pass));
  const isPaused = deployment.spec?.paused === true;
  if (isPaused || isBeingScaled(deployment, readSets(pass))) {
    await scaleSets(pass, planScaling(deployment, readSets(pass)));
    if (isPaused) await removeOldSets(pass);
    await writeStatus(pass, { isRollout: false });
    return undefined;
  }
  await takeNextStep(pass);
  const status = await writeStatus(pass, { isRollout: true });
  return computeProgressCheckMs(deployment, status, clock.now());
}

/** Takes the next step of the rollout, or removes what a complete one leaves. */
async function takeNextStep(pass: DeploymentPass): Promise<void> {
  const { deployment } = pass;
  const steps = isRolling(deployment) ? await prepareRolling(pass) : await prepareRecreate(pass);
  await scaleSets(pass, steps);
  if (steps.length === 0 && isComplete(deployment, deployment.status ?? {})) await removeOldSets(pass);
}

async function prepareRolling(pass: DeploymentPass): Promise<ReturnType<typeof planRollingUpdate>> {
  const sets = readSets(pass);
  if (sets.newSet === undefined) await createNewSet(pass, sets);
  return planRollingUpdate(pass.deployment, readSets(pass));
}

/** Ends all old pods, waits until they are gone, and then makes the new ones. */
async function prepareRecreate(pass: DeploymentPass): Promise<ReturnType<typeof planRollingUpdate>> {
  const { deployment } = pass;
  const sets = readSets(pass);
  const ending = planEndingOld(sets);
  if (ending.length > 0 || hasOldPods(pass, sets)) return ending;
  if (sets.newSet === undefined) await createNewSet(pass, sets);
  const { newSet } = readSets(pass);
  const replicas = wantedReplicas(deployment);
  return newSet === undefined || wantedReplicas(newSet) === replicas ? [] : [{ set: newSet, replicas }];
}

/** True while a pod of an old set may run, or an old set thinks that one does. */
function hasOldPods({ reader, deployment }: DeploymentPass, { oldSets }: SetsOfDeployment): boolean {
  if (sumOf(oldSets, ({ status }) => status?.replicas ?? 0) > 0) return true;
  const pods = reader.list("pods", deployment.metadata.namespace ?? "").map((pod) => typed("Pod", pod));
  const running = pods.filter(({ status }) => !isTerminalPhase(status?.phase));
  return oldSets.some((set) => running.some((pod) => isControlledBy(pod, set)));
}

/** Removes the oldest sets without pods, beyond those that are kept for a rollback. */
async function removeOldSets(pass: DeploymentPass): Promise<void> {
  const limit = historyLimitOf(pass.deployment);
  if (limit === undefined) return;
  const alive = readSets(pass).oldSets.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  const surplus = alive.toSorted(compareRevision).slice(0, Math.max(0, alive.length - limit));
  for (const set of surplus) {
    const { metadata, status } = set;
    const isUsed = (status?.replicas ?? 0) > 0 || wantedReplicas(set) > 0;
    if (isUsed || (metadata.generation ?? 0) > (status?.observedGeneration ?? 0)) continue;
    const { namespace = "", name = "", uid } = metadata;
    const preconditions = { ...(uid !== undefined && { uid }) };
    await unlessOvertaken(pass.writer.remove({ resource: SETS, namespace, name }, { preconditions }));
  }
}
