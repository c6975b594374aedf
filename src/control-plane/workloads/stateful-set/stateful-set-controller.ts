import type { StatefulSet } from "../../../api/gen/types.ts";
import { type KubeObject, type ObjectOf, typed, untyped } from "../../../api/object.ts";
import { isEqualJson } from "../../../api/patch/json-value.ts";
import { type Controller, type ControllerDeps, runFollowingWithEvents } from "../../control-loop/controller.ts";
import { lenientSelectorOf } from "../../control-loop/lenient-selector.ts";
import { namespacedKeyOf, splitNamespacedKey } from "../../control-loop/namespaced-key.ts";
import { createEventRecorder } from "../../control-loop/record-events.ts";
import { soonest } from "../../control-loop/soonest.ts";
import { createWorkQueue } from "../../control-loop/work-queue.ts";
import { claimDependents } from "../pod-control/claim-dependents.ts";
import { isControlledBy } from "../pod-control/controller-ref.ts";
import { createFailureTurns, type FailureTurns } from "../pod-control/failure-turns.ts";
import { followDependents } from "../pod-control/follow-dependents.ts";
import { computeNextAvailableMs } from "../pod-control/pod-standing.ts";
import { isRefused, REFUSAL_DELAYS } from "../pod-control/refusal-back-off.ts";
import { callTogether, runSlowStart } from "../pod-control/slow-start.ts";
import { templateOfRevision } from "../revisions/revision-data.ts";
import { ensureNewestRevision, REVISIONS, truncateHistory } from "../revisions/revision-history.ts";
import { planStatefulSet } from "./plan-stateful-set.ts";
import { ordinalOf, podOfSet, podRevisionOf } from "./set-pod.ts";
import { createSetPodControl, type SetPodControl } from "./set-pod-control.ts";
import { computeStatefulSetStatus } from "./stateful-set-status.ts";

const SETS = "statefulsets.apps";
const HASH_LABEL = "controller.kubernetes.io/hash";

type StoredSet = ObjectOf<"StatefulSet">;
type StoredPod = ObjectOf<"Pod">;
type SetDeps = ControllerDeps & { readonly control: SetPodControl; readonly refusals: FailureTurns };

/** Keeps the pods of stateful sets, each with its name and its claims (`pkg/controller/statefulset`). */
export function createStatefulSetController(deps: ControllerDeps): Controller {
  const events = createEventRecorder(deps, "statefulset-controller");
  const refusals = createFailureTurns(deps.clock, REFUSAL_DELAYS);
  const sets: SetDeps = { ...deps, control: createSetPodControl({ ...deps, events }), refusals };
  const queue = createWorkQueue(deps, { name: "statefulset", reconcile: (key) => reconcileSet(sets, key) });
  const owners = { ownerKind: "StatefulSet", ownerResource: SETS };
  const follow = () => [
    deps.feed.follow(SETS, ({ type, object }) => {
      if (type === "DELETED") refusals.forget(object.metadata.uid ?? "");
      queue.add(namespacedKeyOf(object.metadata));
    }),
    followDependents(deps, { ...owners, resource: "pods", selects: selectsPod }, queue.add),
    followDependents(deps, { ...owners, resource: REVISIONS, selects: selectsLabels }, queue.add),
    // A claim that is gone is made again, and one that goes with a pod of before keeps the next one waiting.
    deps.feed.follow("persistentvolumeclaims", ({ type, object }) => {
      if (type !== "DELETED") return;
      for (const set of deps.reader.list(SETS, object.metadata.namespace ?? "")) {
        if (mayHaveMade(typed("StatefulSet", set), object)) queue.add(namespacedKeyOf(set.metadata));
      }
    }),
  ];
  return { run: (signal) => runFollowingWithEvents(queue, follow, events, signal) };
}

function selectsLabels(set: KubeObject, object: KubeObject): boolean {
  return lenientSelectorOf(typed("StatefulSet", set).spec?.selector).matches(object.metadata.labels ?? {});
}

/** Only pods that are named after the set are its own. */
function selectsPod(set: KubeObject, pod: KubeObject): boolean {
  return selectsLabels(set, pod) && ordinalOf(set.metadata.name ?? "", pod.metadata.name ?? "") !== undefined;
}

function mayHaveMade({ metadata, spec }: StatefulSet, claim: KubeObject): boolean {
  return (spec?.volumeClaimTemplates ?? []).some((template) => {
    const prefix = `${template.metadata?.name}-${metadata?.name}`;
    return ordinalOf(prefix, claim.metadata.name ?? "") !== undefined;
  });
}

async function reconcileSet(deps: SetDeps, key: string): Promise<number | undefined> {
  const { reader, clock } = deps;
  const object = reader.get({ resource: SETS, ...splitNamespacedKey(key) });
  // The garbage collector takes the pods of a set that is being deleted.
  if (object === undefined || object.metadata.deletionTimestamp !== undefined) return undefined;
  const set = typed("StatefulSet", object);
  const history = await ensureNewestRevision(deps, {
    object,
    resource: SETS,
    template: set.spec?.template ?? {},
    selects: (revision) => selectsLabels(object, revision),
    hashLabel: HASH_LABEL,
    collisionCount: set.status?.collisionCount ?? 0,
  });
  const candidates = reader.list("pods", object.metadata.namespace ?? "");
  const selects = (pod: KubeObject) => selectsPod(object, pod);
  await claimDependents(deps, { owner: object, ownerResource: SETS, resource: "pods", candidates, selects });
  const current =
    history.revisions.find(({ metadata }) => metadata.name === set.status?.currentRevision) ?? history.newest;
  const { error, waitMs } = await changePods(deps, set, { current, newest: history.newest });
  const pods = readPods(deps, object);
  const revisions = {
    current: current.metadata.name ?? "",
    update: history.newest.metadata.name ?? "",
    collisionCount: history.collisionCount,
  };
  await writeStatus(deps, { object, pods, revisions });
  const live = new Set([revisions.current, revisions.update, ...pods.map(podRevisionOf)]);
  await truncateHistory(deps, {
    revisions: history.revisions,
    limit: set.spec?.revisionHistoryLimit,
    isLive: ({ metadata }) => live.has(metadata.name ?? ""),
  });
  if (error !== undefined) throw error;
  return soonest([waitMs, computeNextAvailableMs(pods, set.spec?.minReadySeconds ?? 0, clock.now())]);
}

function readPods({ reader }: SetDeps, set: KubeObject): StoredPod[] {
  const own = reader.list("pods", set.metadata.namespace ?? "").filter((pod) => isControlledBy(pod, set));
  return own.filter((pod) => selectsPod(set, pod)).map((pod) => typed("Pod", pod));
}

interface SetTemplates {
  readonly current: KubeObject;
  readonly newest: KubeObject;
}

interface PodChanges {
  /** The first ApiError, for another attempt after the status is written. */
  readonly error: Error | undefined;
  /** When the next refused pod may be replaced. */
  readonly waitMs?: number | undefined;
}

/** Takes the steps of the plan. */
async function changePods(deps: SetDeps, set: StoredSet, templates: SetTemplates): Promise<PodChanges> {
  const { control, clock } = deps;
  const { metadata } = set;
  const updateRevision = templates.newest.metadata.name ?? "";
  const pods = readPods(deps, set);
  const build = ({ ordinal, isUpdated }: { ordinal: number; isUpdated: boolean }) => {
    const revision = isUpdated ? templates.newest : templates.current;
    const template = templateOfRevision(revision) ?? set.spec?.template ?? {};
    return podOfSet(set, ordinal, { revisionName: revision.metadata.name ?? "", template });
  };
  const isBlocked = (ordinal: number) => control.hasStaleClaim(set, ordinal);
  const plan = planStatefulSet(set, { pods, updateRevision, isBlocked, now: clock.now() });
  const ordinalIn = (pod: StoredPod) => ordinalOf(metadata.name ?? "", pod.metadata.name ?? "") ?? -1;
  const repairs = [
    ...plan.keep.map((pod) => () => control.repair(set, ordinalIn(pod), pod)),
    ...plan.condemned.map((pod) => () => control.condemn(set, ordinalIn(pod), pod)),
  ];
  const [broken] = await callTogether(repairs);
  if (broken !== undefined) return { error: broken };
  const creation = await runSlowStart(plan.create.length, async (index) => {
    const planned = plan.create[index];
    if (planned !== undefined) await control.create(set, planned.ordinal, build(planned));
  });
  if (creation.error !== undefined) return { error: creation.error };
  const waits = new Map(plan.replace.map((pod) => [pod, remainingStayMs(deps, set, pod)]));
  const remove = [...plan.remove, ...plan.replace.filter((pod) => waits.get(pod) === 0)];
  const [error] = await callTogether(remove.map((pod) => () => control.remove(set, pod)));
  return { error, waitMs: soonest([...waits.values()].filter((wait) => wait > 0)) };
}

/** How long a pod that has ended stays: a node that refused it would refuse its successor too, and its status says why. */
function remainingStayMs({ refusals }: SetDeps, set: StoredSet, pod: StoredPod): number {
  return isRefused(pod) ? refusals.takeTurn(set, pod.metadata.name ?? "") : 0;
}

interface SetReport {
  readonly object: KubeObject;
  readonly pods: readonly StoredPod[];
  readonly revisions: { current: string; update: string; collisionCount: number };
}

/** Writes the status into the version that is stored now, for the generation that was acted on. */
async function writeStatus({ reader, writer, clock }: SetDeps, { object, pods, revisions }: SetReport): Promise<void> {
  const newest = reader.get({
    resource: SETS,
    namespace: object.metadata.namespace ?? "",
    name: object.metadata.name ?? "",
  });
  if (newest === undefined || newest.metadata.uid !== object.metadata.uid) return;
  const status = computeStatefulSetStatus(typed("StatefulSet", object), pods, { revisions, now: clock.now() });
  if (isEqualJson(status, newest["status"])) return;
  await writer.update(SETS, { ...untyped(typed("StatefulSet", newest)), status }, "status");
}
